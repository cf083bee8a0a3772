/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See numbers.h. */
#include "probe/checks/numbers.h"

#include <string.h>

#include "probe/exchange/peer.h"
#include "probe/link/advice.h"
#include "probe/link/link.h"
#include "probe/link/sa_times.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/times.h"

void numbers_begin(struct target *t)
{
    results_stage(t->results, "peer.numbers", OUTCOME_NOTED, "", "no request was completed");
    t->results->checked->lead = "peer.numbers";
}

static void add_times(GString *text, const char *before, const char *how, const struct latencies *t)
{
    char *times = times_text(t);
    if (t->n)
        g_string_append_printf(text, "%s %s %s", before, times, how);
    g_free(times);
}

/* The kernel chooses the mode of an interface's packets. */
static const char *name_of_ud(const struct target *t)
{
    const struct interface_link *l = t->link->transport->interface;
    return l && l->connected ? "through the interface" : "over UD";
}

enum { STRAYS_SAID = 3 };

/*
 * A request that is sent once and not answered is one lost packet: counted once. Those that the
 * peer never answers are no losses (tally.h).
 */
static void add_losses(GString *text, const struct checked_requests *q)
{
    if (q->lost && q->lost == q->never)
        g_string_append_printf(text, " (%u %% lost)",
                               (q->lost * 100 + q->packets / 2) / q->packets);
    else if (q->lost)
        g_string_append_printf(text, ", %u of %u packets lost", q->lost, q->packets);
    else
        g_string_append_printf(text, ", no %spacket lost", q->never ? "other " : "");
}

static char *peer_text(const struct target *t)
{
    const struct checked_requests *q = &t->results->checked->requests;
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%u requests: %u answered at the first try", q->sent,
                           q->first_try);
    if (q->late)
        g_string_append_printf(text, ", %u late", q->late);
    if (q->never)
        g_string_append_printf(text, ", %u never", q->never);
    add_losses(text, q);
    if (t->peer->response_times.strays >= STRAYS_SAID)
        g_string_append_printf(text, "; %u replies arrived twice or late",
                               t->peer->response_times.strays);
    add_times(text, "; round trip (min/median/99 %)", name_of_ud(t), &t->peer->over_ud);
    add_times(text, t->peer->over_ud.n ? "," : "; round trip (min/median/99 %)", "over RC",
              &t->peer->over_rc);
    return g_string_free(text, FALSE);
}

/* Microseconds. If no reply is the first to a single request, all come after the timeout. */
static gint64 time_of(const struct target *t, unsigned percent)
{
    const struct latencies *times = &t->peer->over_ud;
    return times->n ? times_percentile(times, percent) : t->peer->response_times.longest;
}

/* InfiniBand and a host take less than a millisecond. */
bool numbers_is_slow(const struct target *t)
{
    enum { SLOW_US = 100 * 1000 };
    return time_of(t, 50) > SLOW_US;
}

bool numbers_may_be_late(const struct target *t)
{
    gint64 timeout_us = (gint64)t->run->options->timeout_ms * 1000;
    return time_of(t, 90) * 5 > timeout_us * 4;
}

static void report_slow(struct target *t)
{
    struct checked *j = t->results->checked;
    struct port_words w;
    if (j->state && strcmp(j->state, "reachable") == 0)
        j->state = "reachable, but slow";
    char *time = t->peer->over_ud.n
                     ? g_strdup_printf("it takes %.0f ms to reply", (double)time_of(t, 50) / 1000)
                     : g_strdup_printf("it takes longer than the limit of %u ms to reply",
                                       t->run->options->timeout_ms);
    advice_name_port(t->link, &w);
    results_stage(t->results, "peer.slow", OUTCOME_INCONCLUSIVE, "",
                  "%s; InfiniBand and a host take less than one: the host is overloaded or hangs "
                  "at times, or packets wait on the path",
                  time);
    g_free(time);
    results_advise(t->results, "on the peer: uptime; dmesg; here: perfquery -x %s  # PortXmitWait",
                   w.diags);
}

void numbers_report(struct target *t, unsigned at)
{
    struct checked *j = t->results->checked;
    if (!j->requests.counted)
        return;
    j->over_ud = results_times(&t->peer->over_ud);
    j->over_rc = results_times(&t->peer->over_rc);
    char *peer = peer_text(t);
    results_set_stage(t->results, at, "%s", peer);
    if (numbers_is_slow(t))
        report_slow(t);
    if (!t->yield) /* the targets of a sweep share them */
        sa_times_report(t, "peer.sa-times");
    g_free(peer);
}

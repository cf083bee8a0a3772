/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See numbers.h. */
#include "probe/checks/numbers.h"

#include "probe/exchange/peer.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/times.h"

void numbers_begin(struct target *t)
{
    results_stage(t->results, "peer.numbers", OUTCOME_NOTED, "", "no request was completed");
    t->results->checked->lead = "peer.numbers";
}

static struct checked_times keep(const struct times *t)
{
    return (struct checked_times){.n = t->n,
                                  .least = t->least,
                                  .median = times_percentile(t, 50),
                                  .p99 = times_percentile(t, 99)};
}

/* ---- the SA */

void numbers_keep_sa(struct target *t)
{
    const struct sa_cache *sa = &t->run->sa;
    t->results->checked->sa_times = keep(&sa->times);
    t->results->checked->sa_unanswered = sa->unanswered;
    t->results->checked->sa_busy = sa->busy;
}

char *numbers_sa_text(const struct target *t)
{
    const struct sa_cache *sa = &t->run->sa;
    if (!sa->times.n && !sa->unanswered && !sa->busy)
        return NULL;
    GString *text = g_string_new("the SA: ");
    char *times = times_text(&sa->times);
    if (sa->times.n)
        g_string_append_printf(text, "%" G_GUINT64_FORMAT " answers in %s", sa->times.n, times);
    else
        g_string_append(text, "no answer");
    if (sa->busy)
        g_string_append_printf(text, ", %" G_GUINT64_FORMAT " times busy", sa->busy);
    if (sa->unanswered)
        g_string_append_printf(text, ", %" G_GUINT64_FORMAT " requests without an answer",
                               sa->unanswered);
    g_free(times);
    return g_string_free(text, FALSE);
}

/* ---- the peer */

static void add_times(GString *text, const char *before, const char *how, const struct times *t)
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

static char *peer_text(const struct target *t)
{
    const struct checked_requests *q = &t->results->checked->requests;
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%u requests: %u answered at the first try", q->sent,
                           q->first_try);
    if (q->late || q->never)
        g_string_append_printf(text, ", %u late, %u never", q->late, q->never);
    g_string_append_printf(text, ", %u of %u packets lost", q->lost, q->packets);
    add_times(text, "; round trip (min/median/99 %)", name_of_ud(t), &t->peer->over_ud);
    add_times(text, t->peer->over_ud.n ? "," : "; round trip (min/median/99 %)", "over RC",
              &t->peer->over_rc);
    return g_string_free(text, FALSE);
}

void numbers_report(struct target *t, unsigned at)
{
    struct checked *j = t->results->checked;
    if (!j->requests.counted)
        return;
    j->over_ud = keep(&t->peer->over_ud);
    j->over_rc = keep(&t->peer->over_rc);
    char *peer = peer_text(t), *sa = t->yield ? NULL : numbers_sa_text(t);
    results_set_stage(t->results, at, "%s%s%s", peer, sa ? "; " : "", sa ? sa : "");
    if (!t->yield)
        numbers_keep_sa(t);
    g_free(peer);
    g_free(sa);
}

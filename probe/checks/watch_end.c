/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The summary of a watched peer: what changed, and why it is silent now. */
#include "probe/checks/end.h"
#include "probe/checks/numbers.h"
#include "probe/checks/own_duplicate.h"
#include "probe/checks/ping.h"
#include "probe/checks/watch_parts.h"
#include "probe/exchange/peer.h"
#include "probe/link/advice.h"
#include "probe/link/sa.h"
#include "probe/run/results.h"
#include "probe/why/why.h"

/* ---- the text */

static void add_recent(const struct peer_watch *w, GString *text)
{
    unsigned n = w->kept, first = n > KEPT_EVENTS ? n - KEPT_EVENTS : 0;
    for (unsigned i = first; i < n; i++)
        g_string_append_printf(text, "%s%s", i == first ? "; last: " : "; ",
                               w->recent[i % KEPT_EVENTS]);
}

static void add_silences(const struct peer_watch *w, GString *text)
{
    unsigned n = w->w.changes[CHANGE_SILENT];
    double seconds = (double)w->silent_us / G_USEC_PER_SEC;
    if (n == 1)
        g_string_append_printf(text, "; silent once, for %.1f s", seconds);
    else if (n)
        g_string_append_printf(text, "; silent %u times, for %.1f s in all", n, seconds);
}

static void add_times(GString *text, const char *what, unsigned n)
{
    if (n)
        g_string_append_printf(text, "; %s %u time%s", what, n, n == 1 ? "" : "s");
}

/* The requests that the probe did not send, or not in time. */
static void add_own_delays(const struct peer_watch *w, GString *text)
{
    if (w->unsent)
        g_string_append_printf(text, "; %u %s not sent", w->unsent,
                               w->unsent == 1 ? "was" : "were");
    if (w->late)
        g_string_append_printf(text, "; %u %s sent late, by up to %.1f s", w->late,
                               w->late == 1 ? "was" : "were",
                               (double)w->latest_us / G_USEC_PER_SEC);
}

/* What explains a silence stands before it. */
static char *summary_text(const struct peer_watch *w)
{
    const unsigned *n = w->w.changes;
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%u requests, %u answered", w->w.sent, w->w.answered);
    if (!watch_events(w))
        g_string_append(text, "; nothing changed");
    add_times(text, "this host's port changed", n[CHANGE_OWN_PORT]);
    add_times(text, "this host's interface changed", n[CHANGE_OWN_INTERFACE]);
    add_times(text, "this host's counters grew", n[CHANGE_COUNTERS]);
    add_times(text, "the peer moved", n[CHANGE_MOVED]);
    if (n[CHANGE_SECOND_PORT])
        g_string_append(text, "; two ports have the address");
    if (w->w.answered) /* else it is clear */
        add_silences(w, text);
    add_own_delays(w, text);
    add_recent(w, text);
    return g_string_free(text, FALSE);
}

/* A request that was not sent is none that the peer did not answer. */
static void count_requests(const struct peer_watch *w)
{
    unsigned sent = w->w.sent - w->unsent, missing = sent - w->w.answered,
             outages = w->outages +
                       (w->missing >= SILENT_AFTER ? w->missing - w->missing_unsent : 0);
    w->t->results->checked->requests = (struct checked_requests){.counted = true,
                                                                 .sent = sent,
                                                                 .first_try = w->w.answered,
                                                                 .never = missing,
                                                                 .packets = sent - outages,
                                                                 .lost = missing - outages};
}

/* ---- the cause */

/*
 * The first signal ended the requests. The look for the cause is short then, and a second signal
 * ends it. Returns false if there was one.
 */
static bool explain_after_signal(struct target *t)
{
    enum { SA_MS = 300 };
    struct run *r = t->run;
    int first = *r->stop;
    *r->stop = 0;
    r->stopped = false;
    sa_limit(r, SA_MS);
    g_free(why_no_reply(t, NULL)); /* the stage after it has the cause */
    sa_limit(r, 0);
    bool again = *r->stop != 0;
    *r->stop = again ? *r->stop : first;
    r->stopped = true;
    return !again;
}

static void explain_silence(struct target *t)
{
    if (!*t->run->stop)
        g_free(why_no_reply(t, NULL));
    else if (t->run->broken || !explain_after_signal(t))
        results_advise(t->results, "ipoib-probe --why %.*s", target_word(t), t->name);
}

/* A peer may reply although the SM died: new hosts and groups then wait. */
static void report_own_side(struct target *t)
{
    struct port_words w;
    char *own = target_ended(t) ? NULL : end_own_reason(t);
    if (own) {
        advice_name_port(t->link, &w);
        results_stage(t->results, "peer.end", OUTCOME_INCONCLUSIVE, "", "the peer replies, but %s",
                      own);
        results_advise(t->results, "ipoib-probe %s fabric", w.probe);
    }
    g_free(own);
}

/* Those that have ended. */
static void advise_on_silences(struct target *t)
{
    struct port_words w;
    advice_name_port(t->link, &w);
    results_advise(t->results,
                   "dmesg, here and on the peer: did a link or an interface go down? ibqueryerrors "
                   "%s: LinkDowned and errors of the links on the way",
                   w.diags);
}

void watch_end(struct peer_watch *w, unsigned at)
{
    struct target *t = w->t;
    bool silent = w->missing >= SILENT_AFTER || !w->w.answered;
    if (silent && w->last_reply)
        w->silent_us += g_get_monotonic_time() - w->last_reply;
    char *text = summary_text(w);
    t->results->checked->state = !silent         ? "reachable"
                                 : w->w.answered ? "no longer reachable"
                                                 : "not reachable";
    results_stage(t->results, "peer.watch",
                  watch_events(w) && w->w.answered ? OUTCOME_FAIL
                  : silent                         ? OUTCOME_INCONCLUSIVE
                                                   : OUTCOME_PASS,
                  "", "%s", text);
    if (!silent && w->w.changes[CHANGE_SILENT])
        advise_on_silences(w->t);
    count_requests(w);
    if (silent)
        explain_silence(t);
    else if (why_own_side(t) == OWN_SIDE_GOOD) {
        report_own_side(t);
        own_duplicate_report(t);
        ping_report(t);
    }
    if (w->w.answered) /* nobody there is no loss */
        end_report_loss(t, true);
    numbers_report(t, at);
    g_free(text);
}

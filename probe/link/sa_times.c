/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See sa_times.h. */
#include "probe/link/sa_times.h"

#include "probe/link/advice.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/times.h"

static void keep(struct target *t)
{
    const struct sa_cache *sa = &t->run->sa;
    t->results->checked->sa_times = results_times(&sa->times);
    t->results->checked->sa_unanswered = sa->unanswered;
    t->results->checked->sa_busy = sa->busy;
}

/* One value is shown once. Free with g_free(). */
static char *values_text(const struct latencies *times)
{
    return times->n == 1 ? g_strdup_printf("%.2f ms", (double)times->least / 1000)
                         : times_text(times);
}

static void add_busy(GString *text, const struct sa_cache *sa)
{
    if (sa->busy >= sa->times.n)
        g_string_append(text, sa->busy == 1 ? ", with status busy" : ", all with status busy");
    else
        g_string_append_printf(text, ", %" G_GUINT64_FORMAT " of them with status busy", sa->busy);
}

/*
 * "the SA: 12 answers in 0.20/0.31/0.90 ms, 2 of them with status busy"; free with g_free()
 */
static char *text_of(const struct sa_cache *sa)
{
    GString *text = g_string_new("the SA: ");
    char *times = values_text(&sa->times);
    if (sa->times.n)
        g_string_append_printf(text, "%" G_GUINT64_FORMAT " answer%s in %s", sa->times.n,
                               sa->times.n == 1 ? "" : "s", times);
    else
        g_string_append(text, "no answer");
    if (sa->busy)
        add_busy(text, sa);
    if (sa->unanswered)
        g_string_append_printf(text, "%s%" G_GUINT64_FORMAT " request%s%s",
                               sa->times.n ? ", " : " to ", sa->unanswered,
                               sa->unanswered == 1 ? "" : "s", sa->times.n ? " without one" : "");
    if (sa->slow[0] && !sa->slow_said)
        g_string_append_printf(text, "; %s", sa->slow);
    g_free(times);
    return g_string_free(text, FALSE);
}

static void advise_on_loss(struct target *t)
{
    struct port_words w;
    uint16_t lid = t->link->transport->facts.sm_lid;
    advice_name_port(t->link, &w);
    results_advise(t->results,
                   "perfquery %s; perfquery %s %u; ibqueryerrors %s: errors of the links to the "
                   "SM's host; its load, and the SM's log",
                   w.diags, w.diags, lid, w.diags);
}

void sa_times_report(struct target *t, const char *stage)
{
    const struct sa_cache *sa = &t->run->sa;
    if (!sa->times.n && !sa->unanswered && !sa->busy)
        return;
    keep(t);
    char *text = text_of(sa);
    bool lossy = sa->times.n && sa->lost && !sa->busy && !sa->slow[0];
    results_stage(t->results, stage, lossy ? OUTCOME_INCONCLUSIVE : OUTCOME_NOTED,
                  lossy                     ? "ibqueryerrors: errors of the links to the SM's host"
                  : sa->busy || sa->slow[0] ? "check the load of the SM's host, and its log"
                                            : "",
                  "%s%s", text,
                  lossy ? ": packets on the way to it, or back, are lost, or it hangs or has ended"
                        : "");
    if (lossy)
        advise_on_loss(t);
    g_free(text);
}

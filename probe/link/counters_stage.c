/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stage about the growth of this port's counters. See counters.h. */
#include "probe/link/counters_stage.h"

#include "probe/link/counters.h"
#include "probe/link/link.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

static void report_growth(struct target *t, const char *id, const struct counter_growth *g,
                          double seconds)
{
    bool grew = g->errors[0];
    results_stage(t->results, id,
                  g->fault ? OUTCOME_FAIL
                  : grew   ? OUTCOME_NOTED
                           : OUTCOME_PASS,
                  g->advice, "%s%s%s%s%s, in %.1f s",
                  grew ? g->errors : "no error counter of this port grew", g->other[0] ? "; " : "",
                  g->other, g->full[0] ? "; at its maximum, growth does not show: " : "", g->full,
                  seconds);
}

void counters_report(struct target *t, const char *id, const struct port_counters *before)
{
    struct port_counters after;
    counters_read(t->link, &after);
    if (!counters_are_known(before) || !counters_are_known(&after))
        return;
    struct counter_growth g = counters_compare(before, &after);
    if (g.errors[0] || counters_of_port_are_known(&after))
        report_growth(t, id, &g, (double)(after.read_at - before->read_at) / G_USEC_PER_SEC);
    else if (!counters_of_port_are_known(before)) /* else a signal ended the look */
        results_stage(t->results, id, VERDICT_SKIPPED, "",
                      "neither the kernel nor the port's agent shows its error counters");
    counters_growth_clear(&g);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The numbers of a port: the SA's response times, and the growth of its counters. */
#include "probe/fabric/stages.h"
#include "probe/link/counters_stage.h"
#include "probe/link/sa_times.h"

static bool stage_sa_times(struct target *t, const char *id)
{
    char *text = sa_times_text(t->run);
    const struct sa_cache *sa = &t->run->sa;
    sa_times_keep(t);
    if (text)
        results_stage(t->results, id, OUTCOME_NOTED,
                      sa->busy ? "check the load of the SM's host, and its log" : "", "%s", text);
    g_free(text);
    return true;
}

static bool stage_counters(struct target *t, const char *id)
{
    counters_report(t, id, &t->link->counters);
    return true;
}

static const struct stage_of_fabric stages[] = {
    {.id = "fabric.sa-times",
     .looks_at = "how long the SA takes to answer, and how often it is busy",
     .sends = "nothing more",
     .run = stage_sa_times,
     .at_end = true},
    {.id = "fabric.counters",
     .looks_at = "the port's error counters did not grow during the test",
     .sends = "nothing",
     .run = stage_counters,
     .at_end = true},
};
const struct stage_table number_stages = {stages, G_N_ELEMENTS(stages)};

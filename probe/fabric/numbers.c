/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The numbers of a port: the SA's response times, and the growth of its counters. */
#include "probe/fabric/stages.h"
#include "probe/link/counters_stage.h"
#include "probe/link/sa_times.h"

static bool stage_sa_times(struct target *t, const char *id)
{
    sa_times_report(t, id);
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

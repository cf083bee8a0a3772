/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests whether the SM refuses groups with other attributes than the broadcast group's. */
#include "probe/fabric/made_group.h"
#include "probe/fabric/stages.h"
#include "probe/link/groups.h"
#include "probe/link/sa.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/target.h"

/* What became of the groups with another attribute. */
struct variations {
    GString *refused, *accepted;
    char not_tried[VERDICT_TEXT]; /* why the last one was not tried; "": all were */
};

static void try_variation(struct target *t, const struct variation *variation, struct variations *v)
{
    uint16_t status;
    enum sa_result result = made_group_try(t, variation, &status);
    bool refused = group_join_is_refused(t, result);
    if (result == SA_SUCCESS || refused) {
        GString *list = refused ? v->refused : v->accepted;
        g_string_append_printf(list, "%s%s", list->len ? ", " : "", variation->name);
    } else
        g_snprintf(v->not_tried, sizeof v->not_tried, "; of the others it is not known: %s",
                   result == SA_REJECTED && !status ? "no free MGID was found"
                                                    : sa_failure_text(t, result, status));
}

static void report_variations(struct target *t, const char *id, const struct variations *v)
{
    results_stage(
        t->results, id, v->not_tried[0] ? OUTCOME_INCONCLUSIVE : OUTCOME_NOTED,
        v->accepted->len
            ? "a host with such a mistake creates a group that others cannot use: see fabric.census"
            : "",
        "another than the broadcast group's is refused: %s; accepted: %s%s",
        v->refused->len ? v->refused->str : "none", v->accepted->len ? v->accepted->str : "none",
        v->not_tried);
}

static void try_variations(struct target *t, const char *id)
{
    struct variations v = {.refused = g_string_new(NULL), .accepted = g_string_new(NULL)};
    t->about_fabric = false; /* violations of these groups are caused by the probe itself */
    for (unsigned i = 0; i < n_made_group_variations && !t->run->stopped; i++)
        try_variation(t, &made_group_variations[i], &v);
    t->about_fabric = true;
    report_variations(t, id, &v);
    g_string_free(v.refused, TRUE);
    g_string_free(v.accepted, TRUE);
}

static bool stage_group_attributes(struct target *t, const char *id)
{
    if (t->run->options->disruptive)
        try_variations(t, id);
    else
        results_stage(
            t->results, id, VERDICT_SKIPPED, "",
            "it creates wrong groups for a moment, and errors in the SM's log: only with --disruptive");
    return !t->run->stopped;
}

static const struct stage_of_fabric stages[] = {
    {.id = "fabric.group-attributes",
     .looks_at = "the SM refuses groups with other attributes than the broadcast group's",
     .sends = "with --disruptive: SA Set and Delete MCMemberRecord of such groups, one at a time",
     .run = stage_group_attributes,
     .of_subnet = true,
     .transport = CAN_QUERY_SA},
};
const struct stage_table group_attribute_stages = {stages, G_N_ELEMENTS(stages)};

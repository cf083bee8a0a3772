/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests whether this port has joined the groups that its host uses. */
#include <stdio.h>

#include "probe/fabric/stages.h"
#include "probe/link/groups.h"
#include "probe/link/hostif.h"
#include "probe/link/sa.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "probe/run/text.h"

/*
 * The groups that the host's interface uses. undisclosed: groups for which the SA did not disclose
 * this port's membership.
 */
struct wanted {
    unsigned n, undisclosed;
    GString *missing;
    enum sa_result last; /* the last such result, and its status */
    uint16_t status;
};

static void look_up(struct target *t, struct wanted *w, const uint8_t *mgid)
{
    struct member_state m;
    char name[48];
    enum sa_result result = group_member_state(t, mgid, &m);
    w->n++;
    if (result != SA_SUCCESS) {
        w->undisclosed++;
        w->last = result;
        w->status = m.status;
    } else if (!m.member) {
        text_ip(true, mgid, name);
        g_string_append_printf(w->missing, "%s%s", w->missing->len ? ", " : "", name);
    }
}

static void look_up_wanted(struct target *t, const char *interface, const char *text,
                           struct wanted *w)
{
    char **lines = g_strsplit(text, "\n", -1);
    uint8_t mgid[16];
    for (char **line = lines; *line && !target_ended(t); line++)
        if (host_wanted_group_read(*line, interface, mgid))
            look_up(t, w, mgid);
    g_strfreev(lines);
}

static void report_wanted(struct target *t, const char *id, const char *name,
                          const struct wanted *w)
{
    char undisclosed[300] = "";
    if (w->undisclosed)
        snprintf(undisclosed, sizeof undisclosed, "; of %u it is not known: %s", w->undisclosed,
                 sa_failure_text(t, w->last, w->status));
    if (w->missing->len) {
        results_stage(t->results, id, OUTCOME_FAIL, "",
                      "%s wants %u groups, and this port is not in %s%s", name, w->n,
                      w->missing->str, undisclosed);
        results_advise(
            t->results,
            "from a console: ip link set %s down; ip link set %s up; it joins them again; if it does "
            "not, see fabric.join and dmesg",
            name, name);
    } else if (w->undisclosed)
        results_stage(t->results, id, OUTCOME_INCONCLUSIVE, sa_failure_advice(w->last, w->status),
                      w->undisclosed < w->n ? "%s wants %u groups, and this port is in %u of them%s"
                                            : "%s wants %u groups, and this port is known to be in "
                                              "%u of them%s",
                      name, w->n, w->n - w->undisclosed, undisclosed);
    else
        results_stage(t->results, id, OUTCOME_PASS, "",
                      "%s wants %u groups, and this port is in all of them", name, w->n);
}

static bool stage_own_groups(struct target *t, const char *id)
{
    char *name = host_interface(t->link), *text = NULL;
    struct wanted w = {.missing = g_string_new(NULL)};
    if (!name)
        results_stage(t->results, id, VERDICT_SKIPPED, "", "no interface of this host is up there");
    else if (!g_file_get_contents(WANTED_GROUPS, &text, NULL, NULL))
        results_stage(t->results, id, OUTCOME_INCONCLUSIVE, "",
                      "the groups that %s needs are not known: " WANTED_GROUPS " cannot be read",
                      name);
    else {
        look_up_wanted(t, name, text, &w);
        report_wanted(t, id, name, &w);
    }
    g_string_free(w.missing, TRUE);
    g_free(text);
    g_free(name);
    return true;
}

static const struct stage_of_fabric stages[] = {
    {.id = "fabric.own-groups",
     .looks_at = "this port is a member of the groups that the host's interface needs",
     .sends = "SA Get MCMemberRecord of each",
     .run = stage_own_groups,
     .transport = CAN_QUERY_SA},
};
const struct stage_table wanted_group_stages = {stages, G_N_ELEMENTS(stages)};

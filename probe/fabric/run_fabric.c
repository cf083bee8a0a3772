/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fabric diagnosis, from the bottom up. See stages.h. */
#include "probe/fabric/stages.h"

#include <string.h>

#include "cli/plain.h"
#include "probe/link/groups.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/link/wirelog.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

static const struct stage_of_fabric device[] = {
    {.id = "fabric.device",
     .looks_at = "there is an InfiniBand device, and this user may open it",
     .sends = "nothing"},
};
static const struct stage_table device_stages = {device, G_N_ELEMENTS(device)};

static const struct stage_table *const tables[] = {
    &device_stages,          &port_stages,        &group_stages,
    &forwarding_stages,      &join_stages,        &host_stages,
    &wanted_group_stages,    &census_stages,      &own_group_stages,
    &group_attribute_stages, &own_address_stages, &neighbour_stages,
    &delivery_stages,        &number_stages,      &known_fault_stages,
};

const struct stage_of_fabric *fabric_stage_at(unsigned i)
{
    for (size_t k = 0; k < G_N_ELEMENTS(tables); k++) {
        if (i < tables[k]->n)
            return &tables[k]->stages[i];
        i -= tables[k]->n;
    }
    return NULL;
}

/* The remaining stages depend on the last one that ran. */
static void skip_from(struct target *t, unsigned first)
{
    struct checked *j = t->results->checked;
    const struct stage *last = j->stages->pdata[j->stages->len - 1];
    const struct stage_of_fabric *s;
    for (unsigned i = first; (s = fabric_stage_at(i)) && !s->at_end; i++)
        checked_add_stage_not_run(j, s->id, last);
}

static void report_device(struct target *t)
{
    const struct port_facts *f = &t->link->transport->facts;
    const struct choice *c = t->link->choice;
    results_stage(t->results, device[0].id, OUTCOME_PASS, "", "%s port %u, LID %u%s%s%s", f->device,
                  f->port, f->lid, c ? " (" : "", c ? c->why : "", c ? ")" : "");
}

static bool device_is_open(struct target *t, enum opening opening, const GError *why)
{
    if (opening == OPENED) {
        report_device(t);
        return true;
    }
    results_stage(
        t->results, device[0].id, OUTCOME_FAIL,
        opening == OPEN_NO_PRIVILEGE ? "run as root, or grant this user access to the device files"
        : opening == OPEN_NO_PORT    ? "ibstat -l; ibstat DEVICE: its ports; or leave -p out"
        : t->run->options->device
            ? "compare the name with: ibstat -l; ip -br link show type ipoib; if an adapter is "
              "missing: lspci; dmesg"
        : t->link->choice && t->link->choice->device[0]
            ? "ls -l /dev/infiniband; modprobe ib_uverbs; modprobe ib_umad"
            : "check lspci and dmesg for the adapter; load its driver, ib_uverbs and ib_umad",
        "%s", why->message);
    t->results->checked->trouble = plain_dup(why->message);
    return false;
}

/* ---- several ports of one subnet */

static const struct seen_subnet *find_subnet(const struct target *t)
{
    const GArray *all = t->run->subnets;
    for (guint i = 0; all && t->link->sm_guid && i < all->len; i++) {
        const struct seen_subnet *s = &g_array_index(all, struct seen_subnet, i);
        if (s->sm_guid == t->link->sm_guid &&
            memcmp(s->prefix, t->link->transport->facts.gid, sizeof s->prefix) == 0)
            return s;
    }
    return NULL;
}

/* All stages have run: the subnet's results are those of this target. */
static void remember_subnet(struct target *t)
{
    struct seen_subnet s = {.sm_guid = t->link->sm_guid};
    if (!t->run->subnets || !s.sm_guid || find_subnet(t))
        return;
    memcpy(s.prefix, t->link->transport->facts.gid, sizeof s.prefix);
    g_strlcpy(s.target, t->name, sizeof s.target);
    g_array_append_val(t->run->subnets, s);
}

static bool run_stage(struct target *t, const struct stage_of_fabric *s)
{
    const struct seen_subnet *seen = s->of_subnet ? find_subnet(t) : NULL;
    if (seen) {
        results_stage(t->results, s->id, VERDICT_SKIPPED, "",
                      "the same subnet as that of %s, which has the result", seen->target);
        return true;
    }
    if (!transport_can(t->link->transport, s->transport)) {
        checked_add_stage_without(t->results->checked, s->id, t->link->transport->ops->lacks);
        return true;
    }
    results_begin(t->results, s->id);
    wirelog_begin(t->log, s->id);
    bool passed = s->run(t, s->id);
    char *not_left = groups_take_not_left(t->link);
    if (not_left)
        results_withhold_stage(t->results, "%s", not_left);
    g_free(not_left);
    wirelog_end(t->log, passed ? "next stages run" : "last stage");
    return passed;
}

/* Something to be done about this host or the subnet, though nothing failed. */
static bool has_advised_note(const struct target *t)
{
    const GPtrArray *all = t->results->checked->stages;
    for (guint i = 0; i < all->len; i++) {
        const struct stage *s = all->pdata[i];
        if (s->outcome == OUTCOME_NOTED && s->advice[0] && strcmp(s->id, "fabric.delivery") != 0)
            return true; /* that one offers a test */
    }
    return false;
}

/* A word for an operator. whole: every stage has run. failed: the one that ended the diagnosis. */
static const char *state_of_link(const struct target *t, bool whole, bool failed)
{
    if (!whole && failed)
        return "not usable";
    if (!whole || t->results->checked->undone)
        return "not fully tested";
    if (t->run->options->stages && t->run->options->stages->len)
        return NULL;
    return checked_failed_stages(t->results->checked) ? "usable in part"
           : has_advised_note(t)                      ? "usable, but see the note"
                                                      : "usable";
}

static bool is_wanted(const struct options *o, const struct stage_of_fabric *s)
{
    bool wanted = probe_options_select_stage(o, s->id);
    for (unsigned i = 0; i < s->n_rules; i++)
        wanted |= o->selection.rule[s->rules[i]];
    return wanted;
}

/* The number of stages up to the last one that --only selects. */
static unsigned stages_to_run(const struct options *o)
{
    const struct stage_of_fabric *s;
    unsigned n = 1;
    for (unsigned i = 0; (s = fabric_stage_at(i)); i++)
        n = is_wanted(o, s) && !s->at_end ? i + 1 : n;
    return n;
}

static bool has_failed_last(const struct target *t)
{
    const GPtrArray *all = t->results->checked->stages;
    return ((const struct stage *)all->pdata[all->len - 1])->outcome == OUTCOME_FAIL;
}

static bool is_at_end(unsigned i)
{
    const struct stage_of_fabric *s = fabric_stage_at(i);
    return !s || s->at_end;
}

/* Without a device, these stages still see the host. */
static void run_at_end(struct target *t)
{
    const struct stage_of_fabric *s;
    for (unsigned i = 0; (s = fabric_stage_at(i)); i++)
        if (s->at_end && is_wanted(t->run->options, s) && !t->run->stopped) {
            if (t->link->transport)
                run_stage(t, s);
            else
                s->run(t, s->id);
        }
}

/* The stages have run, up to the one that ended the diagnosis. */
static void end_stages(struct target *t, unsigned ran, unsigned n)
{
    const struct stage_of_fabric *last = ran < n ? fabric_stage_at(ran) : NULL;
    bool failed = has_failed_last(t);
    if (is_at_end(ran))
        remember_subnet(t);
    else if (last && !t->run->stopped)
        skip_from(t, ran + 1);
    run_at_end(t);
    t->results->checked->state = state_of_link(t, !last, failed);
    results_keep_selected(t->results, t->run->options, last ? last->id : "");
}

/* Does a stage that was to run need the SA? */
static bool needs_sa(const struct target *t)
{
    const GPtrArray *selectors = t->run->options->stages;
    return !selectors || !selectors->len || t->results->checked->undone;
}

void fabric_run(struct target *t, enum opening opening, const GError *why)
{
    counters_read(t->link, &t->link->counters);
    if (!device_is_open(t, opening, why)) {
        end_stages(t, 0, 1);
        return;
    }
    t->about_fabric = true;
    wirelog_check(t->log, t->results->known, results_checked, t->results);
    unsigned i = 1, n = stages_to_run(t->run->options);
    while (i < n && !t->run->stopped && run_stage(t, fabric_stage_at(i)))
        i++;
    end_stages(t, i, n);
    if (t->run->broken)
        t->results->checked->trouble = plain_dup(t->link->transport->error);
    else if (!transport_can(t->link->transport, CAN_QUERY_SA) && needs_sa(t))
        t->results->checked->trouble = g_strdup_printf("the SA cannot be queried: %s",
                                                       t->link->transport->ops->lacks);
    wirelog_check(t->log, NULL, NULL, NULL);
    t->about_fabric = false;
}

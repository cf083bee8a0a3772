/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fabric diagnosis, from the bottom up. See stages.h. */
#include "probe/fabric/stages.h"

#include "cli/plain.h"
#include "probe/link/groups.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/link/wirelog.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

static const struct stage_of_fabric device[] = {
    {.id = "fabric.device",
     .looks_at = "there is an InfiniBand device, and this user may open it",
     .sends = "nothing"},
};
static const struct stage_table device_stages = {device, G_N_ELEMENTS(device)};

static const struct stage_table *const tables[] = {
    &device_stages,       &port_stages,      &group_stages,     &host_stages,
    &wanted_group_stages, &census_stages,    &own_group_stages, &group_attribute_stages,
    &own_address_stages,  &neighbour_stages,
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
    for (unsigned i = first; (s = fabric_stage_at(i)); i++)
        checked_add_stage_not_run(j, s->id, last);
}

static bool device_is_open(struct target *t, enum opening opening, const GError *why)
{
    if (opening == OPENED) {
        results_stage(t->results, device[0].id, OUTCOME_PASS, "", "%s port %u, LID %u",
                      t->link->transport->facts.device, t->link->transport->facts.port,
                      t->link->transport->facts.lid);
        return true;
    }
    results_stage(
        t->results, device[0].id, OUTCOME_FAIL,
        opening == OPEN_NO_PRIVILEGE
            ? "run as root, or grant this user access to the device files"
            : "check lspci and dmesg for the adapter; load its driver, ib_uverbs and ib_umad",
        "%s", why->message);
    t->results->checked->trouble = plain_dup(why->message);
    return false;
}

static bool run_stage(struct target *t, const struct stage_of_fabric *s)
{
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

void fabric_run(struct target *t, enum opening opening, const GError *why)
{
    if (!device_is_open(t, opening, why)) {
        skip_from(t, 1);
        return;
    }
    t->about_fabric = true;
    wirelog_check(t->log, t->results->known, results_checked, t->results);
    for (unsigned i = 1; fabric_stage_at(i) && !t->run->stopped; i++)
        if (!run_stage(t, fabric_stage_at(i))) {
            skip_from(t, i + 1);
            break;
        }
    if (t->run->broken)
        t->results->checked->trouble = plain_dup(t->link->transport->error);
    else if (!transport_can(t->link->transport, CAN_QUERY_SA))
        t->results->checked->trouble = g_strdup_printf("the SA cannot be queried: %s",
                                                       t->link->transport->ops->lacks);
    wirelog_check(t->log, NULL, NULL, NULL);
    t->about_fabric = false;
}

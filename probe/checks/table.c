/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of checks, in the order in which they run and are listed. */
#include "probe/checks/checks.h"

static const struct check_table *const tables[] = {
    &multicast_checks,      &membership_checks,    &resolution_checks,
    &solicitation_checks,   &path_checks,          &key_checks,
    &reply_to_ud_checks,    &connection_checks,    &connection_resolution_checks,
    &connection_end_checks, &connection_ip_checks, &connection_mtu_checks,
    &echo_checks,           &rdma_cm_checks,
};

const struct check *check_at(unsigned i)
{
    for (size_t k = 0; k < G_N_ELEMENTS(tables); k++) {
        if (i < tables[k]->n)
            return &tables[k]->checks[i];
        i -= tables[k]->n;
    }
    return NULL;
}

bool check_selected(const struct check *c, const struct options *o)
{
    if (o->stages && o->stages->len && c->stage && probe_options_select_stage(o, c->stage))
        return true;
    if (!c->n_rules)
        return !o->only || !o->only->len || !o->only->pdata[0]; /* NULL at the end */
    for (unsigned i = 0; i < c->n_rules; i++)
        if (o->selection.rule[c->rules[i]])
            return true;
    return false;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stages of the target "fabric", from the bottom up: the first failed stage explains why the
 * later ones cannot work. Each file has a table of its stages; run_fabric.c lists the tables.
 */
#ifndef IPOIB_PROBE_STAGES_H
#define IPOIB_PROBE_STAGES_H

#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

struct stage_of_fabric {
    const char *id;
    const char *looks_at, *sends;
    bool (*run)(struct target *t, const char *id); /* false: the later stages cannot work */
    bool of_subnet;     /* its result is that of the subnet: once for all ports in it */
    bool at_end;        /* it runs last, whatever the others found */
    unsigned transport; /* required capabilities of the transport */
    enum rule_number rules[5];
    unsigned n_rules; /* rules that it reports, in addition to findings in packets */
};

struct stage_table {
    const struct stage_of_fabric *stages;
    unsigned n;
};

extern const struct stage_table port_stages, group_stages, host_stages, wanted_group_stages,
    census_stages, own_group_stages, group_attribute_stages, own_address_stages, neighbour_stages,
    delivery_stages, number_stages, known_fault_stages, forwarding_stages, join_stages;

/* The stage fabric.sm, of port_stages. */
bool stage_sm_run(struct target *t, const char *id);

/* The stages of all tables, in order; NULL after the last one. */
const struct stage_of_fabric *fabric_stage_at(unsigned i);

/* Runs the stages. opening, why: the result of opening the device. */
void fabric_run(struct target *t, enum opening opening, const GError *why);

#endif

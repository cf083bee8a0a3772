/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stages of the target "fabric", from the bottom up: the first that fails is why the ones above
 * cannot work.
 */
#ifndef IPOIB_PROBE_STAGES_H
#define IPOIB_PROBE_STAGES_H

#include "probe/groups.h"
#include "probe/hostif.h"
#include "probe/question.h"

struct stage_of_fabric {
    const char *id;
    const char *looks_at, *sends;
    /* false: what stands above it has nothing to stand on */
    bool (*run)(struct target *t, const char *id);
    bool of_host; /* what a network interface shows too, without the SA */
    enum rule_number rules[5];
    unsigned n_rules; /* that it tells of, beside what the judge of packets finds */
};

/* The fabric from the bottom up (probe/run_fabric.c). */
void run_fabric(struct target *t, enum opening opening, const char *why);

extern const struct stage_of_fabric stages[];
extern const unsigned n_stages;

/* probe/stage_port.c */
bool stage_port_state(struct target *t, const char *id);
bool stage_sm(struct target *t, const char *id);
bool stage_pkey(struct target *t, const char *id);
bool stage_pkey_twins(struct target *t, const char *id);

/* probe/stage_group.c */
bool stage_broadcast_group(struct target *t, const char *id);
bool stage_group_mtu(struct target *t, const char *id);
bool stage_group_rate(struct target *t, const char *id);
bool stage_join(struct target *t, const char *id);
bool stage_send_only_join(struct target *t, const char *id);

/* probe/stage_host.c */
bool stage_interface(struct target *t, const char *id);
bool stage_mode(struct target *t, const char *id);
bool stage_own_flux(struct target *t, const char *id);

/* probe/stage_neighbours.c */
bool stage_neighbours(struct target *t, const char *id);

/* probe/stage_own_group.c */
bool stage_own_group(struct target *t, const char *id);
bool stage_group_attributes(struct target *t, const char *id);

/* probe/stage_census.c */
bool stage_census(struct target *t, const char *id);
bool stage_own_groups(struct target *t, const char *id);

#endif

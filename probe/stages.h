/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stages of the target "fabric", from the bottom up: the first that fails is why the ones above
 * cannot work.
 */
#ifndef IPOIB_PROBE_STAGES_H
#define IPOIB_PROBE_STAGES_H

#include "probe/probe.h"

struct stage_of_fabric {
    const char *id;
    const char *looks_at, *sends;
    /* false: what stands above it has nothing to stand on */
    bool (*run)(struct probe *p, const char *id);
    bool of_host; /* what a network interface shows too, without the SA */
    enum rule_number rules[5];
    unsigned n_rules; /* that it tells of, beside what the judge of packets finds */
};

extern const struct stage_of_fabric stages[];
extern const unsigned n_stages;

/* probe/stage_port.c */
bool stage_port_state(struct probe *p, const char *id);
bool stage_sm(struct probe *p, const char *id);
bool stage_pkey(struct probe *p, const char *id);
bool stage_pkey_twins(struct probe *p, const char *id);

/* probe/stage_group.c */
bool stage_broadcast_group(struct probe *p, const char *id);
bool stage_group_mtu(struct probe *p, const char *id);
bool stage_group_rate(struct probe *p, const char *id);
bool stage_join(struct probe *p, const char *id);
bool stage_send_only_join(struct probe *p, const char *id);

/* probe/stage_host.c */
bool stage_interface(struct probe *p, const char *id);
bool stage_mode(struct probe *p, const char *id);
bool stage_own_flux(struct probe *p, const char *id);

/* probe/stage_neighbours.c */
bool stage_neighbours(struct probe *p, const char *id);

/* probe/stage_own_group.c */
bool stage_own_group(struct probe *p, const char *id);
bool stage_group_attributes(struct probe *p, const char *id);

/* probe/stage_census.c */
bool stage_census(struct probe *p, const char *id);
bool stage_own_groups(struct probe *p, const char *id);

#endif

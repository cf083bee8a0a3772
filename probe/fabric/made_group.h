/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Multicast groups that the probe creates temporarily to test the SM: IPoIB groups that no host
 * uses.
 */
#ifndef IPOIB_PROBE_MADE_GROUP_H
#define IPOIB_PROBE_MADE_GROUP_H

#include "hca/mcgroup.h"
#include "probe/link/groups.h"
#include "probe/run/run.h"
#include "probe/run/target.h"

/*
 * Finds the MGID of an unused IPv4 group on this link. SA_REJECTED: none was found (*status is 0),
 * or the SA does not say whether a group exists (its status); otherwise the SA's failure.
 */
enum sa_result made_group_mgid(struct target *t, uint8_t mgid[16], uint16_t *status);

/* A change of one attribute: its name and the function that makes it. */
struct variation {
    const char *name;
    void (*change)(struct mc_group *g, uint8_t *mgid);
};
extern const struct variation made_group_variations[];
extern const unsigned n_made_group_variations;

/*
 * Creates a group with the broadcast group's attributes, changed by the variation (NULL:
 * unchanged), and leaves it. SA_REJECTED: group_join_is_refused() says whether the SA refused the
 * group; otherwise no group was tried, for the reason of made_group_mgid().
 */
enum sa_result made_group_try(struct target *t, const struct variation *v, uint16_t *status);
/* The same with the minimum MTU, the minimum rate, or both. */
enum sa_result made_group_try_least(struct target *t, bool mtu, bool rate, uint16_t *status);

#endif

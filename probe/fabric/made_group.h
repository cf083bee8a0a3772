/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Multicast groups of the probe's own: IPoIB groups that nobody wants, made for a moment to see
 * what the SM does.
 */
#ifndef IPOIB_PROBE_OWN_GROUP_H
#define IPOIB_PROBE_OWN_GROUP_H

#include "hca/mcgroup.h"
#include "probe/link/groups.h"
#include "probe/run/run.h"
#include "probe/run/target.h"

/*
 * The MGID of an IPv4 group on this link that nobody has. SA_REFUSED: none was found; else why the
 * SA did not tell.
 */
enum sa_result own_group_mgid(struct target *t, uint8_t mgid[16]);

/* One attribute changed: in its words, and how. */
struct variation {
    const char *name;
    void (*change)(struct mc_group *g, uint8_t *mgid);
};
extern const struct variation group_variations[];
extern const unsigned n_group_variations;

/*
 * Makes it with the broadcast group's attributes, changed so (NULL: not); leaves it again. *status:
 * the SA's, refused.
 */
enum sa_result own_group_try(struct target *t, const struct variation *v, uint16_t *status);
/* The same with the MTU, the rate, or both, of the least. */
enum sa_result own_group_try_least(struct target *t, bool mtu, bool rate, uint16_t *status);

#endif

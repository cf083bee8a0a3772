/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Multicast groups at the SA, and this port's memberships. */
#ifndef IPOIB_PROBE_GROUPS_H
#define IPOIB_PROBE_GROUPS_H

#include "hca/mcgroup.h"
#include "probe/link/link.h"
#include "probe/link/sa.h"
#include "probe/run/run.h"
#include "probe/run/target.h"

/* The group's record; status: the SA's word where it refused. */
enum sa_result group_get(struct target *t, const uint8_t *mgid, struct mc_group *g,
                         uint16_t *status);
/* So answered, the SA says that there is no such group. */
bool group_is_missing(enum sa_result result, uint16_t status);
/*
 * A port's JoinState in the group: SA_TOLD with *known false where it is a member, but the SA does
 * not tell how.
 */
enum sa_result group_standing_of(struct target *t, const uint8_t *mgid, const uint8_t *port_gid,
                                 uint8_t *join_state, bool *member, bool *known);
/* This port's. */
enum sa_result group_standing(struct target *t, const uint8_t *mgid, uint8_t *join_state,
                              bool *member, bool *known);
/*
 * This port becomes a member with that JoinState, unless it is already; what was added is taken
 * back by groups_leave(). An MGID without a group: with create true it is made with the broadcast
 * group's attributes.
 */
enum sa_result group_join(struct target *t, const uint8_t *mgid, uint8_t join_state, bool create,
                          struct mc_group *g, uint16_t *status);
/* The same; the group is made like that one. NULL: it has to be there. */
enum sa_result group_join_as(struct target *t, const uint8_t *mgid, uint8_t join_state,
                             const struct mc_group *made, struct mc_group *g, uint16_t *status);
/* Takes back all that was added, whatever signal comes. */
void groups_leave(struct target *t);
/* How many memberships are to be taken back. */
unsigned groups_joined(const struct probe_link *l);
/*
 * Takes back what was added there with that JoinState. False: the SA did not say that it is left.
 */
bool group_leave(struct target *t, const uint8_t *mgid, uint8_t join_state);
/* The lists of what was joined and attached, before all else and behind it. */
void groups_open(struct probe_link *l);
void groups_close(struct probe_link *l);

/* Receives what is sent to the group from now on, of which this port is a member. */
bool group_attach(struct target *t, const struct mc_group *g);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Multicast groups at the SA, and this port's memberships. */
#ifndef IPOIB_PROBE_GROUPS_H
#define IPOIB_PROBE_GROUPS_H

#include "hca/mcgroup.h"
#include "probe/link/link.h"
#include "probe/link/sa.h"
#include "probe/run/run.h"
#include "probe/run/target.h"

/* Reads the group's record. status: the SA's status if it refused. */
enum sa_result group_get(struct target *t, const uint8_t *mgid, struct mc_group *g,
                         uint16_t *status);
/* True if this response of the SA means that the group does not exist. */
bool group_is_missing(enum sa_result result, uint16_t status);
/* A port's membership of a group. member without known: the SA hides the JoinState. */
struct member_state {
    bool member, known;
    uint8_t join_state;
    uint16_t status; /* the SA's status if it refused */
};
enum sa_result group_member_state_of(struct target *t, const uint8_t *mgid, const uint8_t *port_gid,
                                     struct member_state *m);
/* The same for this port. */
enum sa_result group_member_state(struct target *t, const uint8_t *mgid, struct member_state *m);
/*
 * The number of the group's receivers (JoinState FullMember, IBA 15.2.5.17) beside this port, and
 * the port GID of the last one: hosts that only send to it are members too. -1: the SA does not
 * disclose members.
 */
int group_other_receivers(struct target *t, const uint8_t *mgid, uint8_t port_gid[GID_SIZE]);
/*
 * Joins this port to the group with that JoinState, unless it already has it. groups_leave()
 * removes what was added. With create, a missing group is created with the broadcast group's
 * attributes.
 */
enum sa_result group_join(struct target *t, const uint8_t *mgid, uint8_t join_state, bool create,
                          struct mc_group *g, uint16_t *status);
/*
 * The same, but a missing group is created with the attributes of made. NULL: the group must exist.
 */
enum sa_result group_join_as(struct target *t, const uint8_t *mgid, uint8_t join_state,
                             const struct mc_group *made, struct mc_group *g, uint16_t *status);
/*
 * True if the SA refused a join with this result. False: there was no join, because the SA refused
 * or did not answer a Get that precedes it, or it did not answer the join.
 */
bool group_join_is_refused(const struct target *t, enum sa_result result);
/* Removes all added memberships, even after a signal. */
void groups_leave(struct target *t);
/*
 * Describes the memberships that were to be removed since the last call and were not, because the
 * SA refused or did not answer. Free it with g_free(). NULL: there are none.
 */
char *groups_take_not_left(struct probe_link *l);
/* Number of memberships that still have to be removed. */
unsigned groups_joined(const struct probe_link *l);
/*
 * Removes the membership that was added with that JoinState. Returns false if the SA did not
 * confirm it.
 */
bool group_leave(struct target *t, const uint8_t *mgid, uint8_t join_state);
/*
 * Create and free the lists of memberships and attached groups. Call groups_open() first and
 * groups_close() last.
 */
void groups_open(struct probe_link *l);
void groups_close(struct probe_link *l);

/*
 * Attaches the queue pair to the group, which this port has joined, so that its packets are
 * received.
 */
bool group_attach(struct target *t, const struct mc_group *g);

#endif

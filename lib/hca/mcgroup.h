/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Multicast groups in the subnet administrator's records (MCMemberRecord, IBA 15.2.5.17). */
#ifndef IPOIB_HCA_MCGROUP_H
#define IPOIB_HCA_MCGROUP_H

#include "hca/client.h"

/* A group, as the SA tells it. Codes of the IBA where no unit is told. */
struct mc_group {
    uint8_t mgid[GID_SIZE];
    uint16_t mlid, pkey;
    uint32_t qkey, flow_label;
    uint8_t mtu, rate, sl, tclass, hop_limit, scope, life;
};

/* For a GHashTable of groups by their MGIDs. */
unsigned mgid_hash(const void *mgid);
int mgid_equal(const void *a, const void *b);

/* record: MCM_SIZE octets. */
struct mc_group mc_group_read(const uint8_t *record);

/* The question about one group. */
struct sa_question mc_ask_group(const uint8_t *mgid);

/* The question about a port's membership of it. */
struct sa_question mc_ask_member(const uint8_t *mgid, const uint8_t *port_gid);

/*
 * The question about all groups of a port: those that it is a member of, or, join_state not 0, is
 * so in exactly this way.
 */
struct sa_question mc_ask_own(const uint8_t *port_gid, uint8_t join_state);

/*
 * To join or leave (method SA_SET, SA_DELETE), with these bits of JoinState. A port is to name its
 * own GID alone: OpenSM would take another's.
 */
struct sa_question mc_ask_state(uint8_t method, const uint8_t *mgid, const uint8_t *port_gid,
                                uint8_t join_state);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Multicast groups in SA records (MCMemberRecord, IBA 15.2.5.17). */
#ifndef IPOIB_HCA_MCGROUP_H
#define IPOIB_HCA_MCGROUP_H

#include "hca/client.h"

/* A group as the SA reports it; field values are IBA codes. */
struct mc_group {
    uint8_t mgid[GID_SIZE];
    uint16_t mlid, pkey;
    uint32_t qkey, flow_label;
    uint8_t mtu, rate, sl, tclass, hop_limit, scope, life;
};

/* Equality of MGIDs, for a GHashTable of groups; their hash is hash_gid() (model/hash.h). */
int mgid_equal(const void *a, const void *b);

/* Parses an MCMemberRecord of MCM_SIZE bytes. */
struct mc_group mc_group_read(const uint8_t *record);

/* Request (SA_GET) for the record of one group. */
struct sa_query mc_query_group(const uint8_t *mgid);

/* Request (SA_GET) for a port's membership of a group. */
struct sa_query mc_query_member(const uint8_t *mgid, const uint8_t *port_gid);

/*
 * Request (SA_GET_TABLE) for the groups of which a port is a member; if join_state is not 0, only
 * those with exactly this JoinState.
 */
struct sa_query mc_query_own(const uint8_t *port_gid, uint8_t join_state);

/*
 * Request to join (SA_SET) or leave (SA_DELETE) a group with these bits of JoinState. Use only the
 * port's own GID: OpenSM accepts another port's GID too.
 */
struct sa_query mc_query_state(uint8_t method, const uint8_t *mgid, const uint8_t *port_gid,
                               uint8_t join_state);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Multicast groups in SA records. See mcgroup.h. */
#include "hca/mcgroup.h"

#include <string.h>

int mgid_equal(const void *a, const void *b)
{
    return memcmp(a, b, GID_SIZE) == 0;
}

struct mc_group mc_group_read(const uint8_t *record)
{
    struct mc_member m = mc_member_read(record);
    struct mc_group g = {.mlid = m.mlid,
                         .pkey = m.pkey,
                         .qkey = m.qkey,
                         .flow_label = m.flow_label,
                         .mtu = m.mtu,
                         .rate = m.rate,
                         .sl = m.sl,
                         .tclass = m.tclass,
                         .hop_limit = m.hop_limit,
                         .scope = m.scope,
                         .life = m.life};
    memcpy(g.mgid, m.mgid, GID_SIZE);
    return g;
}

struct sa_query mc_query_group(const uint8_t *mgid)
{
    struct sa_query q = {.method = SA_GET, .attribute = SA_MC_MEMBER_RECORD, .mask = MCM_HAS_MGID};
    memcpy(q.record + MCM_MGID, mgid, GID_SIZE);
    return q;
}

struct sa_query mc_query_member(const uint8_t *mgid, const uint8_t *port_gid)
{
    struct sa_query q = mc_query_group(mgid);
    q.mask |= MCM_HAS_PORT_GID;
    memcpy(q.record + MCM_PORT_GID, port_gid, GID_SIZE);
    return q;
}

struct sa_query mc_query_own(const uint8_t *port_gid, uint8_t join_state)
{
    struct sa_query q = {
        .method = SA_GET_TABLE, .attribute = SA_MC_MEMBER_RECORD, .mask = MCM_HAS_PORT_GID};
    memcpy(q.record + MCM_PORT_GID, port_gid, GID_SIZE);
    if (join_state) {
        q.mask |= MCM_HAS_JOIN_STATE;
        q.record[MCM_SCOPE_JOIN] = join_state;
    }
    return q;
}

struct sa_query mc_query_state(uint8_t method, const uint8_t *mgid, const uint8_t *port_gid,
                               uint8_t join_state)
{
    struct sa_query q = mc_query_member(mgid, port_gid);
    q.method = method;
    q.mask |= MCM_HAS_JOIN_STATE;
    q.record[MCM_SCOPE_JOIN] = join_state;
    return q;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Multicast groups that the probe creates temporarily. See made_group.h. */
#include "probe/fabric/made_group.h"

#include <string.h>

#include "hca/mcgroup.h"
#include "probe/link/groups.h"
#include "probe/link/link.h"
#include "probe/link/message.h"
#include "probe/link/transport.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "wire/mgid.h"
#include "wire/put.h"

enum { TRIED = 8 };
/* 256 and 512 bytes, 2.5 Gb/s (IBA 15.2.5.17) */
enum { MTU_LEAST = 1, MTU_OTHER = 2, RATE_LEAST = 2 };

/*
 * The group is in 239.192.0.0/14, the organization-local scope of RFC 2365, and derived from this
 * port's GUID.
 */
enum sa_result made_group_mgid(struct target *t, uint8_t mgid[16], uint16_t *status)
{
    struct mc_group g;
    uint32_t seed = be32(t->link->transport->facts.gid + 12) * 2654435761u;
    for (unsigned i = 0; i < TRIED; i++) {
        message_broadcast_mgid(mgid, t->link->group.scope, t->link->pkey);
        put32(mgid + MGID_GROUP_IPV4, 0x0fc00000u | ((seed + i) & 0x3ffff));
        enum sa_result result = group_get(t, mgid, &g, status);
        if (group_is_missing(result, *status))
            return SA_SUCCESS;
        if (result != SA_SUCCESS)
            return result;
    }
    *status = 0;
    return SA_REJECTED;
}

/* NOLINTBEGIN(readability-non-const-parameter): all have one type */
static void change_pkey(struct mc_group *g, uint8_t *mgid)
{
    (void)mgid;
    g->pkey ^= 0x7ffe;
}
static void change_mgid_pkey(struct mc_group *g, uint8_t *mgid)
{
    (void)g;
    mgid[MGID_PKEY + 1] ^= 1;
}
static void change_qkey(struct mc_group *g, uint8_t *mgid)
{
    (void)mgid;
    g->qkey ^= 1;
}
static void change_sl(struct mc_group *g, uint8_t *mgid)
{
    (void)mgid;
    g->sl ^= 1;
}
static void change_mtu(struct mc_group *g, uint8_t *mgid)
{
    (void)mgid;
    g->mtu = g->mtu == MTU_LEAST ? MTU_OTHER : MTU_LEAST;
}
static void change_hop_limit(struct mc_group *g, uint8_t *mgid)
{
    (void)mgid;
    g->hop_limit ^= 1;
}
static void change_scope(struct mc_group *g, uint8_t *mgid)
{
    (void)g;
    mgid[MGID_FLAGS_SCOPE] ^= 0x07; /* 2 (link-local) becomes 5 (site-local) */
}
static void change_rate(struct mc_group *g, uint8_t *mgid)
{
    (void)mgid;
    g->rate = g->rate == RATE_LEAST ? RATE_LEAST + 1 : RATE_LEAST;
}
static void change_tclass(struct mc_group *g, uint8_t *mgid)
{
    (void)mgid;
    g->tclass ^= 0x20;
}
static void change_flow_label(struct mc_group *g, uint8_t *mgid)
{
    (void)mgid;
    g->flow_label ^= 1;
}
/* NOLINTEND(readability-non-const-parameter) */

/*
 * First the attributes that must equal the broadcast group's (RFC 4391 §10; scope: §4), then those
 * that should.
 */
const struct variation made_group_variations[] = {
    {"P_Key", change_pkey},    {"P_Key in the MGID", change_mgid_pkey},
    {"Q_Key", change_qkey},    {"SL", change_sl},
    {"MTU", change_mtu},       {"hop limit", change_hop_limit},
    {"scope", change_scope},   {"rate", change_rate},
    {"TClass", change_tclass}, {"flow label", change_flow_label},
};
const unsigned n_made_group_variations = G_N_ELEMENTS(made_group_variations);

static enum sa_result make_group(struct target *t, const uint8_t *mgid, const struct mc_group *like,
                                 uint16_t *status)
{
    struct mc_group g;
    enum sa_result result = group_join_as(t, mgid, JOIN_FULL, like, &g, status);
    group_leave(t, mgid, JOIN_FULL);
    return result;
}

enum sa_result made_group_try(struct target *t, const struct variation *v, uint16_t *status)
{
    struct mc_group like = t->link->group;
    uint8_t mgid[16];
    enum sa_result found = made_group_mgid(t, mgid, status);
    if (found != SA_SUCCESS)
        return found;
    if (v)
        v->change(&like, mgid);
    return make_group(t, mgid, &like, status);
}

enum sa_result made_group_try_least(struct target *t, bool mtu, bool rate, uint16_t *status)
{
    struct mc_group like = t->link->group;
    uint8_t mgid[16];
    like.mtu = mtu ? MTU_LEAST : like.mtu;
    like.rate = rate ? RATE_LEAST : like.rate;
    enum sa_result found = made_group_mgid(t, mgid, status);
    return found == SA_SUCCESS ? make_group(t, mgid, &like, status) : found;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets the station up on the link: queue pair, addresses, groups. See deviant.h. */
#include "tests/probe/deviant/deviant.h"

#include <string.h>

#include "cli/fail.h"
#include "probe/link/message.h"
#include "wire/put.h"
#include "probe/link/groups.h"
#include "probe/link/link.h"
#include "probe/link/sa.h"
#include "probe/link/transport.h"
#include "probe/run/run.h"

/* ---- its addresses */

/*
 * GUIDInfoRecord (IBA 15.2.5.18): LID, block, reserved, then eight GUIDs; the mask's bits are in
 * that order. With a GUID of 0, the SM chooses one.
 */
static bool request_alias(struct deviant *d, uint8_t guid[8])
{
    enum {
        SA_GUID_INFO_RECORD = 0x0030,
        LID = 1 << 0,
        BLOCK = 1 << 1,
        SECOND_GUID = 1 << 5,
        GUIDS = 8
    };
    struct sa_query q = {
        .method = SA_SET, .attribute = SA_GUID_INFO_RECORD, .mask = LID | BLOCK | SECOND_GUID};
    struct sa_response a;
    put16(q.record, d->link.transport->facts.lid);
    bool received = sa_query_send(&d->target, &q, &a) == SA_SUCCESS && a.records->len >= GUIDS + 16;
    if (received)
        memcpy(guid, a.records->data + GUIDS + 8, 8);
    sa_response_clear(&a);
    return received && be64(guid) != 0;
}

static bool choose_gid(struct deviant *d, uint8_t *gid)
{
    memcpy(gid, d->link.transport->facts.gid, 16);
    if (d->fault == FAULT_GID_OF_NO_PORT)
        put32(gid + 8, 0x00112233);
    if (d->fault == FAULT_GID_OF_OTHER)
        put64(gid + 8, 0x0011750000000100); /* the testbed's first port */
    return d->fault != FAULT_GID_ALIAS || request_alias(d, gid + 8);
}

static uint8_t choose_flags(enum fault_number f)
{
    switch (f) {
    case FAULT_FLAGS_SENT:
        return 0x01;
    case FAULT_FLAGS_SENT_RC:
        return LLADDR_FLAG_RC | 0x01;
    case FAULT_CONNECTED:
    case FAULT_FLAGS_MINDED_RC:
    case FAULT_ARP_TO_SENDER_RC:
    case FAULT_UNICAST_DEAF:
        return LLADDR_FLAG_RC;
    default:
        return 0;
    }
}

/* RFC 4391 §8 */
static void choose_link_local(struct deviant *d)
{
    message_link_local(d->ip6, d->link.transport->facts.gid + 8);
    if (d->fault == FAULT_LINK_LOCAL_U)
        d->ip6[8] ^= 0x02;
    if (d->fault == FAULT_LINK_LOCAL_FORM)
        d->ip6[3] = 0x01;
}

static bool choose_addresses(struct deviant *d)
{
    d->lladdr[LLADDR_FLAGS] = choose_flags(d->fault);
    put24(d->lladdr + LLADDR_QPN, d->link.transport->qpn);
    choose_link_local(d);
    return choose_gid(d, d->lladdr + LLADDR_GID);
}

/* ---- its groups */

bool join_ipv6(struct deviant *d, const uint8_t *ip, uint8_t join_state, struct mc_group *g)
{
    uint8_t mgid[16];
    uint16_t status;
    message_ipv6_mgid(mgid, d->link.group.scope, d->link.pkey, ip);
    return group_join(&d->target, mgid, join_state, true, g, &status) == SA_SUCCESS;
}

static uint8_t broadcast_state(enum fault_number f)
{
    return f == FAULT_JOIN_NON         ? JOIN_NON
           : f == FAULT_JOIN_SEND_ONLY ? JOIN_SEND_ONLY_NON
                                       : JOIN_FULL;
}

static bool join_groups(struct deviant *d)
{
    static const uint8_t all_nodes[16] = {0xff, 0x02, [15] = 1};
    uint8_t own[16];
    struct mc_group g;
    uint16_t status;
    if (d->fault != FAULT_JOIN_NONE &&
        group_join(&d->target, d->link.group.mgid, broadcast_state(d->fault), false, &g, &status) !=
            SA_SUCCESS)
        return false;
    if (!group_attach(&d->target, &d->link.group))
        return false;
    message_solicited_node(own, d->ip6);
    return join_ipv6(d, all_nodes, JOIN_FULL, &d->all_nodes) &&
           group_attach(&d->target, &d->all_nodes) && join_ipv6(d, own, JOIN_FULL, &g) &&
           group_attach(&d->target, &g);
}

static bool open_queue_pairs(struct deviant *d)
{
    struct transport *t = d->link.transport;
    if (t->ops->open_qp(t, d->link.pkey_index, d->link.group.qkey) != TRANSPORT_OK)
        return false;
    return !d->other ||
           d->other->ops->open_qp(d->other, d->link.pkey_index, d->link.group.qkey) == TRANSPORT_OK;
}

bool station_open(struct deviant *d, GError **error)
{
    if (!link_find_pkey(&d->target, error) ||
        link_find_broadcast(&d->target, error).result != SA_SUCCESS)
        return false;
    if (!open_queue_pairs(d))
        return fail_with(error, "%s", d->link.transport->error);
    link_find_sm_key(&d->target);
    if (!choose_addresses(d))
        return fail_with(error, "the subnet administrator gives no alias GUID");
    if (!join_groups(d))
        return fail_with(error, "a group cannot be joined");
    return make_groups(d, error);
}

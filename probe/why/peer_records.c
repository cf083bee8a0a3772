/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the SA knows about the port of a known link-layer address. */
#include <string.h>

#include "hca/records.h"
#include "probe/exchange/records.h"
#include "probe/link/groups.h"
#include "probe/link/link.h"
#include "probe/link/message.h"
#include "wire/port_records.h"
#include "probe/link/sa.h"
#include "probe/why/diagnosis.h"
#include "wire/put.h"

/* any_partition: without a P_Key in the request. */
static bool get_path(struct diagnosis *d, bool any_partition, bool *refused)
{
    struct sa_query q = {.method = SA_GET,
                         .attribute = SA_PATH_RECORD,
                         .mask = PATH_HAS_DGID | PATH_HAS_SGID | PATH_HAS_NUMB |
                                 (any_partition ? 0 : PATH_HAS_PKEY)};
    struct sa_response a;
    enum { ONE_PATH = 0x81 };
    memcpy(q.record + PATH_DGID, d->at.lladdr + LLADDR_GID, 16);
    memcpy(q.record + PATH_SGID, d->t->link->transport->facts.gid, 16);
    q.record[PATH_NUMB] = ONE_PATH;
    put16(q.record + PATH_PKEY, d->t->link->pkey);
    enum sa_result result = sa_query_send(d->t, &q, &a);
    if (result == SA_SUCCESS) {
        d->at.lid = be16(a.records->data + PATH_DLID);
        d->pkey = be16(a.records->data + PATH_PKEY);
        d->at.sl = be16(a.records->data + PATH_SL) & 0xf;
    }
    *refused = result == SA_REJECTED;
    sa_response_clear(&a);
    return result == SA_SUCCESS;
}

static void ask_paths(struct diagnosis *d)
{
    bool refused, refused_all = false;
    d->path = get_path(d, false, &refused);
    if (d->path || !refused)
        return;
    d->other = get_path(d, true, &refused_all) && ((d->pkey ^ d->t->link->pkey) & 0x7fff);
    d->unknown_port = refused_all;
}

/* Is the port a full member? known: the SA says so. */
static bool is_member(struct diagnosis *d, const uint8_t *mgid, bool *known)
{
    struct member_state m;
    enum sa_result result = group_member_state_of(d->t, mgid, d->at.lladdr + LLADDR_GID, &m);
    *known = d->t->link->sm_key && result == SA_SUCCESS && (m.known || !m.member);
    return m.member && (m.join_state & JOIN_FULL);
}

static void ask_membership(struct diagnosis *d)
{
    uint8_t group[16], mgid[GID_SIZE];
    d->member = is_member(d, d->t->link->group.mgid, &d->member_known);
    if (!d->t->ipv6 || d->no_group)
        return;
    message_solicited_node(group, d->t->ip);
    message_ipv6_mgid(mgid, d->t->link->group.scope, d->t->link->pkey, group);
    d->solicited = is_member(d, mgid, &d->solicited_known);
}

/* The P_Key table needs the LID. */
static void ask_pkeys(struct diagnosis *d)
{
    struct sa_query q = {.method = SA_GET_TABLE,
                         .attribute = SA_PKEY_TABLE_RECORD,
                         .mask = PORT_RECORD_HAS_LID,
                         .sm_key = d->t->link->sm_key};
    struct sa_response a;
    const uint8_t *record;
    if (!d->path)
        return;
    put16(q.record, d->at.lid);
    enum sa_result result = sa_query_send(d->t, &q, &a);
    for (uint32_t n = 0;
         result == SA_SUCCESS && (record = sa_record(&a, n, PKEY_RECORD_SIZE)) != NULL; n++)
        for (unsigned i = 0; i < PKEY_BLOCK; i++)
            d->limited |= be16(record + PKEY_RECORD_BLOCK + (size_t)2 * i) ==
                          (d->t->link->pkey & 0x7fff);
    sa_response_clear(&a);
}

/* The SA shows a port no other one with which it has no partition in common. */
static void ask_agent(struct diagnosis *d)
{
    d->has_agent = d->at.lid &&
                   port_agent_ask(d->t, d->at.lid, d->at.lladdr + LLADDR_GID + 8, &d->agent);
    d->limited |= d->has_agent && d->agent.member && !d->agent.full;
}

void peer_records_ask(struct diagnosis *d)
{
    ask_paths(d);
    ask_membership(d);
    ask_pkeys(d);
    ask_agent(d);
}

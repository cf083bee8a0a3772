/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Causes at a peer whose link-layer address this host knows. */
#include <string.h>

#include "hca/records.h"
#include "probe/exchange/records.h"
#include "probe/link/groups.h"
#include "probe/link/link.h"
#include "probe/link/port_records.h"
#include "probe/link/sa.h"
#include "probe/why/questions.h"
#include "wire/put.h"

/* ---- what the SA knows */

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

static void ask_membership(struct diagnosis *d)
{
    struct member_state m;
    enum sa_result result = group_member_state_of(d->t, d->t->link->group.mgid,
                                                  d->at.lladdr + LLADDR_GID, &m);
    d->member_known = d->t->link->sm_key && result == SA_SUCCESS && (m.known || !m.member);
    d->member = m.member && (m.join_state & JOIN_FULL);
}

/* The P_Key table needs the LID; with a path that the partition refuses, that of the SA's node. */
static void ask_pkeys(struct diagnosis *d)
{
    struct sa_query q = {.method = SA_GET_TABLE,
                         .attribute = SA_PKEY_TABLE_RECORD,
                         .mask = PORT_RECORD_HAS_LID,
                         .sm_key = d->t->link->sm_key};
    struct sa_response a;
    const uint8_t *record;
    if (!d->at.lid)
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

void known_peer_ask_sa(struct diagnosis *d)
{
    ask_paths(d);
    ask_membership(d);
    ask_pkeys(d);
}

/* ---- causes */

bool why_both_limited(struct diagnosis *d)
{
    if (d->t->link->pkey & 0x8000)
        return false;
    questions_ask(d);
    return d->limited && !d->by_unicast &&
           diagnosis_holds(
               d,
               g_strdup_printf("this port and %s have 0x%04x without the full-member bit, and two "
                               "limited members cannot communicate",
                               d->gid, d->t->link->pkey),
               g_strdup_printf("make one of the two a full member in the SM's partitions.conf"));
}

bool why_other_partition(struct diagnosis *d)
{
    questions_ask(d);
    return d->other &&
           diagnosis_holds(
               d,
               g_strdup_printf("the SA has no path to %s in partition 0x%04x, but one in 0x%04x",
                               d->gid, d->t->link->pkey | 0x8000, d->pkey | 0x8000),
               g_strdup_printf("ipoib-probe --pkey 0x%04x %s", d->pkey | 0x8000, d->t->name));
}

bool why_port_gone(struct diagnosis *d)
{
    questions_ask(d);
    return d->unknown_port && !d->by_unicast &&
           diagnosis_holds(
               d,
               g_strdup_printf("the SA has no port with the GID %s, which this host "
                               "has for the address: the cable is out, the host is "
                               "off, or the adapter was replaced",
                               d->gid),
               d->interface ? g_strdup_printf("ip neigh flush dev %s; check the host", d->interface)
                            : g_strdup("check the host"));
}

bool why_not_in_group(struct diagnosis *d)
{
    questions_ask(d);
    return d->path && d->member_known && !d->member &&
           diagnosis_holds(
               d,
               g_strdup_printf("the SA does not list %s (LID %u) as a full member%s", d->gid,
                               d->at.lid,
                               d->by_unicast ? "; it replies to a request to its queue pair"
                                             : ": its interface is down, or lost the group"),
               g_strdup("on the peer: ip -br link show type ipoib; ipoib-probe fabric"));
}

bool why_not_delivered(struct diagnosis *d)
{
    questions_ask(d);
    return d->by_unicast &&
           diagnosis_holds(
               d,
               g_strdup_printf("%s (LID %u) replies to a request to its queue pair, and not to the "
                               "group%s",
                               d->gid, d->at.lid,
                               d->member_known ? ", of which the SA says it is a member" : ""),
               g_strdup_printf("ibroute -M SWITCH_LID  # MLID 0x%04x must lead to LID %u",
                               d->t->link->group.mlid, d->at.lid));
}

bool why_queue_silent(struct diagnosis *d)
{
    questions_ask(d);
    return d->by_cm &&
           diagnosis_holds(
               d,
               g_strdup_printf("the kernel at %s (LID %u) answers a connection request, but queue "
                               "pair 0x%06x does not answer for the address: it was removed there, "
                               "or moved",
                               d->gid, d->at.lid, lladdr_read(d->at.lladdr).qpn),
               g_strdup("on the peer: ip -br addr"));
}

bool why_nothing_back(struct diagnosis *d)
{
    const struct port_facts *f = &d->t->link->transport->facts;
    questions_ask(d);
    return d->path && !d->by_unicast &&
           diagnosis_holds(
               d,
               g_strdup_printf("the SA says %s (LID %u) can be reached, but neither its interface "
                               "nor its connection manager answers: one direction is lost, or the "
                               "host hangs",
                               d->gid, d->at.lid),
               g_strdup_printf("ibtracert -C %s -P %u %u %u; perfquery -C %s -P %u %u 1", f->device,
                               f->port, f->lid, d->at.lid, f->device, f->port, d->at.lid));
}

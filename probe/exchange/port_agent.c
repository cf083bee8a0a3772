/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See port_agent.h. */
#include "probe/exchange/port_agent.h"

#include "hca/smp_query.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "wire/pkey.h"
#include "wire/smp.h"

enum { ANSWER_MS = 200 };

static bool ask(struct target *t, uint16_t lid, uint16_t attribute, uint32_t modifier,
                struct smp_request *q)
{
    struct transport *transport = t->link->transport;
    *q = (struct smp_request){.lid = lid, .attribute = attribute, .modifier = modifier};
    return !target_ended(t) && transport_can(transport, CAN_QUERY_SA) && transport->ops->ask_smp &&
           transport->ops->ask_smp(transport, q, ANSWER_MS) == AGENT_ANSWERS;
}

/* Looks for the link's partition in the N entries of the table, a block at a time. */
static void read_pkeys(struct target *t, uint16_t lid, unsigned n, struct port_agent *a)
{
    struct smp_request q;
    a->pkeys_known = true;
    for (unsigned at = 0; at < n && a->pkeys_known && !a->full; at += PKEY_BLOCK) {
        a->pkeys_known = ask(t, lid, SMP_PKEY_TABLE, at / PKEY_BLOCK, &q);
        for (unsigned i = 0; a->pkeys_known && i < PKEY_BLOCK; i++) {
            uint16_t pkey = be16(q.data + (size_t)2 * i);
            bool is = same_partition(pkey, t->link->pkey);
            a->member |= is;
            a->full |= is && (pkey & PKEY_MEMBERSHIP);
        }
    }
}

bool port_agent_ask(struct target *t, uint16_t lid, const uint8_t *guid, struct port_agent *a)
{
    struct smp_request node, port;
    *a = (struct port_agent){.state = 0};
    if (!ask(t, lid, SMP_NODE_INFO, 0, &node) ||
        memcmp(node.data + NODE_INFO_PORT_GUID, guid, 8) != 0 ||
        !ask(t, lid, SMP_PORT_INFO, 0, &port))
        return false;
    a->state = port.data[PORT_INFO_SPEED_STATE] & 0xf;
    read_pkeys(t, lid, be16(node.data + NODE_INFO_PARTITION_CAP), a);
    return true;
}

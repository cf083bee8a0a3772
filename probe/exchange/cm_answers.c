/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See cm_answers.h. */
#include "probe/exchange/cm_answers.h"

#include <string.h>

#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "wire/put.h"

bool cm_can_ask(const struct target *t)
{
    struct transport *transport = t->link->transport;
    return transport_can(transport, HAS_CONNECTIONS) && transport->ops->can_connect(transport);
}

bool cm_answers(struct target *t, const uint8_t *lladdr, int ms)
{
    struct transport *transport = t->link->transport;
    struct connect_request q = {.pkey = t->link->pkey,
                                .service_id = (uint64_t)0x10 << 56, /* Linux's form */
                                .private_size = 8};
    struct cm_connection *c = NULL;
    bool unused;
    if (!cm_can_ask(t))
        return false;
    memcpy(q.gid, lladdr + LLADDR_GID, 16);
    q.service_id |= lladdr_read(lladdr).qpn;
    put24(q.private_data + CM_PRIVATE_UD_QPN, transport->qpn);
    put32(q.private_data + CM_PRIVATE_RECV_MTU, UD_SIZE);
    if (transport->ops->connect(transport, &q, ms, &c) != TRANSPORT_OK || !c)
        return false;
    bool answers = c->result == CONNECT_ACCEPTED || c->result == CONNECT_REJECTED;
    transport->ops->disconnect(transport, c, ms, &unused);
    return answers;
}

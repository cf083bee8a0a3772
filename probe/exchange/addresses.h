/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests several addresses at once: silent ones cost the wait of one. */
#ifndef IPOIB_PROBE_ADDRESSES_H
#define IPOIB_PROBE_ADDRESSES_H

#include "hca/mcgroup.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/request.h"
#include "probe/run/target.h"

struct asked_address {
    bool ipv6;
    uint8_t ip[16];
    /* The result. */
    enum exchange_outcome outcome;
    bool no_group;          /* NOT_SENT, because no node is in its solicited-node group */
    char why[VERDICT_TEXT]; /* NOT_SENT: why */
    struct response reply;  /* RESPONSE_RECEIVED: the first one */
    struct mc_group group;  /* that the request goes to */
};

/*
 * Requests the n addresses by multicast, up to tries times, and awaits all replies together. A
 * response may come from any port; q->foreign: but not from one of this host.
 */
void addresses_ask(const struct target *of, const struct request *q, struct asked_address *all,
                   unsigned n, unsigned tries);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends requests to a peer and waits for the responses. */
#ifndef IPOIB_PROBE_EXCHANGE_H
#define IPOIB_PROBE_EXCHANGE_H

#include "hca/mcgroup.h"
#include "probe/exchange/request.h"
#include "probe/link/sa.h"
#include "probe/run/run.h"
#include "probe/run/target.h"

/*
 * Finds the group that the request is sent to. If the result is not SA_SUCCESS, the request cannot
 * be sent; *there false: because the group does not exist.
 */
enum sa_result exchange_find_group(struct target *t, const struct pending_request *x,
                                   struct mc_group *g, bool *there);
/*
 * Finds the groups that the request and its response are sent to, and joins them. If the request
 * cannot be sent, why (VERDICT_TEXT bytes) has the reason. GROUP_ABSENT: no node is in the
 * solicited-node group of the address.
 */
enum groups_found { GROUPS_FOUND, GROUP_ABSENT, GROUPS_UNKNOWN };
enum groups_found exchange_find_groups(struct target *t, const struct pending_request *x,
                                       struct mc_group *g, char *why);
/* The MLID of all IPv6 nodes; 0: this queue pair has not joined that group. */
uint16_t exchange_all_nodes_mlid(const struct target *t);
/* SA_SUCCESS: this port receives packets to all IPv6 nodes. */
enum sa_result exchange_join_all_nodes(struct target *t);

/*
 * Result of a request. NOT_SENT says nothing about the peer: the text says why the request was not
 * sent.
 */
enum exchange_outcome { RESPONSE_RECEIVED, NO_RESPONSE, NOT_SENT };

/* A request and its result. */
struct exchange {
    enum exchange_outcome outcome;
    bool no_group; /* NOT_SENT, because no node is in the solicited-node group of the address */
    struct response reply;                           /* valid for RESPONSE_RECEIVED */
    char sent[VERDICT_TEXT], received[VERDICT_TEXT]; /* descriptions */
};

/*
 * Sends the request up to tries times. Findings in packets that arrive meanwhile are reported with
 * its text as what was sent. The report uses the texts until the next exchange.
 */
struct exchange exchange_run(struct target *t, const struct request *q, unsigned tries);
/* True if the peer replies to an echo request of that size over UD. */
bool exchange_echo(struct target *t, uint32_t length);
/*
 * Sends n plain requests by unicast or to the group without retries, and awaits all replies
 * together: the tally has the packets that are lost. The first eight go back to back, the others
 * 2 ms apart: a queue on the way that holds few packets loses the first ones.
 */
void exchange_burst(struct target *t, bool multicast, unsigned n);
/* Shows the texts of the earlier exchange x again, after other exchanges. */
void exchange_show(const struct target *t, const struct exchange *x);

#endif

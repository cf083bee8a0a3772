/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends requests for a link-layer address and waits for the responses. */
#ifndef IPOIB_PROBE_EXCHANGE_H
#define IPOIB_PROBE_EXCHANGE_H

#include "hca/mcgroup.h"
#include "probe/exchange/question.h"
#include "probe/link/sa.h"
#include "probe/run/run.h"
#include "probe/run/target.h"

/*
 * Finds the group that the request is sent to. If the result is not SA_TOLD, the request cannot be
 * sent; *there false: because the group does not exist.
 */
enum sa_result question_group(struct target *t, const struct asked *x, struct mc_group *g,
                              bool *there);
/* SA_TOLD: this port receives packets to all IPv6 nodes. */
enum sa_result hear_all_nodes(struct target *t);

/*
 * Result of a request. NOT_ASKED says nothing about the peer: the text says why the request was not
 * sent.
 */
enum came { CAME_ANSWER, CAME_NOTHING, NOT_ASKED };

/* A request and its result. */
struct exchange {
    enum came outcome;
    struct answer reply;                         /* valid for CAME_ANSWER */
    char sent[VERDICT_TEXT], came[VERDICT_TEXT]; /* descriptions */
};

/*
 * Sends the request up to tries times. Findings in packets that arrive meanwhile are reported with
 * its text as what was sent. The report uses the texts until the next exchange.
 */
struct exchange exchange_run(struct target *t, const struct question *q, unsigned tries);
/* Shows the texts of the earlier exchange x again, after other exchanges. */
void exchange_show(const struct target *t, const struct exchange *x);

#endif

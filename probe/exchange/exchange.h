/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions for a link-layer address, sent and awaited. */
#ifndef IPOIB_PROBE_EXCHANGE_H
#define IPOIB_PROBE_EXCHANGE_H

#include "hca/mcgroup.h"
#include "probe/exchange/question.h"
#include "probe/link/sa.h"
#include "probe/run/run.h"
#include "probe/run/target.h"

/*
 * The group that the question goes to. Not SA_TOLD: it cannot be sent to; *there false: for there
 * is no such group.
 */
enum sa_result question_group(struct target *t, const struct asked *x, struct mc_group *g,
                              bool *there);
/* SA_TOLD: this port hears what is sent to all IPv6 nodes. */
enum sa_result hear_all_nodes(struct target *t);

/* What came of a question. NOT_ASKED says nothing of the peer: the text says why it was not sent.
 */
enum came { CAME_ANSWER, CAME_NOTHING, NOT_ASKED };

/* A question, and what came of it. */
struct exchange {
    enum came outcome;
    struct answer reply;                         /* of CAME_ANSWER */
    char sent[VERDICT_TEXT], came[VERDICT_TEXT]; /* in words */
};

/*
 * Asks up to so many times. While it waits, findings in packets show what is sent; the texts are
 * the report's until the next exchange.
 */
struct exchange exchange_run(struct target *t, const struct question *q, unsigned tries);
/* The same of the question that x was: shows its texts again, after others were asked. */
void exchange_show(const struct target *t, const struct exchange *x);

#endif

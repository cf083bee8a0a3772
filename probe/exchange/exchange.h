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

/*
 * What came of a question. NOT_ASKED says nothing of the peer: results_came tells what kept it from
 * being sent.
 */
enum came { CAME_ANSWER, CAME_NOTHING, NOT_ASKED };
/* Asks up to so many times. CAME_ANSWER: it is in a. */
enum came ask_peer(struct target *t, const struct question *q, unsigned tries, struct answer *a);

#endif

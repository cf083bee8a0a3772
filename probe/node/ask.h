/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks the SA once for each port: whether the port is a member of the broadcast group of one of its
 * interfaces. The ports are asked at the same time, so that a silent SA costs less than a second.
 */
#ifndef IPOIB_PROBE_NODE_ASK_H
#define IPOIB_PROBE_NODE_ASK_H

#include "probe/node/facts.h"
#include "probe/node/state.h"

struct node_questions;

/* Opens each port that may be asked. LINKS (struct node_link) must outlive the questions. */
struct node_questions *node_questions_open(GArray *links);
/* Asks. Fills in the answers of the links. */
void node_questions_ask(struct node_questions *q, const struct node_state *s,
                        const volatile int *stop);
void node_questions_close(struct node_questions *q);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stages of the target node: what is wrong with an interface and its port. */
#ifndef IPOIB_PROBE_NODE_JUDGE_H
#define IPOIB_PROBE_NODE_JUDGE_H

#include "probe/node/facts.h"
#include "probe/node/state.h"
#include "report/report.h"

/* A stage, for --list. */
struct node_stage {
    const char *id, *looks_at, *sends;
};
/* The stages in order; NULL after the last one. */
const struct node_stage *node_stage_at(unsigned i);

/*
 * Adds the stages of one interface. S: what is compared; its why says why not. Several interfaces
 * may be on one port, whose counters are judged once: with_port says whether this is the first.
 */
void node_judge(struct checked *j, const struct node_link *l, const struct node_state *s,
                bool with_port);
/* True if the SA's answer about the interface is a fault, so that the next run asks again. */
bool node_at_odds(const struct node_link *l);
/*
 * Adds the stage of an interface or device of the earlier run that is gone. Returns true if it is
 * still expected: an interface may be deleted, a device does not go away by itself.
 */
bool node_judge_gone(struct checked *j, const struct node_memory *m, bool port_is_there);
/* Adds the stage about the state. */
void node_judge_state(struct checked *j, const struct node_state *s);

/* The worst of a target's stages. */
enum node_word { NODE_OK, NODE_DEGRADED, NODE_FAULT, NODE_NOT_JUDGED };
enum node_word node_word_of(const struct checked *j);
/* That of an outcome of a stage. */
enum node_word node_word_of_outcome(int outcome);
/* A fault is worse than what was not judged, and that is worse than degraded. */
bool node_word_is_worse(enum node_word one, enum node_word other);

#endif

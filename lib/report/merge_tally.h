/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What remains of merged reports when each has been told: a few octets for each node and rule,
 * whatever the reports' number.
 */
#ifndef IPOIB_REPORT_MERGE_TALLY_H
#define IPOIB_REPORT_MERGE_TALLY_H

#include "report/merge_restore.h"

/* A rule, or a stage of the diagnosis of a fabric. */
struct tally_item {
    char *id;
    const struct rule *rule;           /* NULL: a stage */
    uint64_t counts[VERDICT_OUTCOMES]; /* findings */
    bool violation;                    /* its failure made something violated */
};

struct tally_node {
    char *name;
    GByteArray *worst; /* of item i: 0 for nothing, else the worst outcome at this node, and 1 */
    unsigned by_status[3];
};

struct tally {
    GPtrArray *items; /* struct tally_item: the rules in the order of the table, then stages as they
                         came */
    GPtrArray *nodes; /* struct tally_node, as they came */
    GHashTable *node_of_name, *item_of_id;
    unsigned reports;
    unsigned by_status[3]; /* captures and targets, by enum verdict_status */
    unsigned captures, targets;
};

struct tally *tally_new(void);
void tally_free(struct tally *t);
void tally_add(struct tally *t, const char *node, const struct restored *r);

/*
 * The worst that was found of the item at the node, -1: nothing. What one of its reports decided is
 * not inconclusive.
 */
int tally_worst(const struct tally_node *n, guint item);
/* How many nodes have it so. */
unsigned tally_nodes_with(const struct tally *t, guint item, int outcome);

enum verdict_status tally_status(const unsigned by_status[3]);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Totals of merged reports. Each report is output and discarded; the totals need a few bytes for
 * each node and rule, however many reports there are.
 */
#ifndef IPOIB_REPORT_MERGE_TALLY_H
#define IPOIB_REPORT_MERGE_TALLY_H

#include "report/merge_restore.h"

/* A rule, or a stage of the diagnosis of a fabric. */
struct tally_item {
    char *id;
    const struct rule *rule;           /* NULL: it is a stage */
    uint64_t counts[VERDICT_OUTCOMES]; /* findings */
    bool violation;                    /* a failure of it made a verdict "violated" */
};

struct tally_node {
    char *name;
    GByteArray *worst; /* per item: 0 if not present, else 1 + the worst outcome at this node */
    unsigned by_status[3], partial;
    unsigned unmet; /* demands that its reports did not meet */
};

struct merge_tally {
    /*
     * struct tally_item: the rules in the order of the table, then the stages in order of arrival
     */
    GPtrArray *items;
    GPtrArray *nodes; /* struct tally_node, in order of arrival */
    GHashTable *node_of_name, *item_of_id;
    unsigned reports;
    unsigned by_status[3]; /* captures and targets, by enum verdict_status */
    unsigned partial;      /* of the conformant ones: checked_is_partial() */
    unsigned suspected;    /* captures that fail because of suspicions (--fail-on) */
    unsigned captures, targets;
    /* --require and --min-judged */
    json_t *required; /* as in the reports, each with its node and file */
    GPtrArray *unmet; /* lines of text: the demands that were not met */
};

struct merge_tally *tally_new(void);
void tally_free(struct merge_tally *t);
void tally_add(struct merge_tally *t, const char *node, const struct restored *r);
void tally_add_required(struct merge_tally *t, const struct merge_required *required);

/*
 * The worst outcome of the item at the node; -1: no result. If any of the node's reports decided
 * it, it is not inconclusive.
 */
int tally_worst(const struct tally_node *n, guint item);
/* Number of nodes whose worst outcome of the item is this one. */
unsigned tally_nodes_with(const struct merge_tally *t, guint item, int outcome);

/* unmet: number of demands that were not met. */
enum verdict_status tally_status(const unsigned by_status[3], unsigned unmet);
/* The exit status of the merged report. */
int tally_exit_status(const struct merge_tally *t);

#endif

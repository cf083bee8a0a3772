/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The objects of a merged report as JSON or JSON Lines. */
#ifndef IPOIB_CHECK_MERGE_JSON_H
#define IPOIB_CHECK_MERGE_JSON_H

#include "check/merge.h"

/* The entry of a capture or target; e NULL: of a file that could not be read. */
json_t *merge_json_entry(const struct restored *r, const struct merge_entry *e, const char *node,
                         const char *file);
/* A result, with its node and file. */
json_t *merge_json_result(const json_t *result, const char *node, const char *file);
json_t *merge_json_node(const struct tally_node *n);
/* A rule or stage, with the nodes whose worst outcome of it is this one. */
json_t *merge_json_item(const struct merge_tally *t, guint number, enum outcome outcome);
/* The summary without its lists. */
json_t *merge_json_totals(const struct merge_tally *t);

#endif

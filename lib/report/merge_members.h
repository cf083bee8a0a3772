/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of a report from another host, the members that doc/reports.md knows, in bounds. */
#ifndef IPOIB_REPORT_MERGE_MEMBERS_H
#define IPOIB_REPORT_MERGE_MEMBERS_H

#include <jansson.h>

/* Bytes of a node's name; a longer one is cut. */
#define MERGE_NODE_MAX 256

/*
 * Removes all other members, and those of another type than they have in a report, so that a
 * report cannot grow when it is copied: what is nested is indented. Cuts nodes' names.
 */
void merge_keep_known(json_t *report);

#endif

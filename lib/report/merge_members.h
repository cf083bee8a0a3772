/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filter and limits for reports of other hosts: keeps only the members that doc/reports.md
 * documents.
 */
#ifndef IPOIB_REPORT_MERGE_MEMBERS_H
#define IPOIB_REPORT_MERGE_MEMBERS_H

#include <jansson.h>

/* Buffer size for a node's name, in bytes with the final NUL; a longer name is shortened. */
#define MERGE_NODE_MAX 256

/*
 * Removes unknown members and members of the wrong type, and shortens nodes' names. Without
 * this, a copied report could become much larger, because nested values are written with
 * indentation.
 */
void merge_keep_known(json_t *report);

#endif

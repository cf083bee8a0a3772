/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The subnet manager of each subnet, the LID of the SA, and doubts about what it sent; only for the
 * files of model/.
 */
#ifndef IPOIB_MODEL_MANAGERS_H
#define IPOIB_MODEL_MANAGERS_H

#include "model/subnet.h"

struct manager {
    uint64_t master_guid;
    uint16_t sa_lid;
    struct sa_sequence sa_sequence;
    struct doubt doubt;
};

struct managers;

struct managers *managers_new(void);
void managers_free(struct managers *all);

/* NULL: none is known. */
const struct manager *managers_find(const struct managers *all, uint16_t interface);
/* Find or add. */
struct manager *managers_get(struct managers *all, uint16_t interface);

/* The doubt of `from` counts for `to` too. */
void managers_merge_doubt(struct managers *all, uint16_t from, uint16_t to);

/* Two interfaces turned out to see one subnet: move the data of interface `from` to `to`. */
void managers_merge(struct managers *all, uint16_t from, uint16_t to);

#endif

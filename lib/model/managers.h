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

/* By interface; NULL: none is known. */
struct manager *managers_find(const GPtrArray *all, uint16_t interface);
/* Find or add. */
struct manager *managers_get(GPtrArray *all, uint16_t interface);

/* The doubt of `from` counts for `to` too. */
void managers_merge_doubt(GPtrArray *all, uint16_t from, uint16_t to);

void managers_merge(GPtrArray *all, uint16_t from, uint16_t to);

#endif

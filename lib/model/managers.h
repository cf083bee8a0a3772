/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subnet manager of each subnet, and the LID of the SA; only for the files of model/. */
#ifndef IPOIB_MODEL_MANAGERS_H
#define IPOIB_MODEL_MANAGERS_H

#include "model/subnet.h"

struct manager {
    uint64_t master_guid;
    uint16_t sa_lid;
    struct sa_sequence sa_sequence;
};

struct managers;

struct managers *managers_new(void);
void managers_free(struct managers *all);

/* NULL: none is known. */
const struct manager *managers_find(const struct managers *all, uint16_t interface);
/* Find or add. */
struct manager *managers_get(struct managers *all, uint16_t interface);

/* Two interfaces turned out to see one subnet: move the data of interface `from` to `to`. */
void managers_merge(struct managers *all, uint16_t from, uint16_t to);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entries of one size that stay where they are until all are freed, without an allocation for each
 * of them.
 */
#ifndef IPOIB_MODEL_SLAB_H
#define IPOIB_MODEL_SLAB_H

#include <glib.h>

struct slab {
    GPtrArray *blocks;
    gsize size; /* octets of an entry */
    unsigned count;
};

void slab_init(struct slab *s, gsize size);
void slab_clear(struct slab *s);

/* A new entry, all zero. */
void *slab_add(struct slab *s);
/* By number, in the order in which they were added; NULL: there are fewer. */
void *slab_at(const struct slab *s, unsigned index);

#endif

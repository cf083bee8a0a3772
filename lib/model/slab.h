/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocator for entries of one size, in blocks. Entries never move, and are all freed together. */
#ifndef IPOIB_MODEL_SLAB_H
#define IPOIB_MODEL_SLAB_H

#include <glib.h>

struct slab {
    GPtrArray *blocks;
    gsize size; /* bytes per entry */
    unsigned count;
};

void slab_init(struct slab *s, gsize size);
void slab_clear(struct slab *s);

/* Add an entry, all zero. */
void *slab_add(struct slab *s);
/* Entry by index, in the order of slab_add(); NULL: index too large. */
void *slab_at(const struct slab *s, unsigned index);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/slab.h"

enum { BLOCK = 64 }; /* entries */

void slab_init(struct slab *s, gsize size)
{
    s->blocks = g_ptr_array_new_with_free_func(g_free);
    s->size = size;
    s->count = 0;
}

void slab_clear(struct slab *s)
{
    g_ptr_array_unref(s->blocks);
    s->blocks = NULL;
    s->count = 0;
}

void *slab_add(struct slab *s)
{
    if (s->count % BLOCK == 0)
        g_ptr_array_add(s->blocks, g_malloc0_n(BLOCK, s->size));
    s->count++;
    return slab_at(s, s->count - 1);
}

void *slab_at(const struct slab *s, unsigned index)
{
    if (index >= s->count)
        return NULL;
    return (char *)g_ptr_array_index(s->blocks, index / BLOCK) + index % BLOCK * s->size;
}

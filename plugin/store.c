/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/store.h"

#include <epan/packet.h>

/* Memory is taken in chunks. A position in them is a number of units, so 32 bits reach 32 GiB. */
enum { UNIT = 8, CHUNK_UNITS = 1 << 13, PAGE = 1 << 10 };

/* The header of an entry; its data follows. */
struct entry {
    uint32_t next; /* position of the frame's entry before; 0: none */
    uint32_t key;
};

/* The positions of the last entries of PAGE frames. */
struct page {
    uint32_t last[PAGE];
};

static GPtrArray *chunks, *pages;
static uint32_t used; /* units of the last chunk; unit 0 of the first one is no position */

static void *position_at(uint32_t position)
{
    uint64_t *chunk = g_ptr_array_index(chunks, position / CHUNK_UNITS);
    return chunk + position % CHUNK_UNITS;
}

static uint32_t allocate_units(size_t size)
{
    uint32_t units = (uint32_t)((size + UNIT - 1) / UNIT);
    DISSECTOR_ASSERT(units <= CHUNK_UNITS / 2);
    if (!chunks)
        chunks = g_ptr_array_new_with_free_func(g_free);
    if (chunks->len == 0 || used + units > CHUNK_UNITS) {
        used = chunks->len == 0 ? 1 : 0;
        g_ptr_array_add(chunks, g_new0(uint64_t, CHUNK_UNITS));
    }
    uint32_t position = (chunks->len - 1) * CHUNK_UNITS + used;
    used += units;
    return position;
}

static struct page *page_of(uint32_t frame, bool create)
{
    guint n = frame / PAGE;
    if (!pages && create)
        pages = g_ptr_array_new_with_free_func(g_free);
    if (create && n >= pages->len)
        g_ptr_array_set_size(pages, (gint)n + 1);
    if (!pages || n >= pages->len)
        return NULL;
    if (create && !g_ptr_array_index(pages, n))
        g_ptr_array_index(pages, n) = g_new0(struct page, 1);
    return g_ptr_array_index(pages, n);
}

void *store_alloc(size_t size)
{
    return position_at(allocate_units(size));
}

void *store_add(uint32_t frame, uint32_t key, size_t size)
{
    uint32_t *last = &page_of(frame, true)->last[frame % PAGE];
    uint32_t position = allocate_units(sizeof(struct entry) + size);
    struct entry *e = position_at(position);
    *e = (struct entry){*last, key};
    *last = position;
    return e + 1;
}

void *store_find(uint32_t frame, uint32_t key)
{
    const struct page *page = page_of(frame, false);
    uint32_t position = page ? page->last[frame % PAGE] : 0;
    while (position) {
        struct entry *e = position_at(position);
        if (e->key == key)
            return e + 1;
        position = e->next;
    }
    return NULL;
}

static void forget_store(void)
{
    g_clear_pointer(&chunks, g_ptr_array_unref);
    g_clear_pointer(&pages, g_ptr_array_unref);
}

void store_register(void)
{
    register_cleanup_routine(forget_store);
}

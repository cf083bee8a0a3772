/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/store.h"

#include <assert.h>

#include <epan/packet.h>

#include "model/hash.h"

/* Memory is taken in chunks. A position in them is a number of units, so 32 bits reach 16 GiB. */
enum {
    UNIT = 4,
    ALIGNMENT = 8,
    ALIGNED_UNITS = ALIGNMENT / UNIT,
    CHUNK_UNITS = 1 << 14,
    PAGE = 1 << 10
};

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

static_assert(sizeof(struct entry) == ALIGNMENT, "the data of an entry is aligned");

/* Positions of recent entries that frames share, by a hash of their bytes. */
enum { RECENT = 1 << 12 };
static uint32_t recent_shared[RECENT];

static void *position_at(uint32_t position)
{
    uint32_t *chunk = g_ptr_array_index(chunks, position / CHUNK_UNITS);
    return chunk + position % CHUNK_UNITS;
}

/* The alignment of a type divides its size, so 4 bytes suffice unless 8 divides the size. */
static uint32_t allocate_units(size_t size)
{
    uint32_t units = (uint32_t)((size + UNIT - 1) / UNIT);
    if (size % ALIGNMENT == 0)
        used += used % ALIGNED_UNITS;
    DISSECTOR_ASSERT(units <= CHUNK_UNITS / 2);
    if (!chunks)
        chunks = g_ptr_array_new_with_free_func(g_free);
    if (chunks->len == 0 || used + units > CHUNK_UNITS) {
        used = chunks->len == 0 ? ALIGNED_UNITS : 0;
        g_ptr_array_add(chunks, g_new0(uint32_t, CHUNK_UNITS));
    }
    uint32_t position = (chunks->len - 1) * CHUNK_UNITS + used;
    used += units;
    return position;
}

/* The page that was used last: most accesses are to the frame that is dissected. */
static struct page *recent_page;
static guint recent_number;

static struct page *find_page(guint n, bool create)
{
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

static struct page *page_of(uint32_t frame, bool create)
{
    guint n = frame / PAGE;
    if (recent_page && recent_number == n)
        return recent_page;
    recent_number = n;
    recent_page = find_page(n, create);
    return recent_page;
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

/*
 * An entry is shared with the frame's entries before it. So it is found only for a frame that has
 * the same ones.
 */
void store_share(uint32_t frame, uint32_t key, const void *data, size_t size)
{
    uint32_t *last = &page_of(frame, true)->last[frame % PAGE];
    const struct entry head = {*last, key};
    uint32_t hash = hash_bytes(data, size) ^ hash_bytes(&head, sizeof head);
    uint32_t *recent = &recent_shared[hash % RECENT];
    const struct entry *known = *recent ? position_at(*recent) : NULL;
    if (known && known->next == head.next && known->key == key &&
        memcmp(known + 1, data, size) == 0) {
        *last = *recent;
        return;
    }
    memcpy(store_add(frame, key, size), data, size);
    *recent = *last;
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
    recent_page = NULL;
    memset(recent_shared, 0, sizeof recent_shared);
}

void store_register(void)
{
    register_cleanup_routine(forget_store);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/store.h"

#include <assert.h>

#include <epan/packet.h>

/* Memory is taken in chunks. A position in them is a number of units, so 32 bits reach 16 GiB. */
enum { UNIT = sizeof(uint32_t), ALIGNMENT_MAX = 8, CHUNK_UNITS = 1 << 14, PAGE = 1 << 10 };

/*
 * The position of an entry is that of its key. Its data follows. If the key has the bit LINKED, the
 * unit before it has the position of the frame's entry before. Most frames have one entry.
 */
enum { LINKED = 1 << 7 };

/* The positions of the last entries of PAGE frames. */
struct page {
    uint32_t last[PAGE];
};

static GPtrArray *chunks, *pages;
static uint32_t used; /* units of the last chunk; unit 0 of the first one is no position */

static_assert((int)DATA_KEYS <= (int)LINKED, "the bit is not used by the kinds of data");

/* Positions of recent entries that frames share, by a hash of their bytes. */
enum { RECENT = 1 << 12 };
static uint32_t recent_shared[RECENT];

static void *position_at(uint32_t position)
{
    uint32_t *chunk = g_ptr_array_index(chunks, position / CHUNK_UNITS);
    return chunk + position % CHUNK_UNITS;
}

/* Units to skip so that data behind a header of so many units is aligned. */
static uint32_t padding(uint32_t header, size_t alignment)
{
    return alignment > UNIT ? (used + header) % (ALIGNMENT_MAX / UNIT) : 0;
}

/* Returns the position of the data. header: units before it. */
static uint32_t allocate(uint32_t header, size_t size, size_t alignment)
{
    uint32_t units = (uint32_t)((size + UNIT - 1) / UNIT);
    DISSECTOR_ASSERT(units <= CHUNK_UNITS / 2);
    if (!chunks)
        chunks = g_ptr_array_new_with_free_func(g_free);
    if (chunks->len == 0 || used + padding(header, alignment) + header + units > CHUNK_UNITS) {
        used = chunks->len == 0;
        g_ptr_array_add(chunks, g_new0(uint32_t, CHUNK_UNITS));
    }
    used += padding(header, alignment) + header;
    uint32_t position = (chunks->len - 1) * CHUNK_UNITS + used;
    used += units;
    return position;
}

static uint32_t key_at(const uint32_t *entry)
{
    return *entry & ~(uint32_t)LINKED;
}

/* The position of the frame's entry before; 0: none. */
static uint32_t before_of(const uint32_t *entry)
{
    return *entry & LINKED ? entry[-1] : 0;
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

void *store_alloc(size_t size, size_t alignment)
{
    return position_at(allocate(0, size, alignment));
}

void *store_add(uint32_t frame, uint32_t key, size_t size, size_t alignment)
{
    uint32_t *last = &page_of(frame, true)->last[frame % PAGE], before = *last;
    uint32_t header = before ? 2 : 1;
    uint32_t position = allocate(header, size, alignment) - 1;
    uint32_t *at = position_at(position);
    *at = key;
    if (before) {
        *at |= LINKED;
        at[-1] = before;
    }
    *last = position;
    return at + 1;
}

/* FNV-1a. Not the hash of tables, whose key differs between runs (model/hash.h). */
static uint32_t place_of(const void *data, size_t size, uint32_t begin)
{
    const uint8_t *p = data;
    uint32_t hash = (2166136261u ^ begin) * 16777619u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ p[i]) * 16777619u;
    return hash ^ hash >> 16;
}

/*
 * An entry is shared with the frame's entries before it. So it is found only for a frame that has
 * the same ones.
 */
void store_share(uint32_t frame, uint32_t key, const void *data, size_t size, size_t alignment)
{
    uint32_t *last = &page_of(frame, true)->last[frame % PAGE], before = *last;
    uint32_t *recent = &recent_shared[place_of(data, size, before ^ key << 16) % RECENT];
    const uint32_t *known = *recent ? position_at(*recent) : NULL;
    if (known && key_at(known) == key && before_of(known) == before &&
        memcmp(known + 1, data, size) == 0) {
        *last = *recent;
        return;
    }
    memcpy(store_add(frame, key, size, alignment), data, size);
    *recent = *last;
}

void *store_find(uint32_t frame, uint32_t key)
{
    const struct page *page = page_of(frame, false);
    uint32_t position = page ? page->last[frame % PAGE] : 0;
    while (position) {
        uint32_t *at = position_at(position);
        if (key_at(at) == key)
            return at + 1;
        position = before_of(at);
    }
    return NULL;
}

/* The frame that the first pass has finished; 0: none, or the pass is in a frame. */
static uint32_t ended;

void store_begin_frame(uint32_t frame)
{
    struct page *page = frame == ended ? page_of(frame, false) : NULL;
    if (page)
        page->last[frame % PAGE] = 0;
    ended = 0;
}

void store_end_frame(uint32_t frame)
{
    store_begin_frame(frame);
    ended = frame;
}

static void forget_store(void)
{
    ended = 0;
    g_clear_pointer(&chunks, g_ptr_array_unref);
    g_clear_pointer(&pages, g_ptr_array_unref);
    recent_page = NULL;
    memset(recent_shared, 0, sizeof recent_shared);
}

void store_register(void)
{
    register_cleanup_routine(forget_store);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/arena.h"
#include "plugin/compat.h"

#include <epan/packet.h>
#include <sys/mman.h>

/*
 * Each chunk is twice as large as the one before, up to CHUNK_MAX. Large chunks consist of whole
 * huge pages, because the kernel takes longer to provide 512 small pages than to copy the bytes.
 */
enum { HUGE_PAGE = 1 << 21, CHUNK_MIN = ARENA_MAX, CHUNK_MAX = 4 * HUGE_PAGE };

static GPtrArray *chunks;
static uint8_t *unused; /* of the last chunk */
static size_t left, last_size;

static uint8_t *align(uint8_t *p)
{
    return p + (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE;
}

static uint8_t *new_chunk(size_t size)
{
    bool huge = size >= HUGE_PAGE;
    /* memory that is not written, as before the aligned address, takes no pages */
    uint8_t *chunk = g_malloc(huge ? size + HUGE_PAGE : size);
    if (!chunks)
        chunks = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(chunks, chunk);
    if (!huge)
        return chunk;
#ifdef MADV_HUGEPAGE
    madvise(align(chunk), size, MADV_HUGEPAGE); /* if it fails, the pages are small */
#endif
    return align(chunk);
}

uint8_t *arena_alloc(size_t n)
{
    DISSECTOR_ASSERT(n <= ARENA_MAX);
    if (n > left) {
        last_size = left = last_size ? MIN(2 * last_size, CHUNK_MAX) : CHUNK_MIN;
        unused = new_chunk(left);
    }
    uint8_t *p = unused;
    unused += n;
    left -= n;
    return p;
}

void arena_forget(void)
{
    g_clear_pointer(&chunks, g_ptr_array_unref);
    unused = NULL;
    left = last_size = 0;
}

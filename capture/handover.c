/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hand-over between the receiving and the writing thread. See handover.h. */
#include "capture/handover.h"

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    CACHE_LINE = 64,
    BLOCKS_MIN = 4,
    BLOCKS_FIRST = 16,
};

/* One producer, one consumer. It has a place for every block there is, and so is never full. */
struct ring {
    struct block **places;
    uint32_t mask;
    _Alignas(CACHE_LINE) atomic_uint put; /* the producer's: how many were put in */
    _Alignas(CACHE_LINE) atomic_uint got; /* the consumer's: how many were taken out */
};

struct handover {
    struct ring full, empty;
    sem_t waiting; /* one for each full block, and one for the end */
    struct block *blocks;
    uint8_t *memory;
    size_t memory_len;
    uint32_t count, fresh; /* blocks there are; blocks from that number on were never used */
    struct block **spare;  /* the receiving thread's: empty blocks, the last one returned on top */
    uint32_t spare_count;
};

static void ring_put(struct ring *r, struct block *b)
{
    unsigned at = atomic_load_explicit(&r->put, memory_order_relaxed);

    r->places[at & r->mask] = b;
    atomic_store_explicit(&r->put, at + 1, memory_order_release);
}

static struct block *ring_get(struct ring *r)
{
    unsigned at = atomic_load_explicit(&r->got, memory_order_relaxed);
    struct block *b;

    if (at == atomic_load_explicit(&r->put, memory_order_acquire))
        return NULL;
    b = r->places[at & r->mask];
    atomic_store_explicit(&r->got, at + 1, memory_order_release);
    return b;
}

static bool ring_init(struct ring *r, uint32_t count)
{
    uint32_t places = 1;

    while (places < count)
        places *= 2;
    r->mask = places - 1;
    atomic_init(&r->put, 0);
    atomic_init(&r->got, 0);
    r->places = calloc(places, sizeof(struct block *));
    return r->places != NULL;
}

/*
 * Makes memory present before packets come; a kernel before 5.14 cannot, and the memory then comes
 * as it is used.
 */
static bool touch_memory(uint8_t *memory, size_t len)
{
    return madvise(memory, len, MADV_POPULATE_WRITE) == 0 || errno == EINVAL;
}

static bool map_memory(struct handover *h)
{
    h->memory_len = (size_t)h->count * BLOCK_ROOM;
    h->memory = mmap(NULL, h->memory_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                     0);
    if (h->memory == MAP_FAILED)
        h->memory = NULL;
    else
        madvise(h->memory, h->memory_len, MADV_HUGEPAGE); /* if not, then not */
    return h->memory != NULL;
}

static bool share_out(struct handover *h, bool touch)
{
    size_t first = BLOCKS_FIRST * (size_t)BLOCK_ROOM;

    for (uint32_t i = 0; i < h->count; i++)
        h->blocks[i].data = h->memory + (size_t)i * BLOCK_ROOM;
    return touch_memory(h->memory, touch || first > h->memory_len ? h->memory_len : first);
}

struct handover *handover_create(uint64_t room, bool touch)
{
    struct handover *h = aligned_alloc(CACHE_LINE, sizeof(*h));
    uint64_t count = room / BLOCK_ROOM + (room % BLOCK_ROOM > 0);

    if (!h)
        return NULL;
    *h = (struct handover){.count = 0};
    sem_init(&h->waiting, 0, 0);
    if (count >= UINT32_MAX / 2) {
        handover_destroy(h);
        errno = ENOMEM;
        return NULL;
    }
    h->count = count < BLOCKS_MIN ? BLOCKS_MIN : (uint32_t)count;
    h->blocks = map_memory(h) ? calloc(h->count, sizeof(*h->blocks)) : NULL;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): they are pointers */
    h->spare = calloc(h->count, sizeof(*h->spare));
    if (h->blocks && h->spare && ring_init(&h->full, h->count) && ring_init(&h->empty, h->count) &&
        share_out(h, touch))
        return h;
    handover_destroy(h);
    errno = ENOMEM;
    return NULL;
}

void handover_destroy(struct handover *h)
{
    if (!h)
        return;
    if (h->memory)
        munmap(h->memory, h->memory_len);
    free(h->full.places);
    free(h->empty.places);
    free(h->spare);
    free(h->blocks);
    sem_destroy(&h->waiting);
    free(h);
}

/* The last block that was returned: it is the likeliest to be in the processor's cache. */
static struct block *take_spare(struct handover *h)
{
    struct block *b;

    while ((b = ring_get(&h->empty)) != NULL)
        h->spare[h->spare_count++] = b;
    return h->spare_count > 0 ? h->spare[--h->spare_count] : NULL;
}

struct block *handover_take(struct handover *h)
{
    struct block *b = take_spare(h);

    if (!b && h->fresh < h->count)
        b = &h->blocks[h->fresh++];
    if (b) {
        b->len = b->packets = 0;
        b->octets = 0;
        b->new_file = false;
    }
    return b;
}

void handover_give(struct handover *h, struct block *b)
{
    ring_put(&h->full, b);
    sem_post(&h->waiting);
}

void handover_end(struct handover *h)
{
    sem_post(&h->waiting);
}

struct block *handover_next(struct handover *h)
{
    while (sem_wait(&h->waiting) != 0)
        ; /* a signal came */
    return ring_get(&h->full);
}

void handover_return(struct handover *h, struct block *b)
{
    ring_put(&h->empty, b);
}

bool handover_is_empty(struct handover *h)
{
    unsigned given = atomic_load_explicit(&h->full.put, memory_order_relaxed);

    return given == atomic_load_explicit(&h->empty.put, memory_order_acquire);
}

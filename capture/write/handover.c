/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queue between the receiving and the writing thread. See handover.h. */
#include "capture/write/handover.h"

#include <errno.h>
#include <glib.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "compat/kernel.h"

enum {
    CACHE_LINE = 64,
    BLOCKS_MIN = 4,
    BLOCKS_FIRST = 128, /* 32 MiB, prefaulted before the first frame */
    BLOCKS_AHEAD = 64,  /* fewer prefaulted unused blocks: the writing thread prefaults ... */
    BLOCKS_MORE = 16,   /* ... this many more */
    BLOCKS_TO_WAKE = 8, /* waiting blocks that wake a sleeping writer, at most */
};

/* Single-producer, single-consumer ring. It has a place for every block, so it is never full. */
struct ring {
    struct block **places;
    uint32_t mask;
    _Alignas(CACHE_LINE) atomic_uint put; /* written by the producer: number of blocks put in */
    _Alignas(CACHE_LINE) atomic_uint got; /* written by the consumer: number of blocks taken out */
};

struct handover {
    struct ring full, empty;
    sem_t wake;           /* the writing thread waits on it */
    atomic_bool sleeping; /* the writing thread waits, or is about to */
    atomic_bool ended;
    struct block *blocks;
    uint8_t *memory;
    size_t memory_len;
    uint32_t count;      /* number of blocks */
    uint32_t to_wake;    /* number of waiting blocks that wakes a sleeping writer */
    atomic_uint fresh;   /* number of the first block never used; written by the receiving thread */
    atomic_uint present; /* prefaulted blocks; written by the writing thread once it runs */
    struct block **spare; /* empty blocks, last returned on top; receiving thread only */
    uint32_t spare_count;
};

static void ring_put(struct ring *r, struct block *b)
{
    unsigned at = atomic_load_explicit(&r->put, memory_order_relaxed);

    r->places[at & r->mask] = b;
    atomic_store(&r->put, at + 1); /* sequentially consistent: needed by wake_if_asleep */
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
    r->places = g_try_new0(struct block *, places);
    return r->places != NULL;
}

/*
 * Prefaults memory before packets arrive. Kernels before 5.14 have no MADV_POPULATE_WRITE (EINVAL);
 * pages are then faulted in on first use.
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
        madvise(h->memory, h->memory_len, MADV_HUGEPAGE); /* optional: ignore failure */
    return h->memory != NULL;
}

/* Prefaults the next COUNT blocks, or as many as are left. */
static bool touch_blocks(struct handover *h, uint32_t count)
{
    uint32_t present = atomic_load_explicit(&h->present, memory_order_relaxed);
    uint32_t left = h->count - present;

    count = count < left ? count : left;
    atomic_store_explicit(&h->present, present + count, memory_order_relaxed);
    return touch_memory(h->blocks[present].data, (size_t)count * BLOCK_ROOM);
}

static bool share_out(struct handover *h, bool touch)
{
    for (uint32_t i = 0; i < h->count; i++)
        h->blocks[i].data = h->memory + (size_t)i * BLOCK_ROOM;
    return touch_blocks(h, touch ? h->count : BLOCKS_FIRST);
}

struct handover *handover_create(uint64_t room, bool touch)
{
    struct handover *h = aligned_alloc(CACHE_LINE, sizeof(*h));
    uint64_t count = room / BLOCK_ROOM + (room % BLOCK_ROOM > 0);

    if (!h)
        return NULL;
    *h = (struct handover){.count = 0};
    sem_init(&h->wake, 0, 0);
    atomic_init(&h->sleeping, false);
    atomic_init(&h->ended, false);
    atomic_init(&h->fresh, 0);
    atomic_init(&h->present, 0);
    if (count >= UINT32_MAX / 2) {
        handover_destroy(h);
        errno = ENOMEM;
        return NULL;
    }
    h->count = count < BLOCKS_MIN ? BLOCKS_MIN : (uint32_t)count;
    h->to_wake = h->count / 4 < BLOCKS_TO_WAKE ? h->count / 4 : BLOCKS_TO_WAKE;
    h->blocks = map_memory(h) ? g_try_new0(struct block, h->count) : NULL;
    h->spare = g_try_new0(struct block *, h->count);
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
    g_free(h->full.places);
    g_free(h->empty.places);
    g_free(h->spare);
    g_free(h->blocks);
    sem_destroy(&h->wake);
    free(h);
}

/* Takes the block that was returned last, which is most likely still in the CPU cache. */
static struct block *take_spare(struct handover *h)
{
    struct block *b;

    while ((b = ring_get(&h->empty)) != NULL)
        h->spare[h->spare_count++] = b;
    return h->spare_count > 0 ? h->spare[--h->spare_count] : NULL;
}

/*
 * Takes a block that was never used. Its memory is prefaulted, unless one long write kept the
 * writing thread from prefaulting more; a page fault is then better than a lost frame.
 */
static struct block *take_fresh(struct handover *h)
{
    uint32_t fresh = atomic_load_explicit(&h->fresh, memory_order_relaxed);

    if (fresh == h->count)
        return NULL;
    atomic_store_explicit(&h->fresh, fresh + 1, memory_order_relaxed);
    return &h->blocks[fresh];
}

struct block *handover_take(struct handover *h)
{
    struct block *b = take_spare(h);

    if (!b)
        b = take_fresh(h);
    if (b) {
        b->len = b->packets = 0;
        b->bytes = 0;
        b->new_file = false;
        b->files = 0;
    }
    return b;
}

/* Number of full blocks that the writer has not taken yet. */
static uint32_t waiting(const struct handover *h)
{
    return atomic_load(&h->full.put) - atomic_load_explicit(&h->full.got, memory_order_relaxed);
}

/*
 * The receiving thread puts a block in, then checks whether the writer sleeps. The writer sets
 * sleeping, then checks for a block (handover_next). All four accesses are sequentially consistent,
 * so at least one thread sees the other's write and no wake-up is lost.
 */
static void wake_if_asleep(struct handover *h)
{
    if (atomic_load(&h->sleeping) && atomic_exchange(&h->sleeping, false))
        sem_post(&h->wake);
}

void handover_give(struct handover *h, struct block *b)
{
    ring_put(&h->full, b);
    if (waiting(h) >= h->to_wake)
        wake_if_asleep(h);
}

void handover_wake(struct handover *h)
{
    if (waiting(h) > 0)
        wake_if_asleep(h);
}

void handover_end(struct handover *h)
{
    atomic_store(&h->ended, true);
    wake_if_asleep(h);
}

static void sleep_until_woken(struct handover *h)
{
    while (sem_wait(&h->wake) != 0)
        ; /* interrupted by a signal */
}

/* Prefaults more blocks before the prefaulted ones are all in use. */
static void keep_ahead(struct handover *h)
{
    uint32_t present = atomic_load_explicit(&h->present, memory_order_relaxed);

    if (present < h->count &&
        present < atomic_load_explicit(&h->fresh, memory_order_relaxed) + BLOCKS_AHEAD)
        touch_blocks(h, BLOCKS_MORE);
}

struct block *handover_next(struct handover *h)
{
    struct block *b;

    keep_ahead(h);
    while ((b = ring_get(&h->full)) == NULL) {
        if (atomic_load(&h->ended) && waiting(h) == 0)
            return NULL;
        atomic_store(&h->sleeping, true);
        bool idle = waiting(h) == 0 && !atomic_load(&h->ended);
        /* not idle, but the receiving thread has already posted: consume the post */
        if (idle || !atomic_exchange(&h->sleeping, false))
            sleep_until_woken(h);
    }
    return b;
}

void handover_return(struct handover *h, struct block *b)
{
    ring_put(&h->empty, b);
}

/* Number of blocks passed to the writer and not yet returned. */
static uint32_t outstanding(struct handover *h)
{
    return atomic_load_explicit(&h->full.put, memory_order_relaxed) -
           atomic_load_explicit(&h->empty.put, memory_order_acquire);
}

bool handover_is_empty(struct handover *h)
{
    return outstanding(h) == 0;
}

bool handover_is_behind(struct handover *h)
{
    return outstanding(h) > 2 * h->to_wake;
}

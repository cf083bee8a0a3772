/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hand-over between two threads: order, limits, concurrency. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#include "capture/write/handover.h"

static void blocks_are_in_order_and_reused(void **state)
{
    struct handover *h = handover_create(1, false); /* four blocks, the minimum */
    struct block *b[4], *again;

    (void)state;
    for (int i = 0; i < 4; i++) {
        b[i] = handover_take(h);
        assert_non_null(b[i]);
        b[i]->len = 7;
    }
    assert_null(handover_take(h));
    handover_give(h, b[2]);
    handover_give(h, b[0]);
    assert_false(handover_is_empty(h));
    assert_ptr_equal(handover_next(h), b[2]);
    assert_ptr_equal(handover_next(h), b[0]);
    handover_return(h, b[2]);
    handover_return(h, b[0]);
    assert_true(handover_is_empty(h));
    again = handover_take(h);
    assert_ptr_equal(again, b[0]); /* the last block returned, because it is still in the cache */
    assert_int_equal(again->len, 0);
    assert_ptr_equal(handover_take(h), b[2]); /* the only one that is left is used too */
    assert_null(handover_take(h));
    handover_end(h);
    assert_null(handover_next(h));
    handover_destroy(h);
}

static void whole_memory_is_usable(void **state)
{
    struct handover *h = handover_create(UINT64_C(6) * BLOCK_ROOM + 1, true);
    struct block *b;
    int blocks = 0;

    (void)state;
    for (; (b = handover_take(h)) != NULL; blocks++)
        memset(b->data, 0xee, BLOCK_ROOM);
    assert_int_equal(blocks, 7);
    handover_destroy(h);
}

static bool is_present(uint8_t *at)
{
    uint8_t *page = (uint8_t *)((uintptr_t)at & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1));
    unsigned char resident = 0;

    assert_int_equal(mincore(page, 1, &resident), 0);
    return resident & 1;
}

/*
 * 32 MiB are 128 blocks. More are allocated when the writer takes a block and fewer than 64 are
 * free.
 */
static void memory_is_touched_before_use(void **state)
{
    struct handover *h = handover_create(UINT64_C(1024) * BLOCK_ROOM, false);
    struct block *first = handover_take(h), *b = first;

    (void)state;
    assert_true(is_present(first->data + 127 * BLOCK_ROOM));
    assert_false(is_present(first->data + 1023 * (size_t)BLOCK_ROOM));
    handover_give(h, first);
    for (int i = 1; i < 100; i++) {
        b = handover_take(h);
        assert_true(is_present(b->data) && is_present(b->data + BLOCK_ROOM - 1));
        handover_give(h, b);
    }
    handover_return(h, handover_next(h));
    assert_true(is_present(first->data + 143 * BLOCK_ROOM));
    assert_false(is_present(first->data + 1023 * (size_t)BLOCK_ROOM));
    handover_destroy(h);
}

struct sleeper {
    struct handover *h;
    atomic_uint taken;
};

static void *take_all(void *arg)
{
    struct sleeper *s = arg;
    struct block *b;

    while ((b = handover_next(s->h)) != NULL) {
        atomic_fetch_add(&s->taken, 1);
        handover_return(s->h, b);
    }
    return NULL;
}

static void give(struct handover *h, int blocks)
{
    for (int i = 0; i < blocks; i++)
        handover_give(h, handover_take(h));
}

/* Waits until the writer has taken the blocks. Returns false after 10 s. */
static bool are_taken(struct sleeper *s, unsigned blocks)
{
    for (int i = 0; i < 10000 && atomic_load(&s->taken) != blocks; i++)
        usleep(1000);
    return atomic_load(&s->taken) == blocks;
}

/* True if the writer leaves seven blocks for 50 ms. If not, waits until it has taken them. */
static bool leaves_seven(struct sleeper *s)
{
    unsigned before = atomic_load(&s->taken);

    give(s->h, 7);
    usleep(50000);
    if (atomic_load(&s->taken) == before)
        return true;
    handover_wake(s->h);
    assert_true(are_taken(s, before + 7));
    return false;
}

static void sleeping_writer_is_woken_for_some_blocks_or_on_demand(void **state)
{
    struct sleeper s = {.h = handover_create(UINT64_C(64) * BLOCK_ROOM, false)};
    pthread_t thread;
    unsigned before;

    (void)state;
    atomic_init(&s.taken, 0);
    assert_int_equal(pthread_create(&thread, NULL, take_all, &s), 0);
    while (!leaves_seven(&s))
        ; /* on a busy machine, the writer may not be asleep yet */
    before = atomic_load(&s.taken);
    give(s.h, 1);
    assert_true(are_taken(&s, before + 8));
    give(s.h, 1);
    handover_wake(s.h);
    assert_true(are_taken(&s, before + 9));
    give(s.h, 1);
    handover_end(s.h);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&s.taken), before + 10);
    handover_destroy(s.h);
}

/* With few blocks, the writer cannot wait for many. */
static void writer_of_few_blocks_is_woken_for_each(void **state)
{
    struct sleeper s = {.h = handover_create(1, false)};
    pthread_t thread;

    (void)state;
    atomic_init(&s.taken, 0);
    assert_int_equal(pthread_create(&thread, NULL, take_all, &s), 0);
    usleep(100000);
    give(s.h, 1);
    assert_true(are_taken(&s, 1));
    handover_end(s.h);
    pthread_join(thread, NULL);
    handover_destroy(s.h);
}

static void too_much_memory_is_refused(void **state)
{
    (void)state;
    assert_null(handover_create(UINT64_MAX / 2, false));
    assert_null(handover_create(UINT64_C(1) << 47, false));
}

enum { BLOCKS = 300000 };

static void *consume(void *arg)
{
    struct handover *h = arg;
    struct block *b;
    uint32_t expected = 0;

    while ((b = handover_next(h)) != NULL) {
        if (b->packets != expected || *(uint32_t *)(void *)b->data != expected)
            return NULL;
        expected++;
        handover_return(h, b);
    }
    return expected == BLOCKS ? h : NULL;
}

static void many_blocks_between_two_threads(void **state)
{
    struct handover *h = handover_create(8 * BLOCK_ROOM, false);
    pthread_t thread;
    void *result;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, consume, h), 0);
    for (uint32_t i = 0; i < BLOCKS;) {
        struct block *b = handover_take(h);

        if (!b)
            continue; /* all blocks are with the writer */
        b->packets = i;
        *(uint32_t *)(void *)b->data = i;
        handover_give(h, b);
        i++;
    }
    handover_end(h);
    pthread_join(thread, &result);
    assert_ptr_equal(result, h);
    assert_true(handover_is_empty(h));
    handover_destroy(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_in_order_and_reused),
        cmocka_unit_test(whole_memory_is_usable),
        cmocka_unit_test(memory_is_touched_before_use),
        cmocka_unit_test(sleeping_writer_is_woken_for_some_blocks_or_on_demand),
        cmocka_unit_test(writer_of_few_blocks_is_woken_for_each),
        cmocka_unit_test(too_much_memory_is_refused),
        cmocka_unit_test(many_blocks_between_two_threads),
    };

    return cmocka_run_group_tests_name("capture_handover", tests, NULL, NULL);
}

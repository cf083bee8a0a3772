/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hand-over between two threads: order, limits, two threads. */
#include <pthread.h>
#include <stdlib.h>

#include "tests/unit/unit.h"

#include "capture/handover.h"

static void blocks_come_in_order_and_are_used_again(void **state)
{
    struct handover *h = handover_create(1, false); /* four, the least */
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
    assert_ptr_equal(again, b[0]); /* the last one: it is in the cache still */
    assert_int_equal(again->len, 0);
    handover_end(h);
    assert_null(handover_next(h));
    handover_destroy(h);
}

static void whole_room_is_there(void **state)
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
            continue; /* all are on their way */
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
        cmocka_unit_test(blocks_come_in_order_and_are_used_again),
        cmocka_unit_test(whole_room_is_there),
        cmocka_unit_test(too_much_memory_is_refused),
        cmocka_unit_test(many_blocks_between_two_threads),
    };

    return cmocka_run_group_tests_name("capture_handover", tests, NULL, NULL);
}

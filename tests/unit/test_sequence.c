/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sequences of PSNs (model/sequence.h), and packets that were captured twice (model/copies.h).
 */
#include "tests/unit/unit.h"

#include "model/copies.h"
#include "model/observe.h"
#include "model/sequence.h"

/* ---- sequences */

enum { ANY = 1000, STEPS = 8 };

struct step {
    uint32_t psn;
    enum sequence_seen seen;
};

/* Sees the packets in the frames 1, 2, ...; psn 0 of SEEN_NONE ends them. */
static struct sequence after(const struct step *steps)
{
    struct sequence s = {0};
    for (uint32_t i = 0; i < STEPS && steps[i].seen; i++)
        assert_int_equal(sequence_saw(&s, steps[i].psn, i + 1), steps[i].seen);
    return s;
}

static void psn_after_the_last_is_next(void **state)
{
    (void)state;
    struct sequence s = after((struct step[STEPS]){{ANY, SEEN_NEW}, {ANY + 1, SEEN_NEXT}});
    assert_int_equal(s.first_frame, 1);
    assert_int_equal(s.last_frame, 2);
    assert_true(s.begins_late);
    assert_true(sequence_is_whole_since(&s, 0));
    assert_true(sequence_is_next(&s, ANY + 2));
    assert_false(sequence_is_next(&s, ANY + 1));
}

static void psns_wrap_at_24_bits(void **state)
{
    (void)state;
    struct sequence s = after((struct step[STEPS]){
        {PSN_MASK - 1, SEEN_NEW}, {PSN_MASK, SEEN_NEXT}, {0, SEEN_NEXT}, {PSN_MASK, SEEN_LATE}});
    assert_int_equal(s.psn, 0);
}

static void jump_is_a_gap(void **state)
{
    (void)state;
    struct sequence s = after(
        (struct step[STEPS]){{0, SEEN_NEW}, {2, SEEN_GAP}, {3, SEEN_NEXT}, {4, SEEN_NEXT}});
    assert_false(s.begins_late);
    assert_false(sequence_is_whole_since(&s, 1));
    assert_true(sequence_is_whole_since(&s, 2));
}

/* The highest PSN stays, so the packet after a late one is next; but the order was wrong. */
static void old_psn_is_late_within_the_window(void **state)
{
    (void)state;
    struct sequence s = after((struct step[STEPS]){{ANY, SEEN_NEW},
                                                   {ANY - SEQUENCE_LATE_MAX, SEEN_LATE},
                                                   {ANY, SEEN_LATE},
                                                   {ANY + 1, SEEN_NEXT}});
    assert_false(sequence_is_whole_since(&s, 2));
    assert_true(sequence_is_whole_since(&s, 3));
    after((struct step[STEPS]){
        {ANY, SEEN_NEW}, {ANY - SEQUENCE_LATE_MAX - 1, SEEN_GAP}, {ANY, SEEN_GAP}});
}

/* If the first packet was not captured, it may come late. */
static void first_psn_again_is_a_new_queue_pair(void **state)
{
    (void)state;
    struct sequence s = after((struct step[STEPS]){
        {0, SEEN_NEW}, {1, SEEN_NEXT}, {2, SEEN_NEXT}, {0, SEEN_GAP}, {1, SEEN_NEXT}});
    assert_false(sequence_is_whole_since(&s, 3));
    assert_true(sequence_is_whole_since(&s, 4));
    after((struct step[STEPS]){{3, SEEN_NEW}, {4, SEEN_NEXT}, {0, SEEN_LATE}, {5, SEEN_NEXT}});
}

static void restarted_sequence_begins_with_0(void **state)
{
    (void)state;
    struct sequence s = {0};
    sequence_restarts(&s);
    assert_int_equal(sequence_saw(&s, 0, 1), SEEN_NEXT);
    sequence_saw(&s, 1, 2);
    sequence_restarts(&s);
    assert_int_equal(sequence_saw(&s, 0, 3), SEEN_NEXT);
    sequence_restarts(&s);
    assert_int_equal(sequence_saw(&s, 1, 4), SEEN_NEXT); /* it did not start again */
    sequence_restarts(&s);
    assert_int_equal(sequence_saw(&s, 7, 5), SEEN_GAP);
    assert_false(sequence_is_whole_since(&s, 4));
}

static void announced_psn_is_next(void **state)
{
    (void)state;
    struct sequence s;
    sequence_begins(&s, 0);
    assert_int_equal(sequence_saw(&s, 0, 1), SEEN_NEXT);
    sequence_begins(&s, ANY);
    assert_int_equal(sequence_saw(&s, ANY + 1, 1), SEEN_GAP);
}

/* A sequence that is a little behind has the copies of the other one. */
static void merged_sequences_go_on_from_the_one_that_is_ahead(void **state)
{
    (void)state;
    struct sequence a = {0}, b = {0}, none = {0};
    sequence_saw(&a, ANY + 2, 10);
    sequence_saw(&b, ANY, 11);
    sequence_has_gap(&b, 12);
    sequence_merge(&a, &b);
    assert_int_equal(a.psn, ANY + 2);
    assert_int_equal(a.first_frame, 10);
    assert_int_equal(a.last_frame, 11);
    assert_int_equal(a.gap_frame, 12);
    sequence_merge(&b, &a);
    assert_int_equal(b.psn, ANY + 2);
    sequence_merge(&none, &a);
    assert_int_equal(sequence_saw(&none, ANY + 3, 13), SEEN_NEXT);
}

/* ---- copies */

enum { LID = 1, PAYLOAD = 64, SIZE = LRH_SIZE + BTH_SIZE + DETH_SIZE + PAYLOAD + 6 };
enum { PSN_AT = LRH_SIZE + BTH_PSN, FECN_AT = LRH_SIZE + BTH_FECN_BECN, DATA_AT = SIZE - 6 - 4 };
enum { MILLISECOND = 1000000 };

struct scenario {
    struct fabric *fabric;
    struct events *events;
    uint8_t bytes[SIZE];
    uint32_t frame;
    int64_t ns;
};

/* A unicast datagram with IPv4 and without CRCs: those of a capture tool that writes 0. */
static int set_up(void **state)
{
    static struct scenario s;
    s = (struct scenario){.fabric = fabric_new(), .events = events_new()};
    uint8_t *bth = s.bytes + LRH_SIZE, *ip = bth + BTH_SIZE + DETH_SIZE;
    s.bytes[LRH_SL_LNH] = LNH_BTH;
    s.bytes[LRH_DLID + 1] = LID + 1;
    s.bytes[LRH_PKT_LEN + 1] = (SIZE - VCRC_SIZE) / 4;
    s.bytes[LRH_SLID + 1] = LID;
    bth[BTH_OPCODE] = 0x64;
    bth[BTH_PKEY] = bth[BTH_PKEY + 1] = 0xff;
    bth[BTH_DEST_QP + 2] = bth[BTH_SIZE + DETH_SRC_QP + 2] = 0x48;
    ip[0] = 0x08; /* IPv4 */
    ip[4] = 0x45;
    ip[7] = PAYLOAD - 4;
    *state = &s;
    return 0;
}

static int tear_down(void **state)
{
    const struct scenario *s = *state;
    events_free(s->events);
    fabric_free(s->fabric);
    return 0;
}

/* The frame of which the packet is a copy; 0: none. It has cap bytes. */
static uint32_t observe_part(struct scenario *s, uint32_t interface, uint32_t cap)
{
    struct packet p;
    struct capture_position at = {.frame = ++s->frame, .ns = s->ns};
    at.interface = fabric_enter_interface(s->fabric, (struct capture_interface){interface, 0, 0});
    packet_read(&p, &at, view_make(s->bytes, cap, SIZE), IB_START_LRH, NULL, NULL);
    assert_int_equal(p.result, WIRE_OK);
    fabric_observe(s->fabric, &p, s->events);
    return p.copy_of;
}

static uint32_t observe(struct scenario *s)
{
    return observe_part(s, 0, SIZE);
}

static void same_packet_is_a_copy(void **state)
{
    struct scenario *s = *state;
    assert_int_equal(observe(s), 0);
    assert_int_equal(observe(s), 1);
    s->ns += MILLISECOND;
    assert_int_equal(observe(s), 1);
}

/* IBA 7.8.1: these fields may change on the way. */
static void copy_may_have_another_vl_vcrc_and_resv8a(void **state)
{
    struct scenario *s = *state;
    observe(s);
    s->bytes[LRH_VL_LVER] = 0x30;
    s->bytes[FECN_AT] = 0x80;
    s->bytes[SIZE - 1] = 0x55;
    assert_int_equal(observe(s), 1);
}

static void another_packet_is_no_copy(void **state)
{
    struct scenario *s = *state;
    static const unsigned fields[] = {PSN_AT + 2, DATA_AT, LRH_DLID + 1};
    observe(s);
    for (unsigned i = 0; i < G_N_ELEMENTS(fields); i++) {
        s->bytes[fields[i]] ^= 1;
        assert_int_equal(observe(s), 0);
        s->bytes[fields[i]] ^= 1;
    }
    assert_int_equal(observe_part(s, 0, SIZE - 20), 0); /* truncated */
    assert_int_equal(observe(s), 1);
}

/* The PSN goes on after a copy; the same PSN with other contents is late. */
static void copy_is_not_in_the_sequence(void **state)
{
    struct scenario *s = *state;
    for (uint8_t psn = 0; psn < 3; psn++) {
        s->bytes[PSN_AT + 2] = psn;
        assert_int_equal(observe(s), 0);
        assert_int_equal(observe(s), 2 * psn + 1);
        assert_int_equal(s->events->sender_seen, SEEN_NONE);
    }
    s->bytes[PSN_AT + 2] = 3;
    observe(s);
    assert_int_equal(s->events->sender_seen, SEEN_NEXT);
    s->bytes[DATA_AT] = 1;
    assert_int_equal(observe(s), 0);
    assert_int_equal(s->events->sender_seen, SEEN_LATE);
}

/* A sender that does not count PSNs may send the same again. */
static void same_packet_much_later_is_no_copy(void **state)
{
    struct scenario *s = *state;
    observe(s);
    for (uint8_t psn = 1; psn <= ORDER_FRAMES; psn++) {
        s->bytes[PSN_AT + 2] = psn;
        observe(s);
    }
    s->bytes[PSN_AT + 2] = 0;
    s->ns += (COPIES_SECONDS + 1) * INT64_C(1000000000);
    assert_int_equal(observe(s), 0);
}

static void packet_is_forgotten_after_many_others(void **state)
{
    struct scenario *s = *state;
    for (uint32_t psn = 0; psn <= COPIES; psn++) {
        s->bytes[PSN_AT + 1] = (uint8_t)(psn >> 8);
        s->bytes[PSN_AT + 2] = (uint8_t)psn;
        assert_int_equal(observe(s), 0);
    }
    s->bytes[PSN_AT + 1] = s->bytes[PSN_AT + 2] = 0;
    assert_int_equal(observe(s), 0);
    s->bytes[PSN_AT + 2] = 2; /* 1 made room for the packet before this one */
    assert_int_equal(observe(s), 3);
}

static void copy_on_another_interface_joins_the_two(void **state)
{
    struct scenario *s = *state;
    observe(s);
    assert_int_equal(observe_part(s, 1, SIZE), 1);
    const struct interfaces *i = fabric_facts(s->fabric)->interfaces;
    assert_int_equal(interfaces_subnet(i, 0), interfaces_subnet(i, 1));
    assert_int_equal(fabric_facts(s->fabric)->merged, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(psn_after_the_last_is_next),
        cmocka_unit_test(psns_wrap_at_24_bits),
        cmocka_unit_test(jump_is_a_gap),
        cmocka_unit_test(old_psn_is_late_within_the_window),
        cmocka_unit_test(first_psn_again_is_a_new_queue_pair),
        cmocka_unit_test(restarted_sequence_begins_with_0),
        cmocka_unit_test(announced_psn_is_next),
        cmocka_unit_test(merged_sequences_go_on_from_the_one_that_is_ahead),
        cmocka_unit_test_setup_teardown(same_packet_is_a_copy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(copy_may_have_another_vl_vcrc_and_resv8a, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(another_packet_is_no_copy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(copy_is_not_in_the_sequence, set_up, tear_down),
        cmocka_unit_test_setup_teardown(same_packet_much_later_is_no_copy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(packet_is_forgotten_after_many_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(copy_on_another_interface_joins_the_two, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

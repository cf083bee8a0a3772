/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The observer learns by itself: it needs neither checks nor dissection. */
#include "tests/unit/unit.h"

#include "model/observe.h"
#include "tests/support/craft.h"

enum { IP = 0x0a000001, ASKED = 0x0a000002, QPN = 0x48 };

struct scenario {
    struct fabric *fabric;
    struct events *events;
};

static int set_up(void **state)
{
    static struct scenario s;
    s = (struct scenario){fabric_new(), events_new()};
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

/* Observes a frame with an ARP request of the port with this number, without InfiniBand headers. */
static void observe_arp(const struct scenario *s, uint32_t frame, uint32_t port)
{
    uint8_t gid[GID_SIZE], lladdr[LLADDR_SIZE], bytes[CRAFT_ARP] = {0};
    struct capture_position at = {.frame = frame, .ns = frame * INT64_C(1000000000)};
    struct link_frame c = {.kind = LINK_FRAME_IPOIB,
                           .inner = view_make(bytes, sizeof bytes, sizeof bytes)};
    struct packet p;
    craft_gid(gid, port);
    craft_lladdr(lladdr, 0, QPN, gid);
    craft_arp_request(bytes, lladdr, IP, ASKED);
    packet_read_without_ib(&p, &at, &c);
    fabric_observe(s->fabric, &p, s->events);
}

static void announced_address_is_learnt(void **state)
{
    const struct scenario *s = *state;
    observe_arp(s, 1, 1);
    assert_int_equal(neighbours_count(fabric_facts(s->fabric)->neighbours), 1);
    const struct neighbour *n = neighbours_at(fabric_facts(s->fabric)->neighbours, 0);
    assert_int_equal(n->frame, 1);
    assert_int_equal(be32(n->ip.bytes), IP);
    assert_false(s->events->has_duplicate);
}

/* The event contains the state before this packet. */
static void another_port_with_the_same_ip_is_an_event(void **state)
{
    const struct scenario *s = *state;
    uint8_t gid[GID_SIZE];
    observe_arp(s, 1, 1);
    observe_arp(s, 2, 1);
    assert_false(s->events->has_duplicate);
    observe_arp(s, 3, 2);
    assert_true(s->events->has_duplicate);
    craft_gid(gid, 1);
    assert_memory_equal(s->events->duplicate.lladdr + LLADDR_GID, gid, GID_SIZE);
    assert_int_equal(s->events->duplicate.last_frame, 2);
    observe_arp(s, 4, 2);
    assert_false(s->events->has_duplicate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(announced_address_is_learnt, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_port_with_the_same_ip_is_an_event, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("observe", tests, NULL, NULL);
}

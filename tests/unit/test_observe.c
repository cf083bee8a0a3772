/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The observer learns by itself: it needs neither checks nor dissection. */
#include "tests/unit/unit.h"

#include "model/observe.h"
#include "tests/support/craft.h"
#include "wire/icrc.h"

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

/* LRH, BTH and DETH of a unicast UD packet with an ARP request: 92 bytes, 23 words (IBA 7.7.5). */
enum { HEADERS = LRH_SIZE + BTH_SIZE + DETH_SIZE, WORDS = (HEADERS + CRAFT_ARP + ICRC_SIZE) / 4 };

static void put_icrc(uint8_t *packet, uint32_t size, bool right)
{
    struct view v = view_make(packet, size, size);
    struct ib_packet ib;
    assert_int_equal(ib_decode(v, IB_START_LRH, &ib), WIRE_OK);
    uint32_t icrc = icrc_of(v, &ib) ^ (right ? 0 : 1);
    for (unsigned b = 0; b < ICRC_SIZE; b++) /* little-endian (IBA 7.8.1) */
        packet[size - ICRC_SIZE + b] = (uint8_t)(icrc >> 8 * b);
}

/* Observes an ARP request of the port with this number, with InfiniBand headers and ICRC. */
static void observe_ib_arp(const struct scenario *s, uint32_t frame, uint32_t port, bool right)
{
    uint8_t p[4 * WORDS] = {0, 2, 0, 2, 0, WORDS, 0, 1, CRAFT_UD, 0, 0xff, 0xff};
    uint8_t *bth = p + LRH_SIZE, *deth = bth + BTH_SIZE;
    uint8_t gid[GID_SIZE], lladdr[LLADDR_SIZE];
    struct capture_position at = {.frame = frame, .ns = frame * INT64_C(1000000000)};
    struct port none = {0};
    struct packet packet;
    craft_gid(gid, port);
    craft_lladdr(lladdr, 0, QPN, gid);
    put24(bth + BTH_DEST_QP, QPN);
    put24(deth + DETH_SRC_QP, QPN);
    craft_arp_request(p + HEADERS, lladdr, IP, ASKED);
    put_icrc(p, sizeof p, right);
    packet_read(&packet, &at, view_make(p, sizeof p, sizeof p), IB_START_LRH, &none, &none);
    fabric_observe(s->fabric, &packet, s->events);
    assert_int_equal(packet_is_corrupt(&packet), !right);
}

/* IBA 7.8: a receiver drops a packet whose ICRC is wrong, so nobody learns an address from it. */
static void corrupt_packet_announces_no_address(void **state)
{
    const struct scenario *s = *state;
    observe_ib_arp(s, 1, 1, true);
    observe_ib_arp(s, 2, 2, false);
    assert_false(s->events->has_duplicate);
    assert_int_equal(neighbours_count(fabric_facts(s->fabric)->neighbours), 1);
    observe_ib_arp(s, 3, 1, true);
    assert_false(s->events->has_duplicate);
    observe_ib_arp(s, 4, 2, true); /* the same bytes without damage announce it */
    assert_true(s->events->has_duplicate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(announced_address_is_learnt, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_port_with_the_same_ip_is_an_event, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(corrupt_packet_announces_no_address, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("observe", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Streams, connections and neighbours: state over several packets. */
#include "tests/unit/unit.h"

#include "model/hash.h"
#include "model/lifecycle.h"
#include "model/stream.h"
#include "model/write.h"
#include "wire/nanoseconds.h"

static struct stream_result send_packet(struct stream *s, struct stream_store *store,
                                        enum ib_position position, uint32_t psn)
{
    return stream_packet(s, store, position, psn, 256, position == IB_FIRST);
}

static void message_over_the_psn_wrap(void **state)
{
    (void)state;
    struct stream s = {0};
    struct stream_store n = {0};
    assert_int_equal(send_packet(&s, &n, IB_FIRST, 0xfffffe).state, STREAM_FRAGMENT);
    assert_int_equal(send_packet(&s, &n, IB_MIDDLE, 0xffffff).index, 1);
    assert_int_equal(send_packet(&s, &n, IB_MIDDLE, 0x000000).index, 2);
    struct stream_result r = send_packet(&s, &n, IB_LAST, 0x000001);
    assert_int_equal(r.state, STREAM_COMPLETE);
    assert_int_equal(r.number, 1);
    assert_true(r.ipoib);
    stream_clear(&s);
}

static void retransmissions_count_once(void **state)
{
    (void)state;
    struct stream s = {0};
    struct stream_store n = {0};
    send_packet(&s, &n, IB_FIRST, 10);
    send_packet(&s, &n, IB_MIDDLE, 11);
    assert_int_equal(send_packet(&s, &n, IB_MIDDLE, 11).state, STREAM_REPEATED);
    assert_int_equal(send_packet(&s, &n, IB_LAST, 12).state, STREAM_COMPLETE);
    assert_int_equal(send_packet(&s, &n, IB_FIRST, 10).state, STREAM_REPEATED);
    assert_int_equal(send_packet(&s, &n, IB_LAST, 12).state, STREAM_REPEATED);
    assert_int_equal(n.messages, 1);
    stream_clear(&s);
}

/* Go-back-N: the lost Middle is sent again with all packets after it, and completes the message. */
static void retransmitted_middle_completes_the_message(void **state)
{
    (void)state;
    struct stream s = {0};
    struct stream_store n = {0};
    send_packet(&s, &n, IB_FIRST, 10);
    assert_int_equal(send_packet(&s, &n, IB_LAST, 12).state, STREAM_FRAGMENT);
    assert_int_equal(send_packet(&s, &n, IB_MIDDLE, 11).state, STREAM_COMPLETE);
    assert_int_equal(send_packet(&s, &n, IB_LAST, 12).state, STREAM_REPEATED);
    stream_clear(&s);
}

/*
 * Messages of 3 and 2 packets. Packets 1 to 3 are lost before the capture point, so that 4 looks
 * like the first message's last. Then all are sent again.
 */
static void a_burst_of_losses_over_two_messages(void **state)
{
    (void)state;
    struct stream s = {0};
    struct stream_store n = {0};
    send_packet(&s, &n, IB_FIRST, 0);
    assert_int_equal(send_packet(&s, &n, IB_LAST, 4).state, STREAM_FRAGMENT);
    struct stream_result r = send_packet(&s, &n, IB_MIDDLE, 1);
    assert_int_equal(r.state, STREAM_FRAGMENT);
    assert_false(r.shortened);
    r = send_packet(&s, &n, IB_LAST, 2);
    assert_int_equal(r.state, STREAM_COMPLETE);
    assert_int_equal(r.number, 1);
    assert_true(r.shortened);
    assert_int_equal(n.runs, 0);
    r = send_packet(&s, &n, IB_FIRST, 3);
    assert_int_equal(r.number, 2);
    assert_int_equal(r.evicted, 0);
    r = send_packet(&s, &n, IB_LAST, 4);
    assert_int_equal(r.state, STREAM_COMPLETE);
    assert_int_equal(r.number, 2);
    assert_int_equal(r.index, 1);
    stream_clear(&s);
}

/* As many packets as the message has, but one belongs to another message: 1 is missing. */
static void message_is_complete_with_all_fragments(void **state)
{
    (void)state;
    struct stream s = {0};
    struct stream_store n = {0};
    send_packet(&s, &n, IB_FIRST, 0);
    assert_int_equal(send_packet(&s, &n, IB_MIDDLE, 4).state, STREAM_FRAGMENT);
    struct stream_result r = send_packet(&s, &n, IB_LAST, 2);
    assert_int_equal(r.state, STREAM_FRAGMENT);
    assert_true(r.shortened);
    assert_int_equal(send_packet(&s, &n, IB_MIDDLE, 3).state, STREAM_ORPHAN); /* after the end */
    r = send_packet(&s, &n, IB_MIDDLE, 1);
    assert_int_equal(r.state, STREAM_COMPLETE);
    assert_false(r.shortened);
    assert_int_equal(n.runs, 0);
    stream_clear(&s);
}

static void middle_or_last_without_first_belongs_to_no_message(void **state)
{
    (void)state;
    struct stream s = {0};
    struct stream_store n = {0};
    assert_int_equal(send_packet(&s, &n, IB_MIDDLE, 5).state, STREAM_ORPHAN);
    send_packet(&s, &n, IB_FIRST, 10);
    send_packet(&s, &n, IB_LAST, 11);
    /* its First (12) was lost */
    assert_int_equal(send_packet(&s, &n, IB_LAST, 13).state, STREAM_ORPHAN);
    stream_clear(&s);
}

static void oldest_messages_are_discarded_when_full(void **state)
{
    (void)state;
    struct stream s = {0};
    struct stream_store n = {0};
    for (uint32_t i = 0; i < STREAM_MESSAGES; i++)
        assert_int_equal(send_packet(&s, &n, IB_FIRST, 100 * i).evicted, 0);
    assert_int_equal(send_packet(&s, &n, IB_FIRST, 5000).evicted, 1);
    stream_clear(&s);
}

/* Packets in any order: first one is missing, then none. */
static void gaps_close_from_both_ends(void **state)
{
    (void)state;
    static const uint32_t order[] = {5, 3, 7, 4, 1, 8, 6, 9};
    struct stream s = {0};
    struct stream_store n = {0};
    send_packet(&s, &n, IB_FIRST, 100);
    for (unsigned i = 0; i < sizeof order / sizeof *order; i++) {
        assert_int_equal(
            send_packet(&s, &n, order[i] == 9 ? IB_LAST : IB_MIDDLE, 100 + order[i]).state,
            STREAM_FRAGMENT);
        assert_int_equal(
            send_packet(&s, &n, order[i] == 9 ? IB_LAST : IB_MIDDLE, 100 + order[i]).state,
            STREAM_REPEATED);
    }
    assert_int_equal(n.runs, 1); /* 3 to 9: 2 is missing */
    assert_int_equal(send_packet(&s, &n, IB_MIDDLE, 102).state, STREAM_COMPLETE);
    assert_int_equal(send_packet(&s, &n, IB_MIDDLE, 105).state, STREAM_REPEATED);
    assert_int_equal(n.runs, 0);
    stream_clear(&s);
    assert_int_equal(n.streams, 0);
}

/*
 * Every second packet of a message of maximum length: the stored runs have a limit, and are freed.
 */
static void gaps_stay_below_their_limit(void **state)
{
    (void)state;
    struct stream s = {0};
    struct stream_store n = {0};
    send_packet(&s, &n, IB_FIRST, 0);
    for (uint32_t psn = 2; psn < 1u << 23; psn += 2)
        send_packet(&s, &n, IB_MIDDLE, psn);
    assert_int_equal(n.runs, STREAM_MESSAGE_RUNS);
    assert_int_equal(send_packet(&s, &n, IB_MIDDLE, 1).state, STREAM_FRAGMENT);
    assert_int_equal(send_packet(&s, &n, IB_MIDDLE, 2).state, STREAM_REPEATED);
    stream_clear(&s);
    assert_int_equal(n.runs, 0);
}

/* ---- connections: A at LID 1 sends a REQ to B at LID 2 */

static uint8_t mad[MAD_SIZE];

static const uint8_t gids[2][GID_SIZE] = {{0xfe, 0x80, [15] = 1}, {0xfe, 0x80, [15] = 2}};

static struct cm message(enum cm_message m, uint32_t local, uint32_t remote, uint32_t qpn)
{
    struct cm cm = {.message = m,
                    .local_comm_id = local,
                    .remote_comm_id = remote,
                    .qpn = qpn,
                    .private_off = REQ_PRIVATE};
    if (m == CM_REQ) {
        cm.service_id = 0x1000000000000048;
        cm.service = SERVICE_IPOIB_LINUX;
        cm.local_lid = 1;
        cm.local_gid = gids[0];
        cm.remote_gid = gids[1];
    }
    memset(mad, 0, sizeof mad);
    mad[REQ_PRIVATE + 3] = 0x48;
    mad[REQ_PRIVATE + 6] = m == CM_REQ ? 0xff : 0x08; /* Receive MTU 65280 and 2048 */
    return cm;
}

static struct connection *deliver(struct connections *c, uint32_t frame, struct cm cm,
                                  uint16_t from, uint16_t to)
{
    struct port src = port_lid(0, from), dst = port_lid(0, to);
    struct mad_payload m = {.bytes = view_make(mad, sizeof mad, sizeof mad),
                            .kind = MAD_KIND_CM,
                            .result = WIRE_OK,
                            .cm = cm};
    m.private_result = cm_private_decode(m.bytes, &cm, &m.private);
    return connections_message(c, frame, frame > ORDER_FRAMES ? frame - ORDER_FRAMES : 0, &m, &src,
                               &dst);
}

static void handshake_binds_both_flows(void **state)
{
    (void)state;
    struct endports *ports = endports_new(10, NULL);
    struct connections *c = connections_new(10, ports, NULL, NULL);
    struct port a = port_lid(0, 1), b = port_lid(0, 2);
    struct connection *conn = deliver(c, 1, message(CM_REQ, 0xa, 0, 0x50), 1, 2);
    assert_non_null(conn);
    assert_true(connection_is_ipoib(conn));
    assert_int_equal(connection_mtu(conn), 0);
    assert_ptr_equal(deliver(c, 2, message(CM_REQ, 0xa, 0, 0x50), 1, 2), conn); /* repeated */
    assert_ptr_equal(deliver(c, 3, message(CM_REP, 0xb, 0xa, 0x60), 2, 1), conn);
    assert_int_equal(connection_mtu(conn), 2044);
    assert_ptr_equal(deliver(c, 4, message(CM_RTU, 0xa, 0xb, 0), 1, 2), conn);
    assert_int_equal(conn->rtu_frame, 4);
    assert_ptr_equal(deliver(c, 5, message(CM_REP, 0xb, 0xa, 0x60), 2, 1), conn); /* repeated */
    assert_null(deliver(c, 6, message(CM_REP, 0xc, 0xa, 0x60), 2, 1)); /* of another connection */
    assert_int_equal(conn->rep_frame, 3);
    struct flow *to_b = connections_flow(c, &b, 0x60, false),
                *to_a = connections_flow(c, &a, 0x50, false);
    assert_ptr_equal(to_b->connection, conn);
    assert_false(to_b->to_requester);
    assert_ptr_equal(to_a->connection, conn);
    assert_true(to_a->to_requester);
    assert_null(connections_flow(c, &b, 0x50, false));
    connections_free(c);
    endports_free(ports);
}

/*
 * The same communication IDs at other ports, or after the end of the connection, are another
 * connection.
 */
static void ids_belong_to_their_ports(void **state)
{
    (void)state;
    struct endports *ports = endports_new(10, NULL);
    struct connections *c = connections_new(10, ports, NULL, NULL);
    struct connection *one = deliver(c, 1, message(CM_REQ, 0xa, 0, 0x50), 1, 2);
    struct connection *two = deliver(c, 2, message(CM_REQ, 0xa, 0, 0x50), 3, 2);
    assert_ptr_not_equal(one, two);
    assert_ptr_equal(deliver(c, 3, message(CM_REJ, 0xb, 0xa, 0), 2, 3), two);
    assert_int_equal(two->rej_frame, 3);
    assert_int_equal(one->rej_frame, 0);
    deliver(c, 4, message(CM_DREQ, 0xa, 0, 0), 1, 2);
    assert_int_equal(one->dreq_frame, 4);
    assert_ptr_not_equal(deliver(c, 5, message(CM_REQ, 0xa, 0, 0x50), 1, 2), one);
    assert_null(deliver(c, 6, message(CM_RTU, 0x77, 0x78, 0), 7, 8));
    connections_free(c);
    endports_free(ports);
}

static void connections_stay_below_their_limit(void **state)
{
    (void)state;
    struct endports *ports = endports_new(10, NULL);
    struct connections *c = connections_new(2, ports, NULL, NULL);
    assert_non_null(deliver(c, 1, message(CM_REQ, 1, 0, 0x50), 1, 2));
    assert_non_null(deliver(c, 2, message(CM_REQ, 2, 0, 0x51), 1, 2));
    assert_null(deliver(c, 3, message(CM_REQ, 3, 0, 0x52), 1, 2));
    connections_free(c);
    endports_free(ports);
}

/*
 * After a DREQ, an RC end may transmit a packet Retry Count + 1 times, each after the ACK timeout
 * of 4.096 us * 2^18 = 1.073741824 s, which may last four times as long (IBA 9.7.6.1.3). UC does
 * not retransmit. The driver's queue is sent for up to 5 s more.
 */
static void connection_is_quiet_after_its_timewait(void **state)
{
    static const struct {
        uint8_t transport, ack_timeout, retry_count;
        int64_t ns; /* 0: never */
    } cases[] = {
        {CM_TRANSPORT_RC, 18, 7, 4 * 8 * INT64_C(1073741824) + 5 * INT64_C(1000000000)},
        {CM_TRANSPORT_RC, 18, 0, 4 * 1 * INT64_C(1073741824) + 5 * INT64_C(1000000000)},
        {CM_TRANSPORT_UC, 18, 7, 4 * 1 * INT64_C(1073741824) + 5 * INT64_C(1000000000)},
        {CM_TRANSPORT_RC, 0, 7, 0},
    };
    (void)state;
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct connection c = {.transport = cases[i].transport & 3};
        struct clocks clocks = {0};
        c.requester.ack_timeout = cases[i].ack_timeout & 31;
        c.requester.retry_count = cases[i].retry_count & 7;
        connection_ended(&c, &clocks);
        clocks_note(&clocks, 0, cases[i].ns ? cases[i].ns : INT64_MAX);
        assert_false(connection_is_quiet(&c, &clocks));
        clocks_note(&clocks, 0, cases[i].ns ? cases[i].ns + 1 : INT64_MAX);
        assert_int_equal(connection_is_quiet(&c, &clocks), cases[i].ns != 0);
    }
}

/* ---- endports */

/* A P_Key's low 15 bits are the partition (IBA 10.9.1.1), so the membership bit does not count. */
static void partition_is_there_whatever_its_membership_bit_is(void **state)
{
    (void)state;
    struct endport_pkeys table = {.entries = {0xffff, 0x0001}, .capacity = ENDPORT_PKEYS};
    struct endport p = {.pkeys = &table};
    assert_int_equal(endport_has_pkey(&p, 0xffff), PKEY_IS_THERE);
    assert_int_equal(endport_has_pkey(&p, 0x7fff), PKEY_IS_THERE);
    assert_int_equal(endport_has_pkey(&p, 0x0001), PKEY_IS_THERE);
    assert_int_equal(endport_has_pkey(&p, 0x8001), PKEY_IS_THERE);
    assert_int_equal(endport_has_pkey(&p, 0x8002), PKEY_IS_NOT_THERE);
    p.pkeys = NULL;
    assert_int_equal(endport_has_pkey(&p, 0xffff), PKEY_NOT_KNOWN);
}

/*
 * Packets that were lost while a port was known only by its LID also count as lost for the port
 * with the GID.
 */
static void port_known_by_lid_gets_its_gid(void **state)
{
    (void)state;
    struct endports *e = endports_new(10, NULL);
    struct endport *nameless = endports_get_by_lid(e, 0, 5, true),
                   *named = endports_get_by_gid(e, 0, gids[0], true);
    nameless->initialised_frame = 10;
    sequence_saw(&nameless->gsi, 100, 11);
    sequence_saw(&nameless->gsi, 102, 12);
    assert_false(endport_requests_are_complete(nameless));
    assert_ptr_equal(endports_learn(e, 0, 5, gids[0]), named);
    assert_ptr_equal(endports_get_by_lid(e, 0, 5, false), named);
    assert_int_equal(named->initialised_frame, 10);
    assert_false(endport_requests_are_complete(named));
    named->initialised_frame = 20;
    sequence_saw(&named->gsi, 103, 21);
    assert_true(endport_requests_are_complete(named));
    sequence_saw(&named->gsi, 105, 22);
    assert_false(endport_requests_are_complete(named));
    endports_free(e);
}

/*
 * A LID moves to another port only if the subnet manager assigns it, not if a packet shows another
 * GID with it.
 */
static void lid_belongs_to_the_port_it_was_assigned_to(void **state)
{
    (void)state;
    struct endports *e = endports_new(10, NULL);
    struct endport *port = endports_assign(e, 0, 5, gids[0]),
                   *alias = endports_learn(e, 0, 5, gids[1]);
    assert_ptr_not_equal(port, alias);
    assert_ptr_equal(endports_get_by_lid(e, 0, 5, false), port);
    assert_true(endport_has_lid(alias, 5));
    assert_ptr_equal(endports_assign(e, 0, 5, gids[1]), alias);
    assert_ptr_equal(endports_get_by_lid(e, 0, 5, false), alias);
    endports_assign(e, 0, 6, gids[1]);
    assert_ptr_equal(endports_learn(e, 0, 5, gids[0]), port); /* no port has it any more */
    assert_ptr_equal(endports_get_by_lid(e, 0, 5, false), port);
    endports_free(e);
}

/* ---- neighbours */

static const uint8_t addr_a[20] = {0x80, 0, 0, 0x48, 0xfe, 0x80, [19] = 1};
static const uint8_t addr_a2[20] = {0x80, 0, 0, 0x49, 0xfe, 0x80, [19] = 1};
static const uint8_t addr_b[20] = {0x00, 0, 0, 0x48, 0xfe, 0x80, [19] = 2};

static void neighbour_history_and_duplicates(void **state)
{
    (void)state;
    struct neighbours *n = neighbours_new(100, NULL);
    struct ip ip = ip_read((const uint8_t[]){10, 0, 0, 1}, 4),
              ip2 = ip_read((const uint8_t[]){10, 0, 0, 2}, 4);
    assert_null(neighbours_seen(n, 0, &ip, addr_a, 5, 100, 0));
    assert_null(neighbours_seen(n, 0, &ip, addr_a, 6, 101, 0));
    assert_null(neighbours_of_lladdr(n, addr_a, 4, 4));
    assert_non_null(neighbours_of_lladdr(n, addr_a, 4, 5));
    assert_null(neighbours_of_lladdr(n, addr_a, 16, 5));
    assert_null(neighbours_seen(n, 0, &ip2, addr_a, 8, 102, 0));
    assert_int_equal(neighbours_of_lladdr(n, addr_a, 4, 7)->ip.bytes[3], 1);
    assert_int_equal(neighbours_of_lladdr(n, addr_a, 4, 8)->ip.bytes[3], 2);
    const struct neighbour *other = neighbours_seen(n, 0, &ip, addr_b, 9, 103, 0);
    assert_non_null(other);
    assert_int_equal(other->last_frame, 6);
    assert_null(neighbours_seen(n, 1, &ip, addr_b, 10, 104, 0)); /* another link: other addresses */
    neighbours_free(n);
}

/* One link-layer address with the same IP address on two links has two entries. */
static void neighbour_belongs_to_its_link(void **state)
{
    (void)state;
    struct neighbours *n = neighbours_new(100, NULL);
    struct ip ip = ip_read((const uint8_t[]){10, 0, 0, 1}, 4);
    assert_null(neighbours_seen(n, 0, &ip, addr_a, 1, 1, 0));
    assert_null(neighbours_seen(n, 1, &ip, addr_a, 2, 2, 0));
    assert_int_equal(neighbours_count(n), 2);
    for (uint32_t link = 0; link < 2; link++) {
        const struct neighbour *owner = neighbours_of_ip(n, link, &ip);
        assert_non_null(owner);
        assert_int_equal(owner->link, link);
        assert_int_equal(owner->last_frame, link + 1);
    }
    neighbours_free(n);
}

/* RFC 4391 §9.4: a restarted interface has another QPN; this is not a duplicate address. */
static void restarted_interface_is_no_duplicate(void **state)
{
    (void)state;
    struct neighbours *n = neighbours_new(100, NULL);
    struct ip ip = ip_read((const uint8_t[]){10, 0, 0, 1}, 4);
    assert_null(neighbours_seen(n, 0, &ip, addr_a, 1, 1, 0));
    assert_null(neighbours_seen(n, 0, &ip, addr_a2, 2, 2, 0));
    assert_non_null(neighbours_seen(n, 0, &ip, addr_b, 3, 3, 0));
    neighbours_free(n);
}

/*
 * An IP address that moves to another port belongs to that port from then on. A second lookup in
 * the same frame gives the same result.
 */
static void an_ip_moves_to_another_port(void **state)
{
    (void)state;
    struct neighbours *n = neighbours_new(100, NULL);
    struct ip ip = ip_read((const uint8_t[]){10, 0, 0, 1}, 4);
    assert_null(neighbours_seen(n, 0, &ip, addr_a, 1, 1, 0));
    const struct neighbour *a = neighbours_of_ip(n, 0, &ip);
    assert_ptr_equal(neighbours_seen(n, 0, &ip, addr_b, 2, 2, 0), a);
    assert_ptr_equal(neighbours_seen(n, 0, &ip, addr_b, 2, 2, 0), a);
    const struct neighbour *b = neighbours_of_ip(n, 0, &ip);
    assert_memory_equal(b->lladdr, addr_b, sizeof addr_b);
    assert_ptr_equal(b->before, a);
    assert_null(neighbour_replaced(b));
    assert_null(neighbours_seen(n, 0, &ip, addr_b, 3, 3, 0));
    assert_ptr_equal(neighbours_seen(n, 0, &ip, addr_a, 4, 4, 0), b); /* and back */
    assert_null(neighbours_seen(n, 0, &ip, addr_a2, 5, 5, 0));
    assert_ptr_equal(neighbour_replaced(neighbours_of_ip(n, 0, &ip)), a);
    neighbours_free(n);
}

static void neighbours_stay_below_their_limit(void **state)
{
    (void)state;
    struct neighbours *n = neighbours_new(10, NULL);
    for (uint32_t i = 0; i < 1000; i++) {
        struct ip ip = ip_read((const uint8_t[]){10, 0, (uint8_t)(i >> 8), (uint8_t)i}, 4);
        neighbours_seen(n, 0, &ip, addr_a, i + 1, 1, 0);
    }
    assert_int_equal(neighbours_of_lladdr(n, addr_a, 4, 1000)->ip.bytes[3], 9);
    neighbours_free(n);
}

/* ---- the order of frames */

static void neighbours_may_be_swapped(void **state)
{
    (void)state;
    struct order o = {0};
    order_note(&o, 1, 0, 0, 0);
    order_note(&o, 2, 0, 0, ADJACENT_MS * INT64_C(1000000));
    assert_true(order_is_uncertain(&o, 1));
    assert_false(order_is_uncertain(&o, 0));
    assert_false(order_is_uncertain(&o, 3));
    order_note(&o, 3, 0, 0, INT64_MAX); /* more than a second later */
    assert_false(order_is_uncertain(&o, 2));
}

/* The nearest copies count, in the time of the other capture point. */
static void frames_may_be_swapped_by_their_copies(void **state)
{
    (void)state;
    const int64_t ms = 1000000;
    struct order o = {0};
    order_note(&o, 1, 0, 0, 0);
    order_note(&o, 2, 0, 0, 5 * ms);
    order_note(&o, 4, 0, 0, (ORDER_MS + 1) * ms);
    assert_false(order_is_uncertain(&o, 1));
    order_copy(&o, 1, 0, 0, ms);
    assert_true(order_is_uncertain(&o, 1));
}

static void frames_of_other_subnets_do_not_count(void **state)
{
    (void)state;
    struct order o = {0};
    order_note(&o, 1, 0, 0, 0);
    for (uint32_t n = 2; n < 100; n++)
        order_note(&o, n, 1, 1, n);
    order_note(&o, 100, 0, 0, 100);
    assert_true(order_is_uncertain(&o, 1));
    assert_int_equal(order_window(&o), 0);
    for (uint32_t n = 2; n <= 1 + ORDER_FRAMES; n++)
        order_note(&o, n * 100, 0, 0, n * 100);
    assert_int_equal(order_window(&o), 100);
    assert_false(order_is_uncertain(&o, 1));
    assert_true(order_is_uncertain(&o, 100));
}

static void joined_subnets_count_together(void **state)
{
    (void)state;
    struct order o = {0};
    for (uint32_t n = 1; n <= ORDER_FRAMES + 1; n++)
        order_note(&o, n, n % 2, 0, n);
    assert_int_equal(order_window(&o), 0);
    order_merge(&o, 1, 0);
    assert_int_equal(order_last(&o), ORDER_FRAMES + 1);
    assert_int_equal(order_window(&o), 1);
    for (uint32_t n = 100; n < 120; n++)
        order_note(&o, n, 0, 0, (int64_t)n * 1000000000);
    for (uint32_t n = 1; n <= ORDER_FRAMES + 1; n++)
        assert_false(order_is_uncertain(&o, n));
}

/* The subnets of the last slot share it, so its window outlives the merge of one of them. */
static void window_of_the_last_slot_is_not_forgotten(void **state)
{
    (void)state;
    struct order o = {0};
    order_note(&o, 1, ORDER_SUBNETS - 1, 1, 0);
    order_note(&o, 2, ORDER_SUBNETS, 2, 0);
    order_merge(&o, ORDER_SUBNETS, 0);
    for (uint32_t n = 100; n < 120; n++)
        order_note(&o, n, 0, 0, (int64_t)n * NANOSECONDS);
    assert_true(order_is_uncertain(&o, 1));
}

/* Two subnets are one: what counts is the last response that was captured before its request. */
static void joined_subnets_have_the_last_reversal(void **state)
{
    static const int64_t seconds[][2] = {{0, CLOCKS_SECONDS}, {CLOCKS_SECONDS, 0}};
    (void)state;
    for (unsigned i = 0; i < G_N_ELEMENTS(seconds); i++) {
        struct order o = {0};
        for (uint16_t subnet = 0; subnet < 2; subnet++) {
            order_note(&o, 1u + subnet, subnet, 0, seconds[i][subnet] * NANOSECONDS);
            order_reversed(&o);
        }
        order_merge(&o, 1, 0);
        order_note(&o, 3, 0, 0, 2 * (int64_t)CLOCKS_SECONDS * NANOSECONDS);
        assert_true(order_is_reversed(&o));
        order_note(&o, 4, 0, 0, (2 * (int64_t)CLOCKS_SECONDS + 1) * NANOSECONDS);
        assert_false(order_is_reversed(&o));
    }
}

static void frames_within_the_window_may_be_swapped(void **state)
{
    (void)state;
    struct order o = {0};
    int64_t ms = 1000000, step = ORDER_MS * ms / ORDER_FRAMES;
    for (uint32_t n = 1; n <= 30; n++)
        order_note(&o, n, 0, 0, n * step);
    assert_true(order_is_uncertain(&o, 30 - ORDER_FRAMES));
    assert_false(order_is_uncertain(&o, 30 - ORDER_FRAMES - 1));
    order_note(&o, 31, 0, 0, 30 * step + ORDER_MS * ms);
    assert_true(order_is_uncertain(&o, 30));
    assert_false(order_is_uncertain(&o, 29));
}

/* ---- clocks of two interfaces */

enum { SECOND = 1000000000 };

/* Interface 1 is an hour ahead. The pair of frames that is 2 s apart limits the difference. */
static void clocks_of_two_interfaces_differ(void **state)
{
    (void)state;
    const int64_t hour = 3600 * (int64_t)SECOND, then = 100 * (int64_t)SECOND;
    struct clocks c = {0};
    clocks_note(&c, 0, then);
    clocks_note(&c, 1, hour + then + 10 * (int64_t)SECOND);
    assert_true(clocks_at_least(&c, 0, then) == 0);
    assert_true(clocks_at_most(&c, 0, then) == INT64_MAX);
    clocks_note(&c, 0, then + 60 * (int64_t)SECOND);
    assert_true(clocks_at_least(&c, 0, then) == 60 * (int64_t)SECOND);
    assert_true(clocks_at_most(&c, 0, then) == 60 * (int64_t)SECOND);
    clocks_note(&c, 1, hour + then + 62 * (int64_t)SECOND);
    assert_true(clocks_at_least(&c, 0, then) == 60 * (int64_t)SECOND);
    /* frame 2 came at least as late as frame 1: then the clocks differ by an hour and 10 s */
    assert_true(clocks_at_most(&c, 0, then) == 62 * (int64_t)SECOND + 50 * (int64_t)SECOND);
}

static void unknown_clocks_have_no_limit(void **state)
{
    (void)state;
    struct clocks c = {0};
    clocks_note(&c, CLOCKS_INTERFACES, INT64_MAX);
    clocks_note(&c, 0, INT64_MIN);
    assert_true(clocks_at_least(&c, CLOCKS_INTERFACES, INT64_MAX) == INT64_MIN);
    assert_true(clocks_at_most(&c, CLOCKS_INTERFACES, INT64_MAX) == INT64_MAX);
    clocks_note(&c, 1, INT64_MAX);
    assert_true(clocks_at_least(&c, 0, INT64_MIN) == 0);
}

static void old_limits_of_clocks_are_replaced(void **state)
{
    (void)state;
    const int64_t later = (CLOCKS_SECONDS + 1) * (int64_t)SECOND;
    struct clocks c = {0};
    clocks_note(&c, 0, 0);
    clocks_note(&c, 1, 0);
    clocks_note(&c, 0, later);
    clocks_note(&c, 1, later + 5);
    assert_true(clocks_at_least(&c, 0, later) == 0);
}

/* 20 ms after an hour on another interface may be within the window. */
static void frames_of_two_interfaces_may_be_swapped(void **state)
{
    (void)state;
    const int64_t ms = 1000000;
    struct order o = {0};
    order_note(&o, 1, 0, 0, 0);
    order_note(&o, 2, 0, 0, 1);
    order_note(&o, 3, 0, 1, 3600 * (int64_t)SECOND);
    assert_true(order_is_uncertain(&o, 1));
    order_note(&o, 4, 0, 1, 3600 * (int64_t)SECOND + 20 * ms);
    assert_false(order_is_uncertain(&o, 1));
}

static void interface_that_joins_again_may_have_another_qpn(void **state)
{
    (void)state;
    struct endport p = {0};
    endport_announces(&p, 0xffff, 0x48, 1);
    endport_announces(&p, 0x8001, 0x49, 1);
    assert_int_equal(endport_announced(&p, 0x7fff, 0x99), ANNOUNCED_ANOTHER);
    endport_joins(&p, 0xffff);
    assert_int_equal(endport_announced(&p, 0xffff, 0x99), ANNOUNCED_UNKNOWN);
    assert_int_equal(endport_announced(&p, 0xffff, 0x48), ANNOUNCED);
    assert_int_equal(endport_announced(&p, 0x8001, 0x99), ANNOUNCED_ANOTHER);
    endport_announces(&p, 0xffff, 0x48, 1);
    assert_int_equal(endport_announced(&p, 0xffff, 0x99), ANNOUNCED_ANOTHER);
}

/* A group that two interfaces showed with these Q_Keys in these frames, merged. */
static struct group merged(uint32_t qkey1, uint32_t frame1, uint32_t qkey2, uint32_t frame2)
{
    static const uint8_t mgid[MGID_SIZE] = {0xff, 0x12, 0x40, 0x1b, 0xff, 0xff};
    struct groups *all = groups_new(16, NULL);
    struct mc_member r1 = {.mlid = 0xc000, .qkey = qkey1}, r2 = {.mlid = 0xc000, .qkey = qkey2};
    group_informed(groups_get(all, 1, mgid, true), &r1, NULL, frame1);
    group_informed(groups_get(all, 2, mgid, true), &r2, NULL, frame2);
    groups_merge(all, 1, 2);
    struct group g = *groups_find(all, 2, mgid);
    groups_free(all);
    return g;
}

static void groups_of_two_interfaces_keep_their_history(void **state)
{
    (void)state;
    struct group g = merged(1, 10, 2, 5); /* the moved one is newer */
    assert_int_equal(g.qkey, 1);
    assert_int_equal(g.changed_frame, 10);
    assert_int_equal(g.records, 2);
    g = merged(1, 5, 2, 10); /* the moved one is older */
    assert_int_equal(g.qkey, 2);
    assert_int_equal(g.changed_frame, 10);
    assert_int_equal(g.records, 2);
    g = merged(1, 10, 1, 5); /* both showed the same record */
    assert_int_equal(g.changed_frame, 0);
    assert_int_equal(g.records, 1);
}

/*
 * RFC 4391 section 5: the broadcast group has the link's parameters. A group that is only mentioned
 * has none yet. The scope of a datagram's sender is not known, so a second group may be its own.
 */
static void only_broadcast_group_is_one_with_a_record(void **state)
{
    static const uint8_t local[MGID_SIZE] = {0xff, 0x12,        0x40, 0x1b, 0xff,
                                             0xff, [12] = 0xff, 0xff, 0xff, 0xff},
                         site[MGID_SIZE] = {0xff, 0x15,        0x40, 0x1b, 0xff,
                                            0xff, [12] = 0xff, 0xff, 0xff, 0xff};
    struct groups *all = groups_new(16, NULL);
    struct mc_member r = {.mlid = 0xc000, .qkey = 0xb1b};
    struct group *one = groups_get(all, 0, local, true);
    (void)state;
    assert_null(groups_only_broadcast(all, 0, 0xffff));
    group_informed(one, &r, NULL, 1);
    assert_ptr_equal(groups_only_broadcast(all, 0, 0x7fff), one);
    groups_get(all, 0, site, true);
    assert_null(groups_only_broadcast(all, 0, 0xffff));
    groups_free(all);
}

/* An interface that is restarted again and again does not fill the port's places. */
static void oldest_qpns_are_discarded_when_full(void **state)
{
    (void)state;
    struct endport p = {0};
    for (uint32_t qpn = 0x48; qpn < 0x48 + 2 * ENDPORT_UD_QPS; qpn++) {
        endport_joins(&p, 0xffff);
        endport_announces(&p, 0xffff, qpn, 1);
        assert_int_equal(endport_announced(&p, 0xffff, qpn), ANNOUNCED);
    }
}

/* Writes to TEXT the text NUMBER of those that all have one hash of GLib's, of 4096 bytes. */
static void colliding_text(char text[4097], unsigned number)
{
    for (unsigned i = 0; i < 2048; i++)
        memcpy(text + 2 * i, i < 10 && number >> i & 1 ? "b!" : "aB", 2);
    text[4096] = '\0';
}

static void texts_that_collide_in_glib_have_other_hashes_here(void **state)
{
    (void)state;
    static char text[4097], first[4097];
    GHashTable *hashes = g_hash_table_new(NULL, NULL);
    colliding_text(first, 0);
    for (unsigned i = 0; i < 1024; i++) {
        colliding_text(text, i);
        assert_int_equal(g_str_hash(text), g_str_hash(first));
        g_hash_table_add(hashes, GUINT_TO_POINTER(hash_string(text)));
    }
    /* two of 1024 random hashes are equal in one run of 8,000; three pairs never */
    assert_true(g_hash_table_size(hashes) > 1024 - 3);
    g_hash_table_destroy(hashes);
}

static void texts_of_every_length_have_a_hash(void **state)
{
    (void)state;
    char text[512] = "", copy[512];
    GHashTable *hashes = g_hash_table_new(NULL, NULL);
    for (unsigned i = 0; i < sizeof text - 1; i++) {
        memcpy(copy, text, sizeof copy);
        assert_int_equal(hash_string(text), hash_string(copy));
        g_hash_table_add(hashes, GUINT_TO_POINTER(hash_string(text)));
        text[i] = 'x';
    }
    assert_true(g_hash_table_size(hashes) > sizeof text - 1 - 3);
    g_hash_table_destroy(hashes);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(message_over_the_psn_wrap),
        cmocka_unit_test(retransmissions_count_once),
        cmocka_unit_test(retransmitted_middle_completes_the_message),
        cmocka_unit_test(a_burst_of_losses_over_two_messages),
        cmocka_unit_test(message_is_complete_with_all_fragments),
        cmocka_unit_test(middle_or_last_without_first_belongs_to_no_message),
        cmocka_unit_test(oldest_messages_are_discarded_when_full),
        cmocka_unit_test(gaps_close_from_both_ends),
        cmocka_unit_test(gaps_stay_below_their_limit),
        cmocka_unit_test(handshake_binds_both_flows),
        cmocka_unit_test(ids_belong_to_their_ports),
        cmocka_unit_test(connections_stay_below_their_limit),
        cmocka_unit_test(connection_is_quiet_after_its_timewait),
        cmocka_unit_test(partition_is_there_whatever_its_membership_bit_is),
        cmocka_unit_test(port_known_by_lid_gets_its_gid),
        cmocka_unit_test(lid_belongs_to_the_port_it_was_assigned_to),
        cmocka_unit_test(neighbour_history_and_duplicates),
        cmocka_unit_test(neighbour_belongs_to_its_link),
        cmocka_unit_test(restarted_interface_is_no_duplicate),
        cmocka_unit_test(an_ip_moves_to_another_port),
        cmocka_unit_test(neighbours_stay_below_their_limit),
        cmocka_unit_test(neighbours_may_be_swapped),
        cmocka_unit_test(frames_may_be_swapped_by_their_copies),
        cmocka_unit_test(frames_of_other_subnets_do_not_count),
        cmocka_unit_test(joined_subnets_count_together),
        cmocka_unit_test(window_of_the_last_slot_is_not_forgotten),
        cmocka_unit_test(joined_subnets_have_the_last_reversal),
        cmocka_unit_test(frames_within_the_window_may_be_swapped),
        cmocka_unit_test(clocks_of_two_interfaces_differ),
        cmocka_unit_test(unknown_clocks_have_no_limit),
        cmocka_unit_test(old_limits_of_clocks_are_replaced),
        cmocka_unit_test(frames_of_two_interfaces_may_be_swapped),
        cmocka_unit_test(interface_that_joins_again_may_have_another_qpn),
        cmocka_unit_test(groups_of_two_interfaces_keep_their_history),
        cmocka_unit_test(only_broadcast_group_is_one_with_a_record),
        cmocka_unit_test(oldest_qpns_are_discarded_when_full),
        cmocka_unit_test(texts_that_collide_in_glib_have_other_hashes_here),
        cmocka_unit_test(texts_of_every_length_have_a_hash),
    };
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}

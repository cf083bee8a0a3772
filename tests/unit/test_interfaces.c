/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which interfaces of a capture see the same subnet: evidence that joins two, evidence that
 * separates two, and what proves nothing (IBA 4.1.1: virtual functions share a LID; 13.4.6.4:
 * transaction IDs).
 */
#include "tests/unit/unit.h"

#include "model/evidence.h"
#include "model/write.h"
#include "wire/sa.h"
#include "wire/smp.h"

enum { N0 = 1, N1 = 2, SM = 1 };

struct fixture {
    struct interfaces *interfaces;
    struct evidence *evidence;
    unsigned joined, parted;
    bool corrupt; /* the packets are corrupt (CRC) */
};

static void on_evidence(void *user, uint16_t a, uint16_t b, bool together)
{
    struct fixture *f = user;
    uint16_t from, to;
    if (together)
        f->joined += interfaces_join(f->interfaces, a, b, &from, &to);
    else
        f->parted += interfaces_part(f->interfaces, a, b);
}

static bool is_corrupt(void *user)
{
    return ((struct fixture *)user)->corrupt;
}

static int begin(void **state)
{
    static struct fixture f;
    f = (struct fixture){.interfaces = interfaces_new(INTERFACES_AUTO, INTERFACES_MAX, NULL)};
    f.evidence = evidence_new(f.interfaces);
    *state = &f;
    return 0;
}

static int end(void **state)
{
    struct fixture *f = *state;
    g_free(f->evidence);
    interfaces_free(f->interfaces);
    return 0;
}

static uint16_t number(struct interfaces *i, uint32_t captured, uint32_t port)
{
    uint16_t n;
    assert_true(interfaces_enter(i, (struct capture_interface){captured, port, 0}, &n));
    return n;
}

static bool together(struct fixture *f, uint32_t a, uint32_t b)
{
    return interfaces_subnet(f->interfaces, number(f->interfaces, a, 0)) ==
           interfaces_subnet(f->interfaces, number(f->interfaces, b, 0));
}

/* ---- packets */

static void see(struct fixture *f, uint32_t captured, struct ib_packet *ib)
{
    const struct evidence_observer observer = {on_evidence, is_corrupt, f};
    uint16_t n = number(f->interfaces, captured, 0);
    ib->has_lrh = ib->has_bth = ib->has_deth = true;
    ib->transport = IB_UD;
    struct mad_payload mad;
    struct datagram datagram;
    mad_payload_decode(ib->payload, &mad);
    datagram_decode(ib->payload, &datagram);
    const bool is_mad = ib_is_mad(ib);
    const struct evidence_packet p = {ib, is_mad ? &mad : NULL, is_mad ? NULL : &datagram,
                                      port_lid(n, ib->slid), port_lid(n, ib->dlid)};
    evidence_see(f->evidence, n, &p, &observer);
}

struct message {
    uint8_t class, method;
    uint16_t attribute;
    uint8_t tid;
    uint16_t slid, dlid;
};

static void mad(uint8_t bytes[MAD_SIZE], const struct message *m)
{
    memset(bytes, 0, MAD_SIZE);
    bytes[0] = 1;
    bytes[MAD_CLASS] = m->class;
    bytes[MAD_CLASS_VERSION] = m->class == MAD_CLASS_SA ? 2 : 1;
    bytes[3] = m->method;
    bytes[15] = m->tid;
    bytes[16] = (uint8_t)(m->attribute >> 8);
    bytes[17] = (uint8_t)m->attribute;
}

static void send_bytes(struct fixture *f, uint32_t captured, const struct message *m,
                       const uint8_t bytes[MAD_SIZE])
{
    struct ib_packet ib = {.slid = m->slid, .dlid = m->dlid, .dqpn = 1, .sqpn = 1};
    ib.payload = view_make(bytes, MAD_SIZE, MAD_SIZE);
    see(f, captured, &ib);
}

static void send_request(struct fixture *f, uint32_t captured, uint8_t tid)
{
    const struct message m = {MAD_CLASS_SA, SA_GET, SA_PATH_RECORD, tid, N1, SM};
    uint8_t bytes[MAD_SIZE];
    mad(bytes, &m);
    send_bytes(f, captured, &m, bytes);
}

static void send_response(struct fixture *f, uint32_t captured, uint8_t tid, uint16_t to)
{
    const struct message m = {MAD_CLASS_SA, SA_GET_RESP, SA_PATH_RECORD, tid, SM, to};
    uint8_t bytes[MAD_SIZE];
    mad(bytes, &m);
    bytes[5] = 1; /* status not 0: the response has no record */
    send_bytes(f, captured, &m, bytes);
}

static void with_grh(struct fixture *f, uint32_t captured, uint16_t slid, uint8_t guid)
{
    const uint8_t sgid[GID_SIZE] = {0xfe, 0x80, [15] = guid},
                  dgid[GID_SIZE] = {0xff, 0x12, 0x40, 0x1b};
    struct ib_packet ib = {.has_grh = true, .slid = slid, .dlid = 0xc000, .dqpn = QPN_MULTICAST};
    ib.sgid = sgid;
    ib.dgid = dgid;
    see(f, captured, &ib);
}

/* N1's request to join a group, with its port's GID in the record and this component mask. */
static void send_join(struct fixture *f, uint32_t captured, uint8_t guid, uint8_t component_mask)
{
    const struct message m = {MAD_CLASS_SA, SA_SET, SA_MC_MEMBER_RECORD, 0, N1, SM};
    uint8_t bytes[MAD_SIZE];
    mad(bytes, &m);
    bytes[SA_COMPONENT_MASK + 7] = component_mask;
    bytes[SA_DATA + MCM_PORT_GID] = 0xfe;
    bytes[SA_DATA + MCM_PORT_GID + 1] = 0x80;
    bytes[SA_DATA + MCM_PORT_GID + 15] = guid;
    send_bytes(f, captured, &m, bytes);
}

/* The node at LID lid reports its port's GUID and its LID. */
static void assigned(struct fixture *f, uint32_t captured, uint16_t lid, uint8_t guid)
{
    struct message m = {MAD_CLASS_SMP, SMP_GET_RESP, SMP_NODE_INFO, 1, lid, SM};
    uint8_t bytes[MAD_SIZE];
    mad(bytes, &m);
    bytes[SMP_DATA + NODE_INFO_TYPE] = NODE_TYPE_CA;
    bytes[SMP_DATA + NODE_INFO_PORT_GUID + 7] = guid;
    send_bytes(f, captured, &m, bytes);
    m.attribute = SMP_PORT_INFO;
    mad(bytes, &m);
    bytes[SMP_DATA + PORT_INFO_LID] = (uint8_t)(lid >> 8);
    bytes[SMP_DATA + PORT_INFO_LID + 1] = (uint8_t)lid;
    send_bytes(f, captured, &m, bytes);
}

/* ---- evidence that joins */

static void test_response_joins_the_interfaces(void **state)
{
    struct fixture *f = *state;
    send_request(f, 0, 7);
    assert_false(together(f, 0, 1));
    send_response(f, 1, 7, N1);
    assert_true(together(f, 0, 1));
    assert_int_equal(f->joined, 1);
}

static void test_response_to_another_port_or_transaction_proves_nothing(void **state)
{
    struct fixture *f = *state;
    send_request(f, 0, 7);
    send_response(f, 1, 8, N1);
    send_response(f, 1, 7, N0);
    assert_false(together(f, 0, 1));
}

/* Two rails: each interface sees both directions, and the transaction IDs are the same. */
static void test_rails_with_the_same_transactions_stay_apart(void **state)
{
    struct fixture *f = *state;
    for (unsigned i = 0; i < 3; i++) {
        send_request(f, 0, 7);
        send_request(f, 1, 7);
        send_response(f, 0, 7, N1);
        send_response(f, 1, 7, N1);
        send_response(f, 1, 7, N1); /* duplicated */
    }
    assert_int_equal(f->joined, 0);
}

/* Two rails: the response on one and the request on the other were not captured. */
static void test_response_on_an_interface_with_both_directions_proves_nothing(void **state)
{
    struct fixture *f = *state;
    for (unsigned n = 0; n < 2; n++) {
        send_request(f, n, 6);
        send_response(f, n, 6, N1);
    }
    send_request(f, 0, 7);
    send_response(f, 1, 7, N1);
    assert_int_equal(f->joined, 0);
}

static void test_response_to_one_of_two_proves_nothing(void **state)
{
    struct fixture *f = *state;
    send_request(f, 0, 7);
    send_request(f, 1, 7);
    send_response(f, 2, 7, N1);
    assert_int_equal(f->joined, 0);
}

static void test_same_port_at_the_same_lid_joins(void **state)
{
    struct fixture *f = *state;
    with_grh(f, 0, N1, 5);
    with_grh(f, 1, N1, 5);
    assert_true(together(f, 0, 1));
}

/* A component that is not in the mask has no meaning (IBA 15.2.1.1). */
static void test_join_joins_only_by_a_gid_in_its_mask(void **state)
{
    struct fixture *f = *state;
    with_grh(f, 0, N1, 5);
    send_join(f, 1, 5, MCM_HAS_MGID);
    assert_false(together(f, 0, 1));
    send_join(f, 2, 5, MCM_HAS_MGID | MCM_HAS_PORT_GID);
    assert_true(together(f, 0, 2));
}

static void test_port_at_another_lid_or_another_port_proves_nothing(void **state)
{
    struct fixture *f = *state;
    with_grh(f, 0, N1, 5);
    with_grh(f, 1, N0, 5);
    with_grh(f, 1, N1, 6);
    assert_false(together(f, 0, 1));
    assert_int_equal(f->parted, 0);
}

static void test_corrupt_packets_prove_nothing(void **state)
{
    struct fixture *f = *state;
    send_request(f, 0, 7);
    with_grh(f, 0, N1, 5);
    f->corrupt = true;
    send_response(f, 1, 7, N1);
    with_grh(f, 1, N1, 5);
    assert_false(together(f, 0, 1));
}

static void test_joining_is_for_all_that_are_joined(void **state)
{
    struct fixture *f = *state;
    for (uint8_t n = 3; n > 0; n--) {
        send_request(f, 3, n);
        send_response(f, n - 1u, n, N1);
    }
    assert_int_equal(f->joined, 3);
    assert_true(together(f, 0, 3));
    assert_false(together(f, 0, 4));
}

/* ---- evidence that separates */

static void join(struct fixture *f)
{
    send_request(f, 0, 7);
    send_response(f, 1, 7, N1);
    assert_true(together(f, 0, 1));
}

static void test_two_ports_at_one_lid_at_a_time_are_two_subnets(void **state)
{
    struct fixture *f = *state;
    uint16_t before = number(f->interfaces, 0, 0);
    join(f);
    assigned(f, 0, N1, 5);
    assigned(f, 1, N1, 6);
    assert_true(together(f, 0, 1));
    assigned(f, 0, N1, 5);
    assert_false(together(f, 0, 1));
    assert_int_equal(f->parted, 1);
    assert_int_not_equal(number(f->interfaces, 0, 0), before); /* a new, empty number */
    send_request(f, 0, 9);
    send_response(f, 1, 9, N1);
    assert_false(together(f, 0, 1));
    assert_int_equal(f->parted, 1);
}

/* The SM may assign a LID to another port: both interfaces see it. */
static void test_lid_that_another_port_has_later_proves_nothing(void **state)
{
    struct fixture *f = *state;
    join(f);
    assigned(f, 0, N1, 5);
    assigned(f, 1, N1, 5);
    assigned(f, 0, N1, 6);
    assigned(f, 1, N1, 6);
    assigned(f, 0, N1, 6);
    assert_int_equal(f->parted, 0);
}

/* A LID with two GIDs belongs to a port with virtual functions (IBA 4.1.1). */
static void test_two_gids_of_a_lid_prove_nothing(void **state)
{
    struct fixture *f = *state;
    join(f);
    for (unsigned i = 0; i < 3; i++) {
        with_grh(f, 0, N1, 5);
        with_grh(f, 1, N1, 6);
    }
    assert_true(together(f, 0, 1));
}

static void test_interfaces_found_to_be_separate_are_never_merged(void **state)
{
    struct fixture *f = *state;
    assigned(f, 0, N1, 5);
    assigned(f, 1, N1, 6);
    assigned(f, 0, N1, 5);
    send_request(f, 0, 7);
    send_response(f, 1, 7, N1);
    assert_false(together(f, 0, 1));
    assert_int_equal(f->parted, 0); /* they had not been joined */
}

/* ---- numbers, and the user's settings */

static void test_interfaces_and_ports_have_numbers_of_their_own(void **state)
{
    struct interfaces *i = ((struct fixture *)*state)->interfaces;
    uint16_t first = number(i, 0, 0);
    assert_int_not_equal(number(i, 65536, 0), first);
    assert_int_not_equal(number(i, UINT32_MAX, 0), number(i, 65535, 0));
    assert_int_not_equal(number(i, 0, 1), first);
    assert_int_equal(number(i, 0, 0), first);
    assert_int_equal(interfaces_captured(i, number(i, 65536, 0)).number, 65536);
}

static void assert_name(struct interfaces *i, uint16_t n, const char *name)
{
    char text[INTERFACE_NAME];
    interfaces_name(i, interfaces_names(i), n, text);
    assert_string_equal(text, name);
}

static void test_names_have_the_port_or_section_that_tells_subnets_apart(void **state)
{
    struct interfaces *i = ((struct fixture *)*state)->interfaces;
    uint16_t a = number(i, 0, 2), other = number(i, 7, 1), from, to, b, c;
    assert_name(i, a, "0");
    assert_name(i, other, "7"); /* the number is enough */
    b = number(i, 0, 4 | 1);    /* of another host: bits 2 and above */
    assert_name(i, a, "0, ERF port 2");
    assert_name(i, b, "0, ERF port 1");
    assert_true(interfaces_join(i, a, b, &from, &to)); /* two directions of a cable */
    assert_name(i, a, "0");
    assert_true(interfaces_enter(i, (struct capture_interface){7, 1, 1}, &c));
    assert_name(i, other, "7, section 1");
    assert_name(i, c, "7, section 2");
}

static void test_too_many_interfaces_are_refused(void **state)
{
    struct interfaces *i = ((struct fixture *)*state)->interfaces;
    uint16_t n;
    for (uint32_t k = 0; k < INTERFACES_MAX; k++)
        number(i, k, 0);
    assert_false(interfaces_enter(i, (struct capture_interface){INTERFACES_MAX, 0, 0}, &n));
    assert_true(interfaces_enter(i, (struct capture_interface){INTERFACES_MAX - 1, 0, 0}, &n));
}

static void test_user_decides(void **state)
{
    struct interfaces *one = interfaces_new(INTERFACES_ONE, INTERFACES_MAX, NULL),
                      *each = interfaces_new(INTERFACES_EACH, INTERFACES_MAX, NULL);
    uint16_t from, to;
    (void)state;
    assert_int_equal(number(one, 0, 0), number(one, 1, 3));
    assert_int_not_equal(number(each, 0, 0), number(each, 1, 0));
    assert_false(interfaces_join(each, 0, 1, &from, &to));
    interfaces_free(one);
    interfaces_free(each);
}

/* The new numbers have the order of capture, whatever the hash of the table is. */
static void test_new_numbers_have_the_order_of_capture(void **state)
{
    enum { INTERFACES = 40 };
    struct fixture *f = *state;
    uint16_t from, to;
    for (uint32_t n = 0; n < INTERFACES; n++)
        assert_int_equal(number(f->interfaces, n * 7919 % 41, 0), n);
    for (uint16_t n = 1; n < INTERFACES; n++)
        assert_true(interfaces_join(f->interfaces, 0, n, &from, &to));
    assert_true(interfaces_part(f->interfaces, 0, 1));
    for (uint32_t n = 0; n < INTERFACES; n++)
        assert_int_equal(number(f->interfaces, n * 7919 % 41, 0), INTERFACES + n);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_response_joins_the_interfaces),
        TEST(test_response_to_another_port_or_transaction_proves_nothing),
        TEST(test_rails_with_the_same_transactions_stay_apart),
        TEST(test_response_on_an_interface_with_both_directions_proves_nothing),
        TEST(test_response_to_one_of_two_proves_nothing),
        TEST(test_same_port_at_the_same_lid_joins),
        TEST(test_join_joins_only_by_a_gid_in_its_mask),
        TEST(test_port_at_another_lid_or_another_port_proves_nothing),
        TEST(test_corrupt_packets_prove_nothing),
        TEST(test_joining_is_for_all_that_are_joined),
        TEST(test_two_ports_at_one_lid_at_a_time_are_two_subnets),
        TEST(test_lid_that_another_port_has_later_proves_nothing),
        TEST(test_two_gids_of_a_lid_prove_nothing),
        TEST(test_interfaces_found_to_be_separate_are_never_merged),
        TEST(test_interfaces_and_ports_have_numbers_of_their_own),
        TEST(test_names_have_the_port_or_section_that_tells_subnets_apart),
        TEST(test_too_many_interfaces_are_refused),
        TEST(test_new_numbers_have_the_order_of_capture),
        TEST(test_user_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of single packets. Each rule passes for the examples of the documents, fails for one
 * fault, and gives no result or "inconclusive" if nothing can be decided. Each fault violates only
 * its own rules.
 */
#include "tests/unit/unit.h"

#include <stdio.h>

#include "rules/check.h"
#include "wire/dhcp.h"
#include "wire/encap.h"
#include "wire/nd.h"

static unsigned passed[RULE_COUNT], failed[RULE_COUNT], unsure[RULE_COUNT];
static struct finding last[RULE_COUNT];
static char last_actual[RULE_COUNT][64];

static void note(void *user, const struct finding *f)
{
    (void)user;
    bool failure = f->outcome == OUTCOME_FAIL && !f->doubt;
    (f->outcome == OUTCOME_PASS ? passed : failure ? failed : unsure)[f->rule]++;
    last[f->rule] = *f;
    snprintf(last_actual[f->rule], sizeof last_actual[0], "%s", f->actual);
}

static struct reporter start(const uint8_t *base)
{
    memset(passed, 0, sizeof passed);
    memset(failed, 0, sizeof failed);
    memset(unsure, 0, sizeof unsure);
    return (struct reporter){.report = note, .base = base};
}

static unsigned total(const unsigned *counts)
{
    unsigned n = 0;
    for (size_t i = 0; i < RULE_COUNT; i++)
        n += counts[i];
    return n;
}

/* Asserts that only this rule failed, and only once. */
static void only(enum rule_number rule)
{
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (failed[i] && i != rule)
            fail_msg("%s failed too: %s", rules[i].id, last_actual[i]);
    assert_int_equal(failed[rule], 1);
}

static struct view whole(const uint8_t *p, uint32_t n)
{
    return view_make(p, n, n);
}

/* ---- the checks, from bytes */

static void encap_of(const struct reporter *r, struct view v, enum datagram_over over)
{
    struct datagram d;
    datagram_decode(v, &d);
    check_encapsulation(r, &d, over);
}

static void headers_of(const struct reporter *r, const struct ib_packet *ib)
{
    struct datagram d;
    datagram_decode(ib->payload, &d);
    check_datagram_headers(r, ib, &d);
}

static void arp_of(const struct reporter *r, struct view v)
{
    struct datagram d;
    datagram_decode_body(TYPE_ARP, v, &d);
    check_arp(r, &d);
}

static void dhcp_of(const struct reporter *r, struct view v)
{
    struct datagram d;
    datagram_decode_body(TYPE_IPV4, v, &d);
    check_dhcp(r, NULL, &d);
}

static void cm_of(const struct reporter *r, struct view v)
{
    struct mad_payload m;
    mad_payload_decode(v, &m);
    check_cm(r, &m, 0);
    check_cm_link(r, &m, 0xffff);
}

static void encapsulation(void **state)
{
    (void)state;
    uint8_t p[24] = {0x08, 0x00, 0, 0, 0x45};
    struct reporter r = start(p);
    encap_of(&r, whole(p, 24), OVER_UD);
    assert_int_equal(total(failed), 0);
    assert_int_equal(passed[R_RFC4391_6_RESERVED_ZERO], 1);
    assert_int_equal(passed[R_RFC4391_6_TYPE], 1);

    r = start(p);
    p[2] = 0x12;
    encap_of(&r, whole(p, 24), OVER_UD);
    only(R_RFC4391_6_RESERVED_ZERO);
    assert_int_equal(last[R_RFC4391_6_RESERVED_ZERO].offset, 2);
    assert_int_equal(last[R_RFC4391_6_RESERVED_ZERO].length, 2);
    assert_string_equal(last_actual[R_RFC4391_6_RESERVED_ZERO], "0x1200");
    p[2] = 0;

    r = start(p);
    p[4] = 0x65; /* IPv6 after Type IPv4 */
    encap_of(&r, whole(p, 24), OVER_UD);
    only(R_RFC4391_6_TYPE);
    r = start(p);
    encap_of(&r, whole(p, 24), OVER_CONNECTION);
    only(R_RFC4755_4_TYPE);

    r = start(p);
    encap_of(&r, whole(p, 3), OVER_UD);
    only(R_RFC4391_6_ENCAPSULATION_HEADER);
    r = start(p);
    encap_of(&r, whole(p, 0), OVER_UD); /* an empty message is not a datagram */
    assert_int_equal(total(failed) + total(passed), 0);
}

/*
 * RFC 4391 §6: "Other network protocols ... may use the encapsulation format". Other types are
 * permitted and never reported.
 */
static void other_types_are_permitted(void **state)
{
    (void)state;
    uint8_t p[24] = {0x88, 0xcc};
    struct reporter r = start(p);
    encap_of(&r, whole(p, 24), OVER_UD);
    assert_int_equal(total(failed) + total(unsure), 0);
}

/*
 * IEEE 802.3 section 3.2.6: an Ethertype is at least 0x0600 (1536). RFC 4391 section 6 says that
 * the Type has the values of Ethertypes.
 */
static void type_is_an_ethertype(void **state)
{
    (void)state;
    uint8_t p[24] = {0x06, 0x00};
    struct reporter r = start(p);
    encap_of(&r, whole(p, 24), OVER_UD);
    assert_int_equal(total(failed) + total(unsure), 0);
    p[0] = 0x05, p[1] = 0xff;
    r = start(p);
    encap_of(&r, whole(p, 24), OVER_UD);
    only(R_RFC4391_6_TYPE);
    r = start(p);
    encap_of(&r, whole(p, 24), OVER_CONNECTION);
    only(R_RFC4755_4_TYPE);
}

static void truncated_packets_raise_no_violation(void **state)
{
    (void)state;
    uint8_t p[60] = {0x08, 0x06, 0xff, 0xff, 0, 32, 8, 0, 20, 4, 0, 1};
    for (uint32_t cap = 0; cap < 4; cap++) {
        struct reporter r = start(p);
        encap_of(&r, view_make(p, cap, 60), OVER_UD);
        assert_int_equal(total(failed), 0);
    }
    struct reporter r = start(p + 4);
    arp_of(&r, view_make(p + 4, 7, 56));
    assert_int_equal(total(failed), 0);
    assert_int_equal(total(unsure), 1);
}

static void mgids(void **state)
{
    (void)state;
    uint8_t g[16] = {0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [15] = 22};
    struct reporter r = start(g);
    check_mgid(&r, g, 0xffff);
    check_mgid(&r, g, 0x7fff); /* packets of a limited member: the same partition */
    assert_int_equal(total(failed), 0);

    r = start(g);
    check_mgid(&r, g, 0x8001);
    only(R_RFC4391_4_MGID_PKEY);
    assert_int_equal(last[R_RFC4391_4_MGID_PKEY].offset, 4);

    r = start(g);
    g[1] = 0x02;
    check_mgid(&r, g, 0xffff);
    only(R_RFC4391_4_MGID_T_FLAG);
    g[1] = 0x32;
    r = start(g);
    check_mgid(&r, g, 0xffff);
    only(R_RFC4391_4_MGID_FORMAT);
    g[1] = 0x22; /* another flag is set, but T, the lowest (RFC 4291 section 2.7), is not */
    r = start(g);
    check_mgid(&r, g, 0xffff);
    assert_int_equal(failed[R_RFC4391_4_MGID_T_FLAG], 1);
    assert_int_equal(failed[R_RFC4391_4_MGID_FORMAT], 1);
    assert_int_equal(total(failed), 2);
    g[1] = 0x12;

    r = start(g);
    g[8] = 1;
    check_mgid(&r, g, 0xffff);
    only(R_RFC4391_4_MGID_GROUP_ID_IPV4);

    r = start(g);
    g[3] = 0x1c; /* group of another protocol */
    check_mgid(&r, g, 0xffff);
    assert_int_equal(total(passed) + total(failed), 0);
}

/* LRH to MLID 0xc000, GRH to the broadcast-GID, BTH, DETH, ARP. */
static void headers_of_a_multicast(void **state)
{
    (void)state;
    uint8_t p[8 + 40 + 12 + 8 + 60 + 4] = {0, 3, 0xc0, 0, 0, 33, 0, 1, 0x60, [12] = 0, 84, 0x1b, 0};
    static const uint8_t broadcast[16] = {0xff, 0x12,        0x40, 0x1b, 0xff,
                                          0xff, [12] = 0xff, 0xff, 0xff, 0xff};
    memcpy(p + 8 + 24, broadcast, 16);
    uint8_t *bth = p + 48, *payload = p + 68;
    bth[0] = 0x64;
    memset(bth + 2, 0xff, 2);
    memset(bth + 5, 0xff, 3);
    payload[0] = 0x08;
    payload[1] = 0x06;
    memcpy(payload + 4, "\0\x20\x08", 3); /* ARP: hardware type 32, protocol type 0x0800 */
    struct ib_packet ib;
    assert_int_equal(ib_decode(whole(p, sizeof p), IB_START_LRH, &ib), WIRE_OK);
    struct reporter r = start(p);
    headers_of(&r, &ib);
    assert_int_equal(total(failed), 0);
    assert_int_equal(passed[R_RFC4391_4_MGID_SIGNATURE_IPV4], 1);
    assert_int_equal(passed[R_RFC4391_6_GRH_ON_MULTICAST], 1);

    payload[0] = 0x86; /* IPv6 to an IPv4 group */
    payload[1] = 0xdd;
    r = start(p); /* but ARP follows: the rule about the Type reports it */
    headers_of(&r, &ib);
    assert_int_equal(total(failed), 0);
    payload[4] = 0x60;
    r = start(p);
    headers_of(&r, &ib);
    only(R_RFC4391_4_MGID_SIGNATURE_IPV6);

    payload[0] = 0x08; /* 255.255.255.255 sent to the group of 224.0.0.1 */
    payload[1] = 0x00;
    payload[4] = 0x45;
    memset(payload + 4 + 16, 0xff, 4);
    memcpy(p + 32 + 12, "\0\0\0\1", 4);
    r = start(p);
    headers_of(&r, &ib);
    only(R_RFC4391_4_BROADCAST_MAPPING);
}

static void multicast_without_grh(void **state)
{
    (void)state;
    uint8_t p[8 + 12 + 8 + 60 + 4] = {0, 2, 0xc0, 0, 0, 23, 0, 1, 0x64};
    struct ib_packet ib;
    assert_int_equal(ib_decode(whole(p, sizeof p), IB_START_LRH, &ib), WIRE_OK);
    struct reporter r = start(p);
    headers_of(&r, &ib);
    only(R_RFC4391_6_GRH_ON_MULTICAST);
}

static void arp_messages(void **state)
{
    (void)state;
    uint8_t p[56] = {0, 32, 8, 0, 20, 4, 0, 1, 0x80, 0, 0, 0x48, 0xfe, 0x80};
    struct reporter r = start(p);
    arp_of(&r, whole(p, 56));
    assert_int_equal(total(failed), 0);
    assert_int_equal(passed[R_RFC4755_3_1_FLAGS], 1);

    r = start(p);
    p[1] = 1;
    arp_of(&r, whole(p, 56));
    only(R_RFC4391_9_2_ARP_HARDWARE_TYPE);
    p[1] = 32;
    r = start(p);
    p[4] = 6;
    arp_of(&r, whole(p, 56));
    only(R_RFC4391_9_2_ARP_HARDWARE_LENGTH);
    p[4] = 20;
    r = start(p);
    p[5] = 6;
    arp_of(&r, whole(p, 60));
    only(R_RFC4391_9_2_ARP_AS_RFC826);
    p[5] = 4;
    r = start(p);
    arp_of(&r, whole(p, 40));
    only(R_RFC4391_9_1_1_FORMAT);

    p[8] = 0x81; /* the RC flag shows that the sender implements RFC 4755, so the rule applies */
    r = start(p);
    arp_of(&r, whole(p, 56));
    only(R_RFC4755_3_1_FLAGS);
    p[8] = 0x01;
    r = start(p);
    arp_of(&r, whole(p, 56));
    only(R_RFC4391_9_1_1_RESERVED_FLAGS);
    p[8] = 0x20; /* MLNX_OFED's bit is one finding */
    r = start(p);
    arp_of(&r, whole(p, 56));
    only(R_RFC4391_9_1_1_RESERVED_FLAGS);
    p[8] = 0xb0; /* and each other bit beside it is in another */
    r = start(p);
    arp_of(&r, whole(p, 56));
    assert_int_equal(failed[R_RFC4755_3_1_FLAGS], 2);
    assert_string_equal(last_actual[R_RFC4755_3_1_FLAGS], "0x90");
    p[8] = 0xc0;
    p[32] = 0x3f; /* a reply's target is the requester's address: not the sender's violation */
    p[35] = 1;
    r = start(p);
    arp_of(&r, whole(p, 56));
    assert_int_equal(total(failed), 0);
}

enum { DHCP_IN_IPV4 = 28 };

/* A DHCPDISCOVER from 255.255.255.255 without the BROADCAST flag and without client identifier. */
static uint32_t dhcp_discover(uint8_t p[512])
{
    static const uint8_t options[] = {0x63, 0x82, 0x53, 0x63, 53, 1, 1, 55, 2, 1, 3, 255};
    uint8_t *message = p + DHCP_IN_IPV4;
    uint32_t size = DHCP_IN_IPV4 + DHCP_COOKIE + sizeof options;
    memset(p, 0, 512);
    p[0] = 0x45, p[2] = (uint8_t)(size >> 8), p[3] = (uint8_t)size, p[9] = 17;
    memset(p + 16, 0xff, 4);
    p[21] = 68, p[23] = 67, p[24] = (uint8_t)((size - 20) >> 8), p[25] = (uint8_t)(size - 20);
    message[DHCP_OP] = 1, message[DHCP_HTYPE] = 32;
    memcpy(message + DHCP_COOKIE, options, sizeof options);
    return size;
}

static void dhcp_message_of_a_client(void **state)
{
    (void)state;
    uint8_t p[512];
    uint32_t size = dhcp_discover(p);
    struct reporter r = start(p);
    dhcp_of(&r, whole(p, size));
    assert_int_equal(total(failed), 2);
    assert_int_equal(failed[R_RFC4390_2_1_CLIENT_IDENTIFIER], 1);
    assert_int_equal(failed[R_RFC4390_2_2_BROADCAST_FLAG], 1);
    assert_int_equal(last[R_RFC4390_2_2_BROADCAST_FLAG].offset, 28 + 10);
    assert_string_equal(last_actual[R_RFC4390_2_2_BROADCAST_FLAG],
                        "not set by a client without identifier");
    assert_int_equal(total(unsure), 0);
}

/*
 * A truncated message is inconclusive: its type and the client identifier may be in the part that
 * is missing. They decide what is required and whether the client is a known deviation.
 */
static void truncated_dhcp_message(void **state)
{
    (void)state;
    uint8_t p[512];
    uint32_t size = dhcp_discover(p);
    for (uint32_t cap = DHCP_IN_IPV4 + 1; cap < size; cap++) {
        struct reporter r = start(p);
        dhcp_of(&r, view_make(p, cap, size));
        assert_int_equal(failed[R_RFC4390_2_1_CLIENT_IDENTIFIER], 0);
        assert_int_equal(unsure[R_RFC4390_2_1_CLIENT_IDENTIFIER], 1);
        assert_int_equal(total(failed), 0);
    }
}

static void nd_options_and_padding(void **state)
{
    (void)state;
    uint8_t ns[48] = {ND_NS, [24] = 1, 3, 0, 0, 0x80, 0, 0, 0x48, 0xfe, 0x80};
    struct reporter r = start(ns);
    check_nd(&r, whole(ns, 48), false);
    assert_int_equal(total(failed), 0);
    assert_int_equal(passed[R_RFC4391_9_3_ND_OPTION_PADDING], 1);

    r = start(ns);
    ns[27] = 1;
    check_nd(&r, whole(ns, 48), false);
    only(R_RFC4391_9_3_ND_OPTION_PADDING);
    assert_int_equal(last[R_RFC4391_9_3_ND_OPTION_PADDING].offset, 26);

    /*
     * Fault of a real sender: a Router Solicitation with an option of length 1, which contains the
     * first 6 of 20 bytes.
     */
    uint8_t rs[16] = {ND_RS, [8] = 1, 1, 0x80, 0, 0, 0x48, 0xfe, 0x80};
    r = start(rs);
    check_nd(&r, whole(rs, 16), false);
    only(R_RFC4391_9_3_ND_OPTION_LENGTH);
}

static void cm_messages(void **state)
{
    (void)state;
    uint8_t p[MAD_SIZE] = {1, MAD_CLASS_CM, 2, 3, [16] = 0, CM_REQ};
    p[REQ_SERVICE_ID] = 0x01;
    p[REQ_SERVICE_ID + 7] = 0x48;
    memcpy(p + REQ_PRIVATE, "\0\0\0\x48\0\0\xff\xf4", 8);
    struct reporter r = start(p);
    cm_of(&r, whole(p, sizeof p));
    assert_int_equal(total(failed), 0);
    /* Service-ID, UD QPN, Receive MTU, format, Reserved, and two rules about the MTU */
    assert_int_equal(total(passed), 7);

    p[REQ_SERVICE_ID] = 0x10; /* Linux */
    r = start(p);
    cm_of(&r, whole(p, sizeof p));
    only(R_RFC4755_3_5_SERVICE_ID);
    p[REQ_SERVICE_ID] = 0x01;

    p[REQ_PRIVATE] = 1;
    r = start(p);
    cm_of(&r, whole(p, sizeof p));
    only(R_RFC4755_6_RESERVED_ZERO);
    p[REQ_PRIVATE] = 0;

    memset(p + REQ_PRIVATE + 4, 0, 4);
    r = start(p);
    cm_of(&r, whole(p, sizeof p));
    only(R_RFC4755_5_1_RECEIVE_MTU);
}

/*
 * A DREQ needs no private data (RFC 4755 §3.2 requires it for connection setup and REJ). Linux
 * sends RTU and REJ with empty private data.
 */
static void cm_messages_without_private_data(void **state)
{
    (void)state;
    uint8_t p[MAD_SIZE] = {1, MAD_CLASS_CM, 2, 3, [16] = 0, CM_DREQ};
    struct reporter r = start(p);
    cm_of(&r, whole(p, sizeof p));
    assert_int_equal(total(failed), 0);
    p[17] = CM_REJ;
    r = start(p);
    cm_of(&r, whole(p, sizeof p));
    only(R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA);
    p[17] = CM_RTU;
    r = start(p);
    cm_of(&r, whole(p, sizeof p));
    only(R_RFC4755_6_PRIVATE_DATA); /* the rule that covers both values */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(encapsulation),
        cmocka_unit_test(other_types_are_permitted),
        cmocka_unit_test(type_is_an_ethertype),
        cmocka_unit_test(truncated_packets_raise_no_violation),
        cmocka_unit_test(mgids),
        cmocka_unit_test(headers_of_a_multicast),
        cmocka_unit_test(multicast_without_grh),
        cmocka_unit_test(arp_messages),
        cmocka_unit_test(dhcp_message_of_a_client),
        cmocka_unit_test(truncated_dhcp_message),
        cmocka_unit_test(nd_options_and_padding),
        cmocka_unit_test(cm_messages),
        cmocka_unit_test(cm_messages_without_private_data),
    };
    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}

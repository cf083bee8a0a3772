/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decoding of ARP, ND and DHCP by lib/wire. Expected values are derived from the RFCs. */
#include "tests/unit/unit.h"
#include "tests/unit/wire_bytes.h"

#include "wire/arp.h"
#include "wire/dhcp.h"
#include "wire/ib.h"
#include "wire/lladdr.h"
#include "wire/nd.h"

static void nd_options_of_length_3(void **state)
{
    (void)state;
    uint8_t ns[48] = {ND_NS, [24] = 1, [25] = 3, [28] = 0x80};
    struct nd_iter it;
    struct nd_option o;
    assert_true(nd_options(whole(ns, 48), &it));
    assert_true(nd_next(&it, &o));
    assert_int_equal(o.off, 24);
    assert_int_equal(o.size, 24);
    assert_true(nd_is_ipoib_lladdr(&o));
    assert_false(nd_next(&it, &o));
    assert_int_equal(it.end, WIRE_OK);
    ns[25] = 4; /* ends after the message */
    nd_options(whole(ns, 48), &it);
    assert_false(nd_next(&it, &o));
    assert_int_equal(it.end, WIRE_MALFORMED);
    ns[25] = 0;
    nd_options(whole(ns, 48), &it);
    assert_false(nd_next(&it, &o));
    assert_int_equal(it.end, WIRE_MALFORMED);
    nd_options(view_make(ns, 25, 48), &it);
    assert_false(nd_next(&it, &o));
    assert_int_equal(it.end, WIRE_TRUNCATED);
    ns[0] = 128; /* echo request */
    assert_false(nd_options(whole(ns, 48), &it));
}

/* RFC 4861 §4.1 to 4.5: whose address an option contains. */
static void nd_owner_of_an_option(void **state)
{
    (void)state;
    uint8_t source[16] = {0xfe, 0x80}, message[72] = {0};
    struct nd_option own = {.type = ND_OPT_SOURCE_LLADDR}, target = {.type = ND_OPT_TARGET_LLADDR};
    for (uint8_t type = ND_RS; type <= ND_REDIRECT; type++) {
        bool learns = type == ND_RS || type == ND_RA || type == ND_NS;
        message[0] = type;
        assert_ptr_equal(nd_option_owner(whole(message, sizeof message), &own, source),
                         learns ? source : NULL);
        assert_ptr_equal(nd_option_owner(whole(message, sizeof message), &target, source),
                         type == ND_NA ? message + ND_TARGET : NULL);
    }
}

static void arp_offsets(void **state)
{
    (void)state;
    uint8_t p[56] = {0, 32, 8, 0, 20, 4, 0, 1};
    struct arp a;
    bool fixed;
    assert_int_equal(arp_decode(whole(p, 56), &a, &fixed), WIRE_OK);
    assert_int_equal(a.sha, 8);
    assert_int_equal(a.spa, 28);
    assert_int_equal(a.tha, 32);
    assert_int_equal(a.tpa, 52);
    assert_int_equal(a.size, 56);
    assert_int_equal(arp_decode(whole(p, 55), &a, &fixed), WIRE_MALFORMED);
    assert_true(fixed);
    assert_int_equal(arp_decode(view_make(p, 7, 56), &a, &fixed), WIRE_TRUNCATED);
    assert_false(fixed);
}

/*
 * A real join (ibdump capture): mask 0x173f7, Q_Key 0x0b1b, MTU 0x85, rate 0x83, scope and
 * JoinState 0x08.
 */
/*
 * RFC 2131 §2 figure 1, after IPv4 and UDP: a DHCPDISCOVER over IPoIB as RFC 4390 §2 requires it.
 * DUID of type 3 (RFC 3315 §9.4), hardware type 32, and the port's GUID.
 */
static const uint8_t dhcp_options[] = {
    53,  1,  1,                                                                    /* DISCOVER */
    0,                                                                             /* pad */
    61,  17, 0xff, 0, 0, 0, 1, 0, 3, 0, 32, 0x00, 0x11, 0x75, 0, 0, 0, 0x01, 0x10, /* client ID */
    255,
};

enum { DHCP_MESSAGE = 28, DHCP_SIZE = DHCP_OPTIONS + sizeof dhcp_options };

static struct view dhcp_discover(uint8_t *p)
{
    static const uint8_t cookie[] = {0x63, 0x82, 0x53, 0x63};
    uint8_t *m = p + DHCP_MESSAGE;
    memset(p, 0, DHCP_MESSAGE + DHCP_SIZE);
    p[0] = 0x45;
    p[2] = (DHCP_MESSAGE + DHCP_SIZE) >> 8, p[3] = (DHCP_MESSAGE + DHCP_SIZE) & 0xff;
    p[9] = 17;
    p[21] = 68, p[23] = 67;
    p[24] = (8 + DHCP_SIZE) >> 8, p[25] = (8 + DHCP_SIZE) & 0xff;
    m[0] = 1, m[1] = 32, m[10] = 0x80;
    memcpy(m + 236, cookie, sizeof cookie);
    memcpy(m + 240, dhcp_options, sizeof dhcp_options);
    return whole(p, DHCP_MESSAGE + DHCP_SIZE);
}

static void dhcp_message_on_ipoib(void **state)
{
    (void)state;
    uint8_t p[DHCP_MESSAGE + DHCP_SIZE];
    struct view v = dhcp_discover(p), message;
    struct dhcp d;
    assert_true(dhcp_in_ipv4(v, &message));
    assert_int_equal(dhcp_decode(message, &d), WIRE_OK);
    assert_int_equal(d.op, 1);
    assert_int_equal(d.htype, 32);
    assert_int_equal(d.hlen, 0);
    assert_int_equal(d.flags, 0x8000);
    assert_int_equal(d.message_type, 1);
    assert_int_equal(d.client_id, 240 + 6);
    assert_int_equal(d.client_id_length, 17);
    assert_int_equal(d.options, WIRE_OK);
}

static void dhcp_only_in_udp_to_its_ports(void **state)
{
    (void)state;
    uint8_t p[DHCP_MESSAGE + DHCP_SIZE];
    struct view v = dhcp_discover(p), message;
    p[23] = 68; /* a server's reply: destination port 68 */
    assert_true(dhcp_in_ipv4(v, &message));
    p[23] = 69;
    assert_false(dhcp_in_ipv4(v, &message));
    p[23] = 67, p[9] = 6;
    assert_false(dhcp_in_ipv4(v, &message));
    p[9] = 17, p[6] = 0x20; /* More Fragments */
    assert_false(dhcp_in_ipv4(v, &message));
    p[6] = 0, p[25] = 7, p[24] = 0; /* shorter than the UDP header */
    assert_false(dhcp_in_ipv4(v, &message));
}

static void dhcp_every_cut_is_truncated(void **state)
{
    (void)state;
    uint8_t p[DHCP_MESSAGE + DHCP_SIZE];
    struct view v = dhcp_discover(p), message;
    assert_true(dhcp_in_ipv4(v, &message));
    for (uint32_t cap = 0; cap < DHCP_SIZE; cap++) {
        struct dhcp d = {0};
        enum wire_result r = dhcp_decode(view_make(message.p, cap, DHCP_SIZE), &d);
        assert_int_equal(r, cap < 240 ? WIRE_TRUNCATED : WIRE_OK);
        assert_int_equal(d.options, cap < 240 ? WIRE_OK : WIRE_TRUNCATED);
    }
}

static void dhcp_message_too_short_or_foreign(void **state)
{
    (void)state;
    uint8_t p[DHCP_MESSAGE + DHCP_SIZE];
    struct view v = dhcp_discover(p), message;
    struct dhcp d;
    assert_true(dhcp_in_ipv4(v, &message));
    assert_int_equal(dhcp_decode(view_first(message, 239), &d), WIRE_MALFORMED);
    /* The client identifier has a length of 17 bytes; 10 are present. */
    assert_int_equal(dhcp_decode(view_first(message, 240 + 16), &d), WIRE_OK);
    assert_int_equal(d.options, WIRE_MALFORMED);
    assert_int_equal(d.message_type, 1);
    assert_int_equal(d.client_id, 0);
    /* No End option: the options before it are valid. */
    assert_int_equal(dhcp_decode(view_first(message, DHCP_SIZE - 1), &d), WIRE_OK);
    assert_int_equal(d.options, WIRE_OK);
    assert_int_equal(d.client_id_length, 17);
    p[DHCP_MESSAGE + 236] = 0;
    assert_int_equal(dhcp_decode(message, &d), WIRE_FOREIGN);
}

/* RFC 2132 §9.3: 1 file, 2 sname, 3 both hold options; file is read first (RFC 2131 §4.1). */
static void dhcp_options_in_other_fields(void **state)
{
    (void)state;
    uint8_t p[DHCP_MESSAGE + DHCP_SIZE], *m = p + DHCP_MESSAGE;
    struct view v = dhcp_discover(p), message;
    struct dhcp d;
    static const uint8_t overload[] = {52, 1, 3, 255}, type[] = {53, 1, 3, 255};
    static const uint8_t client[] = {61, 3, 0xff, 0, 0, 255};
    memcpy(m + 240, overload, sizeof overload);
    memcpy(m + 108, type, sizeof type);
    memcpy(m + 44, client, sizeof client);
    assert_true(dhcp_in_ipv4(v, &message));
    assert_int_equal(dhcp_decode(message, &d), WIRE_OK);
    assert_int_equal(d.options, WIRE_OK);
    assert_int_equal(d.message_type, 3);
    assert_int_equal(d.client_id, 46);
    m[242] = 1; /* only file */
    assert_int_equal(dhcp_decode(message, &d), WIRE_OK);
    assert_int_equal(d.client_id, 0);
    m[109] = 200; /* ends after the field */
    assert_int_equal(dhcp_decode(message, &d), WIRE_OK);
    assert_int_equal(d.options, WIRE_MALFORMED);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(nd_options_of_length_3),
        cmocka_unit_test(nd_owner_of_an_option),
        cmocka_unit_test(arp_offsets),
        cmocka_unit_test(dhcp_message_on_ipoib),
        cmocka_unit_test(dhcp_only_in_udp_to_its_ports),
        cmocka_unit_test(dhcp_every_cut_is_truncated),
        cmocka_unit_test(dhcp_message_too_short_or_foreign),
        cmocka_unit_test(dhcp_options_in_other_fields),
    };
    return cmocka_run_group_tests_name("wire_ip", tests, NULL, NULL);
}

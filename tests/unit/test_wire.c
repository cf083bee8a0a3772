/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The decoder of lib/wire. Expected values are derived from the documents that are cited. */
#include "tests/unit/unit.h"

#include "wire/arp.h"
#include "wire/checksum.h"
#include "wire/link_frame.h"
#include "wire/cm.h"
#include "wire/crc.h"
#include "wire/dhcp.h"
#include "wire/encap.h"
#include "wire/ib.h"
#include "wire/icrc.h"
#include "wire/lladdr.h"
#include "wire/mgid.h"
#include "wire/nd.h"
#include "wire/put.h"
#include "wire/sa.h"
#include "wire/vcrc.h"

static struct view whole(const uint8_t *p, uint32_t n)
{
    return view_make(p, n, n);
}

static void view_distinguishes_truncated_from_malformed(void **state)
{
    (void)state;
    uint8_t p[10] = {0};
    struct view v = view_make(p, 4, 10);
    assert_int_equal(view_has(v, 0, 4), WIRE_OK);
    assert_int_equal(view_has(v, 0, 5), WIRE_TRUNCATED);
    assert_int_equal(view_has(v, 6, 4), WIRE_TRUNCATED);
    assert_int_equal(view_has(v, 6, 5), WIRE_MALFORMED);
    assert_int_equal(view_has(v, 11, 0), WIRE_MALFORMED);
    assert_int_equal(view_has(v, 0xffffffff, 2), WIRE_MALFORMED);
    assert_int_equal(view_from(v, 6).cap, 0);
    assert_int_equal(view_from(v, 6).len, 4);
    assert_int_equal(view_sub(v, 2, 3).cap, 2);
    assert_int_equal(view_sub(v, 2, 3).len, 3);
}

/*
 * UD SEND Only from LID 1, QPN 0x48 to LID 2, QPN 0x405: 8 + 12 + 8 + payload 10 + pad 2 + ICRC 4 =
 * 44 = 11 words.
 */
static const uint8_t ud[] = {
    /* LRH: LNH 2 (BTH), length 11 */
    0x00, 0x02, 0x00, 0x02, 0x00, 0x0b, 0x00, 0x01,
    /* BTH: pad 2, AckReq, PSN 0xfffffe */
    0x64, 0x20, 0xff, 0xff, 0x00, 0x00, 0x04, 0x05, 0x80, 0xff, 0xff, 0xfe, 0x00, 0x00, 0x0b, 0x1b,
    0x00, 0x00, 0x00, 0x48,                         /* DETH */
    0x08, 0x06, 0x00, 0x00, 1, 2, 3, 4, 5, 6, 0, 0, /* payload, pad */
    0xaa, 0xaa, 0xaa, 0xaa, 0xbb, 0xbb,             /* ICRC, VCRC */
};

static void ud_headers(void **state)
{
    (void)state;
    struct ib_packet ib;
    assert_int_equal(ib_decode(whole(ud, sizeof ud), IB_START_LRH, &ib), WIRE_OK);
    assert_int_equal(ib.slid, 1);
    assert_int_equal(ib.dlid, 2);
    assert_int_equal(ib.length, 44);
    assert_int_equal(ib.transport, IB_UD);
    assert_int_equal(ib.kind, IB_KIND_SEND);
    assert_int_equal(ib.position, IB_ONLY);
    assert_int_equal(ib.pkey, 0xffff);
    assert_int_equal(ib.dqpn, 0x405);
    assert_int_equal(ib.psn, 0xfffffe);
    assert_int_equal(ib.qkey, 0xb1b);
    assert_int_equal(ib.sqpn, 0x48);
    assert_int_equal(ib.payload_off, 28);
    assert_int_equal(ib.payload.len, 10);
    assert_int_equal(ib.payload.cap, 10);
    assert_true(ib_plausible(whole(ud, sizeof ud)));
    assert_true(ib_plausible(whole(ud, sizeof ud - 2))); /* without VCRC */
    assert_true(ib_plausible(whole(ud, sizeof ud - 6))); /* without CRCs */
    assert_false(ib_plausible(whole(ud, sizeof ud - 4)));
    assert_false(ib_plausible(whole(ud, sizeof ud - 8)));
}

static void every_cut_is_truncated_and_no_more(void **state)
{
    (void)state;
    struct ib_packet ib;
    for (uint32_t cap = 0; cap < 28; cap++)
        assert_int_equal(ib_decode(view_make(ud, cap, sizeof ud), IB_START_LRH, &ib),
                         WIRE_TRUNCATED);
    for (uint32_t cap = 28; cap <= sizeof ud; cap++) {
        assert_int_equal(ib_decode(view_make(ud, cap, sizeof ud), IB_START_LRH, &ib), WIRE_OK);
        assert_int_equal(ib.payload.len, 10);
        assert_int_equal(ib.payload.cap, cap - 28 < 10 ? cap - 28 : 10);
    }
    /* truncated, but the file does not say so: the length comes from the LRH */
    assert_int_equal(ib_decode(whole(ud, 32), IB_START_LRH, &ib), WIRE_OK);
    assert_int_equal(ib.payload.len, 10);
    assert_int_equal(ib.payload.cap, 4);
}

static void pad_beyond_the_payload_is_malformed(void **state)
{
    (void)state;
    uint8_t p[sizeof ud];
    struct ib_packet ib;
    memcpy(p, ud, sizeof p);
    p[5] = 0x08; /* 32 bytes: only headers and ICRC, but pad 2 */
    assert_int_equal(ib_decode(whole(p, 34), IB_START_LRH, &ib), WIRE_MALFORMED);
}

/* IBA 7.7, 9.2: receivers drop packets of another version and ignore reserved bits. */
static void other_versions_are_not_decoded(void **state)
{
    (void)state;
    uint8_t p[sizeof ud];
    struct ib_packet ib;
    memcpy(p, ud, sizeof p);
    p[0] |= 0x01; /* LVer 1 */
    assert_int_equal(ib_decode(whole(p, sizeof p), IB_START_LRH, &ib), WIRE_FOREIGN);
    assert_false(ib_plausible(whole(p, sizeof p)));
    memcpy(p, ud, sizeof p);
    p[9] |= 0x01; /* TVer 1 */
    assert_int_equal(ib_decode(whole(p, sizeof p), IB_START_LRH, &ib), WIRE_FOREIGN);
    assert_false(ib_plausible(whole(p, sizeof p)));
    memcpy(p, ud, sizeof p);
    p[1] |= 0x0c; /* reserved: 2 bits, and 5 bits before the length */
    p[4] |= 0xf8;
    assert_int_equal(ib_decode(whole(p, sizeof p), IB_START_LRH, &ib), WIRE_OK);
    assert_int_equal(ib.length, 44);
    assert_true(ib_plausible(whole(p, sizeof p)));
}

static void operations_by_transport(void **state)
{
    (void)state;
    uint8_t p[80] = {0x00, 0x02, 0x00, 0x02, 0x00, 0x13, 0x00, 0x01};
    struct ib_packet ib;
    static const struct {
        uint8_t opcode;
        int result;
        uint32_t payload_off;
        int kind, position;
    } cases[] = {
        {0x00, WIRE_OK, 20, IB_KIND_SEND, IB_FIRST},
        {0x22, WIRE_OK, 20, IB_KIND_SEND, IB_LAST},
        {0x05, WIRE_OK, 24, IB_KIND_SEND, IB_ONLY},          /* immediate data */
        {0x0a, WIRE_OK, 36, IB_KIND_WRITE, IB_ONLY},         /* RETH */
        {0x0f, WIRE_OK, 24, IB_KIND_READ_RESPONSE, IB_LAST}, /* AETH */
        {0x12, WIRE_OK, 32, IB_KIND_OTHER, IB_ONLY},         /* AETH, AtomicAckETH */
        {0x64, WIRE_OK, 28, IB_KIND_SEND, IB_ONLY},          /* DETH */
        {0x44, WIRE_OK, 32, IB_KIND_SEND, IB_ONLY},          /* RDETH, DETH */
        {0x2c, WIRE_FOREIGN, 0, 0, 0},                       /* UC has no RDMA READ */
        {0x60, WIRE_FOREIGN, 0, 0, 0},                       /* UD has no SEND First */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        p[8] = cases[i].opcode;
        assert_int_equal(ib_decode(whole(p, 78), IB_START_LRH, &ib), cases[i].result);
        if (cases[i].result != WIRE_OK)
            continue;
        assert_int_equal(ib.payload_off, cases[i].payload_off);
        assert_int_equal(ib.kind, cases[i].kind);
        assert_int_equal(ib.position, cases[i].position);
    }
}

static void psn_wraps_at_24_bits(void **state)
{
    (void)state;
    assert_int_equal(psn_distance(0xfffffe, 0x000001), 3);
    assert_int_equal(psn_distance(0x000001, 0xfffffe), -3);
    assert_int_equal(psn_distance(7, 7), 0);
    assert_int_equal(psn_distance(0, 0x7fffff), 0x7fffff);
    assert_int_equal(psn_distance(0, 0x800000), -0x800000);
}

/* RFC 4391 §4: "FF12:401B:8000::2" is 224.0.0.2; "FF12:601B:8000::2" the IPv6 all-router group. */
static void mgids_of_the_rfc(void **state)
{
    (void)state;
    static const uint8_t v4[16] = {0xff, 0x12, 0x40, 0x1b, 0x80, 0x00, [15] = 2};
    static const uint8_t v6[16] = {0xff, 0x12, 0x60, 0x1b, 0x80, 0x00, [15] = 2};
    static const uint8_t all_routers[16] = {0xff, 0x02, [15] = 2};
    static const uint8_t broadcast[16] = {0xff, 0x15,        0x40, 0x1b, 0xff,
                                          0xff, [12] = 0xff, 0xff, 0xff, 0xff};
    static const uint8_t dirty[16] = {0xff, 0x12,        0x40, 0x1b, 0x80, 0x00,
                                      0x01, [12] = 0xff, 0xff, 0xff, 0xff};
    static const uint8_t other[16] = {0xff, 0x12, 0x40, 0x1c};
    struct mgid m = mgid_read(v4);
    assert_int_equal(m.flags, MGID_FLAG_TRANSIENT);
    assert_int_equal(m.scope, 2);
    assert_int_equal(m.pkey, 0x8000);
    assert_memory_equal(m.ipv4, ((uint8_t[]){224, 0, 0, 2}), 4);
    assert_true(m.group_clean);
    assert_false(m.broadcast);
    m = mgid_read(v6);
    assert_memory_equal(m.ipv6, all_routers, 16);
    m = mgid_read(broadcast);
    assert_true(m.broadcast);
    assert_int_equal(m.scope, 5);
    assert_memory_equal(m.ipv4, ((uint8_t[]){255, 255, 255, 255}), 4);
    m = mgid_read(dirty);
    assert_false(m.broadcast);
    assert_false(m.group_clean);
    assert_false(mgid_is_ipoib(other));
    assert_false(mgid_is_ipoib(all_routers));
}

/* A real interface's address: flags 0x80, QPN 0x48, GID fe80::2:c903:0:1895. */
static void link_layer_address(void **state)
{
    (void)state;
    static const uint8_t a[20] = {0x80, 0, 0, 0x48, 0xfe, 0x80, 0, 0, 0,    0,
                                  0,    0, 0, 2,    0xc9, 3,    0, 0, 0x18, 0x95};
    static const uint8_t b[20] = {0x00, 0, 0, 0x48, 0xfe, 0x80, 0, 0, 0,    0,
                                  0,    0, 0, 2,    0xc9, 3,    0, 0, 0x18, 0x95};
    static const uint8_t broadcast[20] = {0, 0xff, 0xff, 0xff, 0xff, 0x12, 0x40, 0x1b, 0xbe, 0xef};
    struct lladdr l = lladdr_read(a);
    assert_int_equal(l.flags, LLADDR_FLAG_RC);
    assert_int_equal(l.qpn, 0x48);
    assert_ptr_equal(l.gid, a + 4);
    assert_true(lladdr_same(a, b));
    assert_true(lladdr_is_multicast(broadcast));
    assert_false(lladdr_is_multicast(a));
    assert_false(lladdr_is_zero(a));
}

static void encapsulation_agrees_with_its_datagram(void **state)
{
    (void)state;
    uint8_t p[44] = {0x08, 0x00, 0, 0, 0x45, 0, 0, 40};
    assert_true(encap_agrees(whole(p, 44)));
    assert_int_equal(encap_datagram_length(whole(p, 44)), 40);
    assert_false(encap_agrees(whole(p, 43))); /* the IP length is 40, 39 are present */
    assert_true(encap_agrees(view_make(p, 8, 44)));
    assert_false(encap_agrees(view_make(p, 7, 44))); /* the IP length was not captured */
    p[4] = 0x65; /* the version is not that of IPv4: bytes 2 and 3 are no length */
    assert_false(encap_agrees(whole(p, 44)));
    assert_int_equal(encap_datagram_length(whole(p, 44)), 0);
    p[4] = 0x45;
    p[0] = 0x86;
    p[1] = 0xdd;
    assert_false(encap_agrees(whole(p, 44)));
    p[4] = 0x60;
    p[8] = p[9] = 0; /* payload length 0 */
    assert_true(encap_agrees(whole(p, 44)));
    assert_true(encap_agrees(view_make(p, 10, 44)));
    assert_false(encap_agrees(view_make(p, 9, 44)));
    assert_int_equal(encap_datagram_length(whole(p, 44)), 0);
    p[0] = 0x88;
    p[1] = 0xcc;
    assert_false(encap_agrees(whole(p, 44)));
}

/*
 * The first packet of a 40,028-byte datagram in 4096-byte packets; its header checksum is checked
 * (RFC 1071).
 */
static void connected_message_begins(void **state)
{
    (void)state;
    uint8_t p[4096] = {0x08, 0x00, 0,    0,    0x45, 0x00, 0x9c, 0x5c, 0x88, 0xb9, 0x40, 0x00,
                       0x40, 0x01, 0x01, 0xe5, 10,   0,    0,    1,    10,   0,    0,    2};
    assert_true(encap_begins_message(whole(p, sizeof p), true));
    /* 40,028 bytes do not fit into one packet */
    assert_false(encap_begins_message(whole(p, sizeof p), false));
    p[14] ^= 1;
    assert_false(encap_begins_message(whole(p, sizeof p), true));
    p[14] ^= 1;
    p[3] = 1;
    assert_false(encap_begins_message(whole(p, sizeof p), true));
}

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

static void mc_member_record(void **state)
{
    (void)state;
    uint8_t p[MCM_SIZE] = {[32] = 0, 0,    0x0b, 0x1b, 0xc0, 0x12, 0x85, 0,    0xff,
                           0xff,     0x83, 0x80, 0x30, 0x12, 0x34, 0x07, 0x28, 0x80};
    struct mc_member m = mc_member_read(p);
    char text[256];
    assert_int_equal(m.qkey, 0xb1b);
    assert_int_equal(m.mlid, 0xc012);
    assert_int_equal(m.mtu_selector, 2);
    assert_int_equal(ib_mtu_bytes(m.mtu), 4096);
    assert_string_equal(names_find(ib_rate_names, m.rate), "10 Gb/s");
    assert_int_equal(ib_rate_100mbps(m.rate), 100);
    assert_int_equal(m.sl, 3);
    assert_int_equal(m.flow_label, 0x01234);
    assert_int_equal(m.hop_limit, 7);
    assert_int_equal(m.scope, 2);
    assert_int_equal(m.join_state, JOIN_SEND_ONLY_FULL);
    assert_string_equal(join_state_text(m.join_state, text, sizeof text), "SendOnlyFullMember");
    assert_string_equal(join_state_text(5, text, sizeof text), "FullMember, SendOnlyNonMember");
    assert_string_equal(mc_component_text(0x10083, text, sizeof text),
                        "MGID, PortGID, P_Key, JoinState");
    assert_string_equal(mc_component_text(~0ull, text, 8), "MGID, P");
}

static void sa_status_in_words(void **state)
{
    (void)state;
    /* rfc4391.12.log-failures: a refusal is named in words */
    assert_non_null(strstr(sa_status_name(0x0200), "ERR_REQ_INVALID"));
    assert_non_null(strstr(sa_status_name(0x0600), "ERR_REQ_INSUFFICIENT_COMPONENTS"));
    assert_string_equal(sa_status_name(0), "success");
    assert_string_equal(sa_status_name(1), "busy");
    assert_string_equal(sa_status_name(0x001c), "invalid value in attribute or modifier");
}

/*
 * RMPP: the last segment's payload length includes 20 bytes of SA header; 132 = 20 + 2 records of
 * 56.
 */
static void rmpp_gives_the_length_of_the_data(void **state)
{
    (void)state;
    uint8_t p[256] = {1,        MAD_CLASS_SA,
                      2,        SA_GET_TABLE_RESP,
                      [16] = 0, 0x38,
                      [24] = 1, RMPP_TYPE_DATA,
                      7,        0,
                      0,        0,
                      0,        1,
                      0,        0,
                      0,        132,
                      [44] = 0, 7};
    struct sa sa;
    bool have_mad;
    assert_int_equal(sa_decode(whole(p, 256), &sa, &have_mad), WIRE_OK);
    assert_int_equal(sa.segment, 1);
    assert_int_equal(sa.record_stride, 56);
    assert_int_equal(sa.data.len, 112);
    p[26] = 3; /* active, first, not last: the segment is full */
    sa_decode(whole(p, 256), &sa, &have_mad);
    assert_int_equal(sa.data.len, 200);
    p[25] = RMPP_TYPE_ACK;
    sa_decode(whole(p, 256), &sa, &have_mad);
    assert_int_equal(sa.data.len, 0);
    p[26] = 0; /* not active: no RMPP */
    sa_decode(whole(p, 256), &sa, &have_mad);
    assert_int_equal(sa.rmpp_type, 0);
    assert_int_equal(sa.data.len, 200);
    p[1] = MAD_CLASS_CM;
    assert_int_equal(sa_decode(whole(p, 256), &sa, &have_mad), WIRE_FOREIGN);
}

static void services_by_their_id(void **state)
{
    (void)state;
    assert_int_equal(cm_service_of(0x0100000000000048), SERVICE_IPOIB_RFC); /* RFC 4755 §3.5 */
    assert_int_equal(cm_service_of(0x1000000000000048), SERVICE_IPOIB_LINUX);
    assert_int_equal(cm_service_of(0x0101000000000048), SERVICE_IETF_OTHER); /* Type 1 */
    assert_int_equal(cm_service_of(0x0100000001000048), SERVICE_IETF_OTHER); /* Reserved not 0 */
    assert_int_equal(cm_service_of(0x0000000000010bb8), SERVICE_SDP);
    assert_int_equal(cm_service_of(0x0000000001064e20), SERVICE_RDMA_IP_TCP);
    assert_int_equal(cm_service_of(0x0000000001114e20), SERVICE_RDMA_IP_UDP);
    assert_int_equal(cm_service_of(0x00000000013f4e20), SERVICE_RDMA_IP_IB);
    assert_int_equal(cm_service_of(0x0000000000024e20), SERVICE_RDMA_IPOIB);
    assert_int_equal(cm_service_of(0x0200000000000001), SERVICE_LOCAL_OS);
    assert_int_equal(cm_service_of(0x0002c90300001894), SERVICE_UNKNOWN);
    assert_int_equal(cm_service_qpn(0x1000000000123456), 0x123456);
}

static void cm_req_and_its_private_data(void **state)
{
    (void)state;
    uint8_t p[256] = {1, MAD_CLASS_CM, 2, 3, [16] = 0, CM_REQ};
    struct cm cm;
    struct cm_private d;
    bool have_ids;
    memcpy(p + 24, "\xc5\x2f\x84\x9c", 4);
    memcpy(p + 32, "\x10\0\0\0\0\0\0\x03", 8);
    memcpy(p + 56, "\0\0\x05", 3);
    p[67] = 0x02; /* transport service type 1: UC */
    memcpy(p + 164, "\0\0\0\x48\0\0\xff\xf4", 8);
    assert_int_equal(cm_decode(whole(p, 256), &cm, &have_ids), WIRE_OK);
    assert_int_equal(cm.message, CM_REQ);
    assert_int_equal(cm.local_comm_id, 0xc52f849c);
    assert_int_equal(cm.service, SERVICE_IPOIB_LINUX);
    assert_int_equal(cm.qpn, 5);
    assert_int_equal(cm.transport, CM_TRANSPORT_UC);
    assert_int_equal(cm.private_size, 92);
    assert_int_equal(cm_private_decode(whole(p, 256), &cm, &d), WIRE_OK);
    assert_int_equal(d.ud_qpn, 0x48);
    assert_int_equal(d.recv_mtu, 65524);
    assert_false(cm_private_is_srp(whole(p, 256), &cm));
    assert_int_equal(cm_decode(view_make(p, 40, 256), &cm, &have_ids), WIRE_TRUNCATED);
    assert_true(have_ids);
    p[17] = 0x1b;
    assert_int_equal(cm_decode(whole(p, 256), &cm, &have_ids), WIRE_FOREIGN);
}

/*
 * Private data sizes of the IBA, table by table: REQ 92, REP 196, RTU 224, REJ 148, DREQ 220, DREP
 * 224, MRA 222.
 */
static void cm_private_data_sizes(void **state)
{
    (void)state;
    static const struct {
        uint8_t message;
        uint32_t size;
    } cases[] = {{CM_REQ, 92},       {CM_REP, 196},  {CM_RTU, 224}, {CM_REJ, 148},
                 {CM_DREQ, 220},     {CM_DREP, 224}, {CM_MRA, 222}, {CM_SIDR_REQ, 216},
                 {CM_SIDR_REP, 136}, {CM_LAP, 168},  {CM_APR, 148}};
    uint8_t p[256] = {1, MAD_CLASS_CM, 2, 3};
    struct cm cm;
    bool have_ids;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        p[17] = cases[i].message;
        assert_int_equal(cm_decode(whole(p, 256), &cm, &have_ids), WIRE_OK);
        assert_int_equal(cm.private_size, cases[i].size);
    }
}

/* RFC 4755 §5.1: the smaller Receive MTU less the 4-byte header. */
static void connection_mtu_is_the_smaller_less_4(void **state)
{
    (void)state;
    assert_int_equal(cm_connection_mtu(65524, 2048), 2044);
    assert_int_equal(cm_connection_mtu(65524, 65524), 65520);
    assert_int_equal(cm_connection_mtu(3, 65524), 0);
}

static void link_types(void **state)
{
    (void)state;
    struct link_frame c;
    uint8_t erf[16 + 8 + sizeof ud] = {[8] = 0x80 | 21, 4,       0, 16 + 8 + sizeof ud, 0, 0, 0,
                                       sizeof ud,       [16] = 3};
    memcpy(erf + 24, ud, sizeof ud);
    assert_int_equal(link_frame_locate(LINKTYPE_ERF, whole(erf, sizeof erf), &c), WIRE_OK);
    assert_int_equal(c.kind, LINK_FRAME_IB);
    assert_ptr_equal(c.inner.p, erf + 24);
    assert_int_equal(c.inner.len, sizeof ud);
    erf[8] = 2; /* Ethernet */
    assert_int_equal(link_frame_locate(LINKTYPE_ERF, whole(erf, sizeof erf), &c), WIRE_OK);
    assert_int_equal(c.kind, LINK_FRAME_NONE);
    uint8_t sll[20] = {0, 4, 0, 32, 0, 20, [14] = 0x08, 0x06};
    assert_int_equal(link_frame_locate(LINKTYPE_LINUX_SLL, whole(sll, 20), &c), WIRE_OK);
    assert_int_equal(c.kind, LINK_FRAME_COOKED);
    assert_int_equal(c.type, TYPE_ARP);
    sll[3] = 1;
    assert_int_equal(link_frame_locate(LINKTYPE_LINUX_SLL, whole(sll, 20), &c), WIRE_OK);
    assert_int_equal(c.kind, LINK_FRAME_NONE);
}

enum { PLAIN, TAGGED, TAGGED_TWICE, TAG_FORMS };

/*
 * Writes an Ethernet header to p up to its type, with the tags of the form. Returns the offset of
 * the payload.
 */
static uint32_t put_ethernet(uint8_t *p, unsigned form, uint16_t type)
{
    static const uint16_t tags[TAG_FORMS][3] = {{0}, {0x8100}, {0x88a8, 0x8100}};
    uint32_t at = 12;
    for (const uint16_t *tag = tags[form]; *tag; tag++, at += 4) {
        p[at] = (uint8_t)(*tag >> 8);
        p[at + 1] = (uint8_t)*tag;
        p[at + 2] = 0;
        p[at + 3] = 7;
    }
    p[at] = (uint8_t)(type >> 8);
    p[at + 1] = (uint8_t)type;
    return at + 2;
}

/* IEEE 802.1Q: a customer tag, and a second tag in a service provider's network. */
static void roce_after_vlan_tags(void **state)
{
    (void)state;
    for (unsigned form = PLAIN; form < TAG_FORMS; form++) {
        uint8_t p[64] = {0};
        struct link_frame c;
        uint32_t at = put_ethernet(p, form, 0x8915);
        assert_int_equal(link_frame_locate(LINKTYPE_ETHERNET, whole(p, sizeof p), &c), WIRE_OK);
        assert_int_equal(c.kind, LINK_FRAME_IB);
        assert_int_equal(c.start, IB_START_GRH);
        assert_ptr_equal(c.inner.p, p + at);
        assert_int_equal(c.outer.length, 0);
        assert_int_equal(link_frame_locate(LINKTYPE_ETHERNET, view_make(p, at - 1, sizeof p), &c),
                         WIRE_TRUNCATED);
    }
}

/* RoCE v2: only the IP header contains the sender's and the receiver's addresses. */
static void roce2_has_the_ports_of_udp(void **state)
{
    (void)state;
    for (unsigned form = PLAIN; form < TAG_FORMS; form++) {
        uint8_t p[128] = {0};
        struct link_frame c;
        uint32_t at = put_ethernet(p, form, 0x0800);
        p[at] = 0x46; /* one word of options */
        p[at + 9] = 17;
        p[at + 24 + 2] = 4791 >> 8;
        p[at + 24 + 3] = 4791 & 0xff;
        p[at + 24 + 5] = 8 + 40;
        assert_int_equal(link_frame_locate(LINKTYPE_ETHERNET, whole(p, sizeof p), &c), WIRE_OK);
        assert_int_equal(c.kind, LINK_FRAME_IB);
        assert_int_equal(c.start, IB_START_BTH);
        assert_ptr_equal(c.inner.p, p + at + 24 + 8);
        assert_int_equal(c.inner.len, 40);
        assert_ptr_equal(c.outer.src, p + at + 12);
        assert_ptr_equal(c.outer.dst, p + at + 16);
        assert_int_equal(c.outer.length, 4);
        memset(p, 0, sizeof p);
        at = put_ethernet(p, form, 0x86dd);
        p[at + 6] = 17;
        p[at + 40 + 2] = 4791 >> 8;
        p[at + 40 + 3] = 4791 & 0xff;
        p[at + 40 + 5] = 8 + 16;
        assert_int_equal(link_frame_locate(LINKTYPE_ETHERNET, whole(p, sizeof p), &c), WIRE_OK);
        assert_int_equal(c.kind, LINK_FRAME_IB);
        assert_ptr_equal(c.inner.p, p + at + 48);
        assert_ptr_equal(c.outer.src, p + at + 8);
        assert_ptr_equal(c.outer.dst, p + at + 24);
        assert_int_equal(c.outer.length, 16);
    }
}

/* RFC 791 section 3.1: More Fragments is 0x2000, the fragment offset has 13 bits; 0x4000 is DF. */
static void fragments_are_no_roce2(void **state)
{
    (void)state;
    static const struct {
        uint16_t field;
        enum link_frame_kind kind;
    } forms[] = {{0, LINK_FRAME_IB},
                 {0x4000, LINK_FRAME_IB},
                 {0x2000, LINK_FRAME_NONE},
                 {1, LINK_FRAME_NONE}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        uint8_t p[128] = {0};
        struct link_frame c;
        uint32_t at = put_ethernet(p, PLAIN, 0x0800);
        p[at] = 0x45;
        p[at + 6] = (uint8_t)(forms[i].field >> 8);
        p[at + 7] = (uint8_t)forms[i].field;
        p[at + 9] = 17;
        p[at + 20 + 2] = 4791 >> 8;
        p[at + 20 + 3] = 4791 & 0xff;
        p[at + 20 + 5] = 8 + 40;
        assert_int_equal(link_frame_locate(LINKTYPE_ETHERNET, whole(p, sizeof p), &c), WIRE_OK);
        assert_int_equal(c.kind, forms[i].kind);
    }
}

/*
 * DLT 242: old memory before the destination address is not a GRH. A real GRH has version 6 and
 * next header IBA.
 */
static void dlt_ipoib_grh(void **state)
{
    (void)state;
    uint8_t p[60] = {0x60, 0, 0, 0, 0, 60, 0x1b, 0xff};
    assert_true(dlt_ipoib_has_grh(whole(p, 60)));
    p[6] = 0;
    assert_false(dlt_ipoib_has_grh(whole(p, 60)));
    memset(p, 0, sizeof p);
    assert_false(dlt_ipoib_has_grh(whole(p, 60)));
}

/*
 * The CRC of this packet was computed by tests/frames/ib.py, which agrees with captures of real
 * hardware.
 */
static void invariant_crc(void **state)
{
    (void)state;
    static const uint8_t crc[ICRC_SIZE] = {0x3e, 0xfe, 0xdf, 0x06};
    uint8_t p[sizeof ud];
    struct ib_packet ib;
    memcpy(p, ud, sizeof p);
    memcpy(p + 40, crc, sizeof crc);
    assert_int_equal(ib_decode(whole(p, sizeof p), IB_START_LRH, &ib), WIRE_OK);
    assert_int_equal(icrc_check(whole(p, sizeof p), &ib), ICRC_RIGHT);
    p[0] |= 0x30; /* switches may change the virtual lane, but not the service level */
    p[12] = 0xc0; /* they may also change FECN and BECN */
    assert_int_equal(icrc_check(whole(p, sizeof p), &ib), ICRC_RIGHT);
    p[1] |= 0x10;
    assert_int_equal(icrc_check(whole(p, sizeof p), &ib), ICRC_WRONG);
    assert_int_equal(icrc_check(whole(ud, sizeof ud), &ib), ICRC_WRONG);
    assert_int_equal(icrc_check(view_make(p, 43, sizeof p), &ib), ICRC_NOT_THERE);
    memset(p + 40, 0, 4);
    assert_int_equal(icrc_check(whole(p, sizeof p), &ib), ICRC_NOT_THERE);
}

/*
 * IBA 7.8.2, bit by bit: a 16-bit register, polynomial 0x100B, the least significant bit of a byte
 * first.
 */
static uint16_t vcrc_by_bits(const uint8_t *p, uint32_t n)
{
    uint16_t reg = 0xffff, out = 0;
    for (uint32_t i = 0; i < 8 * n; i++) {
        bool bit = (p[i / 8] >> i % 8 & 1) ^ (reg >> 15);
        reg = (uint16_t)(reg << 1 ^ (bit ? 0x100b : 0));
    }
    for (unsigned i = 0; i < 16; i++) /* sent as in the register, the highest bit first */
        out = (uint16_t)(out | (uint16_t)((reg >> (15 - i) & 1) << i));
    return (uint16_t)~out;
}

static void variant_crc(void **state)
{
    (void)state;
    uint8_t p[sizeof ud + VCRC_SIZE] = {0};
    struct ib_packet ib;
    memcpy(p, ud, sizeof ud);
    for (unsigned seed = 0; seed < 256; seed++) { /* each value of a byte */
        p[30] = (uint8_t)seed;
        assert_int_equal(ib_decode(whole(p, sizeof p), IB_START_LRH, &ib), WIRE_OK);
        uint32_t n = ib.length;
        uint16_t crc = vcrc_by_bits(p, n);
        p[n] = (uint8_t)crc;
        p[n + 1] = (uint8_t)(crc >> 8);
        assert_int_equal(vcrc_check(whole(p, n + VCRC_SIZE), &ib), VCRC_RIGHT);
        p[0] ^= 0x30; /* the virtual lane, which the ICRC does not protect */
        assert_int_equal(vcrc_check(whole(p, n + VCRC_SIZE), &ib), VCRC_WRONG);
        p[0] ^= 0x30;
        assert_int_equal(vcrc_check(whole(p, n), &ib), VCRC_NOT_THERE);
        assert_int_equal(vcrc_check(view_make(p, n + 1, n + VCRC_SIZE), &ib), VCRC_NOT_THERE);
        p[n] = p[n + 1] = 0;
        assert_int_equal(vcrc_check(whole(p, n + VCRC_SIZE), &ib), VCRC_NOT_THERE);
    }
}

/*
 * RFC 1071: the fast sum agrees with the one that adds byte by byte, and a checksum that is wrong
 * by one is found. at: n bytes.
 */
static void compare_checksums(uint8_t *at, uint32_t n)
{
    put16(at, 0);
    put16(at, checksum_fold(checksum_add(0, at, n)));
    bool is_zero = checksum_add(0, at, n) == 0; /* no sender has such data */
    assert_int_equal(checksum_sum_is_right(checksum_sum(at, n)), !is_zero);
    if (n == 20)
        assert_int_equal(checksum_sum_is_right(checksum_sum_20(at)), !is_zero);
    at[n / 2] ^= 1;
    assert_false(checksum_sum_is_right(checksum_sum(at, n)));
    assert_false(n == 20 && checksum_sum_is_right(checksum_sum_20(at)));
}

/* Each length at each alignment, with a carry of each word, with some, and with none. */
static void fast_checksum(void **state)
{
    (void)state;
    enum { LENGTH = 320, ALIGNMENTS = 8 };
    _Alignas(ALIGNMENTS) uint8_t p[LENGTH + ALIGNMENTS];
    for (uint32_t n = 2; n <= LENGTH; n++)
        for (unsigned kind = 0; kind < 3; kind++)
            for (unsigned offset = 0; offset < ALIGNMENTS; offset++) {
                for (uint32_t i = 0; i < sizeof p; i++)
                    p[i] = kind == 0 ? 0xff : kind == 1 ? (uint8_t)(i * i * 37 + n) : i == n - 1;
                compare_checksums(p + offset, n);
            }
    assert_int_equal(checksum_sum(p, 0), 0);
}

/* More bytes than are added at once. */
static void fast_checksum_of_many_bytes(void **state)
{
    (void)state;
    static uint8_t p[1 << 18];
    for (uint32_t i = 0; i < sizeof p; i++)
        p[i] = (uint8_t)(i % 251 | 0x80);
    for (uint32_t n = (1 << 16) - 2; n <= sizeof p; n += (1 << 15) - 2) {
        put16(p, 0);
        uint32_t sum = 0;
        for (uint32_t i = 0; i < n; i += 1 << 12) { /* the sum of byte by byte has 32 bits */
            uint32_t part = checksum_add(0, p + i, n - i < 1 << 12 ? n - i : 1 << 12);
            sum += (uint16_t)~checksum_fold(part);
        }
        put16(p, checksum_fold(sum));
        assert_true(checksum_sum_is_right(checksum_sum(p, n)));
        p[n / 2] ^= 1;
        assert_false(checksum_sum_is_right(checksum_sum(p, n)));
        p[n / 2] ^= 1;
    }
}

/* A register without tables: one bit of the packet at a time (IBA 7.8.1, 7.8.2). */
static uint32_t crc_by_bits(uint32_t reg, uint32_t polynomial, const uint8_t *p, size_t n)
{
    for (; n; n--, p++) {
        reg ^= *p;
        for (unsigned bit = 0; bit < 8; bit++)
            reg = reg >> 1 ^ (reg & 1 ? polynomial : 0);
    }
    return reg;
}

static void assert_crc(const struct crc *kind, uint32_t reg, uint32_t polynomial, const uint8_t *p,
                       size_t n)
{
    uint32_t expected = crc_by_bits(reg, polynomial, p, n);
    assert_int_equal(crc_add(kind, reg, p, n), expected);
    assert_int_equal(crc_add_by_tables(kind, reg, p, n), expected);
}

/* At all alignments: all sizes up to several blocks of each method, and the largest packet. */
static void crcs_of_all_sizes(void **state)
{
    (void)state;
    static uint8_t p[4300];
    uint32_t x = 1;
    for (size_t i = 0; i < sizeof p; i++)
        p[i] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
    for (size_t n = 0; n <= 320; n++)
        for (size_t at = 0; at < 17; at++) {
            assert_crc(crc_32, 0xffffffff - (uint32_t)at, 0xedb88320, p + at, n);
            assert_crc(crc_16, 0xffff - (uint32_t)at, 0xd008, p + at, n);
        }
    assert_crc(crc_32, 0xffffffff, 0xedb88320, p, sizeof p);
    assert_crc(crc_16, 0xffff, 0xd008, p, sizeof p);
}

/* The check value of CRC-32 in the catalogues: of the nine digits "123456789". */
static void crc_of_nine_digits(void **state)
{
    (void)state;
    assert_int_equal(~crc_add(crc_32, 0xffffffff, (const uint8_t *)"123456789", 9), 0xcbf43926);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(variant_crc),
        cmocka_unit_test(crcs_of_all_sizes),
        cmocka_unit_test(crc_of_nine_digits),
        cmocka_unit_test(view_distinguishes_truncated_from_malformed),
        cmocka_unit_test(ud_headers),
        cmocka_unit_test(every_cut_is_truncated_and_no_more),
        cmocka_unit_test(pad_beyond_the_payload_is_malformed),
        cmocka_unit_test(other_versions_are_not_decoded),
        cmocka_unit_test(operations_by_transport),
        cmocka_unit_test(psn_wraps_at_24_bits),
        cmocka_unit_test(mgids_of_the_rfc),
        cmocka_unit_test(link_layer_address),
        cmocka_unit_test(encapsulation_agrees_with_its_datagram),
        cmocka_unit_test(connected_message_begins),
        cmocka_unit_test(nd_options_of_length_3),
        cmocka_unit_test(nd_owner_of_an_option),
        cmocka_unit_test(arp_offsets),
        cmocka_unit_test(dhcp_message_on_ipoib),
        cmocka_unit_test(dhcp_only_in_udp_to_its_ports),
        cmocka_unit_test(dhcp_every_cut_is_truncated),
        cmocka_unit_test(dhcp_message_too_short_or_foreign),
        cmocka_unit_test(dhcp_options_in_other_fields),
        cmocka_unit_test(mc_member_record),
        cmocka_unit_test(sa_status_in_words),
        cmocka_unit_test(rmpp_gives_the_length_of_the_data),
        cmocka_unit_test(services_by_their_id),
        cmocka_unit_test(cm_req_and_its_private_data),
        cmocka_unit_test(cm_private_data_sizes),
        cmocka_unit_test(connection_mtu_is_the_smaller_less_4),
        cmocka_unit_test(link_types),
        cmocka_unit_test(roce_after_vlan_tags),
        cmocka_unit_test(roce2_has_the_ports_of_udp),
        cmocka_unit_test(fragments_are_no_roce2),
        cmocka_unit_test(dlt_ipoib_grh),
        cmocka_unit_test(fast_checksum),
        cmocka_unit_test(fast_checksum_of_many_bytes),
        cmocka_unit_test(invariant_crc),
    };
    return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}

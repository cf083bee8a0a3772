/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decoder of lib/wire: headers, addresses, messages of the SA and the CM. Expected values are
 * derived from the documents that are cited.
 */
#include "tests/unit/unit.h"
#include "tests/unit/wire_bytes.h"

#include "wire/checksum.h"
#include "wire/cm.h"
#include "wire/encap.h"
#include "wire/ib.h"
#include "wire/lladdr.h"
#include "wire/mgid.h"
#include "wire/nd.h"
#include "wire/sa.h"

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
    assert_int_equal(cm_service_qpn(0x5634120000000001), 0x123456); /* little-endian */
    assert_int_equal(cm_service_qpn(0x5634120000000002), 0x000002); /* another service's */
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

int main(void)
{
    static const struct CMUnitTest tests[] = {
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
        cmocka_unit_test(mc_member_record),
        cmocka_unit_test(sa_status_in_words),
        cmocka_unit_test(rmpp_gives_the_length_of_the_data),
        cmocka_unit_test(services_by_their_id),
        cmocka_unit_test(cm_req_and_its_private_data),
        cmocka_unit_test(cm_private_data_sizes),
        cmocka_unit_test(connection_mtu_is_the_smaller_less_4),
    };
    return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}

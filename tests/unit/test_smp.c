/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SMPs, membership reports, and the retry parameters of a connection request. Expected values are
 * read by hand from the bytes, with the documents that are cited and the description of the files
 * in testdata/README.md.
 */
#include "tests/unit/unit.h"

#include <stdlib.h>

#include "wire/cm.h"
#include "wire/ib.h"
#include "wire/membership.h"
#include "wire/sa.h"
#include "wire/smp.h"

static struct view whole(const uint8_t *p, uint32_t n)
{
    return view_make(p, n, n);
}

/*
 * The first cap of n bytes, at the end of a buffer of that size, so that memory checkers detect
 * reads after them. The caller frees v.p.
 */
static struct view cut(const uint8_t *p, uint32_t cap, uint32_t n)
{
    uint8_t *copy = malloc(cap ? cap : 1);
    assert_non_null(copy);
    memcpy(copy, p, cap);
    return view_make(copy, cap, n);
}

/* testdata/datagram.pcap, frame 2: the MAD of n1's response to Get(NodeInfo). */
static const uint8_t node_info_resp[MAD_SIZE] = {
    0x01,        0x81, 0x01, 0x81, 0x80, 0x00, 0x01, 0x01,         0,    0,    0,
    0x0b,        0x00, 0x00, 0x12, 0x38, 0x00, 0x11, [32] = 0xff,  0xff, 0xff, 0xff,
    [64] = 0x01, 0x01, 0x01, 0x01, 0x00, 0x11, 0x75, 0x00,         0x00, 0x00, 0x01,
    0x00,        0x00, 0x11, 0x75, 0x00, 0x00, 0x00, 0x01,         0x10, 0x00, 0x11,
    0x75,        0x00, 0x00, 0x00, 0x01, 0x10, 0x00, 0x20,         0x73, 0x22, 0x00,
    0x07,        0x00, 0x01, 0x01, 0x00, 0x11, 0x75, [129] = 0x01,
};

/*
 * testdata/datagram.pcap, frame 10: n1's response to Set(PortInfo) of its port 1, which assigns LID
 * 2.
 */
static const uint8_t port_info_resp[MAD_SIZE] = {
    0x01,        0x81, 0x01,         0x81, 0x80,        0x00, 0x01, 0x01, 0,    0,    0,    0x0b,
    0x00,        0x00, 0x12,         0x3d, 0x00,        0x15, 0,    0,    0,    0,    0,    1,
    [32] = 0xff, 0xff, 0xff,         0xff, [72] = 0xfe, 0x80, 0,    0,    0,    0,    0,    0,
    0x00,        0x02, 0x00,         0x01, 0x06,        0x61, 0x08, 0x68, 0x00, 0x00, 0x00, 0x00,
    0x01,        0x03, 0x03,         0x02, 0x72,        0x52, 0x00, 0x47, 0x50, 0x30, 0x00, 0x08,
    0x08,        0x05, 0x00,         0x30, 0,           0,    0,    0,    0,    0,    0x05, 0x12,
    0x03,        0x88, [129] = 0x01,
};

/* testdata/partitions.pcap, frame 43: Set(P_KeyTable) to n1, through the switch's port 2. */
static const uint8_t pkeys_ca[MAD_SIZE] = {
    0x01,        0x81, 0x01, 0x02, 0x00, 0x00, 0x01,         0x02,        0,    0,    0,
    0x10,        0x00, 0x00, 0x12, 0x4f, 0x00, 0x16,         [32] = 0xff, 0xff, 0xff, 0xff,
    [64] = 0xff, 0xff, 0x80, 0x01, 0x00, 0x02, [129] = 0x01, 0x02,
};

static void node_info(void **state)
{
    (void)state;
    struct smp s;
    struct node_info n;
    assert_int_equal(smp_decode(whole(node_info_resp, MAD_SIZE), &s), WIRE_OK);
    assert_true(s.directed);
    assert_int_equal(s.mad.method, SMP_GET_RESP);
    assert_int_equal(s.mad.status, 0); /* the direction bit is not part of it */
    assert_int_equal(s.hop_count, 1);
    assert_ptr_equal(s.initial_path, node_info_resp + 128);
    assert_int_equal(s.initial_path[1], 1);
    assert_ptr_equal(s.data.p, node_info_resp + 64);
    assert_int_equal(s.data.len, 64);
    assert_true(smp_says(&s));
    assert_int_equal(smp_node_info(&s, &n), WIRE_OK);
    assert_int_equal(n.type, NODE_TYPE_CA);
    assert_int_equal(n.ports, 1);
    assert_int_equal(n.port_guid, 0x0011750000000110u);
    struct port_info p;
    struct pkey_table t;
    struct sm_info i;
    assert_int_equal(smp_port_info(&s, &p), WIRE_FOREIGN);
    assert_int_equal(smp_pkey_table(&s, &t), WIRE_FOREIGN);
    assert_int_equal(smp_sm_info(&s, &i), WIRE_FOREIGN);
}

/* The two GUIDs of a node of two ports differ: node GUID at 12, port GUID at 20. */
static void node_guid_is_not_port_guid(void **state)
{
    (void)state;
    uint8_t p[MAD_SIZE];
    struct smp s;
    struct node_info n;
    memcpy(p, node_info_resp, sizeof p);
    p[64 + 2] = 2;
    p[64 + 3] = 36;
    p[64 + 19] = 0xa0;
    p[64 + 27] = 0xb0;
    p[64 + 36] = 17;
    assert_int_equal(smp_decode(whole(p, sizeof p), &s), WIRE_OK);
    assert_int_equal(smp_node_info(&s, &n), WIRE_OK);
    assert_int_equal(n.type, NODE_TYPE_SWITCH);
    assert_int_equal(n.ports, 36);
    assert_int_equal(n.port_guid, 0x00117500000001b0u);
}

static void port_info_of_a_real_port(void **state)
{
    (void)state;
    struct smp s;
    struct port_info p;
    assert_int_equal(smp_decode(whole(port_info_resp, MAD_SIZE), &s), WIRE_OK);
    assert_int_equal(smp_port_info(&s, &p), WIRE_OK);
    assert_int_equal(p.port, 1);
    assert_int_equal(p.gid_prefix, 0xfe80000000000000u);
    assert_int_equal(p.lid, 2);
    assert_int_equal(p.state, PORT_INIT);
    assert_int_equal(p.lmc, 0);
    assert_int_equal(ib_mtu_bytes(p.neighbor_mtu), 4096);
    assert_int_equal(ib_mtu_bytes(p.mtu_cap), 4096);
}

/*
 * All fields that share a byte, with all neighbouring bits set, so that a wrong shift or mask shows
 * (IBA 14.2.5.6).
 */
static void port_info_shares_bytes(void **state)
{
    (void)state;
    uint8_t d[MAD_SIZE] = {0x01, 0x01, 0x01, 0x02, [17] = 0x15, [20] = 0x80, 0, 0, 7};
    struct smp s;
    struct port_info p;
    d[64 + 32] = 0xf4; /* LinkSpeedSupported 15, PortState 4 */
    d[64 + 33] = 0xff;
    d[64 + 34] = 0xfb; /* M_KeyProtectBits 3, reserved 7, LMC 3 */
    d[64 + 35] = 0xff;
    d[64 + 36] = 0x4f; /* NeighborMTU 4, MasterSMSL 15 */
    d[64 + 37] = d[64 + 38] = d[64 + 39] = d[64 + 40] = 0xff;
    d[64 + 41] = 0xf5; /* InitTypeReply 15, MTUCap 5 */
    d[64 + 42] = 0xff;
    assert_int_equal(smp_decode(whole(d, sizeof d), &s), WIRE_OK);
    assert_false(s.directed);
    assert_null(s.initial_path);
    assert_int_equal(s.hop_count, 0);
    assert_int_equal(smp_port_info(&s, &p), WIRE_OK);
    assert_int_equal(p.port, 7); /* the modifier's highest bit does not belong to the port number */
    assert_int_equal(p.state, PORT_ACTIVE);
    assert_int_equal(p.lmc, 3);
    assert_int_equal(ib_mtu_bytes(p.neighbor_mtu), 2048);
    assert_int_equal(ib_mtu_bytes(p.mtu_cap), 4096);
}

static void pkey_tables(void **state)
{
    (void)state;
    uint8_t p[MAD_SIZE];
    struct smp s;
    struct pkey_table t;
    assert_int_equal(smp_decode(whole(pkeys_ca, MAD_SIZE), &s), WIRE_OK);
    assert_true(smp_says(&s));
    assert_int_equal(s.hop_count, 2);
    assert_int_equal(s.initial_path[2], 2);
    assert_int_equal(smp_pkey_table(&s, &t), WIRE_OK);
    assert_int_equal(t.port, 0);
    assert_int_equal(t.block, 0);
    assert_int_equal(pkey_table_entry(&t, 0), 0xffff);
    assert_int_equal(pkey_table_entry(&t, 1), 0x8001);
    assert_int_equal(pkey_table_entry(&t, 2), 0x0002);
    assert_int_equal(pkey_table_entry(&t, 3), 0);
    assert_int_equal(pkey_table_entry(&t, 31), 0);

    /* Port 2 of a switch, block 3; the last entry is the block's last two bytes. */
    memcpy(p, pkeys_ca, sizeof p);
    p[21] = 2;
    p[23] = 3;
    p[64 + 62] = 0x9a;
    p[64 + 63] = 0xbc;
    assert_int_equal(smp_decode(whole(p, sizeof p), &s), WIRE_OK);
    assert_int_equal(smp_pkey_table(&s, &t), WIRE_OK);
    assert_int_equal(t.port, 2);
    assert_int_equal(t.block, 3);
    assert_int_equal(pkey_table_entry(&t, 31), 0x9abc);
}

/*
 * LID-routed: Set(SMInfo), with which a master of priority 14 hands over (IBA 14.2.5.13, 14.4.1).
 */
static void sm_info(void **state)
{
    (void)state;
    uint8_t p[MAD_SIZE] = {
        0x01, 0x01, 0x01, 0x02, [17] = 0x20, [23] = 1, [64] = 0x00, 0x11, 0x75, 0x00,
        0x00, 0x00, 0x01, 0x00, [80] = 0x00, 0x00,     0x01,        0x02, 0xe3};
    struct smp s;
    struct sm_info i;
    assert_int_equal(smp_decode(whole(p, sizeof p), &s), WIRE_OK);
    assert_int_equal(s.mad.method, SMP_SET);
    assert_int_equal(smp_sm_info(&s, &i), WIRE_OK);
    assert_int_equal(i.guid, 0x0011750000000100u);
    assert_int_equal(i.state, SM_MASTER);
    assert_int_equal(i.control, SM_HANDOVER);
    p[23] = 5;
    p[84] = 0x02;
    assert_int_equal(smp_decode(whole(p, sizeof p), &s), WIRE_OK);
    assert_int_equal(smp_sm_info(&s, &i), WIRE_OK);
    assert_int_equal(i.state, SM_STANDBY);
    assert_int_equal(i.control, SM_DISCOVER);
}

/*
 * A Get request has no values, and neither has a response with a status. The D bit is not a status.
 */
static void which_smps_say_something(void **state)
{
    (void)state;
    uint8_t p[MAD_SIZE];
    struct smp s;
    memcpy(p, port_info_resp, sizeof p);
    p[3] = SMP_GET;
    assert_int_equal(smp_decode(whole(p, sizeof p), &s), WIRE_OK);
    assert_false(smp_says(&s));
    p[3] = SMP_GET_RESP;
    p[5] = 0x1c; /* invalid value in attribute or modifier */
    assert_int_equal(smp_decode(whole(p, sizeof p), &s), WIRE_OK);
    assert_false(smp_says(&s));
    assert_int_equal(s.mad.status, 0x1c);
    /* LID-routed SMPs have no D bit: all 16 bits are the status. */
    p[1] = MAD_CLASS_SMP;
    assert_int_equal(smp_decode(whole(p, sizeof p), &s), WIRE_OK);
    assert_int_equal(s.mad.status, 0x801c);
}

static void not_an_smp(void **state)
{
    (void)state;
    uint8_t p[MAD_SIZE];
    struct smp s;
    memcpy(p, port_info_resp, sizeof p);
    assert_int_equal(smp_decode(whole(p, MAD_SIZE - 1), &s), WIRE_MALFORMED);
    assert_int_equal(smp_decode(whole(p, 10), &s), WIRE_MALFORMED);
    p[SMP_HOP_COUNT] = 63;
    assert_int_equal(smp_decode(whole(p, sizeof p), &s), WIRE_OK);
    p[SMP_HOP_COUNT] = 64; /* paths have 64 bytes and the first is reserved */
    assert_int_equal(smp_decode(whole(p, sizeof p), &s), WIRE_MALFORMED);
    p[1] = MAD_CLASS_SA;
    assert_int_equal(smp_decode(whole(p, sizeof p), &s), WIRE_FOREIGN);
}

/*
 * The header has 64 bytes, PortInfo is read up to its byte 41, P_KeyTable has 64, the path ends at
 * 192.
 */
static void smp_cut_anywhere(void **state)
{
    (void)state;
    for (uint32_t cap = 0; cap <= MAD_SIZE; cap++) {
        struct smp s;
        struct port_info p;
        struct pkey_table t;
        struct view v = cut(port_info_resp, cap, MAD_SIZE);
        assert_int_equal(smp_decode(v, &s), cap < 64 ? WIRE_TRUNCATED : WIRE_OK);
        if (cap >= 64) {
            assert_int_equal(s.data.len, 64);
            assert_int_equal(s.initial_path != NULL, cap >= 192);
            assert_int_equal(smp_port_info(&s, &p), cap < 64 + 42 ? WIRE_TRUNCATED : WIRE_OK);
        }
        free((void *)v.p);
        v = cut(pkeys_ca, cap, MAD_SIZE);
        if (smp_decode(v, &s) == WIRE_OK) {
            assert_int_equal(smp_pkey_table(&s, &t), cap < 128 ? WIRE_TRUNCATED : WIRE_OK);
            if (cap >= 128)
                assert_int_equal(pkey_table_entry(&t, 31), 0);
        }
        free((void *)v.p);
        v = cut(node_info_resp, cap, MAD_SIZE);
        struct node_info n;
        if (smp_decode(v, &s) == WIRE_OK)
            assert_int_equal(smp_node_info(&s, &n), cap < 64 + 40 ? WIRE_TRUNCATED : WIRE_OK);
        free((void *)v.p);
    }
}

static void sm_info_cut_anywhere(void **state)
{
    (void)state;
    static const uint8_t p[MAD_SIZE] = {0x01, 0x01, 0x01, 0x81, [17] = 0x20, [84] = 0xf3};
    for (uint32_t cap = 64; cap <= MAD_SIZE; cap++) {
        struct smp s;
        struct sm_info i;
        struct view v = cut(p, cap, MAD_SIZE);
        assert_int_equal(smp_decode(v, &s), WIRE_OK);
        assert_int_equal(smp_sm_info(&s, &i), cap < 64 + 21 ? WIRE_TRUNCATED : WIRE_OK);
        free((void *)v.p);
    }
}

/* testdata/datagram.pcap, frame 73: n1 joins 239.1.2.3; IGMPv3 after a Router Alert option. */
static const uint8_t igmp3[40] = {
    0x46, 0xc0, 0x00, 0x28, 0x00, 0x00, 0x40, 0x00, 0x01, 0x02, 0xf9, 0xf7, 10,   0,
    0,    2,    224,  0,    0,    22,   0x94, 0x04, 0x00, 0x00, 0x22, 0x00, 0xe8, 0xf9,
    0x00, 0x00, 0x00, 0x01, 0x04, 0x00, 0x00, 0x00, 239,  1,    2,    3,
};

/* testdata/datagram.pcap, frame 101: n1 leaves ff15::5:6; MLDv2 after a hop-by-hop header. */
static const uint8_t mld2[76] = {
    0x60, 0x00, 0x00, 0x00, 0x00, 0x24, 0x00, 0x01, 0xfe, 0x80, 0,    0,    0,    0,    0,    0,
    0x02, 0x11, 0x75, 0x00, 0x00, 0x00, 0x01, 0x10, 0xff, 0x02, 0,    0,    0,    0,    0,    0,
    0,    0,    0,    0,    0,    0,    0,    0x16, 0x3a, 0x00, 0x05, 0x02, 0x00, 0x00, 0x01, 0x00,
    0x8f, 0x00, 0xf8, 0xcb, 0x00, 0x00, 0x00, 0x01, 0x03, 0x00, 0x00, 0x00, 0xff, 0x15, 0,    0,
    0,    0,    0,    0,    0,    0,    0,    0,    0,    5,    0,    6,
};

static void real_reports(void **state)
{
    (void)state;
    static const uint8_t v6[16] = {0xff, 0x15, [13] = 5, 0, 6};
    uint8_t p[40];
    struct membership_iter it;
    struct membership m;
    assert_true(membership_begin(whole(igmp3, sizeof igmp3), &it));
    assert_true(membership_next(&it, &m));
    assert_int_equal(m.length, 4);
    assert_ptr_equal(m.group, igmp3 + 36);
    assert_true(m.joins);
    assert_true(m.excludes);
    assert_false(membership_next(&it, &m));
    assert_int_equal(it.end, WIRE_OK);
    assert_false(membership_next(&it, &m));
    assert_false(membership_is_old(whole(igmp3, sizeof igmp3)));
    assert_false(membership_is_old(whole(mld2, sizeof mld2)));

    memcpy(p, igmp3, sizeof p);
    p[32] = 3; /* frame 96: it leaves the group */
    assert_true(membership_begin(whole(p, sizeof p), &it));
    assert_true(membership_next(&it, &m));
    assert_false(m.joins);

    assert_true(membership_begin(whole(mld2, sizeof mld2), &it));
    assert_true(membership_next(&it, &m));
    assert_int_equal(m.length, 16);
    assert_memory_equal(m.group, v6, 16);
    assert_false(m.joins);
    assert_false(membership_next(&it, &m));
    assert_int_equal(it.end, WIRE_OK);
}

/*
 * At every snapshot length, the real reports are complete or truncated, never malformed. The group
 * is reported only if it is captured.
 */
static void report_cut_anywhere(void **state)
{
    (void)state;
    static const struct {
        const uint8_t *p;
        uint32_t size;
    } real[] = {{igmp3, sizeof igmp3}, {mld2, sizeof mld2}};
    for (unsigned i = 0; i < 2; i++)
        for (uint32_t cap = 0; cap <= real[i].size; cap++) {
            struct membership_iter it;
            struct membership m;
            struct view v = cut(real[i].p, cap, real[i].size);
            bool begun = membership_begin(v, &it);
            /* the record follows 8 bytes of the message, and its group ends the packet */
            uint32_t records = real[i].size - (i == 0 ? 8 : 20);
            assert_int_equal(begun, cap >= records);
            if (begun) {
                assert_int_equal(membership_next(&it, &m), cap == real[i].size);
                assert_int_equal(it.end, cap == real[i].size ? WIRE_OK : WIRE_TRUNCATED);
            }
            free((void *)v.p);
        }
}

/* RFC 2236 §2: type, maximum response time, checksum, group. RFC 2710 §3: the group at 8. */
static void reports_of_one_group(void **state)
{
    (void)state;
    static const struct {
        uint8_t type;
        bool report, joins;
    } igmp[] = {{0x11, false, false}, {0x12, true, true},  {0x16, true, true}, {0x17, true, false},
                {131, false, false},  {132, false, false}, {143, false, false}},
      mld[] = {{130, false, false}, {131, true, true},    {132, true, false},
               {135, false, false}, {0x16, false, false}, {0x22, false, false}};
    struct membership_iter it;
    struct membership m;
    for (size_t i = 0; i < sizeof igmp / sizeof *igmp; i++) {
        uint8_t p[28] = {0x45, 0, 0, 28, [9] = 2, [20] = igmp[i].type, [24] = 239, 9, 8, 7};
        assert_int_equal(membership_begin(whole(p, sizeof p), &it), igmp[i].report);
        assert_int_equal(membership_is_old(whole(p, sizeof p)),
                         igmp[i].report || igmp[i].type == 0x11);
        if (!igmp[i].report)
            continue;
        assert_true(membership_next(&it, &m));
        assert_ptr_equal(m.group, p + 24);
        assert_int_equal(m.length, 4);
        assert_int_equal(m.joins, igmp[i].joins);
        assert_false(membership_next(&it, &m));
        assert_int_equal(it.end, WIRE_OK);
        assert_true(membership_begin(view_make(p, 27, 28), &it));
        assert_false(membership_next(&it, &m));
        assert_int_equal(it.end, WIRE_TRUNCATED);
        p[3] = 27; /* the datagram itself ends in the group */
        assert_true(membership_begin(whole(p, sizeof p), &it));
        assert_false(membership_next(&it, &m));
        assert_int_equal(it.end, WIRE_MALFORMED);
    }
    for (size_t i = 0; i < sizeof mld / sizeof *mld; i++) {
        uint8_t p[64] = {0x60, [5] = 24, 58, [40] = mld[i].type, [48] = 0xff, 0x15, [63] = 9};
        assert_int_equal(membership_begin(whole(p, sizeof p), &it), mld[i].report);
        assert_int_equal(membership_is_old(whole(p, sizeof p)),
                         mld[i].report || mld[i].type == 130);
        if (!mld[i].report)
            continue;
        assert_true(membership_next(&it, &m));
        assert_ptr_equal(m.group, p + 48);
        assert_int_equal(m.length, 16);
        assert_int_equal(m.joins, mld[i].joins);
        assert_false(membership_next(&it, &m));
    }
}

/*
 * RFC 3376 §4.2.12. Each record has another group, with sources and auxiliary data in between:
 * EXCLUDE of two sources, 8 bytes of auxiliary data, and so on. The last byte is in no record
 * (§4.2.11).
 */
static void records_one_by_one(void **state)
{
    (void)state;
    static const uint8_t p[] = {
        0x45,
        0,
        0,
        149,
        0,
        0,
        0,
        0,
        1,
        2,
        0,
        0,
        10,
        0,
        0,
        2,
        224,
        0,
        0,
        22,
        0x22,
        0,
        0,
        0,
        0,
        0,
        0,
        11,
        /* IS_EXCLUDE, 2 sources, 2 words of auxiliary data */
        2,
        2,
        0,
        2,
        239,
        0,
        0,
        1,
        1,
        1,
        1,
        1,
        2,
        2,
        2,
        2,
        9,
        9,
        9,
        9,
        9,
        9,
        9,
        9,
        4,
        0,
        0,
        0,
        239,
        0,
        0,
        2, /* TO_EXCLUDE */
        3,
        0,
        0,
        0,
        239,
        0,
        0,
        3, /* TO_INCLUDE without sources: leaves */
        3,
        0,
        0,
        1,
        239,
        0,
        0,
        4,
        1,
        1,
        1,
        1, /* TO_INCLUDE one */
        1,
        0,
        0,
        1,
        239,
        0,
        0,
        5,
        1,
        1,
        1,
        1, /* IS_INCLUDE one */
        1,
        0,
        0,
        0,
        239,
        0,
        0,
        6, /* IS_INCLUDE without sources */
        5,
        0,
        0,
        1,
        239,
        0,
        0,
        7,
        1,
        1,
        1,
        1, /* ALLOW one */
        5,
        0,
        0,
        0,
        239,
        0,
        0,
        8, /* ALLOW without sources: does not show whether it listens */
        6,
        0,
        0,
        1,
        239,
        0,
        0,
        9,
        1,
        1,
        1,
        1, /* BLOCK: likewise */
        7,
        0,
        0,
        0,
        239,
        0,
        0,
        10, /* unknown: must be ignored */
        4,
        0,
        0,
        0,
        239,
        0,
        0,
        11, /* TO_EXCLUDE */
        0,
    };
    static const struct {
        uint8_t group;
        bool joins;
    } want[] = {{1, true}, {2, true},  {3, false}, {4, true},
                {5, true}, {6, false}, {7, true},  {11, true}};
    struct membership_iter it;
    struct membership m;
    assert_int_equal(sizeof p, 149);
    assert_true(membership_begin(whole(p, sizeof p), &it));
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_true(membership_next(&it, &m));
        assert_int_equal(m.group[3], want[i].group);
        assert_int_equal(m.joins, want[i].joins);
    }
    assert_false(membership_next(&it, &m));
    assert_int_equal(it.end, WIRE_OK);
    for (uint32_t cap = 0; cap < sizeof p; cap++) {
        struct view v = cut(p, cap, sizeof p);
        if (membership_begin(v, &it)) {
            while (membership_next(&it, &m))
                assert_true(m.group[3] >= 1 && m.group[3] <= 11);
            /* the last group ends one byte before the datagram */
            assert_int_equal(it.end, cap == sizeof p - 1 ? WIRE_OK : WIRE_TRUNCATED);
        }
        free((void *)v.p);
    }
}

static void records_with_wrong_lengths(void **state)
{
    (void)state;
    uint8_t p[40];
    struct membership_iter it;
    struct membership m;
    memcpy(p, igmp3, sizeof p);
    p[31] = 2; /* two records, one is present */
    assert_true(membership_begin(whole(p, sizeof p), &it));
    assert_true(membership_next(&it, &m));
    assert_false(membership_next(&it, &m));
    assert_int_equal(it.end, WIRE_MALFORMED);
    p[30] = 0xff; /* 65282 records */
    assert_true(membership_begin(whole(p, sizeof p), &it));
    assert_true(membership_next(&it, &m));
    assert_false(membership_next(&it, &m));
    assert_false(membership_next(&it, &m));
    memcpy(p, igmp3, sizeof p);
    p[34] = p[35] = 0xff; /* 65535 sources */
    assert_true(membership_begin(whole(p, sizeof p), &it));
    assert_false(membership_next(&it, &m));
    assert_int_equal(it.end, WIRE_MALFORMED);
    memcpy(p, igmp3, sizeof p);
    p[33] = 1; /* auxiliary data beyond the end */
    assert_true(membership_begin(whole(p, sizeof p), &it));
    assert_false(membership_next(&it, &m));
    assert_int_equal(it.end, WIRE_MALFORMED);
    memcpy(p, igmp3, sizeof p);
    p[31] = 0; /* no records */
    assert_true(membership_begin(whole(p, sizeof p), &it));
    assert_false(membership_next(&it, &m));
    assert_int_equal(it.end, WIRE_OK);
}

static void not_a_report(void **state)
{
    (void)state;
    uint8_t p[76];
    struct membership_iter it;
    memcpy(p, igmp3, sizeof igmp3);
    p[6] = 0x20; /* more fragments */
    assert_false(membership_begin(whole(p, sizeof igmp3), &it));
    p[6] = 0x00;
    p[7] = 0x01; /* a later fragment */
    assert_false(membership_begin(whole(p, sizeof igmp3), &it));
    p[7] = 0;
    assert_true(membership_begin(whole(p, sizeof igmp3), &it));
    p[9] = 17; /* UDP */
    assert_false(membership_begin(whole(p, sizeof igmp3), &it));
    p[9] = 2;
    p[0] = 0x44; /* a header of 16 bytes */
    assert_false(membership_begin(whole(p, sizeof igmp3), &it));
    p[0] = 0x46;
    p[3] = 23; /* a datagram shorter than its header */
    assert_false(membership_begin(whole(p, sizeof igmp3), &it));
    p[3] = 24; /* a datagram without data */
    assert_false(membership_begin(whole(p, sizeof igmp3), &it));
    memcpy(p, mld2, sizeof mld2);
    p[40] = 44; /* hop-by-hop, then a fragment header */
    assert_false(membership_begin(whole(p, sizeof mld2), &it));
    p[40] = 17;
    assert_false(membership_begin(whole(p, sizeof mld2), &it));
}

/*
 * The retry parameters in the REQ of testdata/retransmit.pcap, frame 2: PSN 0x54d267, local CM
 * response timeout 20, retry count 7, local ACK timeout 19 (4.096 us * 2^19 = 2.1 s). Then the same
 * with the neighbouring bits changed.
 */
static void req_has_the_retry_count(void **state)
{
    (void)state;
    uint8_t p[MAD_SIZE] = {0x01, 0x07, 0x02, 0x03, [17] = 0x10};
    struct cm cm;
    bool have_ids;
    memcpy(p + MAD_DATA + 44, ((uint8_t[]){0x54, 0xd2, 0x67, 0xa7}), 4);
    p[MAD_DATA + 95] = 0x98;
    assert_int_equal(cm_decode(whole(p, sizeof p), &cm, &have_ids), WIRE_OK);
    assert_int_equal(cm.psn, 0x54d267);
    assert_int_equal(cm.retry_count, 7);
    assert_int_equal(cm.local_ack_timeout, 19);
    p[MAD_DATA + 47] = 0xf8;
    p[MAD_DATA + 95] = 0x07;
    p[MAD_DATA + 94] = p[MAD_DATA + 96] = p[MAD_DATA + 48] = 0xff;
    assert_int_equal(cm_decode(whole(p, sizeof p), &cm, &have_ids), WIRE_OK);
    assert_int_equal(cm.retry_count, 0);
    assert_int_equal(cm.local_ack_timeout, 0);
    p[17] = CM_REP;
    p[MAD_DATA + 47] = 0x07;
    p[MAD_DATA + 95] = 0xf8;
    assert_int_equal(cm_decode(whole(p, sizeof p), &cm, &have_ids), WIRE_OK);
    assert_int_equal(cm.retry_count, 0);
    assert_int_equal(cm.local_ack_timeout, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(node_info),
        cmocka_unit_test(node_guid_is_not_port_guid),
        cmocka_unit_test(port_info_of_a_real_port),
        cmocka_unit_test(port_info_shares_bytes),
        cmocka_unit_test(pkey_tables),
        cmocka_unit_test(sm_info),
        cmocka_unit_test(which_smps_say_something),
        cmocka_unit_test(not_an_smp),
        cmocka_unit_test(smp_cut_anywhere),
        cmocka_unit_test(sm_info_cut_anywhere),
        cmocka_unit_test(real_reports),
        cmocka_unit_test(report_cut_anywhere),
        cmocka_unit_test(reports_of_one_group),
        cmocka_unit_test(records_one_by_one),
        cmocka_unit_test(records_with_wrong_lengths),
        cmocka_unit_test(not_a_report),
        cmocka_unit_test(req_has_the_retry_count),
    };
    return cmocka_run_group_tests_name("smp", tests, NULL, NULL);
}

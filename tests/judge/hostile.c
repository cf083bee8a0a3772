/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hostile KIND ENTRIES > FILE: writes a capture with ENTRIES different things of one kind (groups,
 * addresses, connections, ...). A program that stores all of them without a limit runs out of
 * memory or time. hostile --list: prints the kinds, one per line. For tests/judge/test_hostile.py.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/craft.h"
#include "wire/cm.h"
#include "wire/encap.h"
#include "wire/membership.h"
#include "wire/mgid.h"

enum { LID_SA = 0xbfff, LID_A = 1, LID_B = 2, MLID = CRAFT_MLID, LIDS = 40000 };
enum { UD_QPN = CRAFT_UD_QPN, IB_QKEY = CRAFT_QKEY, PKEY = CRAFT_PKEY, MTU_2048 = 4, CM_SEND = 3 };
enum { LINK_LOCAL = MGID_FLAG_TRANSIENT << 4 | 2 };

static uint16_t lid_of(uint32_t i)
{
    return (uint16_t)(1 + i % LIDS);
}

/* ---- joins */

static const struct mc_member usual = {.qkey = IB_QKEY,
                                       .mlid = MLID,
                                       .pkey = PKEY,
                                       .mtu = MTU_2048,
                                       .rate = 3,
                                       .scope = 2,
                                       .join_state = JOIN_FULL};

/* Request and response. */
static void join(uint16_t lid, const uint8_t *gid, const uint8_t *mgid, struct mc_member r)
{
    r.mgid = mgid;
    r.port_gid = gid;
    uint8_t *mad = craft_mad(lid, LID_SA, MAD_CLASS_SA, SA_SET, SA_MC_MEMBER_RECORD,
                             craft_frames());
    put32(mad + SA_COMPONENT_MASK + 4, MCM_HAS_MGID | MCM_HAS_PORT_GID | MCM_HAS_JOIN_STATE);
    craft_member_record(mad + SA_DATA, &r);
    uint32_t tid = craft_frames();
    craft_write();
    mad = craft_mad(LID_SA, lid, MAD_CLASS_SA, SA_GET_RESP, SA_MC_MEMBER_RECORD, tid);
    craft_member_record(mad + SA_DATA, &r);
    craft_write();
}

static void join_of(uint32_t port, const uint8_t *mgid, struct mc_member r)
{
    uint8_t gid[GID_SIZE];
    craft_gid(gid, port);
    join(lid_of(port), gid, mgid, r);
}

static void groups_joined(uint32_t i)
{
    uint8_t mgid[MGID_SIZE];
    craft_mgid(mgid, LINK_LOCAL, PKEY, i);
    join_of(0, mgid, usual);
}

/*
 * These MGIDs have the same hash value if the hash has no key and multiplies and XORs 32-bit words.
 */
static void groups_colliding(uint32_t i)
{
    enum { PRIME = 16777619 };
    uint8_t mgid[MGID_SIZE];
    uint32_t h = 0;
    craft_mgid(mgid, LINK_LOCAL, PKEY, 0);
    put32(mgid + 8, i);
    for (unsigned at = 0; at < 12; at += 4)
        h = (h ^ be32(mgid + at)) * PRIME;
    put32(mgid + 12, h);
    join_of(0, mgid, usual);
}

/* One group; each join has other attributes. */
static void joins_contradictory(uint32_t i)
{
    uint8_t mgid[MGID_SIZE];
    struct mc_member r = usual;
    craft_mgid(mgid, LINK_LOCAL, PKEY, 1);
    r.qkey = i;
    r.mlid = (uint16_t)(MLID + i % 0x3fff);
    r.mtu = (uint8_t)(1 + i % 5);
    r.sl = i % 16;
    r.flow_label = i & 0xfffff;
    r.join_state = (uint8_t)(1 + i % 15);
    r.pkey = (uint16_t)i;
    join_of(i % 100, mgid, r);
}

/*
 * A partition can have 512 broadcast-GIDs, which differ in flags, scope and the membership bit.
 * After each join, a datagram makes the model look them up.
 */
static void broadcasts(uint32_t i)
{
    uint8_t mgid[MGID_SIZE];
    uint16_t pkey = (uint16_t)((i / 256 & 1) << 15 | i / 512);
    craft_mgid(mgid, (uint8_t)i, pkey, 0xffffffff);
    join_of(0, mgid, usual);
    struct craft c = craft_unicast(LID_A, LID_B);
    c.pkey = pkey | 0x8000;
    craft_udp(craft_packet(&c, craft_udp_size(8)), 0x0a000001, 0x0a000002, 8);
    craft_write();
}

static void members(uint32_t i)
{
    uint8_t mgid[MGID_SIZE];
    craft_mgid(mgid, LINK_LOCAL, PKEY, 1 + i % 4);
    join_of(i / 4, mgid, usual);
}

/* ---- datagrams */

static uint8_t *multicast(uint32_t from, const uint8_t *mgid, uint32_t n)
{
    uint8_t gid[GID_SIZE];
    craft_gid(gid, from);
    struct craft c = craft_multicast(lid_of(from), gid, mgid);
    return craft_packet(&c, n);
}

static void groups_sent_to(uint32_t i)
{
    uint8_t mgid[MGID_SIZE];
    craft_mgid(mgid, LINK_LOCAL, PKEY, i);
    craft_udp(multicast(0, mgid, craft_udp_size(8)), 0x0a000001, 0xe0000000 | i, 8);
    craft_write();
}

static void arp(uint32_t port, uint32_t qpn, uint32_t ip)
{
    uint8_t mgid[MGID_SIZE], gid[GID_SIZE], lladdr[20];
    craft_mgid(mgid, LINK_LOCAL, PKEY, 0xffffffff);
    craft_gid(gid, port);
    craft_lladdr(lladdr, 0, qpn, gid);
    craft_arp_request(multicast(port, mgid, CRAFT_ARP), lladdr, ip, 0x0a000001);
    craft_write();
}

static void addresses(uint32_t i)
{
    arp(i, UD_QPN, 0x0a000000 + i);
}

static void address_with_many_ips(uint32_t i)
{
    arp(0, UD_QPN, 0x0a000000 + i);
}

static void ip_with_many_addresses(uint32_t i)
{
    arp(i, UD_QPN, 0x0a000001);
}

/* The same port with another QPN each time, as if its interface were restarted again and again. */
static void ip_with_many_qpns(uint32_t i)
{
    arp(0, 2 + i, 0x0a000001);
}

static void qps(uint32_t i)
{
    struct craft c = {.slid = lid_of(i),
                      .dlid = LID_B,
                      .pkey = PKEY,
                      .opcode = CRAFT_UD,
                      .dqpn = UD_QPN,
                      .sqpn = 2 + i / 7 % 0xfffff0,
                      .qkey = i};
    craft_udp(craft_packet(&c, craft_udp_size(8)), 0x0a000000 + i, 0x0b000001, 8);
    craft_write();
}

/* IGMPv3 reports (RFC 3376 §4.2) with as many records as fit: 10 records per entry. */
static void reports(uint32_t i)
{
    enum { RECORDS = 250, ENTRIES_A_FRAME = RECORDS / 10, RECORD = 8, IP = 20 };
    enum { SIZE = ENCAP_SIZE + IP + REPORT_RECORDS + RECORDS * RECORD };
    uint8_t mgid[MGID_SIZE];
    if (i % ENTRIES_A_FRAME)
        return;
    craft_mgid(mgid, LINK_LOCAL, PKEY, 0x16);
    uint8_t *p = multicast(0, mgid, SIZE), *ip = p + ENCAP_SIZE, *igmp = ip + IP;
    put16(p, TYPE_IPV4);
    ip[0] = 0x45;
    put16(ip + 2, SIZE - ENCAP_SIZE);
    ip[8] = 1;
    ip[9] = 2;
    put32(ip + 12, 0x0a000001);
    put32(ip + 16, 0xe0000016);
    igmp[0] = IGMP_V3_REPORT;
    put16(igmp + REPORT_RECORD_COUNT, RECORDS);
    for (uint32_t k = 0; k < RECORDS; k++) {
        uint8_t *record = igmp + REPORT_RECORDS + k * RECORD;
        record[RECORD_TYPE] = MODE_IS_EXCLUDE;
        put32(record + RECORD_GROUP, 0xe0000000 | (i * 10 + k));
    }
    craft_write();
}

/* ---- connections */

static uint8_t *cm(enum cm_message message, uint32_t from, uint32_t to, uint32_t local_id,
                   uint32_t remote_id)
{
    uint8_t *m = craft_mad(lid_of(from), lid_of(to), MAD_CLASS_CM, CM_SEND, (uint16_t)message,
                           craft_frames());
    put32(m + CM_LOCAL_COMM_ID, local_id);
    put32(m + CM_REMOTE_COMM_ID, remote_id);
    return m;
}

static void put_private(uint8_t *m, uint32_t at)
{
    put24(m + at + CM_PRIVATE_UD_QPN, UD_QPN);
    put32(m + at + CM_PRIVATE_RECV_MTU, 65524);
}

static void request(uint32_t from, uint32_t to, uint32_t id, uint32_t qpn)
{
    uint8_t *m = cm(CM_REQ, from, to, id, 0);
    m[REQ_SERVICE_ID] = 0x01;
    put24(m + REQ_SERVICE_ID + 5, UD_QPN);
    put24(m + REQ_QPN, qpn);
    put16(m + REQ_PKEY, PKEY);
    put16(m + REQ_PRIMARY_LOCAL_LID, lid_of(from));
    put16(m + REQ_PRIMARY_REMOTE_LID, lid_of(to));
    craft_gid(m + REQ_PRIMARY_LOCAL_GID, from);
    craft_gid(m + REQ_PRIMARY_REMOTE_GID, to);
    put_private(m, REQ_PRIVATE);
    craft_write();
}

static void reply(uint32_t from, uint32_t to, uint32_t local_id, uint32_t remote_id, uint32_t qpn)
{
    uint8_t *m = cm(CM_REP, from, to, local_id, remote_id);
    put24(m + REP_QPN, qpn);
    put_private(m, REP_PRIVATE);
    craft_write();
}

static void respond(enum cm_message message, uint32_t from, uint32_t to, uint32_t local_id,
                    uint32_t remote_id)
{
    uint8_t *m = cm(message, from, to, local_id, remote_id);
    if (message == CM_REJ)
        put16(m + REJ_REASON, CM_REJ_CONSUMER);
    craft_write();
}

static void connections(uint32_t i)
{
    request(i, i + 1, i, 0x100 + i);
    reply(i + 1, i, ~i, i, 0x800000 + i);
}

/*
 * All connections are between the same two ports. Each carries a packet, and after every 16th
 * connection the interface goes down and up.
 */
static void connections_of_one_pair(uint32_t i)
{
    uint8_t mgid[MGID_SIZE];
    request(0, 1, i, 0x100 + i);
    reply(1, 0, ~i, i, 0x800000 + i);
    struct craft c = {.slid = lid_of(0),
                      .dlid = lid_of(1),
                      .pkey = PKEY,
                      .opcode = CRAFT_RC_ONLY,
                      .dqpn = 0x800000 + i};
    craft_udp(craft_packet(&c, craft_udp_size(8)), 0x0a000001, 0x0a000002, 8);
    craft_write();
    if (i % 16)
        return;
    craft_mgid(mgid, LINK_LOCAL, PKEY, 0xffffffff);
    uint8_t gid[GID_SIZE],
        *mad = craft_mad(LID_SA, lid_of(0), MAD_CLASS_SA, SA_DELETE_RESP, SA_MC_MEMBER_RECORD, i);
    craft_gid(gid, 0);
    struct mc_member r = {.mgid = mgid, .port_gid = gid};
    craft_member_record(mad + SA_DATA, &r);
    craft_write();
    join_of(0, mgid, usual);
}

static void ids_again_and_again(uint32_t i)
{
    request(0, 1, 7, 0x100);
    if (i % 2) {
        respond(CM_REJ, 1, 0, 8, 7);
    } else {
        reply(1, 0, 8, 7, 0x200);
        respond(CM_DREQ, 0, 1, 7, 8);
        respond(CM_DREP, 1, 0, 8, 7);
    }
}

/* Both sides send a REQ; neither gets a response. */
static void requests_crossing(uint32_t i)
{
    request(0, 1, i, 0x100 + i);
    request(1, 0, ~i, 0x800000 + i);
}

/* ---- messages of several packets */

static void part(uint8_t opcode, uint32_t qpn, uint32_t psn)
{
    enum { TOTAL = 40000, DATA = 228 };
    struct craft c = {
        .slid = LID_A, .dlid = LID_B, .pkey = PKEY, .opcode = opcode, .dqpn = qpn, .psn = psn};
    uint8_t *p = craft_packet(&c, craft_udp_size(DATA)), *ip = p + ENCAP_SIZE;
    /* an IPv4 datagram of 40000 bytes, with a correct header checksum */
    if (opcode == CRAFT_RC_FIRST) {
        uint32_t sum = 0;
        craft_udp(p, 0x0a000001, 0x0a000002, DATA);
        put16(ip + 2, TOTAL);
        put16(ip + 10, 0);
        for (int i = 0; i < 20; i += 2)
            sum += be16(ip + i);
        sum = (sum & 0xffff) + (sum >> 16);
        put16(ip + 10, ~(sum + (sum >> 16)));
    }
    craft_write();
}

/* Each QP has one message: a First, and a Last 2^22 packets later. */
static void messages_far_apart(uint32_t i)
{
    part(CRAFT_RC_FIRST, 0x100 + i, 0);
    part(CRAFT_RC_LAST, 0x100 + i, 1 << 22);
}

/*
 * One QP, every second packet of a message, in descending order; a new message every 1000 entries.
 */
static void messages_with_gaps(uint32_t i)
{
    uint32_t psn = i / 1000 * 4000;
    if (i % 1000 == 0)
        part(CRAFT_RC_FIRST, 0x100, psn & PSN_MASK);
    part(CRAFT_RC_MIDDLE, 0x100, (psn + 3000 - 2 * (i % 1000)) & PSN_MASK);
}

/* ---- subnet management */

static void port_data(uint32_t route, uint16_t attribute, uint32_t port, uint16_t pkey)
{
    uint8_t *mad = craft_mad(LID_PERMISSIVE, LID_PERMISSIVE, MAD_CLASS_SMP_DIRECTED, SMP_GET_RESP,
                             attribute, route);
    craft_port_data(mad, attribute, port, lid_of(port));
    if (attribute == SMP_PKEY_TABLE)
        put16(mad + SMP_DATA + 2, pkey);
    craft_route(mad, route);
    craft_write();
}

static void ports(uint32_t i)
{
    port_data(i, SMP_NODE_INFO, i, 0);
    port_data(i, SMP_PORT_INFO, i, 0);
    port_data(i, SMP_PKEY_TABLE, i, 0);
}

static void routes_to_one_port(uint32_t i)
{
    port_data(i, SMP_NODE_INFO, 0, 0);
    port_data(i, SMP_PORT_INFO, 0, 0);
    port_data(i, SMP_PKEY_TABLE, 0, (uint16_t)i);
}

static const struct kind {
    const char *name;
    void (*entry)(uint32_t i);
} kinds[] = {
    {"groups-joined", groups_joined},
    {"groups-colliding", groups_colliding},
    {"groups-sent-to", groups_sent_to},
    {"joins-contradictory", joins_contradictory},
    {"broadcasts", broadcasts},
    {"members", members},
    {"addresses", addresses},
    {"address-with-many-ips", address_with_many_ips},
    {"ip-with-many-addresses", ip_with_many_addresses},
    {"ip-with-many-qpns", ip_with_many_qpns},
    {"qps", qps},
    {"reports", reports},
    {"connections", connections},
    {"connections-of-one-pair", connections_of_one_pair},
    {"ids-again-and-again", ids_again_and_again},
    {"requests-crossing", requests_crossing},
    {"messages-far-apart", messages_far_apart},
    {"messages-with-gaps", messages_with_gaps},
    {"ports", ports},
    {"routes-to-one-port", routes_to_one_port},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void write_kind(const struct kind *k, uint32_t entries)
{
    uint8_t mgid[MGID_SIZE];
    craft_open("hostile");
    craft_mgid(mgid, LINK_LOCAL, PKEY, 0xffffffff);
    join_of(0, mgid, usual);
    for (uint32_t i = 0; i < entries; i++)
        for (unsigned n = 0; n < KINDS; n++)
            if (!k || k == &kinds[n])
                kinds[n].entry(i);
    craft_close();
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (unsigned n = 0; n < KINDS; n++)
            puts(kinds[n].name);
        puts("all");
        return 0;
    }
    for (unsigned n = 0; argc == 3 && n < KINDS; n++)
        if (strcmp(argv[1], kinds[n].name) == 0) {
            write_kind(&kinds[n], (uint32_t)strtoul(argv[2], NULL, 10));
            return 0;
        }
    if (argc == 3 && strcmp(argv[1], "all") == 0) {
        write_kind(NULL, (uint32_t)strtoul(argv[2], NULL, 10));
        return 0;
    }
    fprintf(stderr, "usage: hostile KIND ENTRIES > FILE, hostile --list\n");
    return 2;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make-capture FRAMES PEERS CONNECTIONS > FILE: writes a capture for benchmarks, with FRAMES frames
 * in all. UDP over UD IPoIB with 64 to 1264 bytes of UDP data, between PEERS stations, as ERF in a
 * classic pcap (Wireshark opens it with and without the plugin).
 *
 * The first station joins the broadcast group, and each station sends an ARP request for the next
 * one's address, so that the checks have a context. With CONNECTIONS > 0, that many CM handshakes
 * follow, and every second frame after them is an RC SEND on one of the connections. The same
 * arguments give the same file; CRCs are 0.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/craft.h"
#include "wire/cm.h"
#include "wire/mgid.h"

enum {
    DATA_MIN = 64,
    DATA_MAX = 1264,
    LID_FIRST = 1,
    LIDS = 40000,
    LID_SA = 0xbfff,
    MLID = CRAFT_MLID
};
enum {
    UD_QPN = CRAFT_UD_QPN,
    IB_QKEY = CRAFT_QKEY,
    PKEY = CRAFT_PKEY,
    IP_FIRST = 0x0a000001,
    RECV_MTU = 65524
};
enum { MTU_2048 = 4, RATE_10_GBPS = 3 }; /* IBA codes */

static uint32_t frames, peers, connections, seed = 1;

static uint32_t random32(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

static uint32_t random_size(void)
{
    return DATA_MIN + random32() % (DATA_MAX - DATA_MIN + 1);
}

static uint16_t lid_of(uint32_t peer)
{
    return (uint16_t)(LID_FIRST + peer % LIDS);
}

static void write_frame(void)
{
    if (craft_frames() < frames)
        craft_write();
}

static void broadcast_gid(uint8_t *mgid)
{
    craft_mgid(mgid, MGID_FLAG_TRANSIENT << 4 | 2, PKEY, 0xffffffff);
}

/* The first station's join as Linux sends it, and the SA's response. */
static void join(void)
{
    uint8_t mgid[MGID_SIZE], gid[GID_SIZE];
    broadcast_gid(mgid);
    craft_gid(gid, 0);
    struct mc_member r = {.mgid = mgid, .port_gid = gid, .scope = 2, .join_state = JOIN_FULL};
    uint8_t *mad = craft_mad(lid_of(0), LID_SA, MAD_CLASS_SA, SA_SET, SA_MC_MEMBER_RECORD, 1);
    put32(mad + SA_COMPONENT_MASK + 4, MCM_HAS_MGID | MCM_HAS_PORT_GID | MCM_HAS_JOIN_STATE);
    craft_member_record(mad + SA_DATA, &r);
    write_frame();
    r.qkey = IB_QKEY;
    r.mlid = MLID;
    r.pkey = PKEY;
    r.mtu = MTU_2048;
    r.rate = RATE_10_GBPS;
    mad = craft_mad(LID_SA, lid_of(0), MAD_CLASS_SA, SA_GET_RESP, SA_MC_MEMBER_RECORD, 1);
    craft_member_record(mad + SA_DATA, &r);
    write_frame();
}

static void ask(uint32_t peer)
{
    uint8_t mgid[MGID_SIZE], gid[GID_SIZE], lladdr[20];
    broadcast_gid(mgid);
    craft_gid(gid, peer);
    craft_lladdr(lladdr, connections ? 0x80 : 0, UD_QPN, gid);
    struct craft c = craft_multicast(lid_of(peer), gid, mgid);
    c.psn = craft_frames();
    craft_arp_request(craft_packet(&c, CRAFT_ARP), lladdr, IP_FIRST + peer,
                      IP_FIRST + (peer + 1) % peers);
    write_frame();
}

static void datagram(uint32_t from, uint32_t to)
{
    uint32_t data = random_size();
    struct craft c = craft_unicast(lid_of(from), lid_of(to));
    c.psn = craft_frames();
    craft_udp(craft_packet(&c, craft_udp_size(data)), IP_FIRST + from, IP_FIRST + to, data);
    write_frame();
}

static void segment(uint32_t connection, uint32_t psn)
{
    uint32_t from = connection % peers, to = (from + 1) % peers, data = random_size();
    struct craft c = {.slid = lid_of(from),
                      .dlid = lid_of(to),
                      .pkey = PKEY,
                      .opcode = CRAFT_RC_ONLY,
                      .dqpn = 0x200000 + connection,
                      .psn = psn};
    craft_udp(craft_packet(&c, craft_udp_size(data)), IP_FIRST + from, IP_FIRST + to, data);
    write_frame();
}

static void put_request(uint8_t *m, uint32_t connection, uint32_t requester, uint32_t asked)
{
    m[REQ_SERVICE_ID] = 0x01; /* RFC 4755 §3.5 */
    put24(m + REQ_SERVICE_ID + 5, UD_QPN);
    put24(m + REQ_QPN, 0x100000 + connection);
    put16(m + REQ_PKEY, PKEY);
    put16(m + REQ_PRIMARY_LOCAL_LID, lid_of(requester));
    put16(m + REQ_PRIMARY_REMOTE_LID, lid_of(asked));
    craft_gid(m + REQ_PRIMARY_LOCAL_GID, requester);
    craft_gid(m + REQ_PRIMARY_REMOTE_GID, asked);
}

static void cm_message(uint32_t connection, enum cm_message message)
{
    uint32_t requester = connection % peers, asked = (requester + 1) % peers;
    uint32_t from = message == CM_REP ? asked : requester,
             to = message == CM_REP ? requester : asked;
    uint8_t *m = craft_mad(lid_of(from), lid_of(to), MAD_CLASS_CM, 3, (uint16_t)message,
                           connection + 1);
    uint32_t ours = 0x10000000 + connection, theirs = 0x20000000 + connection;
    put32(m + CM_LOCAL_COMM_ID, message == CM_REP ? theirs : ours);
    if (message != CM_REQ)
        put32(m + CM_REMOTE_COMM_ID, message == CM_REP ? ours : theirs);
    uint32_t private = message == CM_REQ   ? REQ_PRIVATE
                       : message == CM_REP ? REP_PRIVATE
                                           : RTU_PRIVATE;
    if (message == CM_REQ)
        put_request(m, connection, requester, asked);
    if (message == CM_REP)
        put24(m + REP_QPN, 0x200000 + connection);
    put24(m + private + CM_PRIVATE_UD_QPN, UD_QPN);
    put32(m + private + CM_PRIVATE_RECV_MTU, RECV_MTU);
    write_frame();
}

int main(int argc, char **argv)
{
    frames = argc == 4 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    peers = argc == 4 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    connections = argc == 4 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
    if (frames == 0 || peers < 2) {
        fprintf(stderr, "usage: make-capture FRAMES PEERS CONNECTIONS > FILE\n");
        return 2;
    }
    craft_open("make-capture");
    join();
    for (uint32_t p = 0; p < peers; p++)
        ask(p);
    for (uint32_t c = 0; c < connections; c++) {
        cm_message(c, CM_REQ);
        cm_message(c, CM_REP);
        cm_message(c, CM_RTU);
    }
    for (uint32_t i = 0; craft_frames() < frames; i++) {
        if (connections && i % 2)
            segment(i / 2 % connections, i / 2 / connections);
        else
            datagram(i % peers, (i + 1) % peers);
    }
    craft_close();
    return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/craft.h"

#include <stdio.h>
#include <stdlib.h>

#include "wire/arp.h"
#include "wire/link_frame.h"
#include "wire/encap.h"
#include "wire/lladdr.h"
#include "wire/mgid.h"

enum { PCAP_HEADER = 24, RECORD_HEADER = 16, IP_SIZE = 20, UDP_HEADER = 8, SNAPLEN = 65535 };
enum { BEFORE = LRH_SIZE + GRH_SIZE + BTH_SIZE + DETH_SIZE };

static const char *name;
static uint32_t frame_count;
static uint8_t frame[BEFORE + CRAFT_PAYLOAD_MAX + 3 + ICRC_SIZE + VCRC_SIZE];
static uint32_t frame_size;

void put16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

void put24(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 16);
    put16(p + 1, v);
}

void put32(uint8_t *p, uint32_t v)
{
    put16(p, v >> 16);
    put16(p + 2, v);
}

static void little32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

static void write_all(const void *p, size_t n)
{
    if (fwrite(p, 1, n, stdout) != n) {
        perror(name);
        exit(1);
    }
}

void craft_open(const char *program)
{
    uint8_t h[PCAP_HEADER] = {0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0};
    name = program;
    little32(h + 16, SNAPLEN);
    little32(h + 20, LINKTYPE_ERF);
    write_all(h, sizeof h);
}

void craft_close(void)
{
    if (fflush(stdout) != 0) {
        perror(name);
        exit(1);
    }
}

uint32_t craft_frames(void)
{
    return frame_count;
}

void craft_write(void)
{
    uint8_t h[RECORD_HEADER + ERF_HEADER_LEN] = {0};
    uint32_t seconds = CRAFT_SECONDS + frame_count / 1000, us = frame_count % 1000 * 1000;
    uint8_t *erf = h + RECORD_HEADER;
    little32(h, seconds);
    little32(h + 4, us);
    little32(h + 8, frame_size + ERF_HEADER_LEN);
    little32(h + 12, frame_size + ERF_HEADER_LEN);
    little32(erf, (uint32_t)((uint64_t)us * 4294967296u / 1000000u));
    little32(erf + 4, seconds);
    erf[ERF_OFF_TYPE] = ERF_TYPE_INFINIBAND;
    erf[ERF_OFF_FLAGS] = ERF_FLAG_VARYING;
    put16(erf + ERF_OFF_RLEN, frame_size + ERF_HEADER_LEN);
    put16(erf + ERF_OFF_WLEN, frame_size);
    write_all(h, sizeof h);
    write_all(frame, frame_size);
    frame_count++;
}

static uint32_t put_grh(uint8_t *p, const struct craft *c, uint32_t length)
{
    p[GRH_VER_TCLASS_FLOW] = 6 << 4;
    put16(p + GRH_PAY_LEN, length);
    p[GRH_NXT_HDR] = GRH_NXT_HDR_BTH;
    memcpy(p + GRH_SGID, c->sgid, GID_SIZE);
    memcpy(p + GRH_DGID, c->dgid, GID_SIZE);
    return GRH_SIZE;
}

struct craft craft_unicast(uint16_t slid, uint16_t dlid)
{
    return (struct craft){.slid = slid,
                          .dlid = dlid,
                          .pkey = CRAFT_PKEY,
                          .opcode = CRAFT_UD,
                          .dqpn = CRAFT_UD_QPN,
                          .sqpn = CRAFT_UD_QPN,
                          .qkey = CRAFT_QKEY};
}

struct craft craft_multicast(uint16_t slid, const uint8_t *sgid, const uint8_t *mgid)
{
    struct craft c = craft_unicast(slid, CRAFT_MLID);
    c.dqpn = QPN_MULTICAST;
    c.sgid = sgid;
    c.dgid = mgid;
    return c;
}

uint8_t *craft_packet(const struct craft *c, uint32_t n)
{
    bool datagram = c->opcode >> 5 == IB_UD;
    uint32_t pad = -n & 3, grh = c->dgid ? GRH_SIZE : 0;
    uint32_t from_bth = BTH_SIZE + (datagram ? DETH_SIZE : 0u) + n + pad + ICRC_SIZE;
    uint8_t *p = frame;
    memset(frame, 0, sizeof frame);
    p[LRH_SL_LNH] = grh ? LNH_GRH : LNH_BTH;
    put16(p + LRH_DLID, c->dlid);
    put16(p + LRH_PKT_LEN, (LRH_SIZE + grh + from_bth) / 4);
    put16(p + LRH_SLID, c->slid);
    p += LRH_SIZE;
    if (grh)
        p += put_grh(p, c, from_bth);
    p[BTH_OPCODE] = c->opcode;
    p[BTH_SE_M_PAD_TVER] = (uint8_t)(pad << 4);
    put16(p + BTH_PKEY, c->pkey);
    put24(p + BTH_DEST_QP, c->dqpn);
    put24(p + BTH_PSN, c->psn);
    p += BTH_SIZE;
    if (datagram) {
        put32(p + DETH_QKEY, c->qkey);
        put24(p + DETH_SRC_QP, c->sqpn);
        p += DETH_SIZE;
    }
    frame_size = LRH_SIZE + grh + from_bth + VCRC_SIZE;
    return p;
}

uint8_t *craft_mad(uint16_t slid, uint16_t dlid, uint8_t class, uint8_t method, uint16_t attribute,
                   uint32_t tid)
{
    uint32_t qpn = class == MAD_CLASS_SMP || class == MAD_CLASS_SMP_DIRECTED ? 0 : 1;
    struct craft c = {.slid = slid,
                      .dlid = dlid,
                      .pkey = 0xffff,
                      .opcode = CRAFT_UD,
                      .dqpn = qpn,
                      .sqpn = qpn,
                      .qkey = qpn ? 0x80010000 : 0,
                      .psn = frame_count};
    uint8_t *m = craft_packet(&c, MAD_SIZE);
    m[MAD_BASE_VERSION] = 1;
    m[MAD_CLASS] = class;
    m[MAD_CLASS_VERSION] = qpn ? 2 : 1;
    m[MAD_METHOD] = method;
    put32(m + MAD_TID + 4, tid);
    put16(m + MAD_ATTRIBUTE, attribute);
    return m;
}

uint32_t craft_udp_size(uint32_t data)
{
    return ENCAP_SIZE + IP_SIZE + UDP_HEADER + data;
}

void craft_udp(uint8_t *p, uint32_t from, uint32_t to, uint32_t data)
{
    uint8_t *ip = p + ENCAP_SIZE, *udp = ip + IP_SIZE;
    uint32_t sum = 0;
    put16(p, TYPE_IPV4);
    ip[0] = 0x45;
    put16(ip + 2, IP_SIZE + UDP_HEADER + data);
    put16(ip + 4, frame_count);
    ip[8] = 64;
    ip[9] = 17;
    put32(ip + 12, from);
    put32(ip + 16, to);
    for (int i = 0; i < IP_SIZE; i += 2)
        sum += be16(ip + i);
    sum = (sum & 0xffff) + (sum >> 16);
    put16(ip + 10, ~(sum + (sum >> 16)));
    put16(udp, 40000);
    put16(udp + 2, 40001);
    put16(udp + 4, UDP_HEADER + data);
}

void craft_arp_request(uint8_t *p, const uint8_t *lladdr, uint32_t ip, uint32_t asked)
{
    uint8_t *a = p + ENCAP_SIZE;
    put16(p, TYPE_ARP);
    put16(a + ARP_HRD, ARP_HRD_INFINIBAND);
    put16(a + ARP_PRO, TYPE_IPV4);
    a[ARP_HLN] = LLADDR_SIZE;
    a[ARP_PLN] = 4;
    put16(a + ARP_OP, ARP_REQUEST);
    a += ARP_SIZE_FIXED;
    memcpy(a, lladdr, LLADDR_SIZE);
    put32(a + LLADDR_SIZE, ip);
    put32(a + LLADDR_SIZE + 4 + LLADDR_SIZE, asked);
}

void craft_lladdr(uint8_t *p, uint8_t flags, uint32_t qpn, const uint8_t *gid)
{
    p[LLADDR_FLAGS] = flags;
    put24(p + LLADDR_QPN, qpn);
    memcpy(p + LLADDR_GID, gid, GID_SIZE);
}

void craft_gid(uint8_t *gid, uint32_t number)
{
    static const uint8_t begin[GID_SIZE] = {0xfe, 0x80, [8] = 0x00, 0x02, 0xc9, 0x03};
    memcpy(gid, begin, GID_SIZE);
    put32(gid + GID_SIZE - 4, number);
}

void craft_mgid(uint8_t *mgid, uint8_t flags_scope, uint16_t pkey, uint32_t low)
{
    memset(mgid, 0, MGID_SIZE);
    mgid[MGID_PREFIX] = 0xff;
    mgid[MGID_FLAGS_SCOPE] = flags_scope;
    put16(mgid + MGID_SIGNATURE, MGID_SIGNATURE_IPV4);
    put16(mgid + MGID_PKEY, pkey);
    put32(mgid + MGID_GROUP_IPV4, low);
}

void craft_member_record(uint8_t *p, const struct mc_member *r)
{
    memcpy(p + MCM_MGID, r->mgid, MGID_SIZE);
    memcpy(p + MCM_PORT_GID, r->port_gid, GID_SIZE);
    put32(p + MCM_QKEY, r->qkey);
    put16(p + MCM_MLID, r->mlid);
    p[MCM_MTU] = (uint8_t)(r->mtu_selector << 6 | r->mtu);
    p[MCM_TCLASS] = r->tclass;
    put16(p + MCM_PKEY, r->pkey);
    p[MCM_RATE] = r->rate;
    p[MCM_LIFE] = r->life;
    put32(p + MCM_SL_FLOW_HOP, (uint32_t)r->sl << 28 | r->flow_label << 8 | r->hop_limit);
    p[MCM_SCOPE_JOIN] = (uint8_t)(r->scope << 4 | r->join_state);
}

void craft_port_data(uint8_t *mad, uint16_t attribute, uint32_t number, uint16_t lid)
{
    uint8_t gid[GID_SIZE], *data = mad + SMP_DATA;
    craft_gid(gid, number);
    switch (attribute) {
    case SMP_NODE_INFO:
        data[NODE_INFO_TYPE] = NODE_TYPE_CA;
        memcpy(data + NODE_INFO_PORT_GUID, gid + 8, 8);
        break;
    case SMP_PORT_INFO:
        memcpy(data + PORT_INFO_GID_PREFIX, gid, 8);
        put16(data + PORT_INFO_LID, lid);
        data[PORT_INFO_SPEED_STATE] = PORT_ACTIVE;
        data[PORT_INFO_MTU_SMSL] = 4 << 4; /* 2048 bytes */
        data[PORT_INFO_MTU_CAP] = 5;       /* 4096 bytes */
        break;
    case SMP_PKEY_TABLE:
        put16(data, 0xffff);
        break;
    }
}

/* The route has 5 hops over switches with 253 ports. */
void craft_route(uint8_t *mad, uint32_t number)
{
    enum { HOPS = 5, PORTS = 253 };
    put16(mad + MAD_STATUS, SMP_STATUS_D);
    mad[SMP_HOP_COUNT] = HOPS;
    put16(mad + SMP_DR_SLID, LID_PERMISSIVE);
    put16(mad + SMP_DR_DLID, LID_PERMISSIVE);
    for (unsigned i = 1; i <= HOPS; i++, number /= PORTS)
        mad[SMP_INITIAL_PATH + i] = (uint8_t)(1 + number % PORTS);
}

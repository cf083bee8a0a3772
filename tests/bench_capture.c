/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench-capture FRAMES PEERS CONNECTIONS > FILE: a capture to measure on. UDP over UD IPoIB, 64 to 1264 octets of
 * UDP data, between PEERS distinct stations, as ERF in a classic pcap (any Wireshark opens it, with the plugin or
 * without). With CONNECTIONS > 0, that many handshakes come first, and every other frame is a RC SEND on one of
 * them. The same arguments give the same file; CRCs are left 0.
 */
#include <stdio.h>
#include <stdlib.h>

#include "wire/carrier.h"
#include "wire/cm.h"
#include "wire/encap.h"

enum { FRAME_MAX = 2048, DATA_MIN = 64, DATA_MAX = 1264, LID_FIRST = 1, LIDS = 40000, IP_SIZE = 20, UDP_HEADER = 8 };
enum { PCAP_HEADER = 24, RECORD_HEADER = 16 };

static uint32_t frame_count, seed = 1;

static uint32_t random32(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

static void put16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static void put24(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 16);
    put16(p + 1, v);
}

static void put32(uint8_t *p, uint32_t v)
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
        perror("bench-capture");
        exit(1);
    }
}

static void write_file_header(void)
{
    uint8_t h[PCAP_HEADER] = {0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0};
    little32(h + 16, 65535);
    little32(h + 20, LINKTYPE_ERF);
    write_all(h, sizeof h);
}

/* A frame of n octets with its ERF and pcap record headers; a thousand frames a second. */
static void write_frame(const uint8_t *frame, uint32_t n)
{
    uint8_t h[RECORD_HEADER + ERF_HEADER_LEN] = {0};
    uint32_t seconds = 1700000000 + frame_count / 1000, us = frame_count % 1000 * 1000;
    uint8_t *erf = h + RECORD_HEADER;
    little32(h, seconds);
    little32(h + 4, us);
    little32(h + 8, n + ERF_HEADER_LEN);
    little32(h + 12, n + ERF_HEADER_LEN);
    little32(erf, (uint32_t)((uint64_t)us * 4294967296u / 1000000u));
    little32(erf + 4, seconds);
    erf[ERF_OFF_TYPE] = ERF_TYPE_INFINIBAND;
    erf[ERF_OFF_FLAGS] = ERF_FLAG_VARYING;
    put16(erf + ERF_OFF_RLEN, n + ERF_HEADER_LEN);
    put16(erf + ERF_OFF_WLEN, n);
    write_all(h, sizeof h);
    write_all(frame, n);
    frame_count++;
}

static uint16_t lid_of(uint32_t peer)
{
    return (uint16_t)(LID_FIRST + peer % LIDS);
}

/* LRH and BTH; returns the octets that they take. */
static uint32_t put_headers(uint8_t *f, uint32_t from, uint32_t to, uint8_t opcode, uint32_t dqpn, uint32_t psn, uint32_t payload)
{
    uint32_t pad = -payload & 3, headers = LRH_SIZE + BTH_SIZE + (opcode >> 5 == IB_UD ? DETH_SIZE : 0u);
    f[LRH_SL_LNH] = LNH_BTH;
    put16(f + LRH_DLID, lid_of(to));
    put16(f + LRH_PKT_LEN, (headers + payload + pad + ICRC_SIZE) / 4);
    put16(f + LRH_SLID, lid_of(from));
    uint8_t *b = f + LRH_SIZE;
    b[BTH_OPCODE] = opcode;
    b[BTH_SE_M_PAD_TVER] = (uint8_t)(pad << 4);
    put16(b + BTH_PKEY, 0xffff);
    put24(b + BTH_DEST_QP, dqpn);
    put24(b + BTH_PSN, psn);
    return LRH_SIZE + BTH_SIZE;
}

static uint32_t put_deth(uint8_t *p, uint32_t qkey, uint32_t sqpn)
{
    put32(p + DETH_QKEY, qkey);
    put24(p + DETH_SRC_QP, sqpn);
    return DETH_SIZE;
}

static uint32_t put_udp(uint8_t *p, uint32_t from, uint32_t to, uint32_t data)
{
    uint8_t *ip = p + ENCAP_SIZE, *udp = ip + IP_SIZE;
    uint32_t sum = 0;
    put16(p, TYPE_IPV4);
    ip[0] = 0x45;
    put16(ip + 2, IP_SIZE + UDP_HEADER + data);
    put16(ip + 4, frame_count);
    ip[8] = 64;
    ip[9] = 17;
    put32(ip + 12, 0x0a000001u + from);
    put32(ip + 16, 0x0a000001u + to);
    for (int i = 0; i < IP_SIZE; i += 2)
        sum += be16(ip + i);
    sum = (sum & 0xffff) + (sum >> 16);
    put16(ip + 10, ~(sum + (sum >> 16)));
    put16(udp, 40000);
    put16(udp + 2, 40001);
    put16(udp + 4, UDP_HEADER + data);
    return ENCAP_SIZE + IP_SIZE + UDP_HEADER + data;
}

static void finish(uint8_t *f, uint32_t n)
{
    n = (n + 3) & ~3u;
    write_frame(f, n + ICRC_SIZE + VCRC_SIZE);
}

static void datagram(uint32_t from, uint32_t to)
{
    uint8_t f[FRAME_MAX] = {0};
    uint32_t data = DATA_MIN + random32() % (DATA_MAX - DATA_MIN + 1);
    uint32_t payload = ENCAP_SIZE + IP_SIZE + UDP_HEADER + data;
    uint32_t n = put_headers(f, from, to, 0x64, 0x48, frame_count, payload);
    n += put_deth(f + n, 0xb1b, 0x48);
    n += put_udp(f + n, from, to, data);
    finish(f, n);
}

static void segment(uint32_t connection, uint32_t psn, uint32_t peers)
{
    uint8_t f[FRAME_MAX] = {0};
    uint32_t from = connection % peers, to = (from + 1) % peers, data = DATA_MIN + random32() % (DATA_MAX - DATA_MIN + 1);
    uint32_t n = put_headers(f, from, to, 0x04, 0x200000 + connection, psn, ENCAP_SIZE + IP_SIZE + UDP_HEADER + data);
    n += put_udp(f + n, from, to, data);
    finish(f, n);
}

static void cm_message(uint32_t connection, uint32_t peers, enum cm_message message)
{
    uint8_t f[FRAME_MAX] = {0};
    uint32_t asker = connection % peers, asked = (asker + 1) % peers;
    uint32_t from = message == CM_REP ? asked : asker, to = message == CM_REP ? asker : asked;
    uint32_t n = put_headers(f, from, to, 0x64, 1, frame_count, MAD_SIZE);
    n += put_deth(f + n, 0x80010000, 1);
    uint8_t *m = f + n;
    m[MAD_BASE_VERSION] = 1;
    m[MAD_CLASS] = MAD_CLASS_CM;
    m[MAD_CLASS_VERSION] = 2;
    m[MAD_METHOD] = 3;
    put32(m + MAD_TID + 4, connection + 1);
    put16(m + MAD_ATTRIBUTE, message);
    uint32_t ours = 0x10000000 + connection, theirs = 0x20000000 + connection;
    put32(m + CM_LOCAL_COMM_ID, message == CM_REP ? theirs : ours);
    if (message != CM_REQ)
        put32(m + CM_REMOTE_COMM_ID, message == CM_REP ? ours : theirs);
    uint32_t private = message == CM_REQ ? REQ_PRIVATE : REP_PRIVATE;
    if (message == CM_REQ) {
        m[REQ_SERVICE_ID] = 0x10;
        put24(m + REQ_SERVICE_ID + 5, 0x48);
        put24(m + REQ_QPN, 0x100000 + connection);
        put16(m + REQ_PRIMARY_LOCAL_LID, lid_of(asker));
        put16(m + REQ_PRIMARY_REMOTE_LID, lid_of(asked));
    }
    if (message == CM_REP)
        put24(m + REP_QPN, 0x200000 + connection);
    if (message != CM_RTU) {
        put24(m + private + CM_PRIVATE_UD_QPN, 0x48);
        put32(m + private + CM_PRIVATE_RECV_MTU, 65524);
    }
    finish(f, n + MAD_SIZE);
}

int main(int argc, char **argv)
{
    uint32_t frames = argc == 4 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    uint32_t peers = argc == 4 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    uint32_t connections = argc == 4 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
    if (frames == 0 || peers < 2) {
        fprintf(stderr, "usage: bench-capture FRAMES PEERS CONNECTIONS > FILE\n");
        return 2;
    }
    write_file_header();
    for (uint32_t c = 0; c < connections; c++) {
        cm_message(c, peers, CM_REQ);
        cm_message(c, peers, CM_REP);
        cm_message(c, peers, CM_RTU);
    }
    for (uint32_t i = 0; frame_count < frames; i++) {
        if (connections && i % 2)
            segment(i / 2 % connections, i / 2 / connections, peers);
        else
            datagram(i % peers, (i + 1) % peers);
    }
    if (fflush(stdout) != 0) {
        perror("bench-capture");
        return 1;
    }
    return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures out of nothing, for benchmarks and hostile input: InfiniBand packets as ERF records in a
 * classic pcap on standard output, a thousand a second from 2023-11-14 22:13:20 UTC on. CRCs are
 * left 0. A failed write ends the program.
 */
#ifndef IPOIB_TESTS_CRAFT_H
#define IPOIB_TESTS_CRAFT_H

#include "wire/sa.h"
#include "wire/smp.h"

enum { CRAFT_PAYLOAD_MAX = 2048, CRAFT_SECONDS = 1700000000 };
/* Operation codes (IBA table 38) */
enum {
    CRAFT_RC_FIRST = 0x00,
    CRAFT_RC_MIDDLE = 0x01,
    CRAFT_RC_LAST = 0x02,
    CRAFT_RC_ONLY = 0x04,
    CRAFT_UD = 0x64
};

struct craft {
    uint16_t slid, dlid, pkey;
    uint8_t opcode;
    const uint8_t *sgid, *dgid;     /* both NULL: no GRH */
    uint32_t dqpn, sqpn, qkey, psn; /* qkey and sqpn of datagrams only */
};

/* Numbers in network order. */
void put16(uint8_t *p, uint32_t v);
void put24(uint8_t *p, uint32_t v);
void put32(uint8_t *p, uint32_t v);

/* The file's header; program: its name, for errors. */
void craft_open(const char *program);
/* Flushes. */
void craft_close(void);
/* Frames written so far. */
uint32_t craft_frames(void);

/*
 * Begin a frame; returns where its payload of n octets (at most CRAFT_PAYLOAD_MAX), all zero,
 * stands.
 */
uint8_t *craft_packet(const struct craft *c, uint32_t n);
/* Write the frame that was begun. */
void craft_write(void);

/*
 * Begin a management datagram of a class to its QP: 0 of subnet management, else 1. Returns its
 * begin.
 */
uint8_t *craft_mad(uint16_t slid, uint16_t dlid, uint8_t class, uint8_t method, uint16_t attribute,
                   uint32_t tid);

/*
 * The datagram at p: encapsulation header, IPv4 and UDP with so many octets of data, n in all.
 * Returns n.
 */
uint32_t craft_udp_size(uint32_t data);
void craft_udp(uint8_t *p, uint32_t from, uint32_t to, uint32_t data);

/* An ARP request at p: encapsulation header and CRAFT_ARP octets in all; lladdr: 20 octets. */
enum { CRAFT_ARP = 4 + 56 };
void craft_arp_request(uint8_t *p, const uint8_t *lladdr, uint32_t ip, uint32_t asked);

/* A link-layer address: flags, QPN, GID. */
void craft_lladdr(uint8_t *p, uint8_t flags, uint32_t qpn, const uint8_t *gid);
/* The GID of a port of the default subnet, by a number of its own. */
void craft_gid(uint8_t *gid, uint32_t number);
/*
 * An MGID of an IPv4 group (RFC 4391 figure 2), its 32 low bits as given: 0xffffffff is the
 * broadcast-GID.
 */
void craft_mgid(uint8_t *mgid, uint8_t flags_scope, uint16_t pkey, uint32_t low);

/* A MCMemberRecord at p. */
void craft_member_record(uint8_t *p, const struct mc_member *r);

/*
 * Directed route SMPs: the response's NodeInfo, PortInfo (active, with the LID) or P_KeyTable
 * (0xffff alone) of the port with this number, as craft_gid() has it; and a route of its own for
 * each number.
 */
void craft_port_data(uint8_t *mad, uint16_t attribute, uint32_t number, uint16_t lid);
void craft_route(uint8_t *mad, uint32_t number);

#endif

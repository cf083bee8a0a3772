/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes synthetic captures for benchmarks and hostile input: InfiniBand packets as ERF records in
 * a classic pcap on standard output, 1000 frames per second from 2023-11-14 22:13:20 UTC. CRCs are
 * 0. A failed write ends the program.
 */
#ifndef IPOIB_TESTS_CRAFT_H
#define IPOIB_TESTS_CRAFT_H

#include "wire/sa.h"
#include "wire/smp.h"

enum { CRAFT_PAYLOAD_MAX = 2048, CRAFT_SECONDS = 1700000000 };
/* Opcodes (IBA table 38). */
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
    uint32_t dqpn, sqpn, qkey, psn; /* qkey and sqpn: UD only */
};

/*
 * UD packets between the IPoIB queue pairs of two ports, all of which have the same QPN: to a LID,
 * and to a group from a GID.
 */
enum { CRAFT_UD_QPN = 0x48, CRAFT_QKEY = 0xb1b, CRAFT_PKEY = 0xffff, CRAFT_MLID = 0xc000 };
struct craft craft_unicast(uint16_t slid, uint16_t dlid);
struct craft craft_multicast(uint16_t slid, const uint8_t *sgid, const uint8_t *mgid);

/* Write numbers in network byte order. */
void put16(uint8_t *p, uint32_t v);
void put24(uint8_t *p, uint32_t v);
void put32(uint8_t *p, uint32_t v);

/* Writes the file header. program: the program's name, for error messages. */
void craft_open(const char *program);
/* Flushes standard output. */
void craft_close(void);
/* Returns the number of frames written so far. */
uint32_t craft_frames(void);

/*
 * Starts a frame. Returns the address of its payload of n zero bytes (at most CRAFT_PAYLOAD_MAX).
 */
uint8_t *craft_packet(const struct craft *c, uint32_t n);
/* Writes the frame that was started. */
void craft_write(void);

/* Starts a MAD of a class to its QP: 0 for subnet management, else 1. Returns its start. */
uint8_t *craft_mad(uint16_t slid, uint16_t dlid, uint8_t class, uint8_t method, uint16_t attribute,
                   uint32_t tid);

/*
 * Writes a datagram to p: encapsulation header, IPv4, UDP and data zero bytes. craft_udp_size()
 * returns its length.
 */
uint32_t craft_udp_size(uint32_t data);
void craft_udp(uint8_t *p, uint32_t from, uint32_t to, uint32_t data);

/*
 * Writes an ARP request to p: encapsulation header and message have CRAFT_ARP bytes together;
 * lladdr has 20 bytes.
 */
enum { CRAFT_ARP = 4 + 56 };
void craft_arp_request(uint8_t *p, const uint8_t *lladdr, uint32_t ip, uint32_t asked);

/* Writes a link-layer address: flags, QPN, GID. */
void craft_lladdr(uint8_t *p, uint8_t flags, uint32_t qpn, const uint8_t *gid);
/* Writes the GID of port number, with the default subnet prefix. */
void craft_gid(uint8_t *gid, uint32_t number);
/*
 * Writes the MGID of an IPv4 group (RFC 4391 figure 2) with the given 32 low bits: 0xffffffff is
 * the broadcast-GID.
 */
void craft_mgid(uint8_t *mgid, uint8_t flags_scope, uint16_t pkey, uint32_t low);

/* Writes an MCMemberRecord to p. */
void craft_member_record(uint8_t *p, const struct mc_member *r);

/*
 * Write directed-route SMPs. craft_port_data(): NodeInfo, PortInfo (active, with the LID) or
 * P_KeyTable (only 0xffff) of the port whose GID is craft_gid(number). craft_route(): a route that
 * is different for each number.
 */
void craft_port_data(uint8_t *mad, uint16_t attribute, uint32_t number, uint16_t lid);
void craft_route(uint8_t *mad, uint32_t number);

#endif

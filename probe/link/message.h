/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds the datagrams that the probe sends, starting at the encapsulation header (RFC 4391 §6).
 * Each function returns the number of bytes written to out, which has room for UD_SIZE. reserved:
 * the header's Reserved field, 0 unless a check tests it.
 */
#ifndef IPOIB_PROBE_MESSAGE_H
#define IPOIB_PROBE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arp_message {
    uint16_t reserved, op;
    const uint8_t *sha, *spa, *tha, *tpa; /* 20, 4, 20, 4 bytes; NULL: zeros */
};
uint32_t message_arp(uint8_t *out, const struct arp_message *m);

/* ff02::1, all nodes */
extern const uint8_t message_all_nodes[16];

struct nd_message {
    uint16_t reserved;
    uint8_t type, flags;               /* ND_NS or ND_NA; flags: of the NA */
    const uint8_t *from, *to, *target; /* IPv6 addresses; from NULL: unspecified */
    const uint8_t *lladdr;             /* in the link-layer address option; NULL: no option */
    uint16_t padding;                  /* the option's two bytes before the address */
};
uint32_t message_nd(uint8_t *out, const struct nd_message *m);

/* An echo request. length: bytes of its IP datagram, at least 28 (IPv4) or 48 (IPv6). */
struct echo_message {
    uint16_t reserved;
    uint16_t id, sequence;
    const uint8_t *from, *to;
    uint32_t length;
};
uint32_t message_echo4(uint8_t *out, const struct echo_message *m);
uint32_t message_echo6(uint8_t *out, const struct echo_message *m);
/*
 * The fragment of an echo request over IPv4 that begins at that byte of its payload, a multiple of
 * 8; most: bytes of its payload, another one. 0: there is none.
 */
uint32_t message_echo4_fragment(uint8_t *out, const struct echo_message *m, uint32_t at,
                                uint32_t most);
/*
 * True if the n bytes of the ICMP message begin with the data of these requests. A reply has the
 * same data.
 */
bool message_is_echo_payload(const uint8_t *icmp, uint32_t n);

/* The solicited-node multicast address (RFC 4291 §2.7.1). */
void message_solicited_node(uint8_t out[16], const uint8_t *address);

/*
 * MGIDs of IP groups (RFC 4391 §4), with the full-member form of the P_Key and the broadcast-GID's
 * scope (4 bits).
 */
void message_broadcast_mgid(uint8_t out[16], uint8_t scope, uint16_t pkey);
void message_ipv6_mgid(uint8_t out[16], uint8_t scope, uint16_t pkey, const uint8_t *group);

/* The link-local address of an EUI-64 (RFC 4391 §8: the u bit inverted). */
void message_link_local(uint8_t out[16], const uint8_t *eui64);

#endif

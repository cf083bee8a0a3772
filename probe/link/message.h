/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The datagrams that the probe sends, from the encapsulation header on (RFC 4391 §6). Each function
 * returns the octets that it has written to out, which has room for UD_SIZE. reserved: the header's
 * Reserved field, 0 where nothing is tested.
 */
#ifndef IPOIB_PROBE_MESSAGE_H
#define IPOIB_PROBE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arp_message {
    uint16_t reserved, op;
    const uint8_t *sha, *spa, *tha, *tpa; /* 20, 4, 20, 4 octets; NULL: zeros */
};
uint32_t make_arp(uint8_t *out, const struct arp_message *m);

struct nd_message {
    uint16_t reserved;
    uint8_t type, flags;               /* ND_NS or ND_NA; the latter's flags */
    const uint8_t *from, *to, *target; /* IPv6; from NULL: unspecified */
    const uint8_t *lladdr;             /* of the option; NULL: none */
    uint16_t padding;                  /* the option's two octets before the address */
};
uint32_t make_nd(uint8_t *out, const struct nd_message *m);

/* An echo request whose IP datagram has length octets: at least 28 of IPv4, 48 of IPv6. */
struct echo_message {
    uint16_t reserved;
    uint16_t id, sequence;
    const uint8_t *from, *to;
    uint32_t length;
};
uint32_t make_echo4(uint8_t *out, const struct echo_message *m);
uint32_t make_echo6(uint8_t *out, const struct echo_message *m);
/* Do the n bytes of the ICMP message begin as those of these requests? A reply has the same. */
bool echo_payload_is(const uint8_t *icmp, uint32_t n);

/* The solicited-node multicast address (RFC 4291 §2.7.1). */
void solicited_node(uint8_t out[16], const uint8_t *address);

/*
 * MGIDs of IP groups (RFC 4391 §4), with the P_Key's full-member form and the scope (4 bits) of the
 * broadcast-GID.
 */
void broadcast_mgid(uint8_t out[16], uint8_t scope, uint16_t pkey);
void ipv6_mgid(uint8_t out[16], uint8_t scope, uint16_t pkey, const uint8_t *group);

/* The link-local address of an EUI-64 (RFC 4391 §8: the u bit turned over). */
void link_local_of(uint8_t out[16], const uint8_t *eui64);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The payload of an InfiniBand packet, decoded once: a datagram with its encapsulation header, or a
 * management datagram (MAD). Model, rules and plugin read these structs and call no decoder again.
 */
#ifndef IPOIB_WIRE_PAYLOAD_H
#define IPOIB_WIRE_PAYLOAD_H

#include "wire/arp.h"
#include "wire/cm.h"
#include "wire/dhcp.h"
#include "wire/encap.h"
#include "wire/sa.h"
#include "wire/smp.h"

/* An IP datagram or an ARP message (RFC 4391 §6). */
struct datagram {
    struct view octets;          /* from the encapsulation header on; empty: there is none */
    enum wire_result header;     /* of encap_decode(); WIRE_FOREIGN: decoded without one */
    struct encap encap;          /* header WIRE_OK */
    struct view body;            /* what follows it */
    enum wire_result arp_result; /* Type ARP and RARP; WIRE_FOREIGN: another Type */
    bool arp_has_fixed;          /* the part before the addresses is there */
    struct arp arp;
    struct view icmpv6;           /* Type IPv6: the ICMPv6 message (nd_in_ipv6()); p NULL: none */
    struct view dhcp_octets;      /* Type IPv4: the DHCP message; p NULL: none */
    enum wire_result dhcp_result; /* of dhcp_decode() */
    struct dhcp dhcp;
};

/* v begins at the encapsulation header. */
void datagram_decode(struct view v, struct datagram *d);

/*
 * The first packet of a longer message on a connection: the header alone is decoded, since the rest
 * of the datagram is in later packets.
 */
void datagram_decode_header(struct view v, struct datagram *d);

/* v begins after the encapsulation header, or in a frame that has none; type: its Ethertype. */
void datagram_decode_body(uint16_t type, struct view v, struct datagram *d);

enum mad_kind { MAD_KIND_OTHER, MAD_KIND_SA, MAD_KIND_SMP, MAD_KIND_CM };

/* A MAD of the classes that say something about IPoIB. */
struct mad_payload {
    struct view octets;      /* from the MAD on */
    enum mad_kind kind;      /* by the management class; OTHER: also where that was not captured */
    enum wire_result result; /* of the class's decoder; WIRE_FOREIGN: another class */
    bool has_header;         /* mad is there; CM: message and communication IDs too */
    union {
        struct mad mad; /* the common header, with which the others begin */
        struct sa sa;
        struct smp smp;
        struct cm cm;
    };
    /* CM: the private data, read as IPoIB's (RFC 4755 §6). WIRE_OK only if result is. */
    enum wire_result private_result;
    struct cm_private private;
};

/* v begins at the MAD. */
void mad_payload_decode(struct view v, struct mad_payload *m);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The payload of an InfiniBand packet, decoded once: a datagram with its encapsulation header, or a
 * management datagram (MAD). Model, rules and plugin read these structs and do not decode again.
 */
#ifndef IPOIB_WIRE_PAYLOAD_H
#define IPOIB_WIRE_PAYLOAD_H

#include "wire/arp.h"
#include "wire/cm.h"
#include "wire/dhcp.h"
#include "wire/encap.h"
#include "wire/sa.h"
#include "wire/smp.h"

/* An IP datagram or an ARP message (RFC 4391 section 6). */
struct datagram {
    struct view bytes; /* data from the encapsulation header on; empty: no header */
    /* result of encap_decode(); WIRE_FOREIGN: decoded without a header */
    enum wire_result header;
    struct encap encap;          /* valid if header is WIRE_OK */
    struct view body;            /* data after the header */
    bool agrees;                 /* encap_agrees() holds; false: it does not, or was not called */
    enum wire_result arp_result; /* for Type ARP and RARP; WIRE_FOREIGN: another Type */
    bool arp_has_fixed;          /* the part before the addresses was captured */
    struct arp arp;
    struct view icmpv6;           /* Type IPv6: the ICMPv6 message (nd_in_ipv6()); p NULL: none */
    struct view dhcp_bytes;       /* Type IPv4: the DHCP message; p NULL: none */
    enum wire_result dhcp_result; /* result of dhcp_decode() */
    struct dhcp dhcp;
};

/*
 * For a frame without InfiniBand headers: may ND options have the form before the driver
 * (wire/nd.h)? Not in cooked captures, which have no encapsulation header: they are Linux's, whose
 * driver moves no address.
 */
static inline bool datagram_is_of_interface(const struct datagram *d)
{
    return d->header != WIRE_FOREIGN;
}

/* v starts at the encapsulation header. */
void datagram_decode(struct view v, struct datagram *d);

/*
 * For the first packet of a multi-packet message on a connection: decode only the header, because
 * the rest of the datagram is in later packets.
 */
void datagram_decode_header(struct view v, struct datagram *d);

/*
 * v starts after the encapsulation header, or is data of a frame without one; type: its Ethertype.
 */
void datagram_decode_body(uint16_t type, struct view v, struct datagram *d);

enum mad_kind { MAD_KIND_OTHER, MAD_KIND_SA, MAD_KIND_SMP, MAD_KIND_CM };

/* A MAD. Classes that are relevant for IPoIB are decoded. */
struct mad_payload {
    struct view bytes; /* data from the MAD on */
    /* by the management class; OTHER: another class, or the class was not captured */
    enum mad_kind kind;
    enum wire_result result; /* result of the class's decoder; WIRE_FOREIGN: another class */
    bool has_header;         /* mad is valid; CM: also message type and communication IDs */
    union {
        struct mad mad; /* the common header, with which the others start */
        struct sa sa;
        struct smp smp;
        struct cm cm;
    };
    /*
     * CM: the private data, decoded as IPoIB's (RFC 4755 section 6). WIRE_OK only if result is
     * WIRE_OK.
     */
    enum wire_result private_result;
    struct cm_private private;
};

/* v starts at the MAD. */
void mad_payload_decode(struct view v, struct mad_payload *m);

#endif

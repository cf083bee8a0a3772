/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What brings IPoIB into a capture file: for a link type and a frame, where InfiniBand or IPoIB
 * begins.
 */
#ifndef IPOIB_WIRE_CARRIER_H
#define IPOIB_WIRE_CARRIER_H

#include "wire/erf.h"
#include "wire/ib.h"
#include "wire/linktype.h"

/*
 * LINKTYPE_IPOIB: 40 octets before the encapsulation header. A GRH where the packet had one; else
 * octets 0 to 19 mean nothing (real files hold left-over memory there) and 20 to 39 are the
 * destination's link-layer address.
 */
enum { DLT_IPOIB_PSEUDO = 40, DLT_IPOIB_ADDRESS = 20 };
enum { DLT_IPOIB_DGID = 24 }; /* of the GRH, and of the address likewise */

/*
 * Does a pseudo header of LINKTYPE_IPOIB hold a genuine GRH? IP version 6, next header IBA, payload
 * length.
 */
bool dlt_ipoib_has_grh(struct view v);

/* Linux cooked captures */
enum { SLL_HATYPE = 2, SLL_PROTOCOL = 14, SLL_SIZE = 16 };
enum { SLL2_PROTOCOL = 0, SLL2_HATYPE = 8, SLL2_SIZE = 20 };
enum { ETHERTYPE_ROCE = 0x8915, UDP_PORT_ROCE2 = 4791 };

enum carrier_kind {
    CARRIER_NONE,   /* no InfiniBand and no IPoIB in this frame */
    CARRIER_IB,     /* an InfiniBand packet, from the header that start names */
    CARRIER_IPOIB,  /* the encapsulation header comes first (after a pseudo header) */
    CARRIER_COOKED, /* the datagram itself, of an interface with hardware type 32; type tells its
                       Ethertype */
};

/* The addresses of an IP packet, in the frame. */
struct outer_ip {
    const uint8_t *src, *dst;
    uint8_t length; /* octets of each: 4, 16, or 0 where there is no IP packet */
};

struct carrier {
    enum carrier_kind kind;
    enum ib_start start;
    uint16_t type;         /* CARRIER_COOKED */
    struct view inner;     /* from there on */
    struct outer_ip outer; /* RoCE v2 */
    const uint8_t *dgid;   /* CARRIER_IPOIB: DGID of the GRH, or the MGID that is the destination's
                              address; NULL: none */
    uint32_t port;         /* of the card that captured it (erf_port); 0 where that is not told */
};

/*
 * WIRE_OK with kind set (also to CARRIER_NONE); WIRE_TRUNCATED, WIRE_MALFORMED: the carrier's
 * header is not whole.
 */
enum wire_result carrier_locate(int linktype, struct view v, struct carrier *c);

/* Of a frame without InfiniBand headers: the first octet that is decoded. */
static inline const uint8_t *carrier_begin(const struct carrier *c)
{
    return c->dgid ? c->dgid - DLT_IPOIB_DGID : c->inner.p;
}

#endif

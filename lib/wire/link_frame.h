/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Encapsulations of IPoIB in a capture file: for a link type and a frame, find where InfiniBand or
 * IPoIB starts.
 */
#ifndef IPOIB_WIRE_LINK_FRAME_H
#define IPOIB_WIRE_LINK_FRAME_H

#include "wire/erf.h"
#include "wire/ib.h"
#include "wire/linktype.h"

/*
 * LINKTYPE_IPOIB: a pseudo header of 40 bytes before the encapsulation header. It is a GRH if the
 * packet had one. Otherwise bytes 0 to 19 have no meaning (real files contain left-over memory
 * there), and bytes 20 to 39 are the destination's link-layer address. Solaris and illumos show the
 * address as their IP layer has it: the MGID in it has scope 0 and P_Key 0, which the driver
 * replaces in the packet (IBD_FILL_SCOPE_PKEY and IBD_CLEAR_SCOPE_PKEY in illumos' ibd.c).
 */
enum { DLT_IPOIB_PSEUDO = 40, DLT_IPOIB_ADDRESS = 20 };
enum { DLT_IPOIB_DGID = 24 }; /* offset of the GID, in the GRH and in the address */

/*
 * Is the pseudo header of LINKTYPE_IPOIB a real GRH? Checks IP version 6, next header BTH and the
 * payload length.
 */
bool dlt_ipoib_has_grh(struct view v);

/* Linux cooked captures */
enum { SLL_HATYPE = 2, SLL_PROTOCOL = 14, SLL_SIZE = 16 };
enum { SLL2_PROTOCOL = 0, SLL2_HATYPE = 8, SLL2_SIZE = 20 };
enum { ETHERTYPE_ROCE = 0x8915, UDP_PORT_ROCE2 = 4791 };

enum link_frame_kind {
    LINK_FRAME_NONE,  /* no InfiniBand and no IPoIB in this frame */
    LINK_FRAME_IB,    /* an InfiniBand packet, from the header in start */
    LINK_FRAME_IPOIB, /* the encapsulation header is first (after a pseudo header) */
    /* the datagram itself, of an interface with hardware type 32; type is its Ethertype */
    LINK_FRAME_COOKED,
};

/* Addresses of an IP packet; they point into the frame. */
struct outer_ip {
    const uint8_t *src, *dst;
    uint8_t length; /* bytes of each: 4, 16, or 0 if there is no IP packet */
};

struct link_frame {
    enum link_frame_kind kind;
    enum ib_start start;
    uint16_t type;         /* LINK_FRAME_COOKED */
    struct view inner;     /* data from the found start on */
    struct outer_ip outer; /* RoCE v2 */
    /* LINK_FRAME_IPOIB: DGID of the GRH, or the MGID in the destination's address; NULL: none */
    const uint8_t *dgid;
    uint32_t port; /* port of the card that captured the frame (erf_port()); 0: unknown */
};

/*
 * WIRE_OK: kind is set, possibly to LINK_FRAME_NONE. WIRE_TRUNCATED, WIRE_MALFORMED: the link
 * type's header is incomplete.
 */
enum wire_result link_frame_locate(int linktype, struct view v, struct link_frame *c);

/*
 * Is nothing known of the frame's contents: its link type, or the type of its ERF record? A frame
 * of Ethernet, or of another device in a cooked capture, is known to be no InfiniBand.
 */
bool link_frame_is_unknown(int linktype, struct view v);

/*
 * Does the frame begin with an InfiniBand packet, with its LRH, whatever its link type says? The
 * length of the packet is that of the frame, with the VCRC or without it.
 */
bool link_frame_begins_lrh(struct view v);

/* link_frame_locate() for an Ethernet frame, with another UDP port of RoCE v2. */
enum wire_result link_frame_locate_roce(struct view v, uint16_t port, struct link_frame *c);

/* The first decoded byte of a frame without InfiniBand headers. */
static inline const uint8_t *link_frame_start(const struct link_frame *c)
{
    return c->dgid ? c->dgid - DLT_IPOIB_DGID : c->inner.p;
}

#endif

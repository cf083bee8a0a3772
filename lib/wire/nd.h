/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Neighbour Discovery (RFC 4861) messages and their options, and the position of the IPoIB
 * link-layer address in the options (RFC 4391 section 9.3: type 1 or 2, length 3, two zero octets
 * before the address).
 */
#ifndef IPOIB_WIRE_ND_H
#define IPOIB_WIRE_ND_H

#include "wire/view.h"

enum { ND_RS = 133, ND_RA = 134, ND_NS = 135, ND_NA = 136, ND_REDIRECT = 137 };
/* NS, NA, Redirect: the target address, 16 octets (RFC 4861 sections 4.3 to 4.5) */
enum { ND_TARGET = 8 };
enum { ND_HOP_LIMIT = 255 };  /* of the IPv6 header, in each message (sections 6.1, 7.1, 8.1) */
enum { ND_RA_HOP_LIMIT = 4 }; /* Cur Hop Limit (section 4.2) */
enum { ND_NA_FLAGS = 4 };     /* R, S, O in the three high bits (RFC 4861 section 4.4) */
enum { ND_NA_SOLICITED = 0x40, ND_NA_OVERRIDE = 0x20 };

enum { ND_OPT_TYPE = 0, ND_OPT_LENGTH = 1, ND_OPT_PAD = 2, ND_OPT_LLADDR = 4 };
enum { ND_OPT_SOURCE_LLADDR = 1, ND_OPT_TARGET_LLADDR = 2 };
enum { ND_OPT_IPOIB_LENGTH = 3 }; /* units of 8 bytes */

/*
 * The ICMPv6 message of the IPv6 packet in v, after hop-by-hop and destination options (RFC 8200
 * sections 4.3, 4.6). false: another protocol, a fragment, or the needed headers were not captured.
 */
bool nd_in_ipv6(struct view v, struct view *icmpv6);

/*
 * Has the IPv6 packet in v an ND message that nd_in_ipv6() does not find: behind a routing or
 * authentication header (RFC 4302), or in fragments, of which this is the first?
 */
bool nd_is_hidden(struct view v);

/*
 * Does the capture of the IPv6 packet in v end before the target address of a Neighbour
 * Advertisement, or so early that the packet may be one?
 */
bool nd_may_be_truncated_na(struct view v);

struct nd_option {
    uint8_t type;
    uint32_t off;  /* bytes from the ICMPv6 header */
    uint32_t size; /* bytes */
};

struct nd_iter {
    struct view v;
    uint32_t next;
    enum wire_result end; /* why the iteration ended */
};

/* Start the iteration at the options of the ICMPv6 message in v; false: not an ND message. */
bool nd_options(struct view v, struct nd_iter *it);

/*
 * Get the next option. An option of length 0 or beyond the end of the message ends the iteration
 * (WIRE_MALFORMED, RFC 4861 section 4.6). An option whose start was captured is returned even if
 * its end was not; check with view_has().
 */
bool nd_next(struct nd_iter *it, struct nd_option *o);

/* Is it a source or target link-layer address option in the form of RFC 4391 section 9.3? */
static inline bool nd_is_ipoib_lladdr(const struct nd_option *o)
{
    return (o->type == ND_OPT_SOURCE_LLADDR || o->type == ND_OPT_TARGET_LLADDR) &&
           o->size == ND_OPT_IPOIB_LENGTH * 8;
}

/* Offsets of such an option as the IP layer of Solaris and illumos has it. */
enum { ND_OPT_LLADDR_BEFORE_DRIVER = 2, ND_OPT_PAD_BEFORE_DRIVER = 22 };

enum nd_form {
    ND_FORM_PACKET, /* that of a packet (RFC 4391 section 9.3), possibly with errors */
    /*
     * The address after the length, and the two zero octets at the end. The driver of Solaris and
     * illumos moves the address in each packet that it sends or receives (IBD_PAD_NSNA in illumos'
     * ibd.h), so captures of the interface show this form.
     */
    ND_FORM_BEFORE_DRIVER,
    ND_FORM_EITHER, /* the bytes may be either */
};

/*
 * The form of such an option of a frame that was captured at an IPoIB interface. If the octets that
 * are zero in both forms are, the default prefix of the GID (fe80::/64, IBA 4.1.1) decides. p: the
 * option, 24 bytes.
 */
enum nd_form nd_form(const uint8_t *p);

static inline bool nd_may_be_before_driver(const uint8_t *p)
{
    return nd_form(p) != ND_FORM_PACKET;
}

/*
 * Has the sender put the two octets after the address, as the padding, which is not zero, and the
 * default prefix of the GID at the other place show? What follows the padding is no address then.
 */
bool nd_is_padded_behind(const uint8_t *p);

/*
 * The link-layer address (LLADDR_SIZE bytes) in the first option of this type (source or target) of
 * the ICMPv6 message in v, in the form of RFC 4391 section 9.3. NULL: none, or not captured.
 */
const uint8_t *nd_lladdr(struct view v, uint8_t type);

/*
 * Has the ICMPv6 message in v Ethernet's source link-layer address option, with the first 6 of
 * IPoIB's 20 bytes: flags, QPN, and the start of the GID, which is a unicast prefix? Also true if
 * they were not captured.
 */
bool nd_has_ethernet_option(struct view v);

/*
 * The IPv6 address (16 octets) that receivers map to the option's link-layer address: the source
 * for RS, RA and NS, the target for NA. NULL: receivers ignore the option (RFC 4861 sections 4.4,
 * 4.5), or it belongs to another node, as in a Redirect. o: an option of the ICMPv6 message in v;
 * source: the source address of the IPv6 packet.
 */
const uint8_t *nd_option_owner(struct view v, const struct nd_option *o, const uint8_t *source);

/*
 * The next link-layer address (LLADDR_SIZE bytes) that receivers map to an IPv6 address, which *ip
 * is set to (16 bytes); see nd_option_owner() and nd_is_padded_behind(). NULL: no more, or they
 * were not captured.
 */
const uint8_t *nd_next_announced(struct nd_iter *it, const uint8_t *source, const uint8_t **ip);

#endif

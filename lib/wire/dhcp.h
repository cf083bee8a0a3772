/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DHCP messages (RFC 2131 section 2, options: RFC 2132) in UDP over IPv4: the parts for which RFC
 * 4390 has requirements on an IPoIB link.
 */
#ifndef IPOIB_WIRE_DHCP_H
#define IPOIB_WIRE_DHCP_H

#include "wire/view.h"

/* Offsets from the start of the message (RFC 2131 section 2 figure 1). */
enum {
    DHCP_OP = 0,
    DHCP_HTYPE = 1,
    DHCP_HLEN = 2,
    DHCP_XID = 4,
    DHCP_FLAGS = 10,
    DHCP_CIADDR = 12,
    DHCP_YIADDR = 16,
    DHCP_GIADDR = 24,
    DHCP_CHADDR = 28,
    DHCP_SNAME = 44,
    DHCP_FILE = 108,
    DHCP_COOKIE = 236,
    DHCP_OPTIONS = 240,
};
#define DHCP_MAGIC_COOKIE 0x63825363u /* before the options (RFC 2131 section 3) */
enum { DHCP_CHADDR_SIZE = 16, DHCP_SNAME_SIZE = 64, DHCP_FILE_SIZE = 128 };

enum { DHCP_BOOTREQUEST = 1, DHCP_BOOTREPLY = 2 };
enum { DHCP_HTYPE_ETHERNET = 1, DHCP_HTYPE_INFINIBAND = 32 };
enum { DHCP_FLAG_BROADCAST = 0x8000 };

enum {
    DHCP_OPTION_PAD = 0,
    DHCP_OPTION_SUBNET_MASK = 1,
    DHCP_OPTION_REQUESTED_ADDRESS = 50,
    DHCP_OPTION_LEASE_TIME = 51,
    DHCP_OPTION_OVERLOAD = 52,
    DHCP_OPTION_MESSAGE_TYPE = 53,
    DHCP_OPTION_SERVER = 54,
    DHCP_OPTION_CLIENT_ID = 61,
    DHCP_OPTION_END = 255,
};
/* Option overload (RFC 2132 section 9.3): fields that also contain options. */
enum { DHCP_OVERLOAD_FILE = 1, DHCP_OVERLOAD_SNAME = 2 };

/* message types (RFC 2132 section 9.6) */
enum {
    DHCP_DISCOVER = 1,
    DHCP_OFFER = 2,
    DHCP_REQUEST = 3,
    DHCP_DECLINE = 4,
    DHCP_ACK = 5,
    DHCP_NAK = 6,
    DHCP_RELEASE = 7,
    DHCP_INFORM = 8,
};

/* RFC 4361 section 6.1: type 255, IAID (4 octets), DUID, which starts with a type of 2 octets. */
enum { DHCP_CLIENT_ID_TYPE_DUID = 255, DHCP_CLIENT_ID_DUID = 5, DHCP_DUID_TYPE_SIZE = 2 };

struct dhcp {
    uint8_t op, htype, hlen;
    uint8_t message_type; /* 0: no such option (BOOTP), or not captured */
    uint16_t flags;
    uint32_t xid, ciaddr, yiaddr, giaddr;
    uint32_t requested;        /* requested IP address; 0: no such option */
    uint32_t lease_seconds;    /* 0: no such option */
    uint32_t mask;             /* subnet mask; 0: no such option */
    uint32_t server;           /* server identifier, an IP address; 0: no such option */
    uint32_t client_id;        /* offset of the option's first data byte; 0: no such option */
    uint32_t client_id_length; /* of all its parts (RFC 3396) */
    /*
     * WIRE_OK: all options were read; an option not set here is not in the message. WIRE_TRUNCATED:
     * the capture ends within the options. WIRE_MALFORMED: an option is longer than the message.
     */
    enum wire_result options;
};

/*
 * The DHCP message of the IPv4 packet in v: UDP to port 67 or 68, not a fragment. false: another
 * protocol, or the needed headers were not captured.
 */
bool dhcp_in_ipv4(struct view v, struct view *message);

/* Is it the first fragment of such a packet? */
bool dhcp_is_fragment(struct view v);

struct dhcp;
/*
 * Did a client of this link send the message of the IPv4 packet to all servers of the link? Routers
 * do not forward 255.255.255.255, and relay agents fill in giaddr (RFC 1542 section 4.1.1).
 */
bool dhcp_is_to_this_link(struct view ipv4, const struct dhcp *d);

/*
 * WIRE_OK: the fixed part was captured and d is filled; d->options is the result for the options.
 * WIRE_TRUNCATED, WIRE_MALFORMED: the fixed part is incomplete. WIRE_FOREIGN: no magic cookie (RFC
 * 2131 section 3).
 */
enum wire_result dhcp_decode(struct view v, struct dhcp *d);

#endif

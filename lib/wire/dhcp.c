/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/dhcp.h"
#include "wire/ip.h"

enum { PROTOCOL_UDP = 17 };
enum { UDP_DESTINATION_PORT = 2, UDP_LENGTH = 4, UDP_SIZE = 8 };
enum { PORT_SERVER = 67, PORT_CLIENT = 68 };

/* Fragment: the value of the fragment field, 0 for a whole packet. */
static bool udp_of_fragment(struct view v, uint16_t fragment, struct view *udp)
{
    if (view_has(v, 0, IPV4_SIZE) != WIRE_OK || v.p[0] >> 4 != 4)
        return false;
    uint32_t header = (v.p[0] & 0xfu) * 4, total = be16(v.p + IPV4_TOTAL_LENGTH);
    if (header < IPV4_SIZE || total < header || v.p[IPV4_PROTOCOL] != PROTOCOL_UDP ||
        (be16(v.p + IPV4_FRAGMENT) & IPV4_FRAGMENTED) != fragment)
        return false;
    *udp = view_sub(v, header, total - header);
    return true;
}

/* Get the UDP datagram of the IPv4 packet in v; false: not captured, not UDP, or a fragment. */
static bool udp_in_ipv4(struct view v, struct view *udp)
{
    return udp_of_fragment(v, 0, udp);
}

bool dhcp_is_fragment(struct view v)
{
    struct view udp;
    if (!udp_of_fragment(v, IPV4_MORE_FRAGMENTS, &udp) || view_has(udp, 0, UDP_SIZE) != WIRE_OK)
        return false;
    uint16_t port = be16(udp.p + UDP_DESTINATION_PORT);
    return port == PORT_SERVER || port == PORT_CLIENT;
}

bool dhcp_is_to_this_link(struct view ipv4, const struct dhcp *d)
{
    return d->op == DHCP_BOOTREQUEST && d->giaddr == 0 &&
           be32(ipv4.p + IPV4_DESTINATION) == IPV4_LIMITED_BROADCAST;
}

bool dhcp_in_ipv4(struct view v, struct view *message)
{
    struct view udp;
    if (!udp_in_ipv4(v, &udp) || view_has(udp, 0, UDP_SIZE) != WIRE_OK)
        return false;
    uint16_t port = be16(udp.p + UDP_DESTINATION_PORT), length = be16(udp.p + UDP_LENGTH);
    if ((port != PORT_SERVER && port != PORT_CLIENT) || length < UDP_SIZE)
        return false;
    *message = view_sub(udp, UDP_SIZE, length - UDP_SIZE);
    return true;
}

/* Read an option with n bytes of data at offset `at` of the message; all of it was captured. */
static void read_option(struct view v, uint8_t code, uint32_t at, uint8_t n, struct dhcp *d,
                        uint8_t *overload)
{
    if (code == DHCP_OPTION_MESSAGE_TYPE && n > 0)
        d->message_type = v.p[at];
    if (code == DHCP_OPTION_OVERLOAD && n > 0)
        *overload = v.p[at];
    if (code == DHCP_OPTION_REQUESTED_ADDRESS && n == sizeof(uint32_t))
        d->requested = be32(v.p + at);
    if (code == DHCP_OPTION_SERVER && n == sizeof(uint32_t))
        d->server = be32(v.p + at);
    if (code == DHCP_OPTION_SUBNET_MASK && n == sizeof(uint32_t))
        d->mask = be32(v.p + at);
    if (code == DHCP_OPTION_LEASE_TIME && n == sizeof(uint32_t))
        d->lease_seconds = be32(v.p + at);
    if (code == DHCP_OPTION_CLIENT_ID) {
        if (d->client_id_length == 0) /* skip a part without data */
            d->client_id = at;
        d->client_id_length += n;
    }
}

/*
 * Read the options between two offsets of the message. An area may end without the End option:
 * receivers accept that.
 */
static enum wire_result read_options(struct view v, uint32_t at, uint32_t end, struct dhcp *d,
                                     uint8_t *overload)
{
    v = view_first(v, end);
    while (at < v.len) {
        if (at >= v.cap)
            return WIRE_TRUNCATED;
        uint8_t code = v.p[at++];
        if (code == DHCP_OPTION_END)
            return WIRE_OK;
        if (code == DHCP_OPTION_PAD)
            continue;
        enum wire_result r = view_has(v, at, 1);
        if (r == WIRE_OK)
            r = view_has(v, at + 1, v.p[at]);
        if (r != WIRE_OK)
            return r;
        read_option(v, code, at + 1, v.p[at], d, overload);
        at += 1u + v.p[at];
    }
    return WIRE_OK;
}

/*
 * Read the options area, then file and sname if the overload option includes them, in this order.
 */
static enum wire_result read_all_options(struct view v, struct dhcp *d)
{
    uint8_t overload = 0, ignored;
    enum wire_result r = read_options(v, DHCP_OPTIONS, v.len, d, &overload);
    if (r == WIRE_OK && overload & DHCP_OVERLOAD_FILE)
        r = read_options(v, DHCP_FILE, DHCP_FILE + DHCP_FILE_SIZE, d, &ignored);
    if (r == WIRE_OK && overload & DHCP_OVERLOAD_SNAME)
        r = read_options(v, DHCP_SNAME, DHCP_SNAME + DHCP_SNAME_SIZE, d, &ignored);
    return r;
}

enum wire_result dhcp_decode(struct view v, struct dhcp *d)
{
    enum wire_result r = view_has(v, 0, DHCP_OPTIONS);
    if (r != WIRE_OK)
        return r;
    if (be32(v.p + DHCP_COOKIE) != DHCP_MAGIC_COOKIE)
        return WIRE_FOREIGN;
    *d = (struct dhcp){
        .op = v.p[DHCP_OP],
        .htype = v.p[DHCP_HTYPE],
        .hlen = v.p[DHCP_HLEN],
        .flags = be16(v.p + DHCP_FLAGS),
        .xid = be32(v.p + DHCP_XID),
        .ciaddr = be32(v.p + DHCP_CIADDR),
        .yiaddr = be32(v.p + DHCP_YIADDR),
        .giaddr = be32(v.p + DHCP_GIADDR),
    };
    d->options = read_all_options(v, d);
    return WIRE_OK;
}

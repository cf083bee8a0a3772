/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Echo replies (RFC 792, RFC 4443 §4.2): the request with the addresses swapped and another type.
 * See deviant.h.
 */
#include <string.h>

#include "wire/put.h"
#include "tests/probe/deviant/deviant.h"
#include "wire/encap.h"
#include "wire/nd.h"
#include "probe/link/transport.h"

enum {
    IPV4_SIZE = 20,
    IPV4_FRAGMENT = 0x3fff,
    IPV6_SIZE = 40,
    ICMP = 1,
    ICMPV6 = 58,
    ICMP_CHECKSUM = 2
};
enum { REQUEST4 = 8, REPLY4 = 0, REQUEST6 = 128, REPLY6 = 129 };

/* Updates the checksum for the changed type (RFC 1624). */
static void change_type(uint8_t *icmp, uint8_t type)
{
    uint32_t before = be16(icmp);
    icmp[0] = type;
    uint32_t sum = (~(uint32_t)be16(icmp + ICMP_CHECKSUM) & 0xffff) + (~before & 0xffff) +
                   be16(icmp);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    put16(icmp + ICMP_CHECKSUM, ~sum & 0xffff);
}

/* addresses: offset of source and destination in the datagram, of size bytes each. */
static void reply(struct deviant *d, const struct ud_from *from, struct view v, uint32_t addresses,
                  uint32_t size, uint32_t icmp, uint8_t type)
{
    uint8_t out[UD_SIZE];
    memcpy(out, from->bytes.p, ENCAP_SIZE);
    put16(out + ENCAP_RESERVED, 0);
    memcpy(out + ENCAP_SIZE, v.p, v.cap);
    memcpy(out + ENCAP_SIZE + addresses, v.p + addresses + size, size);
    memcpy(out + ENCAP_SIZE + addresses + size, v.p + addresses, size);
    change_type(out + ENCAP_SIZE + icmp, type);
    send_ip(d, v.p + addresses, from, out, ENCAP_SIZE + v.cap);
}

void take_ipv4(struct deviant *d, const struct ud_from *from, struct view v)
{
    if (view_has(v, 0, IPV4_SIZE + 8) != WIRE_OK || v.p[0] != 0x45 || v.p[9] != ICMP ||
        (be16(v.p + 6) & IPV4_FRAGMENT) || memcmp(v.p + 16, d->ip4, 4) != 0 ||
        v.p[IPV4_SIZE] != REQUEST4)
        return;
    reply(d, from, v, 12, 4, IPV4_SIZE, REPLY4);
}

void take_ipv6(struct deviant *d, const struct ud_from *from, struct view v)
{
    struct view icmpv6;
    if (nd_in_ipv6(v, &icmpv6) && icmpv6.cap > 0 &&
        (icmpv6.p[0] == ND_NS || icmpv6.p[0] == ND_NA)) {
        take_nd(d, from, v, icmpv6);
        return;
    }
    if (view_has(v, 0, IPV6_SIZE + 8) != WIRE_OK || v.p[6] != ICMPV6 ||
        memcmp(v.p + 24, d->ip6, 16) != 0 || v.p[IPV6_SIZE] != REQUEST6)
        return;
    reply(d, from, v, 8, 16, IPV6_SIZE, REPLY6);
}

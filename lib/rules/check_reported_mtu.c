/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of the MTU that the destination of a datagram reports (RFC 4391 §7). */
#include "rules/report.h"
#include "wire/encap.h"
#include "wire/ip.h"

enum { ICMP_PROTOCOL = 1, ICMP_UNREACHABLE = 3, ICMP_TOO_BIG = 4, ICMPV6_TOO_BIG = 2 };
enum { ICMP_MTU = 6, ICMPV6_MTU = 4, ICMP_DATAGRAM = 8 };
enum { MTU_SUPPORTED = 2044 };

/* The ICMP message of an IPv4 datagram, if it says that fragmentation is needed; cap 0: none. */
static struct view too_big_of_ipv4(struct view ipv4)
{
    if (view_has(ipv4, 0, IPV4_SIZE) != WIRE_OK || ipv4.p[IPV4_PROTOCOL] != ICMP_PROTOCOL ||
        be16(ipv4.p + IPV4_FRAGMENT) & IPV4_FRAGMENTED)
        return (struct view){0};
    struct view icmp = view_from(ipv4, (ipv4.p[0] & 0x0fu) * 4u);
    bool too_big = view_has(icmp, 0, ICMP_DATAGRAM + IPV4_SIZE) == WIRE_OK &&
                   icmp.p[0] == ICMP_UNREACHABLE && icmp.p[1] == ICMP_TOO_BIG;
    return too_big ? icmp : (struct view){0};
}

/*
 * Every implementation supports 2044 octets, and so does its default configuration. A router may
 * name the MTU of another link; the destination of the datagram names that of its own.
 */
void check_reported_mtu(const struct reporter *r, const struct datagram *d)
{
    bool v4 = d->encap.type == TYPE_IPV4;
    struct view icmp = v4 ? too_big_of_ipv4(d->body) : d->icmpv6;
    uint32_t source = v4 ? IPV4_SOURCE : IPV6_SOURCE,
             destination = v4 ? IPV4_DESTINATION : IPV6_DESTINATION,
             size = v4 ? IPV4_ADDRESS_SIZE : IPV6_ADDRESS_SIZE;
    if ((!v4 && d->encap.type != TYPE_IPV6) || !icmp.p ||
        view_has(icmp, 0, ICMP_DATAGRAM + destination + size) != WIRE_OK ||
        (!v4 && icmp.p[0] != ICMPV6_TOO_BIG))
        return;
    uint32_t mtu = v4 ? be16(icmp.p + ICMP_MTU) : be32(icmp.p + ICMPV6_MTU);
    if (mtu && mtu < MTU_SUPPORTED &&
        memcmp(d->body.p + source, icmp.p + ICMP_DATAGRAM + destination, size) == 0)
        report_inconclusive(r, R_RFC4391_7_MTU_2044, icmp.p,
                            "the destination of a datagram needs smaller ones: a capture does not "
                            "show whether its default or an administrator limits it");
}

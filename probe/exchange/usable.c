/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a host accepts an IP datagram. See usable.h. */
#include "probe/exchange/usable.h"

#include "wire/checksum.h"
#include "wire/ip.h"
#include "wire/nd.h"

enum { PROTOCOL_ICMP = 1, PROTOCOL_ICMPV6 = 58, IPV4_OFFSET_AND_MORE = 0x3fff };

/* RFC 1122 §3.2.1.2; for ICMP, RFC 792. */
static const char *why_dropped4(struct view ip)
{
    if (view_has(ip, 0, IPV4_SIZE) != WIRE_OK)
        return NULL;
    uint32_t head = (ip.p[0] & 0xfu) * 4, total = be16(ip.p + IPV4_TOTAL_LENGTH);
    if (head < IPV4_SIZE || total < head || view_has(ip, 0, total) != WIRE_OK)
        return NULL;
    if (checksum_fold(checksum_add(0, ip.p, head)) != 0)
        return "a wrong IPv4 header checksum";
    if (ip.p[IPV4_PROTOCOL] != PROTOCOL_ICMP ||
        (be16(ip.p + IPV4_FRAGMENT) & IPV4_OFFSET_AND_MORE) != 0)
        return NULL;
    return checksum_fold(checksum_add(0, ip.p + head, total - head)) ? "a wrong ICMP checksum"
                                                                     : NULL;
}

/* RFC 4861 §7.1.2, for an NA of sufficient length. */
static const char *why_na_dropped(const uint8_t *to, struct view na)
{
    if (na.p[ND_TARGET] == 0xff)
        return "a multicast address as its target";
    if (to[0] == 0xff && (na.p[ND_NA_FLAGS] & ND_NA_SOLICITED))
        return "the Solicited flag, and was sent to a multicast address";
    return NULL;
}

/* RFC 4861 §7.1.1 and §7.1.2: requirements for both NS and NA. */
static const char *why_nd_dropped(struct view ip, struct view nd)
{
    enum { HOP_LIMIT_AT = 7, HOP_LIMIT = 255, CODE_AT = 1, LEAST = 24 };
    struct nd_iter it;
    struct nd_option o;
    if (ip.p[HOP_LIMIT_AT] != HOP_LIMIT)
        return "a hop limit other than 255";
    if (nd.cap < LEAST)
        return "fewer than 24 bytes";
    if (nd.p[CODE_AT] != 0)
        return "a code other than 0";
    if (nd_options(nd, &it)) {
        while (nd_next(&it, &o))
            ;
        if (it.end == WIRE_MALFORMED)
            return "an option whose length is 0 or too large";
    }
    return nd.p[0] == ND_NA ? why_na_dropped(ip.p + IPV6_DESTINATION, nd) : NULL;
}

static const char *why_dropped6(struct view ip)
{
    struct view icmpv6;
    if (view_has(ip, 0, IPV6_SIZE) != WIRE_OK ||
        view_has(ip, IPV6_SIZE, be16(ip.p + IPV6_PAYLOAD_LENGTH)) != WIRE_OK ||
        !nd_in_ipv6(ip, &icmpv6))
        return NULL;
    /* over the pseudo-header of RFC 8200 §8.1 */
    uint32_t sum = checksum_add(icmpv6.cap + PROTOCOL_ICMPV6, ip.p + IPV6_SOURCE,
                                2 * IPV6_ADDRESS_SIZE);
    if (checksum_fold(checksum_add(sum, icmpv6.p, icmpv6.cap)) != 0)
        return "a wrong ICMPv6 checksum";
    return icmpv6.p[0] == ND_NS || icmpv6.p[0] == ND_NA ? why_nd_dropped(ip, icmpv6) : NULL;
}

const char *usable_drop_reason(struct view ip)
{
    if (view_has(ip, 0, 1) != WIRE_OK)
        return NULL;
    return ip.p[0] >> 4 == 4 ? why_dropped4(ip) : ip.p[0] >> 4 == 6 ? why_dropped6(ip) : NULL;
}

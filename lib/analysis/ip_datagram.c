/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/ip.h"

/* What was captured of it after a header that was captured. */
static struct view body_of(struct view v, uint32_t header, uint32_t length)
{
    uint32_t captured = MIN(v.cap - header, length);
    return (struct view){v.p + header, captured, captured};
}

static bool read_ipv4(struct view v, struct ip_datagram *d)
{
    if (v.cap < IPV4_SIZE || v.p[0] >> 4 != 4)
        return false;
    uint32_t header = 4 * (v.p[0] & 0x0fu), total = be16(v.p + IPV4_TOTAL_LENGTH);
    if (header < IPV4_SIZE || total < header || v.cap < header ||
        be16(v.p + IPV4_FRAGMENT) & IPV4_FRAGMENTED)
        return false;
    *d = (struct ip_datagram){.body = body_of(v, header, total - header),
                              .length = total - header,
                              .from = v.p + IPV4_SOURCE,
                              .header_size = (uint8_t)header,
                              .address_size = IPV4_ADDRESS_SIZE,
                              .protocol = v.p[IPV4_PROTOCOL],
                              .ttl = v.p[IPV4_TTL]};
    return true;
}

static bool read_ipv6(struct view v, struct ip_datagram *d)
{
    if (v.cap < IPV6_SIZE || v.p[0] >> 4 != 6)
        return false;
    uint32_t length = be16(v.p + IPV6_PAYLOAD_LENGTH);
    *d = (struct ip_datagram){.body = body_of(v, IPV6_SIZE, length),
                              .length = length,
                              .from = v.p + IPV6_SOURCE,
                              .header_size = IPV6_SIZE,
                              .address_size = IPV6_ADDRESS_SIZE,
                              .protocol = v.p[IPV6_NEXT_HEADER],
                              .ttl = v.p[IPV6_HOP_LIMIT]};
    return true;
}

bool ip_datagram_read(struct view v, bool v4, struct ip_datagram *d)
{
    return v4 ? read_ipv4(v, d) : read_ipv6(v, d);
}

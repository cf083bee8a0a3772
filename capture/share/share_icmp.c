/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises ICMP, IGMP and ICMPv6. See share_icmp.h. */
#include "capture/share/share_icmp.h"

#include <string.h>

#include "wire/ip.h"
#include "wire/membership.h"
#include "wire/nd.h"

enum { ND_OPT_PREFIX = 3, ND_OPT_MTU = 5, ND_OPT_ROUTE = 24, ND_OPT_DNS = 25 };
enum { ICMP_HEADER = 8, ND_REDIRECT_DESTINATION = 24 };

/* Offset of the link-layer address in the option of the message v. */
static uint32_t lladdr_at(struct view v, const struct nd_option *o, bool of_interface)
{
    bool before_driver = of_interface && view_has(v, o->off, o->size) == WIRE_OK &&
                         nd_may_be_before_driver(v.p + o->off);

    return o->off + (before_driver ? ND_OPT_LLADDR_BEFORE_DRIVER : ND_OPT_LLADDR);
}

/* RFC 4861 section 4.6.2 */
enum { ND_OPT_PREFIX_RESERVED = 12, ND_OPT_PREFIX_AT = 16, ND_OPT_PREFIX_SIZE = 32 };

static void share_prefix_option(struct share_map *m, struct span s, const struct nd_option *o)
{
    if (o->size < ND_OPT_PREFIX_SIZE) {
        span_clear_part(s, o->off + 2, o->size - 2);
        return;
    }
    span_clear_part(s, o->off + ND_OPT_PREFIX_RESERVED, ND_OPT_PREFIX_AT - ND_OPT_PREFIX_RESERVED);
    span_map_ip(m, s, o->off + ND_OPT_PREFIX_AT, IPV6_ADDRESS_SIZE);
    span_clear_part(s, o->off + ND_OPT_PREFIX_SIZE, o->size - ND_OPT_PREFIX_SIZE);
}

/* v: the message before any change. */
static void share_nd_option(struct share_map *m, struct span s, struct view v,
                            const struct nd_option *o, bool of_interface)
{
    switch (o->type) {
    case ND_OPT_SOURCE_LLADDR:
    case ND_OPT_TARGET_LLADDR:
        if (nd_is_ipoib_lladdr(o))
            span_map_lladdr(m, s, lladdr_at(v, o, of_interface));
        else
            span_clear_part(s, o->off + 2, o->size - 2);
        break;
    case ND_OPT_PREFIX:
        share_prefix_option(m, s, o);
        break;
    case ND_OPT_DNS:
        for (uint32_t at = 8; at + IPV6_ADDRESS_SIZE <= o->size; at += IPV6_ADDRESS_SIZE)
            span_map_ip(m, s, o->off + at, IPV6_ADDRESS_SIZE);
        break;
    case ND_OPT_MTU:
        span_clear_part(s, o->off + 8, o->size - 8);
        break;
    default:
        span_clear_part(s, o->off + 2, o->size - 2);
        break;
    }
}

static void share_nd(struct share_map *m, struct span s, struct view v, bool of_interface)
{
    struct nd_iter it;
    struct nd_option o;
    uint32_t end;

    if (!nd_options(v, &it)) {
        span_clear(s, ICMP_HEADER);
        return;
    }
    end = it.next;
    while (nd_next(&it, &o)) { /* reads V, which does not change */
        share_nd_option(m, s, v, &o, of_interface);
        end = o.off + o.size;
    }
    /* keep type and length of an option with length 0 or beyond the end of the message */
    span_clear(s, it.end == WIRE_MALFORMED ? end + ND_OPT_PAD : end);
    if (s.p[0] == ND_NS || s.p[0] == ND_NA || s.p[0] == ND_REDIRECT)
        span_map_ip(m, s, ND_TARGET, IPV6_ADDRESS_SIZE);
    if (s.p[0] == ND_REDIRECT)
        span_map_ip(m, s, ND_REDIRECT_DESTINATION, IPV6_ADDRESS_SIZE);
}

/*
 * Anonymises a report of IGMPv3 or MLDv2: records of groups and sources. ADDRESS: bytes of an
 * address.
 */
static void share_group_records(struct share_map *m, struct span s, uint32_t address)
{
    uint8_t *head = span_field(s, 0, REPORT_RECORDS);
    uint32_t at = REPORT_RECORDS;

    for (unsigned left = head ? be16(head + REPORT_RECORD_COUNT) : 0; left; left--) {
        uint8_t *record = span_field(s, at, RECORD_GROUP + address);
        if (!record)
            break;
        uint32_t sources = be16(record + RECORD_SOURCES), aux = record[RECORD_AUX] * 4u;
        span_map_ip(m, s, at + RECORD_GROUP, address);
        at += RECORD_GROUP + address;
        for (uint32_t i = 0; i < sources && at < s.cap; i++, at += address)
            span_map_ip(m, s, at, address);
        span_clear_part(s, at, aux);
        at += aux;
    }
    span_clear(s, at);
}

/*
 * Anonymises a query (the group and its sources; their number is at COUNT_AT) or a report of an
 * older version (the group).
 */
static void share_group(struct share_map *m, struct span s, uint32_t group, uint32_t address,
                        uint32_t count_at)
{
    uint32_t at = group + address;
    uint8_t *count = s.cap > count_at + 2 ? s.p + count_at : NULL;

    span_map_ip(m, s, group, address);
    if (count && s.p[0] != 130 && s.p[0] != 0x11)
        count = NULL;
    for (unsigned left = count ? be16(count) : 0, i = 0; i < left && at + 4 < s.cap; i++)
        span_map_ip(m, s, at + 4 + i * address, address);
    span_clear(s, count ? at + 4 + be16(count) * address : at);
}

enum { MLD_QUERY = 130, MLD_QUERY_SOURCES = 26, IGMP_QUERY = 0x11, IGMP_QUERY_SOURCES = 10 };

void share_icmpv6(struct share_map *m, struct span s, struct view v, bool of_interface)
{
    if (s.cap == 0)
        return;
    if (s.p[0] >= ND_RS && s.p[0] <= ND_REDIRECT)
        share_nd(m, s, v, of_interface);
    else if (s.p[0] == MLD_V2_REPORT)
        share_group_records(m, s, IPV6_ADDRESS_SIZE);
    else if (s.p[0] >= MLD_QUERY && s.p[0] <= MLD_V1_DONE)
        share_group(m, s, MLD_GROUP, IPV6_ADDRESS_SIZE, MLD_QUERY_SOURCES);
    else
        span_clear(s, ICMP_HEADER);
}

void share_igmp(struct share_map *m, struct span s)
{
    if (s.cap && s.p[0] == IGMP_V3_REPORT)
        share_group_records(m, s, IPV4_ADDRESS_SIZE);
    else
        share_group(m, s, IGMP_GROUP, IPV4_ADDRESS_SIZE, IGMP_QUERY_SOURCES);
}

enum { ICMP_REDIRECT = 5 };

void share_icmp(struct share_map *m, struct span s)
{
    if (s.cap && s.p[0] == ICMP_REDIRECT)
        span_map_ip(m, s, 4, IPV4_ADDRESS_SIZE);
    span_clear(s, ICMP_HEADER);
}

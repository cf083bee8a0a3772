/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises ICMP, IGMP and ICMPv6. See share_icmp.h. */
#include "capture/share/share_icmp.h"

#include "capture/share/share_layout.h"
#include "capture/share/share_nd.h"
#include "wire/ip.h"
#include "wire/membership.h"
#include "wire/nd.h"

/* ---- messages with a fixed layout: type and code, a checksum of 16 bits, then */

static const struct field type_and_code[] = {KEEP(16), LAYOUT_END};
/* identifier and sequence number, or the MTU of Packet Too Big, or a pointer (RFC 4443) */
static const struct field word[] = {KEEP(16), ZERO(16), KEEP(32), LAYOUT_END};
static const struct field next_hop_mtu[] = {KEEP(16), ZERO(32), KEEP(16), LAYOUT_END};
static const struct field pointer[] = {KEEP(16), ZERO(16), KEEP(8), LAYOUT_END};
static const struct field gateway[] = {KEEP(16), ZERO(16), MAP_IPV4, LAYOUT_END};
static const struct field group[] = {KEEP(8), ZERO(24), MAP_GROUP4, LAYOUT_END};
static const struct field group6[] = {KEEP(16), ZERO(48), MAP_GROUP6, LAYOUT_END};

struct typed_layout {
    uint8_t type;
    const struct field *layout;
};

static const struct field *find_layout(const struct typed_layout *list, uint8_t type)
{
    for (; list->layout; list++)
        if (list->type == type)
            return list->layout;
    return NULL;
}

/* Of another type, type and code are kept. */
static void share_typed(struct part p, const struct typed_layout *list)
{
    const struct field *layout = p.cap ? find_layout(list, p.from[0]) : NULL;

    share_layout(p, layout ? layout : type_and_code);
}

/* RFC 792, RFC 950, RFC 1191 */
static const struct typed_layout of_icmp[] = {
    {0, word},  {3, next_hop_mtu}, {5, gateway}, {8, word},  {12, pointer}, {13, word},
    {14, word}, {15, word},        {16, word},   {17, word}, {18, word},    {0, NULL},
};

void share_icmp(struct part p)
{
    share_typed(p, of_icmp);
}

/* ---- lists of groups and sources */

/* COUNT addresses of N bytes at AT */
static void share_sources(struct part p, uint32_t at, unsigned count, uint32_t n)
{
    for (; count > 0 && at < p.cap; count--, at += n)
        part_map_ip(p, at, n);
}

/* type; number of records */
static const struct field report_layout[] = {KEEP(8), ZERO(40), KEEP(16), LAYOUT_END};

/* A report of IGMPv3 or MLDv2. N: bytes of an address */
static void share_report(struct part p, uint32_t n)
{
    uint32_t at = REPORT_RECORDS;
    unsigned left = part_has(p, 0, at) ? be16(p.from + REPORT_RECORD_COUNT) : 0;

    share_layout(p, report_layout);
    for (; left > 0 && part_has(p, at, RECORD_GROUP + n); left--) {
        const uint8_t *record = p.from + at;
        unsigned sources = be16(record + RECORD_SOURCES);
        part_keep(p, at, RECORD_GROUP);
        part_map_group(p, at + RECORD_GROUP, n);
        at += RECORD_GROUP + n;
        share_sources(p, at, sources, n);
        at += sources * n + record[RECORD_AUX] * 4u;
    }
}

/*
 * Queries: maximum response delay, group; of IGMPv3 and MLDv2 also S, QRV, QQIC, number of sources
 * (RFC 3376 section 4.1, RFC 3810 section 5.1). Older queries end after the group.
 */
static const struct field igmp_query[] = {KEEP(16), ZERO(16), MAP_GROUP4,
                                          ZERO(4),  KEEP(28), LAYOUT_END};
static const struct field mld_query[] = {KEEP(16),   ZERO(16), KEEP(16), ZERO(16),
                                         MAP_GROUP6, ZERO(4),  KEEP(28), LAYOUT_END};

/* AT: the offset of the group, of N bytes */
static void share_query(struct part p, const struct field *layout, uint32_t at, uint32_t n)
{
    enum { SOURCE_COUNT = 2, SOURCES = 4 }; /* after the group */
    uint32_t end = at + n;

    share_layout(p, layout);
    if (part_has(p, end, SOURCES))
        share_sources(p, end + SOURCES, be16(p.from + end + SOURCE_COUNT), n);
}

/* ---- IGMP */

static const struct field igmp_type[] = {KEEP(8), LAYOUT_END};

void share_igmp(struct part p)
{
    uint8_t type = p.cap ? p.from[0] : 0;

    if (type == IGMP_QUERY)
        share_query(p, igmp_query, IGMP_GROUP, IPV4_ADDRESS_SIZE);
    else if (type == IGMP_V3_REPORT)
        share_report(p, IPV4_ADDRESS_SIZE);
    else if (type == IGMP_V1_REPORT || type == IGMP_V2_REPORT || type == IGMP_V2_LEAVE)
        share_layout(p, group);
    else
        share_layout(p, igmp_type);
}

/* ---- ICMPv6 */

/* RFC 4443, RFC 2710 */
static const struct typed_layout of_icmpv6[] = {
    {2, word}, {4, word}, {128, word}, {129, word}, {MLD_V1_REPORT, group6}, {MLD_V1_DONE, group6},
    {0, NULL},
};

void share_icmpv6(struct part p, struct view v, bool of_interface)
{
    uint8_t type = p.cap ? p.from[0] : 0;

    if (type >= ND_RS && type <= ND_REDIRECT)
        share_nd(p, v, of_interface);
    else if (type == MLD_QUERY)
        share_query(p, mld_query, MLD_GROUP, IPV6_ADDRESS_SIZE);
    else if (type == MLD_V2_REPORT)
        share_report(p, IPV6_ADDRESS_SIZE);
    else
        share_typed(p, of_icmpv6);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/mgid.h"

bool mgid_is_ipoib(const uint8_t *gid)
{
    uint16_t signature = be16(gid + MGID_SIGNATURE);
    return gid[MGID_PREFIX] == 0xff &&
           (signature == MGID_SIGNATURE_IPV4 || signature == MGID_SIGNATURE_IPV6);
}

bool mgid_is_other(const uint8_t *gid)
{
    return gid && gid[MGID_PREFIX] == 0xff && !mgid_is_ipoib(gid);
}

/* The group-ID bits above those of an IPv4 group: RFC 4391 section 4 figure 2 has 0 there. */
static bool is_high_group_zero(const uint8_t *gid)
{
    static const uint8_t zero[MGID_GROUP_IPV4 - MGID_GROUP];
    return memcmp(gid + MGID_GROUP, zero, sizeof zero) == 0;
}

bool mgid_is_broadcast(const uint8_t *gid)
{
    return be16(gid + MGID_SIGNATURE) == MGID_SIGNATURE_IPV4 &&
           be32(gid + MGID_GROUP_IPV4) == 0xffffffffu && is_high_group_zero(gid);
}

bool mgid_reaches_all(const uint8_t *gid)
{
    bool all_nodes = be16(gid + MGID_SIGNATURE) == MGID_SIGNATURE_IPV6 &&
                     be32(gid + MGID_GROUP_IPV4) == 1 && is_high_group_zero(gid);
    return all_nodes || mgid_is_broadcast(gid);
}

bool mgid_is_all_routers(const uint8_t *gid)
{
    return be32(gid + MGID_GROUP_IPV4) == 2 && is_high_group_zero(gid);
}

static void read_ipv4(const uint8_t *gid, struct mgid *m)
{
    m->broadcast = mgid_is_broadcast(gid);
    m->group_clean = m->broadcast ||
                     (is_high_group_zero(gid) && be32(gid + MGID_GROUP_IPV4) >> 28 == 0);
    memcpy(m->ipv4, gid + MGID_GROUP_IPV4, 4);
    if (!m->broadcast)
        m->ipv4[0] = (uint8_t)(0xe0 | (m->ipv4[0] & 0x0f)); /* class D: 1110, then the 28 bits */
}

static void read_ipv6(const uint8_t *gid, struct mgid *m)
{
    m->group_clean = true;
    m->ipv6[0] = 0xff;
    m->ipv6[1] = m->scope;
    memcpy(m->ipv6 + MGID_GROUP, gid + MGID_GROUP, MGID_SIZE - MGID_GROUP);
}

struct mgid mgid_read(const uint8_t *gid)
{
    struct mgid m = {
        .flags = gid[MGID_FLAGS_SCOPE] >> 4,
        .scope = gid[MGID_FLAGS_SCOPE] & 0xf,
        .signature = be16(gid + MGID_SIGNATURE),
        .pkey = be16(gid + MGID_PKEY),
    };
    if (m.signature == MGID_SIGNATURE_IPV4)
        read_ipv4(gid, &m);
    else
        read_ipv6(gid, &m);
    return m;
}

void mgid_of_group(uint8_t *mgid, const uint8_t *on_link, const uint8_t *ip, uint8_t length)
{
    uint16_t signature = length == 4 ? MGID_SIGNATURE_IPV4 : MGID_SIGNATURE_IPV6;
    memcpy(mgid, on_link, MGID_SIZE);
    memset(mgid + MGID_GROUP, 0, MGID_SIZE - MGID_GROUP);
    mgid[MGID_SIGNATURE] = (uint8_t)(signature >> 8);
    mgid[MGID_SIGNATURE + 1] = (uint8_t)signature;
    if (length == 4) {
        memcpy(mgid + MGID_GROUP_IPV4, ip, 4);
        mgid[MGID_GROUP_IPV4] = ip[0] & 0x0f;
    } else {
        memcpy(mgid + MGID_GROUP, ip + MGID_GROUP, MGID_SIZE - MGID_GROUP);
    }
}

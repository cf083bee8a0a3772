/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of a frame that is anonymised. See share_part.h. */
#include "capture/share/share_part.h"

#include <string.h>

#include "wire/ip.h"
#include "wire/lladdr.h"

struct part part_from(struct part p, uint32_t off)
{
    off = off < p.cap ? off : p.cap;
    return (struct part){p.map, p.from + off, p.to + off, p.cap - off};
}

struct part part_sub(struct part p, uint32_t off, uint32_t n)
{
    struct part sub = part_from(p, off);

    sub.cap = sub.cap < n ? sub.cap : n;
    return sub;
}

bool part_has(struct part p, uint32_t off, uint32_t n)
{
    return off <= p.cap && n <= p.cap - off;
}

void part_keep(struct part p, uint32_t off, uint32_t n)
{
    struct part kept = part_sub(p, off, n);

    if (kept.cap)
        memcpy(kept.to, kept.from, kept.cap);
}

void part_keep_bits(struct part p, uint32_t off, uint32_t n)
{
    while (n > 0 && off / 8 < p.cap) {
        uint32_t before = off % 8, here = n < 8 - before ? n : 8 - before;
        uint8_t mask = (uint8_t)(((1u << here) - 1) << (8 - before - here));
        p.to[off / 8] |= p.from[off / 8] & mask;
        off += here;
        n -= here;
    }
}

enum { LLADDR_START_SIZE = 16 };

static void map_lladdr_start(struct share_map *m, uint8_t *p)
{
    uint8_t whole[LLADDR_SIZE] = {0};

    memcpy(whole, p, LLADDR_START_SIZE);
    share_lladdr(m, whole);
    memcpy(p, whole, LLADDR_START_SIZE);
}

static void map_value(struct share_map *m, enum mapped kind, uint8_t *p, uint32_t n)
{
    switch (kind) {
    case IPV4:
        share_ipv4(m, p);
        break;
    case IPV6:
        share_ipv6(m, p);
        break;
    case GROUP4:
        share_group4(m, p);
        break;
    case GROUP6:
        share_group6(m, p);
        break;
    case GID:
        share_gid(m, p);
        break;
    case GUID:
        share_guid(m, p);
        break;
    case PREFIX:
        share_prefix(m, p);
        break;
    case SERVICE:
        share_service_id(m, p);
        break;
    case LLADDR:
        share_lladdr(m, p);
        break;
    case LLADDR_START:
        map_lladdr_start(m, p);
        break;
    case MAC:
        share_mac(m, p);
        break;
    case NAME:
        share_name(m, p, n);
        break;
    case OCTETS:
        share_bytes(m, p, n);
        break;
    }
}

void part_map(struct part p, enum mapped kind, uint32_t off, uint32_t n)
{
    static const uint8_t sizes[] = {[IPV4] = IPV4_ADDRESS_SIZE,
                                    [IPV6] = IPV6_ADDRESS_SIZE,
                                    [GROUP4] = IPV4_ADDRESS_SIZE,
                                    [GROUP6] = IPV6_ADDRESS_SIZE,
                                    [GID] = GID_SIZE,
                                    [GUID] = 8,
                                    [PREFIX] = 8,
                                    [SERVICE] = 8,
                                    [LLADDR] = LLADDR_SIZE,
                                    [LLADDR_START] = LLADDR_START_SIZE,
                                    [MAC] = 6,
                                    [NAME] = 0,
                                    [OCTETS] = 0};

    if (!part_has(p, off, n) || (sizes[kind] && n != sizes[kind]))
        return;
    memcpy(p.to + off, p.from + off, n);
    map_value(p.map, kind, p.to + off, n);
}

static void map_by_size(struct part p, const enum mapped kinds[2], uint32_t off, uint32_t n)
{
    if (n == IPV4_ADDRESS_SIZE)
        part_map(p, kinds[0], off, n);
    else if (n == IPV6_ADDRESS_SIZE)
        part_map(p, kinds[1], off, n);
}

void part_map_ip(struct part p, uint32_t off, uint32_t n)
{
    map_by_size(p, (const enum mapped[]){IPV4, IPV6}, off, n);
}

void part_map_group(struct part p, uint32_t off, uint32_t n)
{
    map_by_size(p, (const enum mapped[]){GROUP4, GROUP6}, off, n);
}

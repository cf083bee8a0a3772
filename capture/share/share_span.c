/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writable ranges of a packet. See share_span.h. */
#include "capture/share/share_span.h"

#include <string.h>

#include "wire/ip.h"
#include "wire/lladdr.h"

struct span span_from(struct span s, uint32_t off)
{
    off = off < s.cap ? off : s.cap;
    return (struct span){s.p + off, s.cap - off};
}

struct span span_part(struct span s, uint32_t off, uint32_t n)
{
    struct span from = span_from(s, off);

    return (struct span){from.p, from.cap < n ? from.cap : n};
}

void span_clear_part(struct span s, uint32_t off, uint32_t n)
{
    struct span from = span_from(s, off);

    if (from.cap)
        memset(from.p, 0, n < from.cap ? n : from.cap);
}

void span_clear(struct span s, uint32_t off)
{
    span_clear_part(s, off, UINT32_MAX);
}

uint8_t *span_field(struct span s, uint32_t off, uint32_t n)
{
    if (off <= s.cap && n <= s.cap - off)
        return s.p + off;
    span_clear_part(s, off, n);
    return NULL;
}

void span_map_ip(struct share_map *m, struct span s, uint32_t off, uint32_t n)
{
    uint8_t *p = span_field(s, off, n);

    if (p && n == IPV4_ADDRESS_SIZE)
        share_ipv4(m, p);
    else if (p && n == IPV6_ADDRESS_SIZE)
        share_ipv6(m, p);
    else if (p)
        memset(p, 0, n);
}

void span_map_lladdr(struct share_map *m, struct span s, uint32_t off)
{
    uint8_t *p = span_field(s, off, LLADDR_SIZE);

    if (p)
        share_lladdr(m, p);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Neighbours: which IP address was seen with which 20-octet link-layer address, and since which
 * frame. The history is kept, so that a question about an early frame gets the answer that was true
 * then.
 */
#ifndef IPOIB_MODEL_NEIGHBOUR_H
#define IPOIB_MODEL_NEIGHBOUR_H

#include <glib.h>

#include "wire/ib.h"
#include "wire/lladdr.h"

struct ip {
    uint8_t length; /* octets: 4, 16, or 0 for none */
    uint8_t octets[16];
};

static inline struct ip ip_read(const uint8_t *p, uint8_t length)
{
    struct ip ip = {.length = length};
    memcpy(ip.octets, p, length);
    return ip;
}

static inline bool ip_same(const struct ip *a, const struct ip *b)
{
    return a->length == b->length && memcmp(a->octets, b->octets, a->length) == 0;
}

/* 0.0.0.0 or :: */
bool ip_is_unspecified(const struct ip *ip);

struct neighbour {
    uint8_t lladdr[LLADDR_SIZE];
    uint32_t link;
    struct ip ip;
    uint32_t frame;           /* first seen */
    uint32_t last_frame;      /* last seen */
    uint32_t taken_frame;     /* in which it took the IP */
    int64_t seconds;          /* when, s since 1970 */
    int64_t last_seconds;     /* when it was last seen */
    struct neighbour *older;  /* the pair that this link-layer address made before; NULL: none */
    struct neighbour *before; /* who had the IP before; NULL: nobody */
};

/*
 * The same port with another QPN: its interface was restarted (RFC 4391 §9.4), nobody else took the
 * IP.
 */
static inline bool neighbour_is_same_port(const struct neighbour *n, const uint8_t *lladdr)
{
    return memcmp(n->lladdr + LLADDR_GID, lladdr + LLADDR_GID, GID_SIZE) == 0;
}

/* The same port's address with another QPN, which had the IP before; NULL: none. */
static inline const struct neighbour *neighbour_replaced(const struct neighbour *n)
{
    return n->before && neighbour_is_same_port(n->before, n->lladdr) ? n->before : NULL;
}

struct neighbours;

/* Who has the IP on the link now; NULL: not known. */
const struct neighbour *neighbours_of_ip(const struct neighbours *n, uint32_t link,
                                         const struct ip *ip);

/* All, in the order of their first frames. */
const struct neighbour *neighbours_at(const struct neighbours *n, unsigned index);
unsigned neighbours_count(const struct neighbours *n);

/*
 * The newest IP that the link-layer address has up to this frame, by family (4 or 16 octets); NULL:
 * none. One that it had before, and is seen with again, is no newer for that.
 */
const struct neighbour *neighbours_of_lladdr(const struct neighbours *n, const uint8_t *lladdr,
                                             uint8_t length, uint32_t frame);

#endif

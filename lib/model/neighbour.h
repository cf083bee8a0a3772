/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Neighbours: IP addresses with their 20-octet link-layer addresses (RFC 4391 section 9.1.1), and
 * the frames in which they were seen. The history is kept, so that a lookup for an early frame
 * returns the entry that was valid then.
 */
#ifndef IPOIB_MODEL_NEIGHBOUR_H
#define IPOIB_MODEL_NEIGHBOUR_H

#include <glib.h>

#include "wire/ib.h"
#include "wire/ip.h"
#include "wire/lladdr.h"

struct ip {
    uint8_t length;    /* bytes: 4, 16, or 0 for none */
    uint8_t bytes[16]; /* the others are 0 */
};

static inline struct ip ip_read(const uint8_t *p, uint8_t length)
{
    struct ip ip = {.length = length};
    memcpy(ip.bytes, p, length);
    return ip;
}

static inline bool ip_same(const struct ip *a, const struct ip *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

/* 0.0.0.0 or :: */
static inline bool ip_is_unspecified(const struct ip *ip)
{
    static const uint8_t zero[sizeof ip->bytes];
    return memcmp(ip->bytes, zero, sizeof zero) == 0;
}

/* Each interface of a port may have the same link-local IPv6 address. */
static inline bool source_is_link_local(const struct ip *ip)
{
    return ip->length == IPV6_ADDRESS_SIZE && ipv6_is_link_local(ip->bytes);
}

/* 32 bits instead of the address, for a comparison; never 0. */
uint32_t ip_digest(const struct ip *ip);

struct neighbour {
    uint8_t lladdr[LLADDR_SIZE];
    uint32_t link;
    struct ip ip;
    uint16_t interface;   /* capture interface of taken_frame */
    uint16_t lid;         /* SLID of its last packet without a GRH; 0: none seen */
    uint16_t told_on;     /* capture interface of told_seconds */
    uint32_t frame;       /* first seen */
    uint32_t last_frame;  /* last seen */
    uint32_t taken_frame; /* frame in which it took over the IP address */
    /*
     * time of the first announcement to all nodes of the link since taken_frame, s since 1970,
     * rounded up; 0: none
     */
    uint32_t told_seconds;
    int64_t taken_ns;         /* time of taken_frame, ns since 1970 */
    int64_t last_seconds;     /* time of last_frame, s since 1970 */
    struct neighbour *older;  /* previous entry of this link-layer address; NULL: none */
    struct neighbour *before; /* previous owner of the IP address; NULL: none */
};

/*
 * Is lladdr an address of the same port? With another QPN, the port's interface was restarted (RFC
 * 4391 section 9.4) and no other port took over the IP address.
 */
static inline bool neighbour_is_same_port(const struct neighbour *n, const uint8_t *lladdr)
{
    return memcmp(n->lladdr + LLADDR_GID, lladdr + LLADDR_GID, GID_SIZE) == 0;
}

/* The previous owner of the IP address, if it is the same port with another QPN; else NULL. */
static inline const struct neighbour *neighbour_replaced(const struct neighbour *n)
{
    return n->before && neighbour_is_same_port(n->before, n->lladdr) ? n->before : NULL;
}

struct neighbours;

/* The current owner of the IP address on the link; NULL: not known. */
const struct neighbour *neighbours_of_ip(const struct neighbours *n, uint32_t link,
                                         const struct ip *ip);

/* The last frame in which an address was announced by another holder, or for the first time. */
uint32_t neighbours_taken_frame(const struct neighbours *n);

/* Did any port ever announce another QPN for its IP address? */
bool neighbours_has_replaced(const struct neighbours *n);

/* All entries, in the order of their first frames. */
const struct neighbour *neighbours_at(const struct neighbours *n, unsigned index);
unsigned neighbours_count(const struct neighbours *n);

/*
 * The newest entry of the link-layer address with first frame <= frame, by IP address length (4 or
 * 16 bytes); NULL: none. An older address that is seen again does not become newer.
 */
const struct neighbour *neighbours_of_lladdr(const struct neighbours *n, const uint8_t *lladdr,
                                             uint8_t length, uint32_t frame);

#endif

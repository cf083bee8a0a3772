/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of a frame that is anonymised. The new frame begins as zeros. A byte that nothing keeps or
 * maps stays zero, so the files of this folder list only what is kept and what is mapped.
 */
#ifndef CAPTURE_SHARE_PART_H
#define CAPTURE_SHARE_PART_H

#include "capture/share/share_map.h"

/* A range of a frame: cap bytes. */
struct part {
    struct share_map *map;
    const uint8_t *from; /* as captured */
    uint8_t *to;         /* anonymised */
    uint32_t cap;
};

/* The bytes from OFF to the end; empty if OFF is beyond the end. */
struct part part_from(struct part p, uint32_t off);
/* The N bytes at OFF; fewer if the range ends before. */
struct part part_sub(struct part p, uint32_t off, uint32_t n);
/* Were all of the N bytes at OFF captured? */
bool part_has(struct part p, uint32_t off, uint32_t n);

/* Keeps the captured part of the N bytes at OFF. */
void part_keep(struct part p, uint32_t off, uint32_t n);
/* The same for N bits; OFF: bits from the start, most significant bit of a byte first. */
void part_keep_bits(struct part p, uint32_t off, uint32_t n);

/* Kinds of mapped values; LLADDR_START: the first 16 bytes of a link-layer address */
enum mapped {
    IPV4,
    IPV6,
    GROUP4,
    GROUP6,
    GID,
    GUID,
    PREFIX,
    SERVICE,
    LLADDR,
    LLADDR_START,
    MAC,
    NAME,
    OCTETS
};

/*
 * Maps the value of N bytes at OFF. If it was not captured completely, or another N is the size of
 * this kind (NAME and OCTETS have any), it is not mapped and stays zero.
 */
void part_map(struct part p, enum mapped kind, uint32_t off, uint32_t n);
/* Maps an IP address, or that of a group, of N bytes (4 or 16); any other N stays zero. */
void part_map_ip(struct part p, uint32_t off, uint32_t n);
void part_map_group(struct part p, uint32_t off, uint32_t n);

#endif

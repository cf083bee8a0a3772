/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keyed permutations of numbers, for the address map (share_map.h). A permutation preserves
 * prefixes: two numbers with the same first n bits are mapped to two with the same first n bits
 * (Xu, Fan, Ammar, Moon: Prefix-preserving IP address anonymization, 2002). The bits that define
 * the kind of an address are kept: multicast, link-local, private and loopback prefixes, the kind
 * of a GUID.
 */
#ifndef CAPTURE_SHARE_PERMUTATION_H
#define CAPTURE_SHARE_PERMUTATION_H

#include <stddef.h>
#include <stdint.h>

#include "capture/share/share_key.h"

struct share_map;

struct share_map *share_map_new(const struct share_key *key);
void share_map_free(struct share_map *m);

/*
 * Each kind of number has a permutation of its own. PERMUTE_OUI: the first 24 bits of a GUID;
 * PERMUTE_MIDDLE: its first 40 bits, of which the last 16 are mapped. PERMUTE_OCTETS + n: a value
 * of n bytes, which has no structure.
 */
enum permutation_kind {
    PERMUTE_IPV4 = 1,
    PERMUTE_PREFIX,
    PERMUTE_OUI,
    PERMUTE_MIDDLE,
    PERMUTE_LOW,
    PERMUTE_GROUP_TOP,
    PERMUTE_GROUP_MIDDLE,
    PERMUTE_GROUP_LOW,
    PERMUTE_OCTETS,
};

/* The universal and the group bit in PERMUTE_OUI (RFC 4291 appendix A); both are kept. */
enum { OUI_UNIVERSAL = 0x020000, OUI_GROUP = 0x010000 };

/* Maps a number of BITS bits. */
uint64_t share_permuted(struct share_map *m, enum permutation_kind kind, uint64_t value,
                        unsigned bits);
/* The same with a 0 that stays 0. */
uint64_t share_permuted_but_0(struct share_map *m, enum permutation_kind kind, uint64_t value,
                              unsigned bits);

/* A keyed hash of N bytes, and of two numbers. */
uint64_t share_hash(const struct share_map *m, const uint8_t *p, size_t n);
uint64_t share_keyed(const struct share_map *m, uint64_t a, uint64_t b);

#endif

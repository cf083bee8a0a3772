/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hash function of caches, in which a newer entry takes the place of an older one, and of digests.
 * Unlike that of model/hash.h it is the same in each run, so that the results are the same.
 */
#ifndef IPOIB_MODEL_MIX_H
#define IPOIB_MODEL_MIX_H

#include "wire/view.h"

/* The hash of what came before, and of another word. */
static inline uint64_t mix_word(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 divided by the golden ratio */
    return h ^ h >> 29;
}

/* The same with two words: one product of 128 bits instead of two of 64, where there is one. */
static inline uint64_t mix_two(uint64_t h, uint64_t first, uint64_t second)
{
#ifdef __SIZEOF_INT128__
    unsigned __int128 product = (unsigned __int128)(h ^ first ^ UINT64_C(0x9e3779b97f4a7c15)) *
                                (second ^ UINT64_C(0xd1b54a32d192ed03));
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    return mix_word(mix_word(h, first), second);
#endif
}

/* The same with the hops of a directed route. */
static inline uint64_t mix_route(uint64_t h, const uint8_t *hops, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        h = mix_word(h, hops[i]);
    return mix_word(h, n);
}

/* Eight bytes as a word, in the order of the host: only the place in a cache depends on it. */
static inline uint64_t mix_word_at(const uint8_t *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/* The same with the 16 bytes of a GID or of an IP address. */
static inline uint64_t mix_gid(uint64_t h, const uint8_t *gid)
{
    return mix_two(h, mix_word_at(gid), mix_word_at(gid + 8));
}

#endif

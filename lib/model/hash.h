/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hash function of all tables whose keys come from a capture, a report or the network: multilinear
 * hashing (Lemire and Kaser, "Strongly universal string hashing is fast", 2014) with new random
 * factors in each run. The hashes of different keys are uniform and pairwise independent. So the
 * author of a capture, who does not know the factors, cannot choose addresses that collide, which
 * would make the run time quadratic in their number. The order of a table differs between runs, so
 * no result may depend on it. A cache in which a new entry takes the place of another must not use
 * it, but model/mix.h: what is evicted would differ between runs.
 */
#ifndef IPOIB_MODEL_HASH_H
#define IPOIB_MODEL_HASH_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Two factors are for the length, one is for the last octets, which may be no whole word. */
enum {
    HASH_WORDS_MAX = 32,
    HASH_FACTORS = 2 + HASH_WORDS_MAX + 1,
    HASH_OCTETS_MAX = HASH_WORDS_MAX * 4
};

/* Set when the program is loaded, so that hash functions need no check. */
extern uint64_t hash_factors[HASH_FACTORS];

/*
 * n: at most HASH_OCTETS_MAX. Inline, because n is constant for most callers. Words are in the
 * machine's byte order, because the result is used in this run only.
 */
static inline guint hash_bytes(const void *p, size_t n)
{
    const uint8_t *bytes = p;
    const uint64_t *factor = hash_factors + 2;
    uint64_t sum = hash_factors[0] + hash_factors[1] * n;
    uint32_t word;
    for (; n >= sizeof word; n -= sizeof word, bytes += sizeof word) {
        memcpy(&word, bytes, sizeof word);
        sum += word * *factor++;
    }
    for (word = 0; n; n--)
        word = word << 8 | *bytes++;
    sum += word * *factor;
    return (guint)(sum >> 32);
}

/*
 * For GHashTable. hash_number: the key is a number (GUINT_TO_POINTER). hash_string: the key is a
 * text of any length. hash_gid: the key points at 16 bytes. The others: the key points at a
 * uint32_t or a uint64_t.
 */
guint hash_number(gconstpointer key);
guint hash_string(gconstpointer key);
guint hash_gid(gconstpointer key);
guint hash_uint32(gconstpointer key);
guint hash_uint64(gconstpointer key);

/* Takes the entries of an interface out of a set, without freeing them. is_on: is this one? */
GPtrArray *hash_take(GHashTable *set, bool (*is_on)(const void *entry, uint16_t interface),
                     uint16_t interface);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keyed permutations of numbers. See share_permutation.h. */
#include "capture/share/share_permutation.h"

#include <glib.h>
#include <stdbool.h>

#include "wire/view.h"

enum { CACHE = 1 << 12 };

struct cached {
    uint64_t from, to;
    uint8_t kind; /* 0: unused */
};

struct share_map {
    uint64_t key[2];
    struct cached cache[CACHE];
};

struct share_map *share_map_new(const struct share_key *key)
{
    struct share_map *m = g_new0(struct share_map, 1);

    /* in one byte order, so that the key has the same effect on every host */
    m->key[0] = be64(key->bytes);
    m->key[1] = be64(key->bytes + 8);
    return m;
}

void share_map_free(struct share_map *m)
{
    g_free(m);
}

/* ---- SipHash-2-4 of two words (Aumasson, Bernstein: SipHash: a fast short-input PRF, 2012) */

static uint64_t rotated(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotated(v[1], 13) ^ v[0];
    v[0] = rotated(v[0], 32);
    v[2] += v[3];
    v[3] = rotated(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotated(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotated(v[1], 17) ^ v[2];
    v[2] = rotated(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    sip_round(v);
    v[0] ^= word;
}

uint64_t share_keyed(const struct share_map *m, uint64_t a, uint64_t b)
{
    uint64_t v[] = {m->key[0] ^ 0x736f6d6570736575ull, m->key[1] ^ 0x646f72616e646f6dull,
                    m->key[0] ^ 0x6c7967656e657261ull, m->key[1] ^ 0x7465646279746573ull};

    sip_word(v, a);
    sip_word(v, b);
    sip_word(v, 16ull << 56); /* message length in bytes, in the top byte */
    v[2] ^= 0xff;
    for (int i = 0; i < 4; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t share_hash(const struct share_map *m, const uint8_t *p, size_t n)
{
    uint64_t h = share_keyed(m, PERMUTE_OCTETS, n);

    for (size_t i = 0; i < n; i++)
        h = share_keyed(m, h, p[i]);
    return h;
}

/* ---- bits that are kept */

/* A prefix that is kept: its first LEN bits; whole: all following bits are kept too. */
struct special {
    uint64_t bits;
    uint8_t len; /* 0: the end of a list */
    bool whole;
};

/* RFC 6890; multicast groups: RFC 5771 and RFC 2365. */
static const struct special ipv4_specials[] = {
    {0x00000000, 8, false},  {0x0a000000, 8, false},  {0x7f000000, 8, false},
    {0xa9fe0000, 16, false}, {0xac100000, 12, false}, {0xc0a80000, 16, false},
    {0xe0000000, 24, true},  {0xef000000, 8, false},  {0xe0000000, 4, false},
    {0xf0000000, 4, false},  {0, 0, false},
};

/* First 64 bits of an IPv6 address or a GID: RFC 4291 section 2.4, RFC 4193; fec0::/64 from IBA. */
static const struct special prefix_specials[] = {
    {0x0000000000000000ull, 64, true},  {0xfe80000000000000ull, 64, true},
    {0xfec0000000000000ull, 10, false}, {0xfc00000000000000ull, 8, false},
    {0xfd00000000000000ull, 8, false},  {0x2000000000000000ull, 3, false},
    {0xff00000000000000ull, 8, true},   {0, 0, false},
};

/*
 * A Service-ID can be a GUID. Those that begin with 00 to 03 and 10 to 13 are of another kind (IBA
 * A3.2.3, and Linux's IPoIB), which the rules distinguish.
 */
static const struct special oui_specials[] = {
    {0x000000, 6, false}, {0x100000, 6, false}, {0, 0, false}};
/* of 40 bits, only the last 16 are mapped */
enum { MIDDLE_MAPPED = 16 };

static bool in_special(const struct special *s, uint64_t value, unsigned bits, unsigned i)
{
    unsigned n = i < s->len ? i : s->len;

    return n == 0 || (value ^ s->bits) >> (bits - n) == 0;
}

static bool in_list(const struct special *s, uint64_t value, unsigned bits, unsigned i)
{
    for (; s->len; s++)
        if ((i < s->len || s->whole) && in_special(s, value, bits, i))
            return true;
    return false;
}

/* Whether bit I (0 is the first) is kept, given the bits of VALUE before it. */
static bool stays(unsigned kind, uint64_t value, unsigned bits, unsigned i)
{
    switch (kind) {
    case PERMUTE_IPV4:
        return in_list(ipv4_specials, value, bits, i);
    case PERMUTE_PREFIX:
        return in_list(prefix_specials, value, bits, i);
    case PERMUTE_OUI:
        return (OUI_UNIVERSAL | OUI_GROUP) >> (bits - 1 - i) & 1 ||
               in_list(oui_specials, value, bits, i);
    case PERMUTE_MIDDLE:
        return i < bits - MIDDLE_MAPPED;
    default:
        return false;
    }
}

/* ---- mapping */

/*
 * Keeps or flips each bit by a keyed function of the bits before it, so the first n bits of the
 * result depend only on the first n bits of the value.
 */
static uint64_t flipped(const struct share_map *m, unsigned kind, uint64_t value, unsigned bits)
{
    uint64_t out = value;

    for (unsigned i = 0; i < bits; i++) {
        uint64_t first = i ? value >> (bits - i) : 0;

        if (!stays(kind, value, bits, i))
            out ^= (share_keyed(m, (uint64_t)kind << 8 | i, first) & 1) << (bits - 1 - i);
    }
    return out;
}

uint64_t share_permuted(struct share_map *m, enum permutation_kind kind, uint64_t value,
                        unsigned bits)
{
    struct cached *c = &m->cache[(value * 0x9e3779b97f4a7c15ull ^ kind) >> 7 & (CACHE - 1)];

    if (c->kind != kind || c->from != value)
        *c = (struct cached){value, flipped(m, kind, value, bits), (uint8_t)kind};
    return c->to;
}

uint64_t share_permuted_but_0(struct share_map *m, enum permutation_kind kind, uint64_t value,
                              unsigned bits)
{
    uint64_t to = value ? share_permuted(m, kind, value, bits) : 0;

    /* the value that would become 0 takes the place that 0 leaves */
    return to == 0 && value != 0 ? share_permuted(m, kind, 0, bits) : to;
}

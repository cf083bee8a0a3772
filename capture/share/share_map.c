/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address map of a shared capture. See share_map.h. */
#include "capture/share/share_map.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/lladdr.h"
#include "wire/mgid.h"
#include "wire/put.h"

/* Kinds of mapped values; each kind has its own mapping. */
enum mapped_kind { IPV4 = 1, PREFIX, ID_HIGH, ID_LOW, GROUP_TOP, GROUP_MIDDLE, GROUP_LOW, OCTETS };

enum { CACHE = 1 << 12 };

struct cached {
    uint64_t from, to;
    uint8_t kind; /* 0: unused */
};

struct share_map {
    uint64_t key[2];
    uint8_t port[GUID_SIZE]; /* share_map_port() */
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

static uint64_t keyed(const struct share_map *m, uint64_t a, uint64_t b)
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

/* ---- bits that are kept */

/* A prefix that is kept: its first LEN bits; whole: all following bits are kept too. */
struct special {
    uint64_t bits;
    uint8_t len;
    bool whole;
};

/* RFC 6890; multicast groups: RFC 5771 and RFC 2365. */
static const struct special ipv4_specials[] = {
    {0x00000000, 8, true},   {0x0a000000, 8, false},  {0x7f000000, 8, true},
    {0xa9fe0000, 16, false}, {0xac100000, 12, false}, {0xc0a80000, 16, false},
    {0xe0000000, 24, true},  {0xef000000, 8, false},  {0xe0000000, 4, false},
    {0xf0000000, 4, true},
};

/* First 64 bits of an IPv6 address or a GID: RFC 4291 section 2.4, RFC 4193; fec0::/64 from IBA. */
static const struct special prefix_specials[] = {
    {0x0000000000000000ull, 64, true},  {0xfe80000000000000ull, 64, true},
    {0xfec0000000000000ull, 10, false}, {0xfc00000000000000ull, 8, false},
    {0xfd00000000000000ull, 8, false},  {0x2000000000000000ull, 3, false},
    {0xff00000000000000ull, 8, true},
};

/*
 * Upper 40 bits of an interface identifier: the universal and the group bit (RFC 4291 appendix A).
 */
enum { ID_BITS = 40, LOW_BITS = 24 };
static const uint64_t universal = 1ull << (ID_BITS - 7), of_group = 1ull << (ID_BITS - 8);

static bool in_special(const struct special *s, uint64_t value, unsigned bits, unsigned i)
{
    unsigned n = i < s->len ? i : s->len;

    return n == 0 || (value ^ s->bits) >> (bits - n) == 0;
}

/*
 * Is bit I of an IPv4 address the next of an octet that has only ones before it? In the last two
 * octets such a bit is kept: 255 stays 255, and no other value becomes 255. So the broadcast
 * address of a /16 or /24 network (RFC 919 section 7) stays one, and no host's address becomes one.
 */
static bool may_be_broadcast(uint32_t address, unsigned i)
{
    uint32_t ones = (1u << i % 8) - 1;

    return i >= 16 && (address >> (32 - i) & ones) == ones;
}

/* Whether bit I (0 is the first) is kept, given the bits of VALUE before it. */
static bool stays(enum mapped_kind kind, uint64_t value, unsigned bits, unsigned i)
{
    const struct special *list = kind == IPV4 ? ipv4_specials : prefix_specials;
    size_t n = kind == IPV4     ? sizeof(ipv4_specials) / sizeof(*list)
               : kind == PREFIX ? sizeof(prefix_specials) / sizeof(*list)
                                : 0;

    if (kind == ID_HIGH && ((universal | of_group) >> (bits - 1 - i) & 1))
        return true;
    if (kind == IPV4 && may_be_broadcast((uint32_t)value, i))
        return true;
    for (; n > 0; n--, list++)
        if ((i < list->len || list->whole) && in_special(list, value, bits, i))
            return true;
    return false;
}

/* ---- mapping */

/*
 * Keeps or flips each bit by a keyed function of the bits before it, so the first n bits of the
 * result depend only on the first n bits of the value. The function ignores the universal bit,
 * because a GUID and its interface identifier differ in it.
 */
static uint64_t permuted(const struct share_map *m, enum mapped_kind kind, uint64_t value,
                         unsigned bits)
{
    uint64_t before = kind == ID_HIGH ? value & ~universal : value, out = value;

    for (unsigned i = 0; i < bits; i++) {
        uint64_t first = i ? before >> (bits - i) : 0;

        if (!stays(kind, value, bits, i))
            out ^= (keyed(m, (uint64_t)kind << 8 | i, first) & 1) << (bits - 1 - i);
    }
    return out;
}

static uint64_t mapped(struct share_map *m, enum mapped_kind kind, uint64_t value, unsigned bits)
{
    struct cached *c = &m->cache[(value * 0x9e3779b97f4a7c15ull ^ kind) >> 7 & (CACHE - 1)];

    if (c->kind != kind || c->from != value)
        *c = (struct cached){value, permuted(m, kind, value, bits), (uint8_t)kind};
    return c->to;
}

void share_ipv4(struct share_map *m, uint8_t p[4])
{
    put32(p, (uint32_t)mapped(m, IPV4, be32(p), 32));
}

void share_prefix(struct share_map *m, uint8_t p[8])
{
    put64(p, mapped(m, PREFIX, be64(p), 64));
}

static uint32_t map_low(struct share_map *m, uint32_t low)
{
    return (uint32_t)mapped(m, ID_LOW, low, LOW_BITS);
}

/* GUID 0 means none and stays 0. */
void share_guid(struct share_map *m, uint8_t p[8])
{
    uint64_t id = be64(p);

    if (id)
        put64(p, mapped(m, ID_HIGH, id >> LOW_BITS, ID_BITS) << LOW_BITS |
                     map_low(m, (uint32_t)id & 0xffffff));
}

/* ---- groups */

enum { WELL_KNOWN = 0x20000 }; /* keeps ff02::1:3 (RFC 4795) and similar */

/* Of the last 80 bits of an IPv6 multicast address or of its MGID, the first 16. 0 stays 0. */
static void map_group_top(struct share_map *m, uint8_t p[2])
{
    uint64_t top = be16(p);

    if (top) {
        do
            top = mapped(m, GROUP_TOP, top, 16);
        while (top == 0); /* the second time not: 0 itself is mapped to another value then */
        put16(p, (uint32_t)top);
    }
}

/* The other 64 of these bits; TOP: the first 16, before they were mapped. */
static void map_group_rest(struct share_map *m, uint16_t top, uint8_t p[8])
{
    uint32_t middle = be32(p), low = be32(p + 4);

    if (top == 0 && middle == 1 && low >> 24 == 0xff) { /* solicited-node */
        put32(p + 4, 0xff000000u | map_low(m, low & 0xffffff));
        return;
    }
    if (top == 0 && middle == 0 && (low < WELL_KNOWN || low == UINT32_MAX))
        return;
    if (middle)
        put32(p, (uint32_t)mapped(m, GROUP_MIDDLE, middle, 32));
    put32(p + 4, (uint32_t)mapped(m, GROUP_LOW, low, 32));
}

/*
 * Maps 28 bits of an IPv4 multicast address; all ones are the broadcast-GID (RFC 4391 section 4).
 */
static void map_group_ipv4(struct share_map *m, uint8_t p[4])
{
    uint32_t group = be32(p);

    if (group != UINT32_MAX)
        put32(p,
              (group & 0xf0000000u) |
                  ((uint32_t)mapped(m, IPV4, 0xe0000000u | (group & 0xfffffff), 32) & 0xfffffff));
}

void share_ipv6(struct share_map *m, uint8_t p[16])
{
    static const uint8_t mapped_ipv4[12] = {[10] = 0xff, [11] = 0xff};
    static const uint8_t loopback[16] = {[15] = 1};

    if (p[0] == 0xff) {
        uint32_t of_prefix = be32(p + 2); /* network prefix in the address (RFC 3306) */
        if (of_prefix)
            put32(p + 2, (uint32_t)mapped(m, GROUP_LOW, of_prefix, 32));
        map_group_rest(m, (uint16_t)be16(p + 6), p + 8);
        map_group_top(m, p + 6);
    } else if (memcmp(p, mapped_ipv4, sizeof(mapped_ipv4)) == 0) {
        share_ipv4(m, p + 12);
    } else if (memcmp(p, loopback, sizeof(loopback)) != 0) {
        share_prefix(m, p);
        share_guid(m, p + 8);
    }
}

static bool is_of_ipv4(const uint8_t *mgid)
{
    return be16(mgid + MGID_SIGNATURE) == MGID_SIGNATURE_IPV4;
}

void share_gid_first(struct share_map *m, uint8_t p[GID_HALF])
{
    if (p[0] != 0xff)
        share_prefix(m, p);
    else if (!is_of_ipv4(p))
        map_group_top(m, p + MGID_GROUP);
}

void share_gid_second(struct share_map *m, const uint8_t first[GID_HALF], uint8_t p[GID_HALF])
{
    if (first[0] != 0xff)
        share_guid(m, p);
    else if (is_of_ipv4(first))
        map_group_ipv4(m, p + (MGID_GROUP_IPV4 - GID_HALF));
    else
        map_group_rest(m, (uint16_t)be16(first + MGID_GROUP), p);
}

void share_gid(struct share_map *m, uint8_t p[16])
{
    share_gid_second(m, p, p + GID_HALF);
    share_gid_first(m, p);
}

void share_lladdr(struct share_map *m, uint8_t p[20])
{
    share_gid(m, p + LLADDR_GID);
}

/* ---- bytes and names */

static uint64_t keyed_hash(const struct share_map *m, const uint8_t *p, size_t n)
{
    uint64_t h = keyed(m, OCTETS, n);

    for (size_t i = 0; i < n; i++)
        h = keyed(m, h, p[i]);
    return h;
}

static bool are_zero(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i])
            return false;
    return true;
}

void share_bytes(struct share_map *m, uint8_t *p, size_t n)
{
    uint64_t h;

    if (are_zero(p, n))
        return;
    h = keyed_hash(m, p, n);
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(keyed(m, h, i / 8) >> i % 8 * 8);
}

/* Its first three bytes are the manufacturer, or the kind of a group (IEEE 802 section 8.2). */
enum { MAC_SIZE = 6, MAC_OUI = 3 };

void share_map_port(struct share_map *m, const uint8_t guid[GUID_SIZE])
{
    memcpy(m->port, guid, GUID_SIZE);
}

/* Writes the address that iPXE makes of a port GUID: all but its middle bytes. */
static void mac_of_guid(uint8_t mac[MAC_SIZE], const uint8_t guid[GUID_SIZE])
{
    memcpy(mac, guid, MAC_OUI);
    memcpy(mac + MAC_OUI, guid + GUID_SIZE - (MAC_SIZE - MAC_OUI), MAC_SIZE - MAC_OUI);
}

void share_client_mac(struct share_map *m, uint8_t p[6])
{
    enum { LOCAL = 0x02 }; /* old versions of iPXE set this bit */
    uint8_t guid[GUID_SIZE], mac[MAC_SIZE], bit;

    mac_of_guid(mac, m->port);
    bit = (p[0] ^ mac[0]) & LOCAL;
    mac[0] ^= bit;
    if (are_zero(m->port, GUID_SIZE) || memcmp(p, mac, MAC_SIZE) != 0) {
        share_mac(m, p);
        return;
    }
    memcpy(guid, m->port, GUID_SIZE);
    share_guid(m, guid);
    mac_of_guid(p, guid);
    p[0] ^= bit;
}

void share_mac(struct share_map *m, uint8_t p[6])
{
    static const uint8_t broadcast[MAC_SIZE] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

    if (memcmp(p, broadcast, MAC_SIZE) != 0)
        share_bytes(m, p + MAC_OUI, MAC_SIZE - MAC_OUI);
}

void share_name(struct share_map *m, uint8_t *p, size_t n)
{
    char name[16];
    size_t len;

    if (are_zero(p, n))
        return;
    snprintf(name, sizeof(name), "name-%08x", (unsigned)keyed_hash(m, p, strnlen((char *)p, n)));
    len = strlen(name) < n ? strlen(name) : n;
    memset(p, 0, n);
    memcpy(p, name, len);
}

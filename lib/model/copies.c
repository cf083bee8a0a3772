/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/copies.h"

#include "model/mix.h"
#include "wire/nanoseconds.h"
#include "wire/smp.h"

enum { CHAINS = 2 * COPIES };

struct copies {
    struct captured *ring;   /* a ring once it has COPIES entries; next: of the chain, from 1 */
    unsigned room;           /* entries of the ring */
    unsigned next;           /* the next entry: a new one, or the oldest */
    bool is_full;            /* it is the oldest */
    uint16_t chains[CHAINS]; /* the newest packet of each, from 1; 0: none */
};

struct copies *copies_new(void)
{
    return g_new0(struct copies, 1);
}

void copies_free(struct copies *c)
{
    if (c)
        g_free(c->ring);
    g_free(c);
}

/* ---- digests */

static uint64_t digest_bytes(uint64_t h, const uint8_t *p, const uint8_t *end)
{
    uint64_t word;
    for (; end - p >= (ptrdiff_t)sizeof word; p += sizeof word) {
        memcpy(&word, p, sizeof word);
        h = mix_word(h, word);
    }
    for (word = 0; p < end; p++)
        word = word << 8 | *p;
    return mix_word(h, word);
}

/* The ICRC, or where the packet was truncated. */
static const uint8_t *end_of_contents(const struct packet *p)
{
    uint32_t cap = p->bytes.cap, contents = p->ib.length - ICRC_SIZE;
    return p->bytes.p + (p->ib.length > ICRC_SIZE ? MIN(contents, cap) : cap);
}

/* The GIDs, and all that follows, without the BTH's Resv8a. */
static uint64_t digest_contents(uint64_t h, const struct packet *p)
{
    const uint8_t *bth = p->bytes.p + p->ib.bth_off, *changes = bth + BTH_FECN_BECN;
    h = digest_bytes(h, p->ib.has_grh ? p->ib.sgid : bth, changes);
    return digest_bytes(h, changes + 1, end_of_contents(p));
}

static uint64_t digest_icrc(uint64_t h, const struct packet *p)
{
    h = mix_word(h, (uint64_t)p->ib.psn << 24 | p->ib.dqpn);
    return mix_word(h, (uint64_t)p->ib.sqpn << 32 | be32(end_of_contents(p)));
}

static bool is_followed(const struct ib_packet *ib)
{
    bool connected = ib->transport == IB_RC || ib->transport == IB_UC;
    return ib->transport == IB_UD || (connected && ib->kind == IB_KIND_SEND && !ib->immediate);
}

uint64_t packet_digest(const struct packet *p)
{
    if (!is_followed(&p->ib))
        return 0;
    uint64_t h = mix_word(port_on(p->src, 0).id, port_on(p->dst, 0).id);
    bool icrc = p->crcs_count.icrc && p->ib.length > ICRC_SIZE && p->ib.length <= p->bytes.cap;
    return (icrc ? digest_icrc(h, p) : digest_contents(h, p)) | 1;
}

/* ---- chains of packets with a similar digest */

static uint16_t *chain_of(struct copies *c, uint64_t digest)
{
    return &c->chains[(digest >> 40) % CHAINS];
}

static void unlink_packet(struct copies *c, struct captured *old)
{
    uint16_t number = (uint16_t)(old - c->ring + 1), *at = chain_of(c, old->digest);
    while (*at && *at != number)
        at = &c->ring[*at - 1].next;
    if (*at)
        *at = old->next;
    old->digest = 0;
}

/* The first of the chain, from this number on, with the digest; NULL: none. */
static const struct captured *next_same(const struct copies *c, uint16_t number, uint64_t digest)
{
    while (number && c->ring[number - 1].digest != digest)
        number = c->ring[number - 1].next;
    return number ? &c->ring[number - 1] : NULL;
}

static const struct captured *first_same(const struct copies *c, uint64_t digest)
{
    return digest ? next_same(c, *chain_of((struct copies *)c, digest), digest) : NULL;
}

/* ---- copies */

static bool is_in_time(const struct captured *first, const struct packet *p)
{
    int64_t age, most = COPIES_SECONDS * NANOSECONDS;
    return first->captured_on != p->captured_on || p->at.frame - first->frame <= ORDER_FRAMES ||
           (!__builtin_sub_overflow(p->at.ns, first->ns, &age) && age <= most && age >= -most);
}

static bool is_on_subnet(const struct interfaces *i, const struct captured *first,
                         const struct packet *p)
{
    return first->captured_on == p->captured_on ||
           interfaces_subnet(i, first->captured_on) == interfaces_subnet(i, p->captured_on);
}

const struct captured *copies_find(const struct copies *c, const struct interfaces *i,
                                   const struct packet *p)
{
    const struct captured *first = first_same(c, p->digest);
    while (first && !(is_on_subnet(i, first, p) && is_in_time(first, p)))
        first = next_same(c, first->next, p->digest);
    return first;
}

bool copies_is_at_once(const struct captured *first, const struct packet *p)
{
    enum { AT_ONCE_NS = 10000000 };
    int64_t age;
    return first->captured_on != p->captured_on ||
           (!__builtin_sub_overflow(p->at.ns, first->ns, &age) && age <= AT_ONCE_NS &&
            age >= -AT_ONCE_NS);
}

/* Requests of two subnet managers may be the same. The NodeInfo of a port has its GUID. */
static bool is_of_one_subnet(const struct packet *p)
{
    struct node_info n;
    return !ib_is_mad(&p->ib) ||
           (p->mad.kind == MAD_KIND_SMP && p->mad.smp.mad.method == SMP_GET_RESP &&
            p->mad.smp.mad.attribute == SMP_NODE_INFO &&
            smp_node_info(&p->mad.smp, &n) == WIRE_OK && n.port_guid);
}

bool copies_elsewhere(const struct copies *c, const struct interfaces *i, const struct packet *p,
                      uint16_t *interface)
{
    const struct captured *first = first_same(c, p->digest);
    while (first && is_on_subnet(i, first, p))
        first = next_same(c, first->next, p->digest);
    if (!first || !is_of_one_subnet(p))
        return false;
    *interface = first->captured_on;
    return true;
}

/* The ring grows, because most models of the probe see a few packets. */
static struct captured *next_slot(struct copies *c)
{
    enum { FEWEST = 32 };
    if (c->next == c->room) {
        c->room = MAX(FEWEST, 2 * c->room);
        c->ring = g_renew(struct captured, c->ring, c->room);
    }
    struct captured *slot = &c->ring[c->next];
    if (c->is_full && slot->digest)
        unlink_packet(c, slot);
    return slot;
}

void copies_add(struct copies *c, const struct packet *p)
{
    if (!p->digest)
        return;
    struct captured *slot = next_slot(c);
    uint16_t *chain = chain_of(c, p->digest);
    slot->digest = p->digest;
    slot->ns = p->at.ns;
    slot->frame = p->at.frame;
    slot->captured_on = p->captured_on;
    slot->next = *chain;
    slot->is = p->classification;
    *chain = (uint16_t)(c->next + 1);
    c->next = (c->next + 1) % COPIES;
    c->is_full |= c->next == 0;
}

void copies_forget(struct copies *c, const struct packet *p)
{
    const struct captured *last = first_same(c, p->digest);
    if (last && last->frame == p->at.frame)
        unlink_packet(c, (struct captured *)last);
}

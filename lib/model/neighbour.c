/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/neighbour.h"

#include "model/hash.h"
#include "model/mix.h"
#include "model/slab.h"
#include "model/write.h"
#include "wire/nanoseconds.h"

enum { ADDRESS_SIZE = LLADDR_SIZE - LLADDR_QPN };
/* Direct-mapped cache of recent owners of IP addresses; it saves most hash table lookups. */
enum { RECENT = 1024 };

struct neighbours {
    GHashTable *by_lladdr; /* QPN and GID, 19 bytes -> newest entry of that address */
    GHashTable *by_ip;     /* a set: entry of the current owner of the IP address on the link */
    struct slab all;
    unsigned limit;
    struct undone *undone;
    uint32_t taken_frame;
    bool has_replaced;
    struct neighbour *recent[RECENT];
};

uint32_t ip_digest(const struct ip *ip)
{
    return (uint32_t)(mix_gid(ip->length, ip->bytes) >> 32) | 1;
}

static guint lladdr_hash(gconstpointer p)
{
    return hash_bytes((const uint8_t *)p + LLADDR_QPN, ADDRESS_SIZE);
}

static gboolean lladdr_equal(gconstpointer a, gconstpointer b)
{
    return lladdr_same(a, b);
}

static guint link_ip_hash(gconstpointer p)
{
    const struct neighbour *b = p;
    uint8_t bytes[sizeof b->link + sizeof b->ip.bytes];
    memcpy(bytes, &b->link, sizeof b->link);
    memcpy(bytes + sizeof b->link, b->ip.bytes, b->ip.length);
    return hash_bytes(bytes, sizeof b->link + b->ip.length);
}

static gboolean link_ip_equal(gconstpointer p, gconstpointer q)
{
    const struct neighbour *a = p, *b = q;
    return a->link == b->link && ip_same(&a->ip, &b->ip);
}

struct neighbours *neighbours_new(unsigned limit, struct undone *undone)
{
    struct neighbours *n = g_new0(struct neighbours, 1);
    n->by_lladdr = g_hash_table_new(lladdr_hash, lladdr_equal);
    n->by_ip = g_hash_table_new(link_ip_hash, link_ip_equal);
    slab_init(&n->all, sizeof(struct neighbour));
    n->limit = limit;
    n->undone = undone;
    return n;
}

void neighbours_free(struct neighbours *n)
{
    if (!n)
        return;
    g_hash_table_destroy(n->by_lladdr);
    g_hash_table_destroy(n->by_ip);
    slab_clear(&n->all);
    g_free(n);
}

/*
 * Number of entries of an address that are searched: proxy ARP gives one address many IP addresses,
 * a hostile capture may give it a million.
 */
enum { HISTORY_DEPTH = 16, HISTORY_DEPTH_BY_FRAME = 256 };

static struct neighbour *find_neighbour(struct neighbours *n, uint32_t link, const struct ip *ip,
                                        const uint8_t *lladdr)
{
    unsigned depth = 0;
    for (struct neighbour *b = g_hash_table_lookup(n->by_lladdr, lladdr);
         b && depth < HISTORY_DEPTH; b = b->older, depth++)
        if (b->link == link && ip_same(&b->ip, ip))
            return b;
    return NULL;
}

static struct neighbour *add_neighbour(struct neighbours *n, uint32_t link, const struct ip *ip,
                                       const uint8_t *lladdr, uint32_t frame)
{
    if (n->all.count >= n->limit) {
        undone_refuse(n->undone, UNDONE_NEIGHBOURS);
        return NULL;
    }
    struct neighbour *b = slab_add(&n->all);
    memcpy(b->lladdr, lladdr, LLADDR_SIZE);
    b->link = link;
    b->ip = *ip;
    b->frame = frame;
    b->older = g_hash_table_lookup(n->by_lladdr, lladdr);
    g_hash_table_replace(n->by_lladdr, b->lladdr, b);
    return b;
}

static struct neighbour *find_owner(const struct neighbours *n, uint32_t link, const struct ip *ip)
{
    struct neighbour key;
    key.link = link;
    key.ip = *ip;
    return g_hash_table_lookup(n->by_ip, &key);
}

static struct neighbour **recent_of(const struct neighbours *n, const struct ip *ip)
{
    unsigned place = ip->length ? be16(ip->bytes + ip->length - 2) : 0;
    return &((struct neighbours *)n)->recent[place % RECENT];
}

/* Only the cache changes, so a reader may write it. */
const struct neighbour *neighbours_of_ip(const struct neighbours *n, uint32_t link,
                                         const struct ip *ip)
{
    struct neighbour **recent = recent_of(n, ip);
    if (*recent && (*recent)->link == link && ip_same(&(*recent)->ip, ip))
        return *recent;
    struct neighbour *found = find_owner(n, link, ip);
    if (found)
        *recent = found;
    return found;
}

/* The owner of the IP address that this entry replaced in this frame, if it was another port. */
static const struct neighbour *ousted(const struct neighbour *pair, uint32_t frame)
{
    bool now = pair->before && pair->taken_frame == frame;
    return now && !neighbour_is_same_port(pair->before, pair->lladdr) ? pair->before : NULL;
}

void neighbours_sent_from(struct neighbours *n, uint32_t link, const struct ip *ip, uint16_t slid)
{
    struct neighbour *owner = (struct neighbour *)neighbours_of_ip(n, link, ip);
    if (owner)
        owner->lid = slid;
}

void neighbours_told_all(struct neighbours *n, uint32_t link, const struct ip *ip, int64_t ns,
                         uint16_t interface)
{
    struct neighbour *owner = (struct neighbour *)neighbours_of_ip(n, link, ip);
    if (!owner || owner->told_seconds)
        return;
    owner->told_seconds = (uint32_t)(ns / NANOSECONDS + 1);
    owner->told_on = interface;
}

const struct neighbour *neighbours_seen(struct neighbours *n, uint32_t link, const struct ip *ip,
                                        const uint8_t *lladdr, uint32_t frame, int64_t ns,
                                        uint16_t interface)
{
    struct neighbour *pair = find_neighbour(n, link, ip, lladdr);
    struct neighbour *holder = (struct neighbour *)neighbours_of_ip(n, link, ip);

    if (!pair)
        pair = add_neighbour(n, link, ip, lladdr, frame);
    if (!pair)
        return NULL;
    pair->last_frame = frame;
    pair->last_seconds = ns / NANOSECONDS;
    pair->lladdr[LLADDR_FLAGS] = lladdr[LLADDR_FLAGS];
    if (holder != pair) {
        pair->before = holder;
        pair->taken_frame = n->taken_frame = frame;
        pair->taken_ns = ns;
        pair->interface = interface;
        pair->told_seconds = 0;
        n->has_replaced |= neighbour_replaced(pair) != NULL;
        g_hash_table_replace(n->by_ip, pair, pair);
        *recent_of(n, ip) = pair;
    }
    return ousted(pair, frame);
}

const struct neighbour *neighbours_of_lladdr(const struct neighbours *n, const uint8_t *lladdr,
                                             uint8_t length, uint32_t frame)
{
    unsigned depth = 0;
    for (struct neighbour *b = g_hash_table_lookup(n->by_lladdr, lladdr);
         b && depth < HISTORY_DEPTH_BY_FRAME; b = b->older, depth++)
        if (b->ip.length == length && b->frame <= frame)
            return b;
    return NULL;
}

uint32_t neighbours_taken_frame(const struct neighbours *n)
{
    return n->taken_frame;
}

bool neighbours_has_replaced(const struct neighbours *n)
{
    return n->has_replaced;
}

const struct neighbour *neighbours_at(const struct neighbours *n, unsigned index)
{
    return slab_at(&n->all, index);
}

unsigned neighbours_count(const struct neighbours *n)
{
    return n->all.count;
}

void neighbours_merge(struct neighbours *n, uint16_t from, uint16_t to)
{
    memset(n->recent, 0, sizeof n->recent);
    for (unsigned i = 0; i < n->all.count; i++) {
        struct neighbour *b = slab_at(&n->all, i);
        if (link_interface(b->link) != from)
            continue;
        bool holds = find_owner(n, b->link, &b->ip) == b;
        if (holds)
            g_hash_table_remove(n->by_ip, b);
        b->link = link_on(b->link, to);
        const struct neighbour *other = find_owner(n, b->link, &b->ip);
        if (holds && (!other || other->last_frame < b->last_frame))
            g_hash_table_replace(n->by_ip, b, b);
    }
}

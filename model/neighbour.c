/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/neighbour.h"

enum { ADDRESS_SIZE = LLADDR_SIZE - LLADDR_QPN };

struct neighbours {
    GHashTable *by_lladdr; /* 19 octets (QPN, GID) -> GPtrArray of neighbours, oldest first */
    GHashTable *by_ip;     /* struct link_ip -> neighbour that holds the IP now */
    GPtrArray *all;
    unsigned limit;
};

struct link_ip {
    uint32_t link;
    struct ip ip;
};

static guint octets_hash(const uint8_t *p, size_t n)
{
    guint h = 2166136261u;
    while (n--)
        h = (h ^ *p++) * 16777619u;
    return h;
}

static guint lladdr_hash(gconstpointer p)
{
    return octets_hash((const uint8_t *)p + LLADDR_QPN, ADDRESS_SIZE);
}

static gboolean lladdr_equal(gconstpointer a, gconstpointer b)
{
    return lladdr_same(a, b);
}

static guint link_ip_hash(gconstpointer p)
{
    const struct link_ip *k = p;
    return octets_hash(k->ip.octets, k->ip.length) ^ k->link;
}

static gboolean link_ip_equal(gconstpointer a, gconstpointer b)
{
    const struct link_ip *x = a, *y = b;
    return x->link == y->link && x->ip.length == y->ip.length && memcmp(x->ip.octets, y->ip.octets, x->ip.length) == 0;
}

static void array_unref(gpointer p)
{
    g_ptr_array_unref(p);
}

struct neighbours *neighbours_new(unsigned limit)
{
    struct neighbours *n = g_new0(struct neighbours, 1);
    n->by_lladdr = g_hash_table_new_full(lladdr_hash, lladdr_equal, NULL, array_unref);
    n->by_ip = g_hash_table_new_full(link_ip_hash, link_ip_equal, g_free, NULL);
    n->all = g_ptr_array_new_with_free_func(g_free);
    n->limit = limit;
    return n;
}

void neighbours_free(struct neighbours *n)
{
    if (!n)
        return;
    g_hash_table_destroy(n->by_lladdr);
    g_hash_table_destroy(n->by_ip);
    g_ptr_array_unref(n->all);
    g_free(n);
}

bool ip_is_unspecified(const struct ip *ip)
{
    static const uint8_t zero[16];
    return memcmp(ip->octets, zero, ip->length) == 0;
}

/* How far back a pair is looked for in an address's history: proxy ARP gives one address many IPs. */
enum { HISTORY_DEPTH = 16 };

static struct neighbour *find(struct neighbours *n, const struct ip *ip, const uint8_t *lladdr)
{
    GPtrArray *history = g_hash_table_lookup(n->by_lladdr, lladdr);
    guint len = history ? history->len : 0;
    for (guint i = len; i > 0 && i + HISTORY_DEPTH > len; i--) {
        struct neighbour *b = g_ptr_array_index(history, i - 1);
        if (b->ip.length == ip->length && memcmp(b->ip.octets, ip->octets, ip->length) == 0)
            return b;
    }
    return NULL;
}

static struct neighbour *add(struct neighbours *n, const struct ip *ip, const uint8_t *lladdr, uint32_t frame)
{
    if (n->all->len >= n->limit)
        return NULL;
    struct neighbour *b = g_new0(struct neighbour, 1);
    memcpy(b->lladdr, lladdr, LLADDR_SIZE);
    b->ip = *ip;
    b->frame = frame;
    g_ptr_array_add(n->all, b);
    GPtrArray *history = g_hash_table_lookup(n->by_lladdr, lladdr);
    if (!history) {
        history = g_ptr_array_new();
        g_hash_table_insert(n->by_lladdr, b->lladdr, history);
    }
    g_ptr_array_add(history, b);
    return b;
}

/* The same port with another QPN: its interface was restarted (RFC 4391 §9.4), nobody else took the IP. */
static bool same_port(const struct neighbour *b, const uint8_t *lladdr)
{
    return memcmp(b->lladdr + LLADDR_GID, lladdr + LLADDR_GID, GID_SIZE) == 0;
}

const struct neighbour *neighbours_seen(struct neighbours *n, uint32_t link, const struct ip *ip, const uint8_t *lladdr,
                                        uint32_t frame, int64_t seconds)
{
    struct link_ip key = {link, *ip};
    struct neighbour *pair = find(n, ip, lladdr);
    struct neighbour *holder = g_hash_table_lookup(n->by_ip, &key);

    if (!pair)
        pair = add(n, ip, lladdr, frame);
    if (!pair)
        return NULL;
    pair->last_frame = frame;
    pair->last_seconds = seconds;
    if (!holder || same_port(holder, lladdr)) {
        g_hash_table_replace(n->by_ip, g_memdup2(&key, sizeof key), pair);
        return NULL;
    }
    return holder;
}

const struct neighbour *neighbours_of_lladdr(struct neighbours *n, const uint8_t *lladdr, uint8_t length, uint32_t frame)
{
    GPtrArray *history = g_hash_table_lookup(n->by_lladdr, lladdr);
    for (guint i = history ? history->len : 0; i > 0; i--) {
        const struct neighbour *b = g_ptr_array_index(history, i - 1);
        if (b->ip.length == length && b->frame <= frame)
            return b;
    }
    return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/stale.h"

#include "compat/glib.h"
#include "model/hash.h"
#include "model/write.h"

struct stale_uses {
    GHashTable *all; /* a set of struct stale_use */
    unsigned limit;
    struct undone *undone;
};

/* The order of the bytes of a key; no padding between its members. */
struct stale_key {
    uint32_t link, qpn, to_qpn, taken_frame;
    uint16_t lid, length;
    uint8_t ip[16];
};

static guint stale_hash(gconstpointer p)
{
    const struct stale_use *u = p;
    struct stale_key key = {u->link, u->qpn, u->to_qpn, u->taken_frame, u->lid, u->ip.length, {0}};
    memcpy(key.ip, u->ip.bytes, u->ip.length);
    return hash_bytes(&key, sizeof key);
}

static gboolean is_same(gconstpointer p, gconstpointer q)
{
    const struct stale_use *a = p, *b = q;
    return a->link == b->link && a->lid == b->lid && a->qpn == b->qpn && a->to_qpn == b->to_qpn &&
           a->taken_frame == b->taken_frame && ip_same(&a->ip, &b->ip);
}

struct stale_uses *stale_new(unsigned limit, struct undone *undone)
{
    struct stale_uses *s = g_new0(struct stale_uses, 1);
    s->all = g_hash_table_new_full(stale_hash, is_same, g_free, NULL);
    s->limit = limit;
    s->undone = undone;
    return s;
}

void stale_free(struct stale_uses *s)
{
    if (!s)
        return;
    g_hash_table_destroy(s->all);
    g_free(s);
}

const struct stale_use *stale_use_of(const struct stale_uses *s, const struct stale_use *like)
{
    return g_hash_table_lookup(s->all, like);
}

void stale_used(struct stale_uses *s, const struct stale_use *u)
{
    if (stale_use_of(s, u))
        return;
    if (g_hash_table_size(s->all) >= s->limit)
        undone_refuse(s->undone, UNDONE_STALE_USES);
    else
        g_hash_table_add(s->all, compat_memdup(u, sizeof *u));
}

static bool is_on(const void *use, uint16_t interface)
{
    return link_interface(((const struct stale_use *)use)->link) == interface;
}

void stale_merge(struct stale_uses *s, uint16_t from, uint16_t to)
{
    GPtrArray *moved = hash_take(s->all, is_on, from);
    for (unsigned i = 0; i < moved->len; i++) {
        struct stale_use *u = g_ptr_array_index(moved, i);
        u->link = link_on(u->link, to);
        g_hash_table_replace(s->all, u, u);
    }
    g_ptr_array_unref(moved);
}

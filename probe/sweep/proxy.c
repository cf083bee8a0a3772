/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detects proxies in a sweep: one link-layer address that responds for many IP addresses (RFC 1027,
 * RFC 4861 §7.2.8). No rule forbids it, but the results for such addresses are about the proxy.
 */
#include "probe/sweep/parts.h"

#include <string.h>

#include "compat/glib.h"
#include "model/hash.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/request.h"

/* A station with this many addresses is reported, whether it is a proxy or not. */
enum { PROXY_FROM = 8, PROXIES_REPORTED = 5 };

struct station {
    struct owner owner;
    uint32_t addresses;
};

/* Without the flags, which lladdr_same() does not compare. */
static guint hash_place(gconstpointer key)
{
    return hash_bytes(((const struct station *)key)->owner.lladdr + LLADDR_QPN,
                      LLADDR_SIZE - LLADDR_QPN);
}

static gboolean same_place(gconstpointer a, gconstpointer b)
{
    return lladdr_same(((const struct station *)a)->owner.lladdr,
                       ((const struct station *)b)->owner.lladdr);
}

void sweep_note_place(struct sweep_tally *t, const struct response *a)
{
    struct station key = {.owner = {.lid = a->lid, .sl = a->sl, .qpn = a->qpn}, .addresses = 1}, *p;
    memcpy(key.owner.lladdr, a->lladdr, LLADDR_SIZE);
    if (!t->places)
        t->places = g_hash_table_new_full(hash_place, same_place, g_free, NULL);
    if ((p = g_hash_table_lookup(t->places, &key)))
        p->addresses++;
    else
        g_hash_table_add(t->places, compat_memdup(&key, sizeof key));
}

static int by_addresses(gconstpointer a, gconstpointer b)
{
    const struct station *x = *(struct station *const *)a, *y = *(struct station *const *)b;
    return x->addresses != y->addresses ? (x->addresses < y->addresses ? 1 : -1)
                                        : memcmp(x->owner.lladdr, y->owner.lladdr, LLADDR_SIZE);
}

static void report_place(struct checked *j, const struct station *p)
{
    char owner[OWNER_TEXT];
    owner_text(&p->owner, owner, sizeof owner);
    char *text = g_strdup_printf("%u of them are at %s: a proxy, or a host that has many addresses",
                                 p->addresses, owner);
    checked_add_stage(j, "sweep.proxy", OUTCOME_NOTED, text, "");
    g_free(text);
}

void sweep_report_proxies(const struct sweep_tally *t, struct checked *j)
{
    GPtrArray *many = g_ptr_array_new();
    GHashTableIter it;
    gpointer key;
    if (t->places)
        g_hash_table_iter_init(&it, t->places);
    while (t->places && g_hash_table_iter_next(&it, &key, NULL))
        if (((const struct station *)key)->addresses >= PROXY_FROM)
            g_ptr_array_add(many, key);
    g_ptr_array_sort(many, by_addresses);
    for (guint i = 0; i < many->len && i < PROXIES_REPORTED; i++)
        report_place(j, many->pdata[i]);
    g_ptr_array_unref(many);
}

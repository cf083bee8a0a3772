/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/qpns.h"

/* A small direct-mapped memory of QPs just seen spares the hash table most of the questions. */
enum { RECENT = 1024 };

struct qpns {
    GHashTable *known; /* struct port_number */
    unsigned limit;
    struct port_number recent[RECENT];
};

struct qpns *qpns_new(unsigned limit)
{
    struct qpns *s = g_new0(struct qpns, 1);
    s->known = g_hash_table_new_full(port_number_hash, port_number_equal, g_free, NULL);
    s->limit = limit;
    return s;
}

void qpns_free(struct qpns *s)
{
    if (!s)
        return;
    g_hash_table_destroy(s->known);
    g_free(s);
}

void qpns_learn(struct qpns *s, const struct port *port, uint32_t qpn)
{
    struct port_number key = port_number(port, qpn);
    struct port_number *slot = &s->recent[port_number_hash(&key) % RECENT];
    if (port_number_equal(slot, &key))
        return;
    *slot = key;
    if (g_hash_table_size(s->known) < s->limit && !g_hash_table_contains(s->known, &key))
        g_hash_table_add(s->known, g_memdup2(&key, sizeof key));
}

bool qpns_known(const struct qpns *s, const struct port *port, uint32_t qpn)
{
    struct port_number key = port_number(port, qpn);
    return g_hash_table_contains(s->known, &key);
}

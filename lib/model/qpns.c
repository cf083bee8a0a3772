/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/qpns.h"

/* A small direct-mapped memory of QPs just seen spares the hash table most of the questions. */
enum { RECENT = 1024 };

struct qpns {
    GHashTable *known; /* a set of struct qp */
    unsigned limit;
    struct qp *recent[RECENT];
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

struct qp *qpns_find(struct qpns *s, const struct port *port, uint32_t qpn)
{
    struct port_number key = port_number(port, qpn);
    struct qp **slot = &s->recent[port_number_place(&key) % RECENT];
    if (*slot && port_number_equal(*slot, &key))
        return *slot;
    struct qp *q = g_hash_table_lookup(s->known, &key);
    if (q)
        *slot = q;
    return q;
}

struct qp *qpns_learn(struct qpns *s, const struct port *port, uint32_t qpn)
{
    struct qp *q = qpns_find(s, port, qpn);
    if (q || g_hash_table_size(s->known) >= s->limit)
        return q;
    q = g_new0(struct qp, 1);
    q->id = port_number(port, qpn);
    g_hash_table_add(s->known, q);
    return q;
}

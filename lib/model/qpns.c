/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/qpns.h"

#include "compat/glib.h"
#include "model/hash.h"
#include "model/slab.h"
#include "model/write.h"
#include "wire/nanoseconds.h"

/* Direct-mapped cache of recent QPs; it saves most hash table lookups. */
enum { RECENT = 1024 };
/* Limit of Q_Keys of partitions. A partition has one, and a fabric at most 2^15 partitions. */
enum { LINK_KEYS_MAX = 1 << 12 };

/* Clients that have sent a DHCPREQUEST last; a server answers one within seconds. */
enum { REQUESTS_MAX = 16 };

struct qpns {
    GHashTable *link_keys; /* a set of uint64_t, link_key_of() */
    uint64_t recent_key;
    GHashTable *known; /* a set of struct qp */
    struct slab all;   /* also those that a merge left out */
    unsigned limit;
    struct undone *undone;
    struct qp *recent[RECENT];
    struct {
        struct qp *qp; /* NULL: unused */
        uint32_t xid;  /* transaction ID */
    } requests[REQUESTS_MAX];
    unsigned next_request;
};

struct qpns *qpns_new(unsigned limit, struct undone *undone)
{
    struct qpns *s = g_new0(struct qpns, 1);
    s->known = g_hash_table_new(port_number_hash, port_number_equal);
    slab_init(&s->all, sizeof(struct qp));
    s->link_keys = g_hash_table_new_full(hash_uint64, g_int64_equal, g_free, NULL);
    s->limit = limit;
    s->undone = undone;
    return s;
}

void qpns_free(struct qpns *s)
{
    if (!s)
        return;
    g_hash_table_destroy(s->known);
    g_hash_table_destroy(s->link_keys);
    slab_clear(&s->all);
    g_free(s);
}

struct qp *qpns_get(struct qpns *s, const struct port *port, uint32_t qpn)
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

/* Only the cache changes, so a reader may write it. */
const struct qp *qpns_find(const struct qpns *s, const struct port *port, uint32_t qpn)
{
    return qpns_get((struct qpns *)s, port, qpn);
}

struct qp *qpns_learn(struct qpns *s, const struct port *port, uint32_t qpn)
{
    struct qp *q = qpns_get(s, port, qpn);
    if (q)
        return q;
    if (s->all.count >= s->limit) {
        undone_refuse(s->undone, UNDONE_QPS);
        return NULL;
    }
    q = slab_add(&s->all);
    q->id = port_number(port, qpn);
    sequence_begins(&q->sequence, 0); /* it may be new */
    g_hash_table_add(s->known, q);
    return q;
}

/* ---- Q_Keys of partitions */

static uint64_t link_key_of(uint16_t interface, const struct ib_packet *ib)
{
    return (uint64_t)(ib->pkey & 0x7fffu) << 48 | (uint64_t)interface << 32 | ib->qkey;
}

void qpns_learn_link_key(struct qpns *s, uint16_t interface, const struct ib_packet *ib)
{
    uint64_t key = link_key_of(interface, ib);
    if (key == s->recent_key || g_hash_table_contains(s->link_keys, &key))
        return;
    if (g_hash_table_size(s->link_keys) >= MIN(s->limit, LINK_KEYS_MAX)) {
        undone_refuse(s->undone, UNDONE_LINK_KEYS);
        return;
    }
    s->recent_key = key;
    g_hash_table_add(s->link_keys, compat_memdup(&key, sizeof key));
}

bool qpns_has_link_key(const struct qpns *s, uint16_t interface, const struct ib_packet *ib)
{
    uint64_t key = link_key_of(interface, ib);
    return g_hash_table_contains(s->link_keys, &key);
}

/*
 * Keys of the other interface stay: that interface's number is not used any more. A key that is
 * there already is not added, because the table would free it, which the list still has.
 */
static void merge_link_keys(struct qpns *s, uint16_t from, uint16_t to)
{
    const uint64_t mask = UINT64_C(0xffff) << 32;
    GList *keys = g_hash_table_get_keys(s->link_keys);
    for (GList *l = keys; l; l = l->next) {
        uint64_t key = *(const uint64_t *)l->data;
        if ((key & mask) != (uint64_t)from << 32)
            continue;
        key = (key & ~mask) | (uint64_t)to << 32;
        if (!g_hash_table_contains(s->link_keys, &key))
            g_hash_table_add(s->link_keys, compat_memdup(&key, sizeof key));
    }
    g_list_free(keys);
}

/* ---- leases */

void qpns_lease_requested(struct qpns *s, struct qp *qp, uint32_t xid)
{
    unsigned i = 0;
    while (i < REQUESTS_MAX && s->requests[i].qp != qp)
        i++;
    if (i == REQUESTS_MAX)
        i = s->next_request++ % REQUESTS_MAX;
    s->requests[i].qp = qp;
    s->requests[i].xid = xid;
    qp->dhcp_bound = 0;
}

void qpns_lease_granted(struct qpns *s, uint16_t interface, uint32_t xid, uint32_t address)
{
    for (unsigned i = 0; i < REQUESTS_MAX; i++) {
        struct qp *qp = s->requests[i].qp;
        if (qp && port_interface(qp->id.port) == interface && s->requests[i].xid == xid &&
            qp->dhcp_address == address)
            qp->dhcp_bound = 1;
    }
}

/* ---- PSNs */

void qp_has_gap(struct qp *qp, uint32_t frame, int64_t ns)
{
    sequence_has_gap(&qp->sequence, frame);
    qp->gap_seconds = (uint32_t)(ns / NANOSECONDS + 1);
}

enum sequence_seen qp_sent(struct qp *qp, uint32_t psn, bool corrupt, uint32_t frame, int64_t ns)
{
    enum sequence_seen seen = corrupt ? sequence_saw_corrupt(&qp->sequence, psn, frame)
                                      : sequence_saw(&qp->sequence, psn, frame);
    if (qp->sequence.gap_frame == frame)
        qp_has_gap(qp, frame, ns);
    return seen;
}

static bool is_on(const void *qp, uint16_t interface)
{
    return port_interface(((const struct qp *)qp)->id.port) == interface;
}

void qpns_merge(struct qpns *s, uint16_t from, uint16_t to)
{
    GPtrArray *moved = hash_take(s->known, is_on, from);
    memset(s->recent, 0, sizeof s->recent);
    for (unsigned i = 0; i < moved->len; i++) {
        struct qp *q = g_ptr_array_index(moved, i);
        q->id.port = port_on(q->id.port, to);
        if (!g_hash_table_contains(s->known, q))
            g_hash_table_add(s->known, q);
    }
    g_ptr_array_unref(moved);
    merge_link_keys(s, from, to);
}

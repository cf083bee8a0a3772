/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/reversal.h"

#include "model/hash.h"
#include "model/mix.h"
#include "wire/cm.h"
#include "wire/nanoseconds.h"

/* ---- responses that wait for their requests, in the order of capture */

struct waiting_responses {
    GHashTable *by_key; /* a set of struct waiting_response, those in the ring */
    struct waiting_response {
        uint64_t key; /* must be first; 0: unused */
        uint32_t frame;
        int64_t ns;
    } ring[REVERSALS_WAITING];
    unsigned next;
};

void reversals_clear(struct reversals *r)
{
    if (r->waiting)
        g_hash_table_destroy(r->waiting->by_key);
    g_clear_pointer(&r->waiting, g_free);
}

static bool is_old(const struct waiting_response *w, int64_t now)
{
    int64_t age;
    return __builtin_sub_overflow(now, w->ns, &age) || age > REVERSALS_SECONDS * NANOSECONDS;
}

/* The response has to make room for another transaction. */
static void let_wait(struct reversals *r, const struct reversal_entry *e, int64_t now)
{
    if (!r->waiting) {
        r->waiting = g_new0(struct waiting_responses, 1);
        r->waiting->by_key = g_hash_table_new(hash_uint64, g_int64_equal);
    }
    struct waiting_response *w = &r->waiting->ring[r->waiting->next++ % REVERSALS_WAITING];
    if (w->key && !is_old(w, now))
        undone_refuse(r->undone, UNDONE_TRANSACTIONS);
    if (w->key && g_hash_table_lookup(r->waiting->by_key, &w->key) == w)
        g_hash_table_remove(r->waiting->by_key, w);
    *w = (struct waiting_response){e->key, e->frame, now};
    g_hash_table_replace(r->waiting->by_key, w, w);
}

/* The frame of the response that waits for a request of this transaction; 0: none does. */
static uint32_t frame_waiting(const struct reversals *r, uint64_t key, int64_t now)
{
    const struct waiting_response *w = r->waiting ? g_hash_table_lookup(r->waiting->by_key, &key)
                                                  : NULL;
    return w && !is_old(w, now) ? w->frame : 0;
}

/* ---- transactions */

static struct reversal_entry *entry_of(struct reversals *r, uint64_t key, const struct order *order)
{
    struct reversal_entry *e = &r->entries[(key >> 32) % REVERSALS];
    uint32_t waiting;
    if (e->key == key)
        return e;
    if (e->key && !e->has_request)
        let_wait(r, e, order->clocks.ns);
    waiting = frame_waiting(r, key, order->clocks.ns);
    *e = (struct reversal_entry){.key = key, .frame = waiting ? waiting : order_last(order)};
    return e;
}

enum { SUBNET_BITS = 0x7f };

/* src: the requester */
static void see_request(struct reversals *r, uint64_t key, uint32_t psn, struct port src,
                        struct order *order)
{
    struct reversal_entry *e = entry_of(r, key, order);
    uint16_t subnet = port_interface(src) & SUBNET_BITS;
    bool copy = e->has_request && e->psn == psn && e->subnet == subnet;
    bool first = e->frame == order_last(order);
    if (copy)
        order_copied(order, port_interface(src));
    if ((copy || !e->has_request) && !first && !order_is_uncertain(order, e->frame))
        order_reversed(order);
    if (e->has_request)
        return;
    e->has_request = true;
    e->psn = psn & PSN_MASK;
    e->subnet = subnet & SUBNET_BITS;
}

static void see_cm(struct reversals *r, const struct mad *m, uint32_t psn, struct port src,
                   struct port dst, struct order *order)
{
    bool requests = cm_is_request(m->attribute);
    if (!requests)
        entry_of(r, transaction_key(m, dst, src), order);
    if (requests || m->attribute == CM_REP) /* an RTU responds to the REP */
        see_request(r, transaction_key(m, src, dst), psn, src, order);
}

void reversals_see(struct reversals *r, const struct mad_payload *m, uint32_t psn, struct port src,
                   struct port dst, struct order *order)
{
    if (!m->has_header)
        return;
    if (m->kind == MAD_KIND_CM)
        see_cm(r, &m->mad, psn, src, dst, order);
    else if (m->mad.method & MAD_RESPONSE)
        entry_of(r, transaction_key(&m->mad, dst, src), order);
    else
        see_request(r, transaction_key(&m->mad, src, dst), psn, src, order);
}

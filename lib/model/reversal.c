/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/reversal.h"

#include "wire/cm.h"

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15ull;
    return h ^ h >> 29;
}

/*
 * Key of the transaction in which `from` requests and `to` responds, on any capture interface. All
 * messages of a CM handshake have one transaction ID (IBA 12.6.4).
 */
static uint64_t transaction(const struct mad *m, struct port from, struct port to)
{
    uint16_t attribute = m->class == MAD_CLASS_CM ? 0 : m->attribute;
    uint64_t h = mix(mix(0, m->tid), (uint64_t)m->class << 16 | attribute);
    return mix(mix(h, port_on(from, 0).id), port_on(to, 0).id) | 1;
}

static struct reversal_entry *entry_of(struct reversals *r, uint64_t key, uint32_t frame)
{
    struct reversal_entry *e = &r->entries[(key >> 32) % REVERSALS];
    if (e->key != key)
        *e = (struct reversal_entry){.key = key, .frame = frame};
    return e;
}

enum { SUBNET_BITS = 0x7f };

/* src: the requester */
static void see_request(struct reversals *r, uint64_t key, uint32_t psn, struct port src,
                        struct order *order)
{
    struct reversal_entry *e = entry_of(r, key, order_last(order));
    uint16_t subnet = port_interface(src) & SUBNET_BITS;
    bool copy = e->has_request && e->psn == psn && e->subnet == subnet;
    bool first = e->frame == order_last(order);
    if (copy)
        order_copied(order);
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
        entry_of(r, transaction(m, dst, src), order_last(order));
    if (requests || m->attribute == CM_REP) /* an RTU responds to the REP */
        see_request(r, transaction(m, src, dst), psn, src, order);
}

void reversals_see(struct reversals *r, const struct mad_payload *m, uint32_t psn, struct port src,
                   struct port dst, struct order *order)
{
    if (!m->has_header)
        return;
    if (m->kind == MAD_KIND_CM)
        see_cm(r, &m->mad, psn, src, dst, order);
    else if (m->mad.method & MAD_RESPONSE)
        entry_of(r, transaction(&m->mad, dst, src), order_last(order));
    else
        see_request(r, transaction(&m->mad, src, dst), psn, src, order);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/subnet.h"

#include "model/sa_requests.h"
#include "model/sa_tables.h"
#include "model/smps.h"

struct subnet *subnet_new(struct groups *groups, struct endports *endports, unsigned limit,
                          struct undone *undone)
{
    struct subnet *s = g_new0(struct subnet, 1);
    s->groups = groups;
    s->endports = endports;
    s->routes = routes_new(limit, undone);
    s->managers = g_ptr_array_new_with_free_func(g_free);
    s->requests = sa_requests_new();
    s->tables = sa_tables_new();
    return s;
}

void subnet_free(struct subnet *s)
{
    if (!s)
        return;
    routes_free(s->routes);
    g_ptr_array_unref(s->managers);
    g_free(s->requests);
    g_free(s->tables);
    g_free(s);
}

static struct manager *managers_find(const GPtrArray *all, uint16_t interface)
{
    return interface < all->len ? g_ptr_array_index(all, interface) : NULL;
}

uint16_t subnet_sa_lid(const struct subnet *s, uint16_t interface)
{
    const struct manager *m = managers_find(s->managers, interface);
    return m ? m->sa_lid : 0;
}

const struct sa_sequence *subnet_sa_sequence(const struct subnet *s, uint16_t interface)
{
    const struct manager *m = managers_find(s->managers, interface);
    return m && m->sa_lid ? &m->sa_sequence : NULL;
}

struct doubt subnet_doubt(const struct subnet *s, uint16_t interface)
{
    const struct manager *m = managers_find(s->managers, interface);
    return m ? m->doubt : (struct doubt){0};
}

void subnet_add_doubt(struct subnet *s, uint16_t interface, uint32_t frame)
{
    struct doubt *d = &managers_get(s->managers, interface)->doubt;
    d->last_frame = frame;
    if (!d->first_frame)
        d->first_frame = frame;
}

void subnet_asks_to_reregister(struct subnet *s, uint16_t interface, uint32_t frame)
{
    managers_get(s->managers, interface)->doubt.last_frame = frame;
}

void subnet_merge_doubt(struct subnet *s, uint16_t from, uint16_t to)
{
    const struct manager *m = managers_find(s->managers, from);
    struct doubt *to_doubt = m ? &managers_get(s->managers, to)->doubt : NULL;
    if (!to_doubt)
        return;
    uint32_t first = m->doubt.first_frame;
    if (first && (!to_doubt->first_frame || first < to_doubt->first_frame))
        to_doubt->first_frame = first;
    to_doubt->last_frame = MAX(m->doubt.last_frame, to_doubt->last_frame);
}

static void add_to_sequence(struct sa_sequence *q, uint32_t psn, uint32_t frame)
{
    enum sequence_seen seen = sequence_saw(&q->gsi, psn, frame);
    if (seen == SEEN_NEW)
        q->from_start = psn == 0 && !q->gsi.gap_frame;
    q->gaps += seen == SEEN_GAP;
    q->packets++;
}

/* Several LIDs of one port (IBA 4.1.3) count as one. */
static void count_destination(const struct subnet *s, struct sa_sequence *q, const struct port *dst)
{
    uint16_t lid = port_to_lid(*dst), interface = port_interface(*dst);
    const struct endport *first = endports_by_lid(s->endports, interface, q->to);
    if (!q->to)
        q->to = lid;
    else if (lid && lid != q->to && !(first && endport_has_lid(first, lid)))
        q->to_several = true;
}

void subnet_sa_answers(struct subnet *s, const struct port *src, uint32_t psn)
{
    enum { LMC_MAX = 7, STEP_MAX = 8 };
    uint16_t lid = port_to_lid(*src), before = subnet_sa_lid(s, port_interface(*src));
    unsigned lmc = 0;
    if (!lid || !before || lid == before)
        return;
    while (before >> lmc != lid >> lmc)
        lmc++;
    struct manager *m = managers_get(s->managers, port_interface(*src));
    int32_t by = psn_distance(m->sa_sequence.gsi.psn, psn);
    if (lmc <= LMC_MAX && lid >> lmc && m->sa_sequence.gsi.known && by > 0 && by <= STEP_MAX)
        m->sa_lid = lid;
}

bool subnet_sa_sent(struct subnet *s, const struct port *src, const struct port *dst, uint32_t psn,
                    bool truncated, uint32_t frame)
{
    uint16_t lid = port_to_lid(*src), interface = port_interface(*src);
    if (!lid || lid != subnet_sa_lid(s, interface))
        return false;
    struct sa_sequence *q = &managers_get(s->managers, interface)->sa_sequence;
    add_to_sequence(q, psn, frame);
    count_destination(s, q, dst);
    if (truncated)
        sequence_has_gap(&q->gsi, frame);
    return true;
}

void subnet_sent_ipoib(struct subnet *s, const struct port *src)
{
    uint16_t lid = port_to_lid(*src), interface = port_interface(*src);
    if (lid && lid == subnet_sa_lid(s, interface))
        managers_get(s->managers, interface)->sa_sequence.has_interface = true;
}

void subnet_mad(struct subnet *s, uint32_t frame, const struct mad_payload *m,
                const struct port *src, const struct port *dst, subnet_observer *observer,
                void *user)
{
    struct delivery d = {s, src, dst, frame, port_interface(*src), observer, user};
    if (m->result != WIRE_OK)
        return;
    if (m->kind == MAD_KIND_SA)
        learn_sa_message(&d, &m->sa);
    else if (m->kind == MAD_KIND_SMP)
        learn_smp(&d, &m->smp);
}

static void managers_merge(struct subnet *s, uint16_t from, uint16_t to)
{
    GPtrArray *all = s->managers;
    subnet_merge_doubt(s, from, to);
    struct manager *m = managers_find(all, from), *same = managers_find(all, to);
    if (!m)
        return;
    g_ptr_array_index(all, from) = NULL;
    if (!same->master_guid)
        same->master_guid = m->master_guid;
    if (!same->sa_lid) {
        same->sa_lid = m->sa_lid;
        same->sa_sequence = m->sa_sequence;
    }
    same->sa_sequence.has_interface |= m->sa_sequence.has_interface;
    same->sa_sequence.to_several |= m->sa_sequence.to_several;
    same->sa_sequence.from_start &= m->sa_sequence.from_start;
    sequence_merge(&same->sa_sequence.gsi, &m->sa_sequence.gsi);
    g_free(m);
}

void subnet_merge(struct subnet *s, uint16_t from, uint16_t to)
{
    managers_merge(s, from, to);
    sa_requests_merge(s->requests, from, to);
    sa_tables_merge(s->tables);
    routes_merge(s->routes);
}

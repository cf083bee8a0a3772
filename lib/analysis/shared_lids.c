/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LIDs that the subnet manager gave to two ports: the second answers its PortInfo with the LID, and
 * the first one still uses it a second later. The NodeInfo of both was captured, so they are ports
 * of two nodes or of one, and no virtual functions, which share a LID (IBA 4.1.1).
 */
#include "analysis/shared_lids.h"

#include "analysis/smps.h"
#include "analysis/twins.h"

/* LIDs that are exchanged have two owners for a moment. */
enum { SETTLED_MS = 1000 };

static struct lid_owner *owner_of(const struct watch *w, uint16_t lid)
{
    return &w->shared_lids->all[lid % SHARED_LIDS];
}

static bool is_of(const struct watch *w, const struct lid_owner *o, uint16_t lid)
{
    return o->lid == lid && o->subnet == w->p->at.interface;
}

static bool is_settled(const struct watch *w, const struct lid_owner *o)
{
    int64_t since = clocks_at_least(&w->f->order.clocks, w->p->captured_on, o->ns);
    return since >= SETTLED_MS * INT64_C(1000000);
}

APART static void two_ports(const struct watch *w, const struct lid_owner *o)
{
    struct sender who = {.lid = o->lid, .known = SENDER_LID | SENDER_GID};
    char gid[GID_TEXT];
    memcpy(who.gid, o->first, GID_SIZE);
    const struct event_key key = event_key(w, EVENT_DUPLICATE_LID, NULL, NULL, o->lid);
    watch_event(w, &key, &who, o->frame,
                "the subnet manager gave its LID to a second port, GID %s, in frame %u",
                text_of_gid(gid, o->second), o->frame);
    watch_shared_use(w, o->lid, o->frame);
}

APART static void begin(const struct watch *w, struct lid_owner *o, const uint8_t *gid,
                        uint16_t lid)
{
    *o = (struct lid_owner){.lid = lid, .subnet = w->p->at.interface, .route = route_number(w)};
    memcpy(o->first, gid, GID_SIZE);
}

static void has_lid(const struct watch *w, const uint8_t *gid, uint16_t lid)
{
    struct lid_owner *o = owner_of(w, lid);
    bool known = is_of(w, o, lid), same = known && memcmp(o->first, gid, GID_SIZE) == 0;
    if (!known || (!same && o->route == route_number(w))) {
        begin(w, o, gid, lid); /* or another node is at the end of the route */
    } else if (same) {
        if (o->frame && is_settled(w, o))
            two_ports(w, o);
    } else if (!o->frame || memcmp(o->second, gid, GID_SIZE) != 0) {
        memcpy(o->second, gid, GID_SIZE);
        o->ns = w->p->at.ns;
        o->frame = w->p->at.frame;
        w->shared_lids->any = true;
        watch_alert(w, ALERT_LIDS);
    }
}

/* A port that has another LID now has left this one. */
APART static void leaves(const struct watch *w, const uint8_t *gid, uint16_t lid)
{
    for (unsigned i = 0; i < SHARED_LIDS; i++) {
        struct lid_owner *o = &w->shared_lids->all[i];
        if (o->frame && o->lid != lid && o->subnet == w->p->at.interface &&
            (memcmp(o->first, gid, GID_SIZE) == 0 || memcmp(o->second, gid, GID_SIZE) == 0))
            o->lid = 0;
    }
}

void watch_shared_lid(const struct watch *w, const struct subnet_event *e)
{
    uint64_t guid;
    if (w->p->mad.mad.method != SMP_GET_RESP || !e->endport || !endport_has_gid(e->endport) ||
        !route_is_known(w, &guid) || !guid)
        return;
    if (w->shared_lids->any)
        leaves(w, e->endport->gid, e->lid);
    has_lid(w, e->endport->gid, e->lid);
}

/* The port with this GID sends the packet. */
APART static void uses_lid(const struct watch *w, const uint8_t *gid)
{
    const struct ib_packet *ib = &w->p->ib;
    const struct lid_owner *o = owner_of(w, ib->slid);
    if (ib->has_lrh && is_of(w, o, ib->slid) && o->frame && !packet_is_corrupt(w->p) &&
        memcmp(o->first, gid, GID_SIZE) == 0 && is_settled(w, o))
        two_ports(w, o);
}

void watch_shared_datagram(const struct watch *w)
{
    if (w->p->ib.sgid)
        uses_lid(w, w->p->ib.sgid);
}

/* A datagram to one port, without a GRH: its IP address and QPN say whose it is. */
void watch_shared_source(const struct watch *w)
{
    const struct lid_owner *o = owner_of(w, w->p->ib.slid);
    bool is_shared = is_of(w, o, w->p->ib.slid) && o->frame && !w->p->ib.sgid;
    if (!is_shared || w->p->ib.transport != IB_UD || w->p->classification.class != PAYLOAD_IPOIB ||
        w->p->datagram.header != WIRE_OK)
        return;
    const uint8_t *gid = twins_gid_by_ip(w);
    if (gid)
        uses_lid(w, gid);
}

void watch_shared_join(const struct watch *w, const struct subnet_event *e)
{
    if (w->shared_lids->any && e->endport && endport_has_gid(e->endport))
        uses_lid(w, e->endport->gid);
}

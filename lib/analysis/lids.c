/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ports that have another LID than before, and packets that still go to the old one: the subnet
 * manager gave the port another LID, and a host has not asked for the path again.
 *
 * A port with an LMC has several LIDs (IBA 4.1.3): they differ in the low bits, and the lowest one,
 * which is not 0, has only zeros there. So another LID proves a move if no such range has both; or
 * if the subnet manager's PortInfo says that the range has only one of them.
 */
#include "analysis/watch.h"
#include "rules/check_context.h"

/* Both tables are caches: a port that is overwritten by another counts as not seen before. */
enum { PORTS_SEEN = 1 << 12, OLD_LIDS = 1 << 8, RECENT = 1 << 8 };

struct port_seen {
    uint8_t gid[GID_SIZE];
    uint16_t subnet, lid; /* LID 0: unused */
    bool told;            /* by PortInfo: its range of LIDs is known */
};

struct old_lid {
    const struct endport *port; /* NULL: unused */
    uint16_t subnet, lid;
    uint32_t frame;       /* in which the port was seen with another LID */
    bool has_other_owner; /* another port sends from the LID */
};

/* A port that was seen lately, and its LID. The place in the cache changes no result. */
struct recent {
    const struct endport *port;
    uint16_t lid;
    bool told;
};

struct lids {
    struct recent recent[RECENT];
    struct port_seen ports[PORTS_SEEN];
    struct old_lid old[OLD_LIDS];
    bool any_old;
};

struct lids *lids_new(void)
{
    return g_new0(struct lids, 1);
}

/* Not a hash that differs between runs: what is overwritten must not (model/hash.h). */
static struct port_seen *seen_of(const struct watch *w, const uint8_t *gid)
{
    uint32_t hash = (be32(gid + 12) ^ be32(gid + 8)) * UINT32_C(0x9e3779b1);
    return &w->lids->ports[hash >> 16 & (PORTS_SEEN - 1)];
}

static bool is_of(const struct watch *w, const struct port_seen *seen, const struct endport *port)
{
    return seen->lid && seen->subnet == w->p->at.interface &&
           memcmp(seen->gid, port->gid, GID_SIZE) == 0;
}

/* Can both be LIDs of one port? */
static bool may_share_range(uint16_t a, uint16_t b)
{
    unsigned lmc = 0;
    while (a >> lmc != b >> lmc)
        lmc++;
    return lmc <= 7 && a >> lmc != 0;
}

static void enter_old_lid(const struct watch *w, const struct endport *port, uint16_t lid)
{
    w->lids->old[lid % OLD_LIDS] = (struct old_lid){port, w->p->at.interface, lid, w->p->at.frame,
                                                    false};
    w->lids->any_old = true;
}

static void moved(const struct watch *w, const struct endport *port, uint16_t old)
{
    struct sender who = sender_of_endport(port);
    const struct event_key key = event_key(w, EVENT_MOVED, port->gid, NULL,
                                           (uint64_t)old << 16 | port->lid);
    enter_old_lid(w, port, old);
    watch_event(w, &key, &who, 0,
                "its port has the LID %u now; before, it had the LID %u: packets to the old LID do "
                "not reach it",
                port->lid, old);
}

/* told: a PortInfo in this packet has its LID and its LMC. */
static void see_port(const struct watch *w, const struct endport *port, bool told)
{
    struct port_seen *seen = seen_of(w, port->gid);
    bool known = is_of(w, seen, port);
    uint16_t old = known ? seen->lid : 0;
    if (known && (old == port->lid || endport_has_lid(port, old))) {
        seen->told |= told;
        return;
    }
    bool proved = told || (known && seen->told) || !may_share_range(old, port->lid);
    if (known && proved && !packet_is_corrupt(w->p))
        moved(w, port, old);
    memcpy(seen->gid, port->gid, GID_SIZE);
    seen->subnet = w->p->at.interface;
    seen->lid = port->lid;
    seen->told = told;
}

static void see_new(const struct watch *w, const struct endport *port, bool told)
{
    const struct endport *now = endport_of(port);
    if (now->lid && endport_has_gid(now))
        see_port(w, now, told);
}

/* Most packets show nothing new. */
static inline void see(const struct watch *w, const struct endport *port, bool told)
{
    struct recent *recent = &w->lids->recent[(uintptr_t)port / sizeof *port % RECENT];
    if (!port || (recent->port == port && recent->lid == port->lid && recent->told >= told))
        return;
    see_new(w, port, told);
    *recent = (struct recent){port, port->lid, told};
}

/* These events name a port with its LID. */
void watch_lid_of_event(const struct watch *w, const struct subnet_event *e)
{
    if (e->kind == SUBNET_PORT_INFO)
        see(w, e->endport, true);
    else if (e->kind == SUBNET_JOIN_ASKED || e->kind == SUBNET_PATH)
        see(w, e->endport, false);
}

void watch_lids_of_request(const struct watch *w, const struct connection *c)
{
    for (unsigned i = 0; i < 2; i++)
        see(w, c->endport[i], false);
}

void watch_lids_of_datagram(const struct watch *w)
{
    see(w, w->e->sender, false);
}

/* ---- packets to an old LID */

/* Is the packet for the port? Without an owner of the LID, it is for nobody else. */
static bool is_for(const struct watch *w, const struct old_lid *o, const struct endport *port)
{
    const struct ib_packet *ib = &w->p->ib;
    const struct endport *owner = endports_by_lid(w->f->endports, o->subnet, o->lid);
    if (ib->dgid)
        return memcmp(ib->dgid, port->gid, GID_SIZE) == 0;
    if (!o->has_other_owner && (!owner || owner == port || !endport_has_lid(owner, o->lid)))
        return true;
    return owner && endport_announced(port, ib->pkey, ib->dqpn) == ANNOUNCED &&
           endport_announced(owner, ib->pkey, ib->dqpn) == ANNOUNCED_ANOTHER;
}

static void stale(const struct watch *w, const struct old_lid *o, const struct endport *port)
{
    struct sender who = sender_of(w->f, w->p);
    char gid[GID_TEXT];
    const struct event_key key = event_key(w, EVENT_STALE_PATH, who.gid, port->gid,
                                           (uint64_t)who.lid << 16 | o->lid);
    watch_event(w, &key, &who, o->frame,
                "it sends to the LID %u, which is not that of %s any more: it has the LID %u",
                o->lid, text_of_gid(gid, port->gid), port->lid);
}

static struct old_lid *old_lid(const struct watch *w, uint16_t lid)
{
    struct old_lid *o = &w->lids->old[lid % OLD_LIDS];
    bool is_it = o->port && o->lid == lid && o->subnet == w->p->at.interface;
    return is_it && !order_is_uncertain(&w->f->order, o->frame) ? o : NULL;
}

static void watch_old_lids(const struct watch *w)
{
    const struct ib_packet *ib = &w->p->ib;
    struct old_lid *from = old_lid(w, ib->slid), *to = old_lid(w, ib->dlid);
    if (from && !packet_is_corrupt(w->p))
        from->has_other_owner = true;
    const struct endport *port = to ? endport_of(to->port) : NULL;
    if (port && ib->dqpn != QPN_SMI && !endport_has_lid(port, to->lid) && is_for(w, to, port))
        stale(w, to, port);
}

void watch_stale_path(const struct watch *w)
{
    if (w->lids->any_old && w->p->ib.has_lrh && w->p->ib.has_bth)
        watch_old_lids(w);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ports that have another LID than before, and packets that still go to the old one: the subnet
 * manager gave the port another LID, and a host has not asked for the path again.
 *
 * A path of the SA, or a PortInfo from the end of another directed route, only claims that the port
 * has another LID: the SA may be wrong, or another port may have the same GUID. The claim is right
 * once a packet comes from the port with the new LID, and wrong if one comes with the old LID.
 *
 * A port with an LMC has several LIDs (IBA 4.1.3): they differ in the low bits, and the lowest one,
 * which is not 0, has only zeros there. So another LID proves a move if no such range has both; or
 * if the subnet manager's PortInfo says that the range has only one of them.
 */
#include "analysis/shared_lids.h"
#include "analysis/smps.h"
#include "analysis/twins.h"
#include "model/mix.h"
#include "rules/check_context.h"

/* Both tables are caches: a port that is overwritten by another counts as not seen before. */
enum { PORTS_SEEN = 1 << 12, OLD_LIDS = 1 << 8, RECENT = 1 << 8, CLAIMS = 16 };

/* lid 0: none. */
struct lid_claim {
    const struct endport *port;
    int64_t ns;
    uint32_t frame;
    uint16_t lid, sa; /* sa: LID of the SA, if it is a path of it; else 0 */
};

struct port_seen {
    uint8_t gid[GID_SIZE];
    uint16_t subnet, lid; /* LID 0: unused */
    bool told;            /* by PortInfo: its range of LIDs is known */
    bool is_twin;         /* another port has the GID */
    uint64_t route;       /* of its PortInfo, as a hash; 0: not known */
    struct lid_claim claim;
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
    bool has_prefix; /* its prefix is noted as that of this subnet */
    uint16_t subnet;
};

struct lids {
    struct recent recent[RECENT];
    struct port_seen ports[PORTS_SEEN];
    struct old_lid old[OLD_LIDS];
    struct port_seen *claims[CLAIMS]; /* those with claims */
    unsigned n_claims;
    bool any_old;
};

NEW_HISTORY(lids, lids_new)

static struct port_seen *seen_of(const struct watch *w, const uint8_t *gid)
{
    return &w->lids->ports[mix_gid(0, gid) >> 32 & (PORTS_SEEN - 1)];
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
    watch_alert(w, ALERT_LIDS);
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

/* ---- claims */

static void forget_claim(const struct watch *w, struct port_seen *seen)
{
    struct lids *all = w->lids;
    for (unsigned i = 0; i < all->n_claims; i++)
        if (all->claims[i] == seen)
            all->claims[i--] = all->claims[--all->n_claims];
    seen->claim.lid = 0;
}

static void enter_claim(const struct watch *w, struct port_seen *seen, const struct endport *port,
                        enum sighting how)
{
    struct lids *all = w->lids;
    forget_claim(w, seen);
    if (all->n_claims == CLAIMS)
        return;
    all->claims[all->n_claims++] = seen;
    watch_alert(w, ALERT_LIDS);
    seen->claim = (struct lid_claim){.port = port,
                                     .ns = w->p->at.ns,
                                     .frame = w->p->at.frame,
                                     .lid = port->lid,
                                     .sa = how == SIGHTING_PATH ? port_to_lid(w->p->src) : 0};
}

static void wrong_path(const struct watch *w, const struct port_seen *seen)
{
    const struct lid_claim *c = &seen->claim;
    struct sender who = sender_of_lid(w, c->sa);
    char gid[GID_TEXT];
    const struct event_key key = event_key(w, EVENT_STALE_PATH, who.gid, seen->gid,
                                           (uint64_t)c->sa << 32 | c->lid);
    watch_event(
        w, &key, &who, c->frame,
        "as the SA it gives a path with the LID %u to %s, which still sends from the LID %u",
        c->lid, text_of_gid(gid, seen->gid), seen->lid);
}

static void twin(const struct watch *w, struct port_seen *seen)
{
    struct sender who = {.lid = seen->lid, .known = SENDER_LID | SENDER_GID};
    const struct event_key key = event_key(w, EVENT_DUPLICATE_GID, seen->gid, NULL, 0);
    memcpy(who.gid, seen->gid, GID_SIZE);
    watch_event(w, &key, &who, seen->claim.frame,
                "two ports use its GID: this one, and one at LID %u in frame %u", seen->claim.lid,
                seen->claim.frame);
    seen->is_twin = true;
}

/* The port has its old LID still: a packet on the way does not count. */
static void contradict(const struct watch *w, struct port_seen *seen)
{
    if (packet_is_corrupt(w->p) || order_is_uncertain(&w->f->order, seen->claim.frame))
        return;
    if (seen->claim.sa)
        wrong_path(w, seen);
    else
        twin(w, seen);
    forget_claim(w, seen);
}

/* The port has the new LID. Of two ports with one GUID, the other one is seen sooner. */
static void confirm(const struct watch *w, struct port_seen *seen)
{
    enum { TWIN_NS = 1000000000 };
    const struct lid_claim c = seen->claim;
    bool may_be_twin = !c.sa &&
                       clocks_at_least(&w->f->order.clocks, w->p->captured_on, c.ns) < TWIN_NS;
    if (packet_is_corrupt(w->p) || may_be_twin)
        return;
    const struct endport *port = endport_of(c.port);
    forget_claim(w, seen);
    if (port->lid == c.lid)
        moved(w, port, seen->lid);
    seen->lid = c.lid;
}

/* Did the port announce the packet's QP? */
static bool is_by(const struct watch *w, const struct endport *port)
{
    const struct ib_packet *ib = &w->p->ib;
    return port && ib->has_deth && endport_announced(port, ib->pkey, ib->sqpn) == ANNOUNCED;
}

/* A packet without a GRH: its QP shows the port. */
APART static void watch_claims(const struct watch *w)
{
    for (unsigned i = w->lids->n_claims; i-- > 0;) {
        struct port_seen *seen = w->lids->claims[i];
        uint16_t lid = w->p->ib.slid;
        bool is_known = lid == seen->lid || lid == seen->claim.lid;
        if (!is_known || seen->subnet != w->p->at.interface ||
            !is_by(w, endport_of(seen->claim.port)))
            continue;
        if (lid == seen->lid)
            contradict(w, seen);
        else
            confirm(w, seen);
    }
}

/* ---- ports */

/* The end of a directed route; 0: not a PortInfo of one. */
static uint64_t route_of(const struct watch *w, enum sighting how)
{
    const struct smp *s = &w->p->mad.smp;
    uint64_t hash = s->hop_count + UINT64_C(1);
    if (how != SIGHTING_PORT_INFO || !s->directed || !s->initial_path)
        return 0;
    for (unsigned i = 1; i <= s->hop_count; i++)
        hash = mix_word(hash, s->initial_path[i]);
    return hash;
}

static bool only_claims(const struct port_seen *seen, enum sighting how, uint64_t route)
{
    return how == SIGHTING_PATH || (route && seen->route && route != seen->route);
}

static void see_again(const struct watch *w, struct port_seen *seen, enum sighting how)
{
    seen->told |= how == SIGHTING_PORT_INFO;
    if (!seen->route)
        seen->route = route_of(w, how);
    if (seen->claim.lid && how != SIGHTING_PATH)
        contradict(w, seen);
    else if (seen->claim.lid)
        forget_claim(w, seen);
}

static void see_elsewhere(const struct watch *w, struct port_seen *seen, const struct endport *port,
                          enum sighting how)
{
    uint64_t route = route_of(w, how);
    bool told = how == SIGHTING_PORT_INFO;
    bool proved = told || seen->told || !may_share_range(seen->lid, port->lid);
    if (proved && seen->claim.lid == port->lid) {
        if (how == SIGHTING_PACKET || (told && seen->claim.sa))
            confirm(w, seen);
        return;
    }
    if (proved && only_claims(seen, how, route)) {
        enter_claim(w, seen, port, how);
        return;
    }
    if (proved && !packet_is_corrupt(w->p))
        moved(w, port, seen->lid);
    if (told && route && route == seen->route)
        twins_moved(w, port->gid, port->lid);
    forget_claim(w, seen);
    seen->lid = port->lid;
    seen->told = told;
    seen->route = route;
}

static void see_port(const struct watch *w, const struct endport *port, enum sighting how)
{
    struct port_seen *seen = seen_of(w, port->gid);
    if (!is_of(w, seen, port)) {
        forget_claim(w, seen);
        *seen = (struct port_seen){.subnet = w->p->at.interface, .lid = port->lid};
        memcpy(seen->gid, port->gid, GID_SIZE);
    }
    if (seen->lid == port->lid || endport_has_lid(port, seen->lid))
        see_again(w, seen, how);
    else if (!seen->is_twin)
        see_elsewhere(w, seen, port, how);
}

APART static void see_new(const struct watch *w, const struct endport *port, enum sighting how)
{
    const struct endport *now = endport_of(port);
    if (now->lid && endport_has_gid(now) && !gid_is_foreign(w, now->gid))
        see_port(w, now, how);
}

static inline struct recent *recent_of(const struct watch *w, const struct endport *port)
{
    return &w->lids->recent[(uintptr_t)port / 64 % RECENT]; /* a port has a little more bytes */
}

static inline bool is_as_before(const struct watch *w, const struct endport *port, bool told)
{
    const struct recent *r = recent_of(w, port);
    return !port || (r->port == port && r->lid == port->lid && r->told >= told);
}

/* Most packets show nothing new. */
static inline void see(const struct watch *w, const struct endport *port, enum sighting how)
{
    struct recent *recent = recent_of(w, port);
    bool told = how == SIGHTING_PORT_INFO;
    if (is_as_before(w, port, told))
        return;
    see_new(w, port, how);
    *recent = (struct recent){
        .port = w->lids->n_claims ? NULL : port, .lid = port->lid, .told = told};
}

bool lid_is_seen(const struct watch *w, const struct endport *port, enum sighting how)
{
    const struct recent *r = recent_of(w, port);
    return is_as_before(w, port, how == SIGHTING_PORT_INFO) &&
           (how < SIGHTING_JOIN || !port || (r->has_prefix && r->subnet == w->p->at.interface));
}

static void note_prefix(const struct watch *w, const struct endport *port)
{
    struct recent *r = recent_of(w, port);
    if (r->port != port || !endport_has_gid(port))
        return;
    r->has_prefix = true;
    r->subnet = w->p->at.interface;
}

void watch_lid_of(const struct watch *w, const struct endport *port, enum sighting how)
{
    uint64_t guid;
    bool is_own = port && how >= SIGHTING_JOIN;
    if (is_own)
        watch_prefix(w, port);
    if (how == SIGHTING_JOIN)
        see(w, port, SIGHTING_PACKET);
    else if (how != SIGHTING_PORT_INFO ||
             (!is_as_before(w, port, true) && route_is_known(w, &guid)))
        see(w, port, how);
    if (is_own)
        note_prefix(w, port);
}

void watch_lids_of_request(const struct watch *w, const struct connection *c)
{
    for (unsigned i = 0; i < 2; i++)
        see(w, c->endport[i], SIGHTING_PACKET);
}

void watch_lids_of_datagram(const struct watch *w)
{
    see(w, w->e->sender, SIGHTING_PACKET);
    if (w->shared_lids->any)
        watch_shared_datagram(w);
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

APART static void watch_old_lids(const struct watch *w)
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
    if (w->lids->n_claims && w->p->ib.has_lrh)
        watch_claims(w);
    if (w->shared_lids->any && w->p->ib.has_lrh)
        watch_shared_source(w);
}

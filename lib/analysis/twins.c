/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two ports with one LID, or with one GID. Both are used in turn: the first port sends again after
 * the second one did. An address that only moved has one user after the other. Ports of virtual
 * functions share a LID, but have QPNs of their own, so a LID counts together with the QPN. Ports
 * with a NodeInfo are no virtual functions: of these, the LID alone shows two fabrics in one file.
 */
#include "analysis/twins.h"
#include "model/mix.h"
#include "wire/put.h"

/*
 * The first port sends again at least so long after the second: packets on the way do not count;
 * and at most so long: later, the address may have moved back.
 */
enum { AGAIN_MS = 500, TWINS_MS = 60000 };
enum { LMC_MAX = 7 }; /* IBA 4.1.3 */

/* ---- subnets */

#define DEFAULT_PREFIX (UINT64_C(0xfe80) << 48)

static bool has_prefix(const struct watch *w, uint64_t prefix, bool any)
{
    const struct twins *t = w->twins;
    for (unsigned i = 0; i < t->n_prefixes; i++)
        if (t->prefixes[i].subnet == w->p->at.interface && (any || t->prefixes[i].prefix == prefix))
            return true;
    return false;
}

void watch_prefix(const struct watch *w, const struct endport *port)
{
    struct twins *t = w->twins;
    if (!endport_has_gid(port) || t->n_prefixes == PREFIXES ||
        has_prefix(w, be64(port->gid), false))
        return;
    t->prefixes[t->n_prefixes].prefix = be64(port->gid);
    t->prefixes[t->n_prefixes++].subnet = w->p->at.interface;
}

void watch_packet_prefixes(const struct watch *w)
{
    const struct ib_packet *ib = &w->p->ib;
    if (ib->dgid[0] != 0xff && be64(ib->sgid) != be64(ib->dgid))
        w->twins->has_routed = true;
}

/* A capture that begins late may not have the prefix of the subnet: then any other one may be. */
bool gid_is_foreign(const struct watch *w, const uint8_t *gid)
{
    uint64_t prefix = be64(gid);
    if (prefix == DEFAULT_PREFIX)
        return false;
    return has_prefix(w, 0, true) ? !has_prefix(w, prefix, false) : w->twins->has_routed;
}

/* ---- addresses */

static struct address_use *slot_of(struct address_use *all, const uint8_t address[GID_SIZE])
{
    return &all[mix_gid(0, address) >> 32 & (ADDRESS_USES - 1)];
}

static bool is_recent(const struct watch *w, int64_t ns)
{
    int64_t ms = watch_ms(w) - ns / 1000000;
    return ms >= AGAIN_MS && ms <= TWINS_MS;
}

static bool is_of(const struct address_use *u, const struct watch *w,
                  const uint8_t address[GID_SIZE])
{
    return u->used && u->subnet == w->p->at.interface && memcmp(u->address, address, GID_SIZE) == 0;
}

static void begin(struct address_use *u, const struct watch *w, const uint8_t *address,
                  const uint8_t *value)
{
    w->twins->changes++;
    *u = (struct address_use){.subnet = w->p->at.interface, .used = true};
    memcpy(u->address, address, GID_SIZE);
    memcpy(u->value, value, GID_SIZE);
}

/* The address has this value now. Returns whether it alternates. */
static bool use_address(const struct watch *w, struct address_use *u,
                        const uint8_t address[GID_SIZE], const uint8_t value[GID_SIZE])
{
    if (!is_of(u, w, address))
        begin(u, w, address, value);
    if (memcmp(u->value, value, GID_SIZE) == 0 || packet_is_corrupt(w->p))
        return false;
    bool again = u->changed_frame && memcmp(u->other, value, GID_SIZE) == 0 &&
                 is_recent(w, u->changed_ns);
    w->twins->changes++;
    memcpy(u->other, u->value, GID_SIZE);
    memcpy(u->value, value, GID_SIZE);
    u->changed_frame = w->p->at.frame;
    u->changed_ns = w->twins->changed_ns = w->p->at.ns;
    watch_alert(w, ALERT_ADDRESSES);
    return again;
}

static void write_lid(uint8_t out[GID_SIZE], uint16_t lid)
{
    memset(out, 0, GID_SIZE);
    put16(out, lid);
}

void twins_moved(const struct watch *w, const uint8_t *gid, uint16_t lid)
{
    struct address_use *u = slot_of(w->twins->gids, gid);
    if (!is_of(u, w, gid))
        return;
    w->twins->changes++;
    write_lid(u->value, lid);
    u->changed_frame = 0;
}

/*
 * A subnet manager gives a LID to one port. Several LIDs that two ports use in turn are those of
 * two fabrics, whose captures were merged into one file.
 */
void watch_shared_use(const struct watch *w, uint16_t lid, uint32_t cause)
{
    struct twins *t = w->twins;
    struct sender nobody = {.known = 0};
    for (unsigned i = 0; i < t->n_shared; i++)
        if (t->shared[i].lid == lid && t->shared[i].subnet == w->p->at.interface)
            return;
    if (t->n_shared == SHARED_USES || (t->n_shared && t->shared[0].subnet != w->p->at.interface))
        return;
    t->shared[t->n_shared++] = (struct shared_use){w->p->at.interface, lid};
    if (t->n_shared < SHARED_USES)
        return;
    const struct event_key key = event_key(w, EVENT_TWO_FABRICS, NULL, NULL, 0);
    watch_event(w, &key, &nobody, cause,
                "the LIDs %u, %u and %u are used by two ports each: the file probably holds "
                "two fabrics, as mergecap makes; check the capture of each by itself",
                t->shared[0].lid, t->shared[1].lid, t->shared[2].lid);
}

static uint64_t *node_port_of(const struct watch *w, uint64_t guid)
{
    return &w->twins->node_ports[mix_two(0, guid, w->p->at.interface) >> 32 & (NODE_PORTS - 1)];
}

void twins_note_port(const struct watch *w, uint64_t guid)
{
    *node_port_of(w, guid) = guid;
}

/* Two ports with a NodeInfo use the LID in turn. */
APART static void watch_ports_of_lid(const struct watch *w, const uint8_t *gid)
{
    enum { IS_ANY = 5 };
    uint8_t address[GID_SIZE];
    uint64_t guid = be64(gid + GID_SIZE / 2);
    if (!guid || *node_port_of(w, guid) != guid)
        return;
    write_lid(address, w->p->ib.slid);
    address[IS_ANY] = 1; /* after the place of the QPN */
    struct address_use *u = slot_of(w->twins->lids, address);
    uint32_t cause = u->changed_frame;
    if (use_address(w, u, address, gid))
        watch_shared_use(w, w->p->ib.slid, cause);
}

APART static void watch_lid(const struct watch *w, const uint8_t *gid)
{
    uint8_t address[GID_SIZE], other[GID_SIZE];
    write_lid(address, w->p->ib.slid);
    put24(address + 2, w->p->ib.sqpn);
    struct address_use *u = slot_of(w->twins->lids, address);
    uint32_t cause = u->changed_frame;
    memcpy(other, u->value, GID_SIZE);
    if (!use_address(w, u, address, gid) || memcmp(other, gid, GID_SIZE / 2) != 0)
        return;
    struct sender who = {.lid = w->p->ib.slid, .known = SENDER_LID | SENDER_GID};
    char text[GID_TEXT];
    memcpy(who.gid, gid, GID_SIZE);
    const struct event_key key = event_key(w, EVENT_DUPLICATE_LID, NULL, NULL, who.lid);
    watch_event(w, &key, &who, cause,
                "two ports use its LID, with one QPN: this one, and GID %s in frame %u",
                text_of_gid(text, other), cause);
    watch_shared_use(w, who.lid, cause);
}

/* The LMC of the port; the largest one if it is not known. */
static uint8_t lmc_of(const struct watch *w, const uint8_t *gid)
{
    const struct endport *port = endport_of(
        endports_by_gid(w->f->endports, w->p->at.interface, gid));
    return port && port->initialised_frame ? port->lmc : LMC_MAX;
}

/* May both be LIDs of one port (IBA 4.1.3)? lmc: as known before the first change. */
static bool may_be_one_port(uint8_t lmc, uint16_t a, uint16_t b)
{
    return (a ^ b) >> lmc == 0;
}

APART static void watch_gid(const struct watch *w, const uint8_t *gid)
{
    uint8_t lid[GID_SIZE];
    write_lid(lid, w->p->ib.slid);
    struct address_use *u = slot_of(w->twins->gids, gid);
    uint32_t cause = u->changed_frame;
    uint16_t other = be16(u->value);
    if (!is_of(u, w, gid)) {
        begin(u, w, gid, lid);
        u->lmc = lmc_of(w, gid);
    }
    if (!use_address(w, u, gid, lid) || may_be_one_port(u->lmc, other, w->p->ib.slid))
        return;
    struct sender who = {.lid = w->p->ib.slid, .known = SENDER_LID | SENDER_GID};
    memcpy(who.gid, gid, GID_SIZE);
    const struct event_key key = event_key(w, EVENT_DUPLICATE_GID, gid, NULL, 0);
    watch_event(w, &key, &who, cause,
                "two ports use its GID: this one, and one at LID %u in frame %u", other, cause);
}

bool twins_source_ip(const struct watch *w, struct ip *ip)
{
    const struct datagram *d = &w->p->datagram;
    bool v4 = d->encap.type == TYPE_IPV4;
    if (!v4 && d->encap.type != TYPE_IPV6)
        return false;
    if (view_has(d->body, 0, v4 ? IPV4_SIZE : IPV6_SIZE) != WIRE_OK)
        return false;
    *ip = v4 ? ip_read(d->body.p + IPV4_SOURCE, IPV4_ADDRESS_SIZE)
             : ip_read(d->body.p + IPV6_SOURCE, IPV6_ADDRESS_SIZE);
    return true;
}

const uint8_t *twins_gid_by_ip(const struct watch *w)
{
    struct ip ip;
    if (!twins_source_ip(w, &ip))
        return NULL;
    const struct neighbour *n = neighbours_of_ip(w->f->neighbours, packet_link_key(w->p), &ip);
    return n && be24(n->lladdr + LLADDR_QPN) == w->p->ib.sqpn ? n->lladdr + LLADDR_GID : NULL;
}

static struct recent_sender *recent_of(const struct watch *w)
{
    return &w->twins->recent[w->p->ib.slid % RECENT_SENDERS];
}

static bool is_as_before(const struct watch *w, const uint8_t *gid)
{
    const struct packet *p = w->p;
    const struct recent_sender *r = recent_of(w);
    return r->lid == p->ib.slid && r->qpn == p->ib.sqpn && r->subnet == p->at.interface &&
           r->changes == w->twins->changes + 1 && memcmp(r->gid, gid, GID_SIZE) == 0;
}

static void note_sender(const struct watch *w, const uint8_t *gid)
{
    const struct packet *p = w->p;
    struct recent_sender *r = recent_of(w);
    *r = (struct recent_sender){.qpn = p->ib.sqpn,
                                .changes = w->twins->changes + 1,
                                .subnet = p->at.interface,
                                .lid = p->ib.slid};
    memcpy(r->gid, gid, GID_SIZE);
}

static void watch_addresses(const struct watch *w, const uint8_t *gid)
{
    watch_lid(w, gid);
    watch_ports_of_lid(w, gid);
    watch_gid(w, gid);
    if (!packet_is_corrupt(w->p))
        note_sender(w, gid);
}

APART static void watch_sender(const struct watch *w)
{
    const struct ib_packet *ib = &w->p->ib;
    const uint8_t *gid = ib->sgid;
    if (!ib->has_lrh || ib->transport != IB_UD)
        return;
    if (!gid && is_recent(w, w->twins->changed_ns))
        gid = twins_gid_by_ip(w);
    if (gid && !is_as_before(w, gid) && !gid_is_foreign(w, gid))
        watch_addresses(w, gid);
}

/* A packet without a GRH counts only if an address changed a moment ago. */
void watch_twins(const struct watch *w)
{
    const uint8_t *gid = w->p->ib.sgid;
    if (gid ? !is_as_before(w, gid) : watch_is_alert(w, ALERT_ADDRESSES))
        watch_sender(w);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/evidence.h"

#include <glib.h>

#include "model/mix.h"
#include "model/reversal.h"
#include "wire/arp.h"
#include "wire/cm.h"
#include "wire/encap.h"
#include "wire/lladdr.h"
#include "wire/sa.h"
#include "wire/smp.h"

/* Set-associative hash tables: SETS sets of WAYS entries. */
enum { SETS = 1 << 10, WAYS = 4, SENDER_BITS = 1 << 16 };
/* Used in place of a LID: the entry is the port of the master SM. */
enum { MASTER = 0 };

struct open_request {
    uint64_t key; /* 0: none */
    uint16_t interface;
    bool answered;
};

/* A port GUID seen at a LID. */
struct guid_at_lid {
    uint64_t guid; /* 0: none */
    uint16_t lid, interface;
};

/* A port GUID to which the SM assigned the LID; one entry per interface, the last one. */
struct assignment {
    uint64_t guid; /* 0: none */
    uint64_t when; /* sequence number of the last sighting */
    uint16_t lid, interface;
};

/* The node at the end of a route to it. */
struct route_end {
    uint64_t key, port_guid; /* 0: none */
    uint8_t type;
};

struct evidence {
    const struct interfaces *interfaces;
    struct open_request requests[SETS][WAYS];
    uint64_t senders[SENDER_BITS / 64]; /* a bit by the hash of each sender of MADs, by interface */
    struct guid_at_lid places[SETS][WAYS];
    struct assignment assignments[SETS][WAYS];
    struct route_end routes[SETS];
    uint64_t seen;
    unsigned oldest;
};

/* Context of the current packet. */
struct evidence_frame {
    struct evidence *e;
    uint16_t interface;
    const struct evidence_observer *observer;
};

struct evidence *evidence_new(const struct interfaces *interfaces)
{
    struct evidence *e = g_new0(struct evidence, 1);
    e->interfaces = interfaces;
    return e;
}

static unsigned set_of(uint64_t h)
{
    return (unsigned)(mix_word(h, h >> 32) >> 40) % SETS;
}

/* The port without its interface number. */
static uint64_t without_interface(struct port p)
{
    return port_on(p, 0).id;
}

static bool same_subnet(const struct evidence_frame *s, uint16_t interface)
{
    return interfaces_subnet(s->e->interfaces, interface) ==
           interfaces_subnet(s->e->interfaces, s->interface);
}

static void report_evidence(const struct evidence_frame *s, uint16_t other, bool together)
{
    s->observer->shown(s->observer->user, s->interface, other, together);
}

static bool frame_is_corrupt(const struct evidence_frame *s)
{
    return s->observer->corrupt(s->observer->user);
}

/* ---- the same port at the same LID */

static void see_place(const struct evidence_frame *s, uint16_t lid, uint64_t guid)
{
    struct guid_at_lid *set = s->e->places[set_of(mix_word(guid, lid))], *free = NULL;
    if (guid == 0)
        return;
    for (unsigned i = 0; i < WAYS; i++) {
        if (set[i].guid == guid && set[i].lid == lid) {
            if (set[i].interface == s->interface || frame_is_corrupt(s))
                return;
            if (!same_subnet(s, set[i].interface))
                report_evidence(s, set[i].interface, true);
            set[i].interface = s->interface;
            return;
        }
        if (set[i].guid == 0)
            free = &set[i];
    }
    if (frame_is_corrupt(s))
        return;
    if (!free)
        free = &set[s->e->oldest++ % WAYS];
    *free = (struct guid_at_lid){guid, lid, s->interface};
}

/* The lower half of a GID is the port GUID (IBA 4.1.1). */
static void see_gid(const struct evidence_frame *s, uint16_t lid, const uint8_t *gid)
{
    if (lid && lid < LID_MULTICAST_FIRST && gid[0] != 0xff)
        see_place(s, lid, be64(gid + 8));
}

static void see_arp(const struct evidence_frame *s, const struct ib_packet *ib,
                    const struct datagram *d)
{
    const struct arp *a = &d->arp;
    if (d->header != WIRE_OK || d->encap.type != TYPE_ARP || d->arp_result != WIRE_OK ||
        a->hln != LLADDR_SIZE)
        return;
    see_gid(s, ib->slid, d->body.p + a->sha + LLADDR_GID);
    if (a->op == ARP_REPLY)
        see_gid(s, ib->dlid, d->body.p + a->tha + LLADDR_GID);
}

static void see_headers(const struct evidence_frame *s, const struct evidence_packet *p)
{
    const struct ib_packet *ib = p->ib;
    if (ib->has_grh) {
        see_gid(s, ib->slid, ib->sgid);
        see_gid(s, ib->dlid, ib->dgid);
    }
    if (ib->transport == IB_UD && p->datagram)
        see_arp(s, ib, p->datagram);
}

/* ---- LIDs that the SM assigns */

static bool assigns_lid(const struct assignment *a, uint16_t lid)
{
    return a->guid && a->lid == lid;
}

/* The entry of this interface and LID, or the oldest entry, to be overwritten. */
static struct assignment *own_assignment(const struct evidence_frame *s, struct assignment *set,
                                         uint16_t lid)
{
    struct assignment *own = &set[0];
    for (unsigned i = 0; i < WAYS; i++) {
        if (assigns_lid(&set[i], lid) && set[i].interface == s->interface)
            return &set[i];
        if (set[i].when < own->when)
            own = &set[i];
    }
    return own;
}

/* The SM assigned the LID to the port with this GUID, or (MASTER) the master SM is on this port. */
static void see_assignment(const struct evidence_frame *s, uint16_t lid, uint64_t guid)
{
    struct assignment *set = s->e->assignments[set_of(lid)], *own = own_assignment(s, set, lid);
    bool again = assigns_lid(own, lid) && own->interface == s->interface && own->guid == guid;
    see_place(s, lid, guid);
    for (unsigned i = 0; i < WAYS && again; i++) {
        /* another GUID was seen on another interface between two sightings of this one */
        bool other = assigns_lid(&set[i], lid) && set[i].guid != guid;
        if (other && set[i].interface != s->interface && set[i].when > own->when)
            report_evidence(s, set[i].interface, false);
    }
    *own = (struct assignment){guid, ++s->e->seen, lid, s->interface};
}

/* Key of the path to a node: its directed route, or its LID. */
static uint64_t path_key(const struct evidence_frame *s, const struct smp *smp, struct port node)
{
    /*
     * the upper half of the transaction ID is the agent: routes of different agents start at
     * different ports
     */
    uint64_t h = mix_word(s->interface, smp->mad.tid >> 32);
    if (!smp->directed)
        return mix_word(h, without_interface(node)) | 1;
    return mix_route(h, smp->initial_path + 1, smp->hop_count) | 1;
}

static void see_node(const struct evidence_frame *s, const struct smp *smp, uint64_t key)
{
    struct node_info n;
    if (smp_node_info(smp, &n) == WIRE_OK)
        s->e->routes[set_of(key)] = (struct route_end){key, n.port_guid, n.type};
}

/* Of the ports of a switch, only port 0 has a LID. */
static void see_port(const struct evidence_frame *s, const struct smp *smp, uint64_t key)
{
    const struct route_end *r = &s->e->routes[set_of(key)];
    struct port_info p;
    if (r->key != key || !r->port_guid || smp_port_info(smp, &p) != WIRE_OK || p.lid == 0 ||
        p.lid >= LID_MULTICAST_FIRST || (r->type == NODE_TYPE_SWITCH && p.port != 0))
        return;
    see_assignment(s, p.lid, r->port_guid);
}

/*
 * Learn from the responses of nodes about themselves. All arrive on one interface, even if the two
 * directions are captured on two.
 */
static void see_attribute(const struct evidence_frame *s, const struct smp *smp, struct port node)
{
    struct sm_info i;
    uint64_t key = path_key(s, smp, node);
    if (smp->mad.method != SMP_GET_RESP || smp->mad.status != 0)
        return;
    if (smp->mad.attribute == SMP_NODE_INFO)
        see_node(s, smp, key);
    else if (smp->mad.attribute == SMP_PORT_INFO)
        see_port(s, smp, key);
    else if (smp->mad.attribute == SMP_SM_INFO && smp_sm_info(smp, &i) == WIRE_OK &&
             i.state == SM_MASTER && i.guid)
        see_assignment(s, MASTER, i.guid);
}

/* ---- responses */

/* A directed-route SMP has no LIDs. A request and its response have the same initial path. */
static uint64_t routed_transaction(const struct smp *smp)
{
    uint64_t h = mix_word(mix_word(0, smp->mad.tid),
                          (uint64_t)MAD_CLASS_SMP_DIRECTED << 16 | smp->mad.attribute);
    return mix_route(h, smp->initial_path + 1, smp->hop_count) | 1;
}

/* Instead of a LID: requests and responses of directed routes, which have no LIDs. */
static const uint64_t directed_requester = UINT64_MAX, directed_responder = UINT64_MAX - 1;

static unsigned sender_bit(uint16_t interface, uint64_t sender)
{
    return (unsigned)(mix_word(mix_word(0, sender), interface) >> 32) % SENDER_BITS;
}

static void see_sender(const struct evidence_frame *s, uint64_t sender)
{
    unsigned bit = sender_bit(s->interface, sender);
    s->e->senders[bit / 64] |= 1ull << bit % 64;
}

/* Two senders may have the same bit: then one that was not seen counts as seen. */
static bool has_sent(const struct evidence_frame *s, uint16_t interface, uint64_t sender)
{
    unsigned bit = sender_bit(interface, sender);
    return s->e->senders[bit / 64] >> bit % 64 & 1;
}

static void see_request(const struct evidence_frame *s, uint64_t key, uint64_t from)
{
    see_sender(s, from);
    struct open_request *set = s->e->requests[set_of(key)], *at = NULL;
    for (unsigned i = 0; i < WAYS; i++) {
        if (set[i].key == key && set[i].interface == s->interface)
            return; /* repeated request */
        if (set[i].key == 0)
            at = &set[i];
    }
    if (!at)
        at = &set[s->e->oldest++ % WAYS];
    *at = (struct open_request){key, s->interface, false};
}

/* Are the SM's requests by directed routes and their responses on this interface? */
static bool has_both_directions(const struct evidence_frame *s, uint16_t interface)
{
    return has_sent(s, interface, directed_requester) && has_sent(s, interface, directed_responder);
}

/*
 * Several requests may have the same key, because the SMs of two rails may use the same LIDs and
 * transaction IDs. Then the response belongs to the request on the interface's own subnet, else to
 * the only unanswered one; else it shows nothing. It shows nothing either if an interface has both
 * directions, as that of a rail does: a request and its response are on the same interface then, so
 * the request of this response may be one that was not captured.
 */
static void see_response(const struct evidence_frame *s, uint64_t key, uint64_t from, uint64_t to)
{
    struct open_request *set = s->e->requests[set_of(key)], *only = NULL;
    unsigned others = 0;
    see_sender(s, from);
    for (unsigned i = 0; i < WAYS; i++) {
        if (set[i].key != key)
            continue;
        if (same_subnet(s, set[i].interface)) {
            set[i].answered = true;
            return;
        }
        if (!set[i].answered) {
            only = &set[i];
            others++;
        }
    }
    if (others == 1 && !has_sent(s, only->interface, from) && !has_sent(s, s->interface, to) &&
        !has_both_directions(s, only->interface) && !has_both_directions(s, s->interface)) {
        only->answered = true;
        report_evidence(s, only->interface, true);
    }
}

/* A REQ has the GID and LID of both ports. */
static void see_path(const struct evidence_frame *s, const struct cm *cm)
{
    see_gid(s, cm->local_lid, cm->local_gid);
    see_gid(s, cm->remote_lid, cm->remote_gid);
}

static void see_request_of(const struct evidence_frame *s, const struct mad *m, struct port src,
                           struct port dst)
{
    see_request(s, transaction_key(m, src, dst), without_interface(src));
}

static void see_response_of(const struct evidence_frame *s, const struct mad *m, struct port src,
                            struct port dst)
{
    see_response(s, transaction_key(m, dst, src), without_interface(src), without_interface(dst));
}

static void see_cm(const struct evidence_frame *s, const struct mad *m, struct port src,
                   struct port dst)
{
    bool requests = cm_is_request(m->attribute);
    if (!requests)
        see_response_of(s, m, src, dst);
    if (requests || m->attribute == CM_REP) /* an RTU responds to the REP */
        see_request_of(s, m, src, dst);
}

static void see_smp(const struct evidence_frame *s, const struct smp *smp, struct port src,
                    struct port dst)
{
    bool response = smp->mad.method & MAD_RESPONSE;
    if (smp->directed && !smp->initial_path)
        return;
    if (response)
        see_attribute(s, smp, src);
    if (smp->directed && response)
        see_response(s, routed_transaction(smp), directed_responder, directed_requester);
    else if (smp->directed)
        see_request(s, routed_transaction(smp), directed_requester);
    else if (response)
        see_response_of(s, &smp->mad, src, dst);
    else
        see_request_of(s, &smp->mad, src, dst);
}

/* Records that contain a port's GID and LID. Components that a request does not set are 0. */
static void see_records(const struct evidence_frame *s, const struct sa *sa)
{
    const uint8_t *p = sa->data.p;
    if (sa->mad.attribute != SA_PATH_RECORD || sa->mad.method != SA_GET_RESP ||
        sa->mad.status != 0 || view_has(sa->data, 0, PATH_SIZE) != WIRE_OK)
        return;
    see_gid(s, be16(p + PATH_SLID), p + PATH_SGID);
    see_gid(s, be16(p + PATH_DLID), p + PATH_DGID);
}

static void see_sa(const struct evidence_frame *s, const struct ib_packet *ib, const struct sa *sa)
{
    see_records(s, sa);
    if (sa->mad.attribute != SA_MC_MEMBER_RECORD || view_has(sa->data, 0, MCM_SIZE) != WIRE_OK)
        return;
    if (sa->mad.method == SA_SET && sa_component_is_valid(sa, MCM_HAS_PORT_GID))
        see_gid(s, ib->slid, sa->data.p + MCM_PORT_GID);
    else if (sa->mad.method == SA_GET_RESP && sa->mad.status == 0)
        see_gid(s, ib->dlid, sa->data.p + MCM_PORT_GID);
}

static void see_mad(const struct evidence_frame *s, const struct evidence_packet *p)
{
    const struct mad_payload *m = p->mad;
    bool whole = m->result == WIRE_OK;
    if (!m->has_header || frame_is_corrupt(s))
        return;
    if (m->kind == MAD_KIND_SMP) {
        see_smp(s, &m->smp, p->src, p->dst);
        return;
    }
    if (m->kind == MAD_KIND_SA && whole)
        see_sa(s, p->ib, &m->sa);
    if (m->kind == MAD_KIND_CM && whole && m->cm.message == CM_REQ && p->ib->has_lrh)
        see_path(s, &m->cm);
    if (m->kind == MAD_KIND_CM)
        see_cm(s, &m->mad, p->src, p->dst);
    else if (m->mad.method & MAD_RESPONSE)
        see_response_of(s, &m->mad, p->src, p->dst);
    else
        see_request_of(s, &m->mad, p->src, p->dst);
}

void evidence_see(struct evidence *e, uint16_t interface, const struct evidence_packet *p,
                  const struct evidence_observer *observer)
{
    const struct evidence_frame s = {e, interface, observer};
    if (p->ib->has_lrh)
        see_headers(&s, p);
    if (p->mad)
        see_mad(&s, p);
}

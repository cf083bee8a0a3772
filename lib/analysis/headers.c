/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * IPoIB packets with a header that receivers, switches or routers drop, whatever the packet has.
 * The CRCs are right, so the sender made the header, or a device on the way.
 *
 * Sources: the IBA sections that are named below; and the receiver of Linux's qib driver, which
 * drops a GRH with another version or another next header, and a multicast packet without a GRH.
 */
#include "analysis/unanswered.h"
#include "analysis/watch.h"
#include "rules/check_context.h"
#include "wire/arp.h"
#include "wire/nd.h"

/* The field that is wrong; part of the event's key. */
enum field {
    GRH_VERSION,
    GRH_LENGTH,
    DEST_QP,
    HOP_LIMIT,
    VIRTUAL_LANE,
    SOURCE_LID,
    DEST_LID,
    OTHER_PORT,
    IP_CUT,
    IP_LENGTH,
    IP_SOURCE,
    IP_TO_PORT,
    IP_TO_GROUP,
    ND_FORWARDED
};

enum { VLS_ALL = 16, GRH_IP_VERSION = 6 };
enum { BTH_FECN = 0x80, BTH_BECN = 0x40 };

struct header_fields {
    unsigned vls;   /* no port whose PortInfo was captured has more VLs; VLS_ALL: not known */
    uint32_t frame; /* with that PortInfo */
};

struct header_fields *headers_new(void)
{
    struct header_fields *h = g_new0(struct header_fields, 1);
    h->vls = VLS_ALL;
    return h;
}

static void invalid(const struct watch *w, enum field field, uint32_t cause, const char *what)
{
    const struct ib_packet *ib = &w->p->ib;
    struct sender who = sender_of(w->f, w->p);
    char text[GID_TEXT];
    if (packet_integrity(w->p) != INTEGRITY_INTACT)
        return;
    if (ib->dgid)
        text_of_gid(text, ib->dgid);
    else
        g_snprintf(text, sizeof text, "LID %u", ib->dlid);
    const struct event_key key = event_key(w, EVENT_INVALID_HEADER, who.gid, ib->dgid,
                                           (uint64_t)field << 32 | (uint64_t)ib->slid << 16 |
                                               (ib->dgid ? 0 : ib->dlid));
    watch_event(w, &key, &who, cause, "it sends to %s with %s", text, what);
}

/* ---- the global route header (IBA 8.3) */

enum { WHAT_TEXT = 160 };

APART static void wrong_version(const struct watch *w, unsigned version)
{
    char what[WHAT_TEXT];
    g_snprintf(what, sizeof what,
               "the version (IPVer) %u in the GRH instead of 6: receivers drop the packet",
               version);
    invalid(w, GRH_VERSION, 0, what);
}

APART static void wrong_length(const struct watch *w, unsigned length, unsigned right)
{
    char what[WHAT_TEXT];
    g_snprintf(what, sizeof what,
               "the length (PayLen) %u in the GRH, but %u bytes after it: receivers and routers "
               "may drop the packet",
               length, right);
    invalid(w, GRH_LENGTH, 0, what);
}

/* Only the queue pairs that are attached to a group receive what is sent to it (IBA 10.5.2). */
APART static void wrong_qp(const struct watch *w)
{
    char what[WHAT_TEXT];
    g_snprintf(what, sizeof what,
               "the destination QP 0x%06x instead of 0xffffff, that of multicast: the members of "
               "the group do not receive the packet",
               w->p->ib.dqpn);
    invalid(w, DEST_QP, 0, what);
}

APART static void wrong_hop_limit(const struct watch *w)
{
    char what[WHAT_TEXT];
    g_snprintf(what, sizeof what,
               "the hop limit %u in the GRH, but to another subnet: routers drop the packet",
               w->p->ib.hop_limit);
    invalid(w, HOP_LIMIT, 0, what);
}

/* Does the port at the DLID have another GUID, in another subnet than the sender? Then it routes.
 */
APART static bool is_to_another_subnet(const struct watch *w)
{
    const struct ib_packet *ib = &w->p->ib;
    const struct endports *all = w->f->endports;
    const struct endport *from = endports_by_lid(all, w->p->at.interface, ib->slid),
                         *to = endports_by_lid(all, w->p->at.interface, ib->dlid);
    if (memcmp(ib->sgid, ib->dgid, GID_SIZE / 2) == 0 || gid_has_default_prefix(ib->dgid))
        return false;
    return from && to && memcmp(from->gid, ib->sgid, GID_SIZE) == 0 && endport_has_gid(to) &&
           memcmp(to->gid, ib->dgid, GID_SIZE / 2) != 0 &&
           memcmp(to->gid + GID_SIZE / 2, ib->dgid + GID_SIZE / 2, GID_SIZE / 2) != 0 &&
           !endports_by_gid(all, w->p->at.interface, ib->dgid);
}

void watch_grh(const struct watch *w)
{
    const struct ib_packet *ib = &w->p->ib;
    const uint8_t *grh = w->p->bytes.p + ib->grh_off;
    unsigned version = grh[GRH_VER_TCLASS_FLOW] >> 4, length = be16(grh + GRH_PAY_LEN);
    unsigned right = ib->length - LRH_SIZE - GRH_SIZE;
    if (!ib->has_lrh)
        return;
    bool is_multicast = ib->dgid[0] == 0xff;
    if (version != GRH_IP_VERSION)
        wrong_version(w, version);
    else if (length != right)
        wrong_length(w, length, right);
    else if (is_multicast && ib->dqpn != QPN_MULTICAST)
        wrong_qp(w);
    else if (!is_multicast && ib->hop_limit < 2 && is_to_another_subnet(w))
        wrong_hop_limit(w);
}

/* ---- the local route header (IBA 7.7) */

/* OperationalVLs (IBA 14.2.5.6): 1: VL 0, 2: VL 0 and 1, 3: VL 0 to 3, 4: 0 to 7, 5: 0 to 14 */
static unsigned vls_of(uint8_t code)
{
    static const uint8_t vls[] = {VLS_ALL, 1, 2, 4, 8, 15};
    return code < sizeof vls ? vls[code] : VLS_ALL;
}

void watch_operational_vls(const struct watch *w)
{
    const struct smp *s = &w->p->mad.smp;
    struct header_fields *h = w->headers;
    if (s->mad.attribute != SMP_PORT_INFO || s->mad.method != SMP_GET_RESP || !smp_says(s) ||
        view_has(s->data, PORT_INFO_OPERATIONAL_VLS, 1) != WIRE_OK || packet_is_corrupt(w->p))
        return;
    unsigned vls = vls_of(s->data.p[PORT_INFO_OPERATIONAL_VLS] >> 4);
    if (h->frame && vls <= h->vls)
        return;
    h->vls = vls;
    h->frame = w->p->at.frame;
}

static void wrong_vl(const struct watch *w, unsigned vl)
{
    char what[WHAT_TEXT];
    g_snprintf(
        what, sizeof what,
        "the VL %u, but no port whose PortInfo was captured has more than %u VLs: ports drop "
        "the packet",
        vl, w->headers->vls);
    invalid(w, VIRTUAL_LANE, w->headers->frame, what);
}

static void wrong_source_lid(const struct watch *w)
{
    char what[WHAT_TEXT];
    g_snprintf(what, sizeof what, "the source LID 0x%04x, which no port can have (IBA 4.1.3)",
               w->p->ib.slid);
    invalid(w, SOURCE_LID, 0, what);
}

static void watch_lrh(const struct watch *w)
{
    unsigned vl = w->p->bytes.p[LRH_VL_LVER] >> 4;
    if (vl >= w->headers->vls)
        wrong_vl(w, vl);
    if (w->p->ib.slid >= LID_MULTICAST_FIRST)
        wrong_source_lid(w);
    if (w->p->ib.dlid == LID_PERMISSIVE)
        invalid(w, DEST_LID, 0,
                "the destination LID 0xffff, the permissive one, which only packets of subnet "
                "management may have");
}

/*
 * A switch with a full queue sets FECN (IBA A10.2.1); the receiver sends BECN back. They are not in
 * the ICRC.
 */
static void congested(const struct watch *w, uint8_t bits)
{
    struct sender who = sender_of(w->f, w->p);
    bool forward = bits & BTH_FECN;
    const struct event_key key = event_key(w, EVENT_CONGESTION, who.gid, NULL,
                                           (uint64_t)forward << 32 | (uint64_t)w->p->ib.slid << 16 |
                                               w->p->ib.dlid);
    watch_event(w, &key, &who, 0,
                forward
                    ? "its packets to LID %u are marked with FECN: a switch on the way has more "
                      "of them than it can forward"
                    : "its packets to LID %u are marked with BECN: packets of that port met "
                      "congestion on their way",
                w->p->ib.dlid);
}

/* A datagram with an LRH has a BTH. */
static uint8_t congestion_of(const struct packet *p)
{
    return p->bytes.p[p->ib.bth_off + BTH_FECN_BECN] & (BTH_FECN | BTH_BECN);
}

/* Most packets have VL 0, and did not meet congestion. */
bool has_unusual_headers(const struct watch *w)
{
    const struct ib_packet *ib = &w->p->ib;
    return ib->has_lrh && (congestion_of(w->p) | w->p->bytes.p[LRH_VL_LVER] >> 4 ||
                           ib->slid >= LID_MULTICAST_FIRST || ib->dlid == LID_PERMISSIVE);
}

bool has_plain_headers(const struct packet *p)
{
    const struct ib_packet *ib = &p->ib;
    const uint8_t *bytes = p->bytes.p;
    return ib->has_lrh && !ib->dgid &&
           !((bytes[ib->bth_off + BTH_FECN_BECN] & (BTH_FECN | BTH_BECN)) |
             bytes[LRH_VL_LVER] >> 4 | ib->sl) &&
           ib->slid < LID_MULTICAST_FIRST && ib->dlid < LID_MULTICAST_FIRST;
}

void watch_headers(const struct watch *w)
{
    uint8_t congestion = congestion_of(w->p);
    if (congestion && packet_integrity(w->p) == INTEGRITY_INTACT)
        congested(w, congestion);
    watch_lrh(w);
}

/* ---- the port of an ARP reply */

/* The reply is for another port than that at the LID. */
APART static void watch_reply_to(const struct watch *w, const struct endport *at)
{
    const struct datagram *d = &w->p->datagram;
    const struct endports *all = w->f->endports;
    const uint8_t *requester = d->body.p + d->arp.tha;
    if (!endport_has_gid(at) || be24(requester + LLADDR_QPN) != w->p->ib.dqpn)
        return;
    const struct endport *to = endports_by_gid(all, w->p->at.interface, requester + LLADDR_GID);
    char what[WHAT_TEXT], gid[GID_TEXT];
    if (!to || to == at || !to->lid || endport_has_lid(to, w->p->ib.dlid))
        return;
    g_snprintf(what, sizeof what,
               "an ARP reply for port %s, which has the LID %u: the requester does not receive it",
               text_of_gid(gid, to->gid), to->lid);
    invalid(w, OTHER_PORT, 0, what);
}

/*
 * The reply goes to the LID of another port than the one whose address it answers. The LID of that
 * one is known from its request; across subnets, a router is in between.
 */
void watch_reply_lid(const struct watch *w)
{
    const struct datagram *d = &w->p->datagram;
    const struct ib_packet *ib = &w->p->ib;
    if (d->encap.type != TYPE_ARP || d->arp_result != WIRE_OK || d->arp.op != ARP_REPLY ||
        d->arp.hln != LLADDR_SIZE || ib->has_grh || ib->dlid >= LID_MULTICAST_FIRST)
        return;
    const struct endport *at = endports_by_lid(w->f->endports, w->p->at.interface, ib->dlid);
    if (at && !gid_same(at->gid, d->body.p + d->arp.tha + LLADDR_GID))
        watch_reply_to(w, at);
}

/* ---- Neighbour Discovery (RFC 4861 sections 6.1, 7.1, 8.1) */

void watch_nd_hop_limit(const struct watch *w)
{
    const struct datagram *d = &w->p->datagram;
    char what[WHAT_TEXT];
    if (!d->icmpv6.p || d->icmpv6.p[0] < ND_RS || d->icmpv6.p[0] > ND_REDIRECT ||
        d->body.p[IPV6_HOP_LIMIT] == ND_HOP_LIMIT)
        return;
    g_snprintf(what, sizeof what,
               "the hop limit %u in a message of Neighbour Discovery (type %u) instead of 255: it "
               "may have been forwarded, and receivers discard it",
               d->body.p[IPV6_HOP_LIMIT], d->icmpv6.p[0]);
    invalid(w, ND_FORWARDED, 0, what);
}

/* ---- IP headers that do not fit their packet */

/* Of a version of IP: sizes, and where its header has what. */
struct ip_form {
    uint8_t size, length_at, source, destination, address_size;
    uint8_t without; /* bytes of the header that its length does not count */
    uint8_t many;    /* addresses of many begin with this byte or a larger one */
};

static const struct ip_form ipv4_form = {
    IPV4_SIZE, IPV4_TOTAL_LENGTH, IPV4_SOURCE, IPV4_DESTINATION, IPV4_ADDRESS_SIZE, 0, 0xe0};
static const struct ip_form ipv6_form = {
    IPV6_SIZE,         IPV6_PAYLOAD_LENGTH, IPV6_SOURCE, IPV6_DESTINATION,
    IPV6_ADDRESS_SIZE, IPV6_SIZE,           0xff};

static inline bool is_to_many(const struct ip_form *form, const uint8_t *address)
{
    return form->address_size == IPV4_ADDRESS_SIZE
               ? address[0] >> 4 == 0xe || be32(address) == UINT32_MAX
               : address[0] == 0xff;
}

APART static void wrong_length_of_ip(const struct watch *w, enum field field, uint32_t length)
{
    char what[WHAT_TEXT];
    g_snprintf(what, sizeof what,
               "%u bytes of %s, but %u bytes are there: the receiver drops the datagram", length,
               field == IP_CUT ? "IP header at least" : "IP by the length in its header",
               w->p->datagram.body.len);
    invalid(w, field, 0, what);
}

APART static void wrong_address(const struct watch *w, enum field field, const uint8_t *address,
                                uint8_t size)
{
    static const char *const words[] = {
        [IP_SOURCE] = "the source %s, an address of many, which no host may have",
        [IP_TO_PORT] = "the destination %s, that of a group: only this port receives it",
        [IP_TO_GROUP] = "the destination %s, not that of a group: it does not belong to this MGID",
    };
    char what[WHAT_TEXT], text[SENDER_TEXT_SIZE];
    const struct ip ip = ip_read(address, size);
    g_snprintf(what, sizeof what, words[field], ip_text(text, &ip));
    invalid(w, field, 0, what);
}

/* The rules check where these go. */
static bool is_advertisement(const struct datagram *d)
{
    return d->icmpv6.p && d->icmpv6.p[0] == ND_NA;
}

/* 255.255.255.255 to one port, and to another group, is a violation (rfc4391.4.broadcast-mapping).
 */
static void watch_destination(const struct watch *w, const struct ip_form *form,
                              const uint8_t *address)
{
    const struct ib_packet *ib = &w->p->ib;
    bool to_many = is_to_many(form, address), to_group = ib->dlid >= LID_MULTICAST_FIRST;
    if (to_many == to_group || ib->transport != IB_UD ||
        (to_many && address[0] == 0xff && form->address_size == IPV4_ADDRESS_SIZE))
        return;
    if (to_many)
        wrong_address(w, IP_TO_PORT, address, form->address_size);
    else if (ib->dgid && mgid_is_ipoib(ib->dgid) && !mgid_is_broadcast(ib->dgid) &&
             !is_advertisement(&w->p->datagram))
        wrong_address(w, IP_TO_GROUP, address, form->address_size);
}

/* The frame may have been truncated without a record of it: then it is shorter than its LRH says.
 */
APART static void watch_form(const struct watch *w, const struct ip_form *form)
{
    struct view v = w->p->datagram.body;
    if (w->p->ib.position != IB_ONLY || w->p->bytes.len + ICRC_SIZE < w->p->ib.length)
        return;
    if (v.len < form->size)
        wrong_length_of_ip(w, IP_CUT, form->size);
    if (v.cap < form->size)
        return;
    uint32_t length = be16(v.p + form->length_at) + (uint32_t)form->without;
    if (length > v.len)
        wrong_length_of_ip(w, IP_LENGTH, length);
    if (is_to_many(form, v.p + form->source))
        wrong_address(w, IP_SOURCE, v.p + form->source, form->address_size);
    watch_destination(w, form, v.p + form->destination);
}

/* From one address; to one by a packet to one port, or to many by one to a group; and not longer.
 */
static inline bool is_usual(const struct watch *w, const struct ip_form *form)
{
    struct view v = w->p->datagram.body;
    return v.cap >= form->size && be16(v.p + form->length_at) + (uint32_t)form->without <= v.len &&
           v.p[form->source] < form->many &&
           (v.p[form->destination] < form->many) == (w->p->ib.dlid < LID_MULTICAST_FIRST);
}

void watch_ip_header(const struct watch *w)
{
    if (w->p->datagram.encap.type == TYPE_IPV4) {
        if (!is_usual(w, &ipv4_form))
            watch_form(w, &ipv4_form);
    } else if (!is_usual(w, &ipv6_form)) {
        watch_form(w, &ipv6_form);
    }
}

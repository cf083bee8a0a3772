/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of address resolution that need the state of the fabric: the announced link-layer address
 * against the sending port and QP, and the destination of the reply (RFC 4391 §9.1.1; RFC 4755
 * §2.2, 3, 3.1).
 */
#include "model/address.h"
#include "rules/result.h"
#include "rules/suspicions/results.h"
#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/ip.h"
#include "wire/mgid.h"
#include "wire/nd.h"

enum { LLADDR_FLAGS_CONNECTED = LLADDR_FLAG_RC | LLADDR_FLAG_UC };
enum { GID_GUID = 8 }; /* the lower half of a GID */

/* ---- the GID in the address: is it the sender's? */

/*
 * The frame in which the sending queue pair, which is one interface's, has another GID: this one,
 * or its last datagram to a group. 0: none is known, or only its prefix differs.
 */
static uint32_t frame_of_another_gid(const struct check_context *s, const uint8_t *gid)
{
    const struct qp *qp = s->e->has_sender_qp ? &s->e->sender_qp : NULL;
    const struct endport *port = qp ? endport_of(qp->endport) : NULL;
    const uint8_t *used = s->p->ib.sgid;
    if (!used && port && endport_has_lid(port, s->p->ib.slid))
        used = port->gid;
    if (!used || memcmp(used + GID_GUID, gid + GID_GUID, GID_SIZE - GID_GUID) == 0)
        return 0;
    return s->p->ib.sgid ? s->p->at.frame : qp->group_frame;
}

/* Is the GID known as that of a port with another LID? */
static bool is_of_another_lid(const struct check_context *s, const uint8_t *gid)
{
    const struct endport *owner = endports_by_gid(s->f->endports, s->p->at.interface, gid);
    return owner && owner->lid && !endport_has_lid(owner, s->p->ib.slid);
}

static void fail_gid(const struct check_context *s, const uint8_t *p, enum rule_number rule,
                     enum whose whose)
{
    bool of_port = rule == R_RFC4391_9_1_1_GID_OF_PORT;
    const char *actual = !of_port                 ? "another GID"
                         : whose == WHOSE_NO_PORT ? "a GID with another subnet prefix"
                                                  : "the GID of another port";
    const struct result r = {
        .rule = rule,
        .about = entity_address(p),
        .at = {p + LLADDR_GID, GID_SIZE},
        .unknown_at = p,
        .expected = of_port ? "a GID of the sender's port"
                            : "the subnet prefix and the GUID of the sender's port",
        .actual = actual,
        .facts = {{FACT_GIDS, .whose = whose}}};
    bool uncertain = !report_result(s, &r) && whose == WHOSE_UNKNOWN;
    uint32_t other = uncertain && of_port == is_of_another_lid(s, p + LLADDR_GID)
                         ? frame_of_another_gid(s, p + LLADDR_GID)
                         : 0;
    if (other)
        suspect_result(s, &r, other, false);
}

/*
 * Does the sender's port name a GID to the SA that has the subnet prefix? Each port has the default
 * prefix too (IBA 4.1.1), so a GID with that one says nothing about the subnet's.
 */
static bool names_subnet_prefix(const struct check_context *s)
{
    const struct endport *port = endports_by_lid(s->f->endports, s->p->at.interface, s->p->ib.slid);
    return port && endports_gid_is_confirmed(s->f->endports, port) &&
           !gid_has_default_prefix(port->gid);
}

/*
 * All GIDs of a port, alias GIDs too, have the prefix that the SM set when the port started, or the
 * default one (IBA 4.1.1). A port with another prefix from the SM is another entry of the model.
 */
static bool has_foreign_prefix(const struct check_context *s, const uint8_t *gid)
{
    const struct endport *port = endports_by_lid(s->f->endports, s->p->at.interface, s->p->ib.slid);
    const uint8_t *used = s->p->ib.sgid;
    bool routed = port && used && memcmp(used, port->gid, GID_GUID) != 0;
    return port && !routed && endport_requests_are_complete_since_start(port) &&
           !gid_has_default_prefix(gid) && memcmp(port->gid, gid, GID_GUID) != 0;
}

static void check_gid(const struct check_context *s, const uint8_t *p, enum whose whose)
{
    struct entity address = entity_address(p);
    if (whose == WHOSE_OWN || whose == WHOSE_ALIAS)
        report_pass_about(s->r, R_RFC4391_9_1_1_GID_OF_PORT, &address);
    else if (whose != WHOSE_OTHERS && whose != WHOSE_OTHERS_NAMED &&
             has_foreign_prefix(s, p + LLADDR_GID))
        fail_gid(s, p, R_RFC4391_9_1_1_GID_OF_PORT, WHOSE_NO_PORT);
    else if (whose != WHOSE_NO_PORT)
        fail_gid(s, p, R_RFC4391_9_1_1_GID_OF_PORT, whose);
    if (whose == WHOSE_OWN)
        report_pass_about(s->r, R_RFC4391_9_1_1_GID_FROM_PORT_GUID, &address);
    else if (whose == WHOSE_OWN_GUID && names_subnet_prefix(s))
        fail_gid(s, p, R_RFC4391_9_1_1_GID_FROM_PORT_GUID, WHOSE_NO_PORT);
    else if (whose != WHOSE_OTHERS && whose != WHOSE_OTHERS_NAMED)
        fail_gid(s, p, R_RFC4391_9_1_1_GID_FROM_PORT_GUID, whose);
}

/*
 * An interface has one UD QP, with connected mode (RFC 4755 §2.2) or without it ("whether or not it
 * supports this extension", §3.1). So the source QP must be the one in the announced address.
 */
static void check_ud_qp(const struct check_context *s, const uint8_t *p, enum whose whose)
{
    const struct result r = {.rule = R_RFC4755_2_2_ONE_UD_QP,
                             .about = entity_address(p),
                             .wanted = be24(p + LLADDR_QPN),
                             .value = s->p->ib.sqpn,
                             .at = {s->r->base + s->p->ib.deth_off + DETH_SRC_QP, 3},
                             .describe = describe_qpn,
                             .facts = {{FACT_GIDS, .whose = whose}}};
    bool own = whose == WHOSE_OWN || whose == WHOSE_OWN_GUID || whose == WHOSE_ALIAS;
    if (r.wanted <= QPN_GSI) /* no interface's: the address is wrong, not the source QP */
        return;
    if (own && r.value == r.wanted)
        report_pass_about(s->r, r.rule, &r.about);
    else if (own || whose == WHOSE_UNKNOWN)
        report_result(s, &r);
}

/*
 * Does the sending QP go on, although the port has announced its IP address with another QPN since?
 * A restarted interface would not.
 */
static bool goes_on_without_address(const struct check_context *s, const struct endport *port)
{
    const struct neighbour *last = suspected_holder(s, port);
    const struct neighbour *before = last ? neighbour_replaced(last) : NULL;
    return before && (before->lladdr[LLADDR_FLAGS] & LLADDR_FLAGS_CONNECTED) &&
           be24(before->lladdr + LLADDR_QPN) == s->p->ib.sqpn;
}

/*
 * The same for any datagram from the IP address that an interface in connected mode announced: an
 * IPoIB-CM interface has one UD QP. Another QPN that the port announced is another interface's,
 * which may have the same IP address.
 */
void check_source_qp(const struct check_context *s)
{
    const struct endport *port = sending_port(s);
    struct ip source, destination;
    if (!port || !datagram_ips(&s->p->datagram, &source, &destination))
        return;
    const struct neighbour *n = neighbours_of_ip(s->f->neighbours, packet_link_key(s->p), &source);
    const struct neighbour *own = n ? n : suspected_holder(s, port);
    if (!own || !(own->lladdr[LLADDR_FLAGS] & LLADDR_FLAGS_CONNECTED) ||
        memcmp(own->lladdr + LLADDR_GID, port->gid, GID_SIZE) != 0)
        return;
    const struct result r = {.rule = R_RFC4755_2_2_ONE_UD_QP,
                             .about = entity_address(own->lladdr),
                             .wanted = be24(own->lladdr + LLADDR_QPN),
                             .value = s->p->ib.sqpn,
                             .at = {s->r->base + s->p->ib.deth_off + DETH_SRC_QP, 3},
                             .describe = describe_qpn,
                             .facts = {{FACT_NEIGHBOUR, .port = port, .neighbour = own}},
                             .dropped = READ_UD_QPNS}; /* the port did not announce the QPN */
    if ((r.value == r.wanted || source_is_link_local(&source)) && goes_on_without_address(s, port))
        report_inconclusive(s->r, r.rule, r.unknown_at,
                            "another interface of the port may have taken over an IP address");
    if (r.value == r.wanted)
        return;
    if (n && endport_announced(port, s->p->ib.pkey, s->p->ib.sqpn) == ANNOUNCED_ANOTHER)
        report_result(s, &r);
    else if (!source_is_link_local(&source))
        suspect_source(s, &r, ip_digest(&source));
}

/*
 * Checks the link-layer address that the sender announces as its own. Returns false if its GID
 * cannot be the sender's. The GIDs of a port are unicast, and never the Reserved GID, which is zero
 * (IBA 4.1.1). With the QPN of multicast, it is the address of a group, such as that of a cluster's
 * common IP address.
 */
static bool check_announced_address(const struct check_context *s, const uint8_t *p)
{
    static const uint8_t reserved[GID_SIZE];
    struct entity address = entity_address(p);
    bool of_group = lladdr_is_multicast(p);
    if (of_group && be24(p + LLADDR_QPN) == QPN_MULTICAST)
        return true;
    if (of_group || memcmp(p + LLADDR_GID, reserved, GID_SIZE) == 0) {
        expect_about(s->r, R_RFC4391_9_1_1_GID_OF_PORT, &address, false, p + LLADDR_GID, GID_SIZE,
                     "a GID of the sender's port",
                     of_group ? "a multicast GID" : "the Reserved GID, which is zero");
        return false;
    }
    enum whose whose = fabric_whose_gid(s->f, s->p, p + LLADDR_GID);
    check_gid(s, p, whose);
    if (s->p->ib.transport == IB_UD)
        check_ud_qp(s, p, whose);
    return whose != WHOSE_OTHERS && whose != WHOSE_OTHERS_NAMED && whose != WHOSE_NO_PORT;
}

/* ---- destination of the reply */

/*
 * requester: its link-layer address. The caller chooses the rule: RFC 4755's if the address
 * has a connected-mode flag, else RFC 4391's.
 */
static void check_reply(const struct check_context *s, const uint8_t *requester,
                        enum rule_number rule)
{
    struct entity address = entity_address(requester);
    if (lladdr_is_zero(requester) || lladdr_is_multicast(requester))
        return;
    expect_same(s->r, rule, &address, s->r->base + s->p->ib.bth_off + BTH_DEST_QP, 3,
                be24(requester + LLADDR_QPN), s->p->ib.dqpn);
}

/* A request to another group than the broadcast group is noted by check_mgid.c. */
static void note_query(const struct check_context *s, const uint8_t *sha)
{
    const struct ib_packet *ib = &s->p->ib;
    struct entity address = entity_address(sha);
    if (ib->transport == IB_UD && !ib_is_multicast(ib))
        report_note(s->r, R_RFC4755_3_QUERY_ON_BROADCAST, &address, 0, s->r->base, ib->payload_off,
                    "a request not sent to the broadcast-GID: it revalidates a cache entry");
}

/*
 * The reply goes to an address that sent no such request. Does the request of the holder of the IP
 * address wait for this reply? Then the target is the holder's address.
 */
static const struct resolution *request_of_holder(const struct check_context *s,
                                                  const struct resolution *of,
                                                  const struct ip *target)
{
    const struct neighbour *n = neighbours_of_ip(s->f->neighbours, of->link, target);
    struct resolution like = *of;
    if (!n || n->last_frame == s->p->at.frame)
        return NULL;
    memcpy(like.requester, n->lladdr, LLADDR_SIZE);
    const struct resolution *q = resolution_request(s->f->resolutions, &like, 0);
    return q && ip_same(&q->requester_ip, target) ? q : NULL;
}

/* The request of the target for another address of the sender. */
static const struct resolution *request_to_sender(const struct check_context *s,
                                                  const struct resolution *of, const uint8_t *sha)
{
    const struct neighbour *n = neighbours_of_lladdr(s->f->neighbours, sha, 4, s->p->at.frame);
    for (; n; n = n->older) {
        struct resolution like = *of;
        like.target = n->ip;
        const struct resolution *q = n->link == of->link
                                         ? resolution_request(s->f->resolutions, &like, 0)
                                         : NULL;
        if (q && !q->replied && !request_is_old(s, q) &&
            ip_same(&q->requester_ip, &of->requester_ip))
            return q;
    }
    return NULL;
}

/* The request of this requester in that frame. */
static struct entity entity_request(const uint8_t *requester, uint32_t frame)
{
    struct entity about = entity_address(requester);
    about.number = frame;
    return about;
}

/*
 * The reply names a field that is not the request's (q). Another request of the requester may
 * explain it, or an address that has moved to the sender: there is no proof.
 */
static void suspect_reply(const struct check_context *s, const struct resolution *q,
                          const uint8_t *p, const struct arp *a, bool of_sender)
{
    /* 0 is no interface's address: the requester itself would have sent it. */
    bool by_requester = lladdr_is_zero(p + a->tha) &&
                        s->p->ib.dqpn == be24(q->requester + LLADDR_QPN);
    struct result r = {
        .rule = R_RFC4391_9_2_ARP_AS_RFC826,
        .about = entity_address(p + a->tha),
        .value = be32(p + a->tpa),
        .is_code = true,
        .at = {p + (of_sender ? a->spa : a->tha), of_sender ? 4 : LLADDR_SIZE},
        .unknown_at = p + (of_sender ? a->spa : a->tha),
        .expected = of_sender ? "the requested IP address" : "the requester's link-layer address",
        .actual = "another address",
        .facts = {{FACT_REQUEST, .request = q, .ip = by_requester ? NULL : &q->requester_ip}},
        /* read for the sender, the holder, and the target's QPN */
        .dropped = READ_GIDS | READ_NEIGHBOUR | READ_PORT | READ_UD_QPNS | READ_QP};
    if (of_sender)
        r.about = entity_request(p + a->tha, q->frame);
    report_result(s, &r);
}

/*
 * No request for the reply was captured. It may answer a request for another address of the sender.
 * moves: its sender has an IP address that was another port's.
 */
static void suspect_sender_ip(const struct check_context *s, const struct resolution *like,
                              const uint8_t *p, const struct arp *a, bool moves)
{
    const struct resolution *q = request_to_sender(s, like, p + a->sha);
    if (q)
        suspect_reply(s, q, p, a, true);
    else if (moves && !ip_same(&like->target, &like->requester_ip))
        report_inconclusive(s->r, R_RFC4391_9_2_ARP_AS_RFC826, p + a->spa,
                            "the request that the reply answers was not captured");
}

/* The target's IP address is not that of q, the request of its link-layer address. */
static void fail_target_ip(const struct check_context *s, const struct resolution *q,
                           const uint8_t *p, const struct arp *a, const struct ip *target)
{
    const struct result r = {.rule = R_RFC4391_9_2_ARP_AS_RFC826,
                             .about = entity_address(p + a->tha),
                             .value = be32(p + a->tpa),
                             .is_code = true,
                             .at = {p + a->tpa, 4},
                             .unknown_at = p + a->tpa,
                             .expected = "the requester's IP address",
                             .actual = "another target",
                             .facts = {{FACT_REQUEST, .request = q, .ip = target}},
                             /* read for the sender's address, and for the holder's request */
                             .dropped = READ_GIDS | READ_PORT | READ_NEIGHBOUR};
    report_result(s, &r);
}

/* Does the reply go to the QPN of the request, and not to that of its target? */
static bool goes_to_requester(const struct check_context *s, const struct resolution *q,
                              const uint8_t *tha)
{
    return s->p->ib.transport == IB_UD && be24(q->requester + LLADDR_QPN) == s->p->ib.dqpn &&
           be24(tha + LLADDR_QPN) != s->p->ib.dqpn;
}

/*
 * The reply goes to the requester (q), and names another interface as its target. Only a request of
 * that interface from the same IP address would explain it.
 */
static void fail_target(const struct check_context *s, const struct resolution *q, const uint8_t *p,
                        const struct arp *a)
{
    const uint8_t *tha = p + a->tha;
    const struct endport *port = endports_by_gid(s->f->endports, s->p->at.interface,
                                                 tha + LLADDR_GID);
    struct resolution of_target = *q;
    if (goes_to_requester(s, q, tha) && !lladdr_is_zero(tha)) {
        memcpy(of_target.requester, tha, LLADDR_SIZE);
        of_target.lid = port ? port->lid : 0;
    }
    suspect_reply(s, &of_target, p, a, false);
}

/* What the reply shows of its request: its target is the requester, with its IP (RFC 826). */
static struct resolution request_in_reply(const struct check_context *s, const uint8_t *p,
                                          const struct arp *a)
{
    struct resolution like = {.link = packet_link_key(s->p),
                              .requester_ip = ip_read(p + a->tpa, 4),
                              .target = ip_read(p + a->spa, 4)};
    memcpy(like.requester, p + a->tha, LLADDR_SIZE);
    return like;
}

/* The request that the reply shows; NULL: it was not captured. */
static const struct resolution *request_of_reply(const struct check_context *s,
                                                 const struct resolution *like)
{
    const struct resolution *q;
    for (unsigned i = 0; (q = resolution_request(s->f->resolutions, like, i)) != NULL; i++)
        if (ip_same(&q->requester_ip, &like->requester_ip))
            break;
    return q;
}

/*
 * The flags in the target's address of a reply are a copy from the request. Returns false if the
 * request has the same, or was not captured.
 */
static bool check_flags_of_request(const struct check_context *s, const struct datagram *d)
{
    const uint8_t *tha = d->body.p + d->arp.tha;
    const struct resolution like = request_in_reply(s, d->body.p, &d->arp),
                            *q = request_of_reply(s, &like);
    uint8_t flags = tha[LLADDR_FLAGS], allowed = flags & LLADDR_FLAGS_CONNECTED;
    if (!q || q->requester[LLADDR_FLAGS] == flags)
        return false;
    struct resolution waiting = *q;
    waiting.replied &= q->reply_frame != s->p->at.frame;
    for (unsigned i = 0; i < RESERVED_FLAGS; i++) {
        const struct result r = {.rule = lladdr_flags_rule(tha),
                                 .about = entity_address(tha),
                                 .wanted = allowed,
                                 .value = allowed | (flags & reserved_flags[i]),
                                 .at = {tha, 1},
                                 .describe = describe_hex,
                                 .facts = {{FACT_REQUEST, .request = &waiting}},
                                 .dropped = READ_GIDS | READ_PORT | READ_NEIGHBOUR};
        if (flags & reserved_flags[i] & ~q->requester[LLADDR_FLAGS])
            report_result(s, &r);
    }
    return true;
}

/* RFC 826: the target of a reply is the requester, with its link-layer address and its IP. */
static void check_reply_target(const struct check_context *s, const uint8_t *p, const struct arp *a)
{
    const struct resolution like = request_in_reply(s, p, a), *q = request_of_reply(s, &like);
    const struct ip target = like.requester_ip;
    const struct resolution *of_holder = request_of_holder(s, &like, &target);
    bool to_port = !ib_goes_to_group(&s->p->ib), moves = s->e->has_duplicate && to_port;
    if (q && !(moves && request_is_old(s, q))) {
        const struct entity about = entity_request(p + a->tha, q->frame);
        report_pass(s->r, R_RFC4391_9_2_ARP_AS_RFC826);
        suspicions_drop(s, R_RFC4391_9_2_ARP_AS_RFC826, &about);
        return;
    }
    if (q) {
        suspect_sender_ip(s, &like, p, a, moves);
        return;
    }
    q = resolution_request(s->f->resolutions, &like, 0);
    if (q && !(of_holder && goes_to_requester(s, of_holder, p + a->tha)))
        fail_target_ip(s, q, p, a, &target);
    else if (!suspect_target(s, p + a->tha) && of_holder)
        fail_target(s, of_holder, p, a);
    else if (!of_holder && to_port)
        suspect_sender_ip(s, &like, p, a, moves);
}

/* RFC 4755's rule if the requester's address has a connected-mode flag, else RFC 4391's. */
static enum rule_number reply_rule(const uint8_t *requester, enum rule_number without)
{
    return requester[LLADDR_FLAGS] & LLADDR_FLAGS_CONNECTED ? R_RFC4755_3_1_REPLY_TO_UD_QPN
                                                            : without;
}

/* q: the last solicitation that the NA may answer; NULL: none was seen. */
static void fail_advertised_to(const struct check_context *s, const struct resolution *q)
{
    static const uint8_t none[LLADDR_SIZE];
    const uint8_t *requester = q ? q->requester : none;
    const struct result r = {.rule = reply_rule(requester, R_RFC4391_9_1_1_TRAFFIC_TO_QPN),
                             .about = entity_address(requester),
                             .wanted = be24(requester + LLADDR_QPN),
                             .value = s->p->ib.dqpn,
                             .at = {s->r->base + s->p->ib.bth_off + BTH_DEST_QP, 3},
                             .describe = describe_hex,
                             .facts = {{FACT_SOLICITATION, .request = q}},
                             .dropped = READ_GIDS | READ_PORT}; /* read for the sender's address */
    report_result(s, &r);
}

/*
 * A solicited NA must go to the QPN in the solicitation's option. If its IPv6 destination is one
 * interface, it does not go to a group: the reply is unicast (RFC 4755 §3.1).
 */
static void check_advertised_to(const struct check_context *s, const struct ip *requester,
                                const struct ip *target)
{
    struct resolution like = {
        .link = packet_link_key(s->p), .requester_ip = *requester, .target = *target};
    const struct resolution *q;
    if (s->p->ib.transport != IB_UD || (ib_goes_to_group(&s->p->ib) && requester->bytes[0] == 0xff))
        return;
    for (unsigned i = 0; (q = resolution_request(s->f->resolutions, &like, i)) != NULL; i++)
        if (be24(q->requester + LLADDR_QPN) == s->p->ib.dqpn)
            break;
    if (q) {
        check_reply(s, q->requester, reply_rule(q->requester, R_RFC4391_9_1_1_TRAFFIC_TO_QPN));
        return;
    }
    q = resolution_request(s->f->resolutions, &like, 0);
    fail_advertised_to(s, q);
}

/*
 * "The ARP reply packets" (RFC 4391 9.1.1) are also those of Inverse ARP, whose target is the
 * requester too (RFC 2390 7). The target of a RARP reply is the host that was asked about, which
 * may be another than the requester (RFC 903).
 */
static bool is_reply_to_target(uint16_t op)
{
    return op == ARP_REPLY || op == INARP_REPLY;
}

/* Does the holder of the target's IP address wait for a reply from the sender's? */
static bool is_awaited(const struct check_context *s, const uint8_t *p, const struct arp *a)
{
    const struct resolution like = request_in_reply(s, p, a),
                            *q = request_of_holder(s, &like, &like.requester_ip);
    return q && !q->replied && !request_is_old(s, q) && goes_to_requester(s, q, p + a->tha);
}

/*
 * Is the target of this reply its sender? Then the reply answers no request: the sender announces
 * its address (RFC 5227 section 3), also to a single neighbour.
 */
static bool is_announcement_to_neighbour(const struct check_context *s, const uint8_t *p,
                                         const struct arp *a)
{
    const uint8_t *tha = p + a->tha;
    bool of_sender = lladdr_same(p + a->sha, tha) ||
                     (be24(tha + LLADDR_QPN) == s->p->ib.sqpn &&
                      fabric_whose_gid(s->f, s->p, tha + LLADDR_GID) == WHOSE_OWN);
    bool is_reply = a->op == ARP_REPLY && a->pro == TYPE_IPV4 && a->pln == 4;
    return of_sender && !(is_reply && is_awaited(s, p, a));
}

/* 169.254.0.0/16, whose replies must be broadcast (RFC 3927 section 2.5) */
static bool is_link_local_ipv4(const uint8_t *p, const struct arp *a)
{
    return a->pro == TYPE_IPV4 && p[a->spa] == 169 && p[a->spa + 1] == 254;
}

/*
 * The target of the reply and its destination name two queue pairs. Only the address that the
 * holder of the target's IP address announced shows which of them is the requester's.
 */
static void check_arp_reply_to_port(const struct check_context *s, const uint8_t *p,
                                    const struct arp *a, enum rule_number rule)
{
    const uint8_t *tha = p + a->tha;
    const struct entity address = entity_address(tha);
    const struct ip target = a->pln == 4 ? ip_read(p + a->tpa, 4) : (struct ip){0};
    const struct neighbour *n = neighbours_of_ip(s->f->neighbours, packet_link_key(s->p), &target);
    if (be24(tha + LLADDR_QPN) == s->p->ib.dqpn || (n && lladdr_same(n->lladdr, tha)))
        check_reply(s, tha, rule);
    else if (n && be24(n->lladdr + LLADDR_QPN) == s->p->ib.dqpn)
        report_pass_about(s->r, rule, &address);
    else if (!lladdr_is_zero(tha) && !lladdr_is_multicast(tha))
        report_unproved(s->r, rule, &address, "the QPN of the requester", "another QPN",
                        "the request was not captured: the target's address may be wrong");
}

static void describe_lid(const struct check_context *s, const struct result *r, char *expected,
                         char *actual)
{
    (void)s;
    g_snprintf(expected, RESULT_TEXT, "the requester's LID %u", (unsigned)r->wanted);
    g_snprintf(actual, RESULT_TEXT, "LID %u, which is another port's", (unsigned)r->value);
}

/* The QPN is that of the requester's port, so the reply must go to this port: to one of its LIDs.
 */
static void check_arp_reply_lid(const struct check_context *s, const uint8_t *p,
                                const struct arp *a, enum rule_number rule)
{
    const struct ib_packet *ib = &s->p->ib;
    const struct resolution like = request_in_reply(s, p, a), *q = request_of_reply(s, &like);
    const struct endports *all = s->f->endports;
    if (!q || !q->lid || !ib->has_lrh || ib->has_grh || ib_goes_to_group(ib))
        return;
    const struct endport *port = endports_by_lid(all, s->p->at.interface, q->lid),
                         *at = endports_by_lid(all, s->p->at.interface, ib->dlid);
    if (ib->dlid == q->lid || (port && endport_has_lid(port, ib->dlid)) || !at || at == port ||
        !endport_has_gid(at) || memcmp(at->gid, p + a->tha + LLADDR_GID, GID_SIZE) == 0)
        return;
    struct resolution waiting = *q;
    waiting.replied &= q->reply_frame != s->p->at.frame;
    const struct result r = {.rule = rule,
                             .about = entity_address(p + a->tha),
                             .wanted = q->lid,
                             .value = ib->dlid,
                             .is_code = true,
                             .at = {s->r->base + LRH_DLID, 2},
                             .unknown_at = p + a->tha,
                             .describe = describe_lid,
                             .facts = {{FACT_REQUEST, .port = at, .request = &waiting}},
                             /* read for the sender's address, and for the holder's request */
                             .dropped = READ_GIDS | READ_NEIGHBOUR | READ_PORT};
    report_result(s, &r);
}

static void check_arp_reply_to(const struct check_context *s, const uint8_t *p, const struct arp *a)
{
    const uint8_t *requester = p + a->tha;
    enum rule_number rule = reply_rule(requester, R_RFC4391_9_1_1_ARP_REPLY_QPN);
    if (a->op == ARP_REPLY && a->pln == 4)
        check_arp_reply_lid(s, p, a, rule);
    if (!ib_goes_to_group(&s->p->ib))
        check_arp_reply_to_port(s, p, a, rule);
    else if (!is_link_local_ipv4(p, a) && !lladdr_is_zero(requester) &&
             !lladdr_is_multicast(requester))
        report_inconclusive(s->r, rule, requester,
                            "the reply goes to the QPN of multicast, which RFC 5227 permits");
}

void check_arp_in_fabric(const struct check_context *s, const struct datagram *d)
{
    struct view v = d->body;
    const struct arp *a = &d->arp;
    if (d->arp_result != WIRE_OK || a->hrd != ARP_HRD_INFINIBAND || a->hln != LLADDR_SIZE) {
        check_target_flags(s->r, d);
        return;
    }
    bool ipv4 = a->pro == TYPE_IPV4 && a->pln == 4;
    if (arp_is_announcement(a->op))
        check_announced_address(s, v.p + a->sha);
    if (a->op == ARP_REQUEST)
        note_query(s, v.p + a->sha);
    bool answers = !is_announcement_to_neighbour(s, v.p, a);
    if (a->op != ARP_REPLY || !ipv4 || !check_flags_of_request(s, d))
        check_target_flags(s->r, d);
    if (a->op == ARP_REPLY && ipv4 && answers)
        check_reply_target(s, v.p, a);
    bool of_target = is_reply_to_target(a->op) && answers && !arp_contradicts_protocol(a);
    if (of_target && s->p->ib.transport == IB_UD)
        check_arp_reply_to(s, v.p, a);
    if (is_reply_to_target(a->op) && s->p->ib.transport == IB_UD)
        report_pass(s->r, R_RFC4755_7_RESOLUTION_OVER_UD);
}

static void note_routers(const struct check_context *s, struct view icmpv6)
{
    const struct ib_packet *ib = &s->p->ib;
    struct entity link = entity_link(ib->pkey);
    uint8_t mgid[MGID_SIZE];
    if (!ib->dgid || !mgid_is_ipoib(ib->dgid))
        return;
    memcpy(mgid, ib->dgid, MGID_SIZE);
    memset(mgid + MGID_GROUP, 0, MGID_SIZE - MGID_GROUP);
    mgid[MGID_SIZE - 1] = 2;
    const struct group *g = groups_find(s->f->groups, s->p->at.interface, mgid);
    bool there = g && g->state == GROUP_PRESENT;
    report_note(s->r, R_DRAFT_7_ALL_ROUTER_GROUP, &link, there, icmpv6.p, 1,
                "a router is attached; the all-router group %s",
                there ? "is there" : "was not seen");
}

void check_nd_in_fabric(const struct check_context *s, const struct datagram *d)
{
    struct view ipv6 = d->body, icmpv6 = d->icmpv6;
    struct nd_iter it;
    const uint8_t *lladdr, *ip;
    if (icmpv6.cap == 0 || view_has(ipv6, 0, IPV6_SIZE) != WIRE_OK || !nd_options(icmpv6, &it))
        return;
    uint8_t type = icmpv6.p[0];
    if (type == ND_NA && s->p->ib.transport == IB_UD)
        report_pass(s->r, R_RFC4755_7_RESOLUTION_OVER_UD);
    while ((lladdr = nd_next_announced(&it, ipv6.p + IPV6_SOURCE, &ip)) != NULL)
        if (check_announced_address(s, lladdr))
            check_interface_id(s->r, &s->p->ib, ip, lladdr);
        else /* the GUID is not the sender's */
            check_link_local_form(s->r, ip);
    if (type == ND_NA && icmpv6.cap >= ND_TARGET + 16 && icmpv6.p[ND_NA_FLAGS] & ND_NA_SOLICITED) {
        struct ip requester = ip_read(ipv6.p + IPV6_DESTINATION, 16),
                  target = ip_read(icmpv6.p + ND_TARGET, 16);
        check_advertised_to(s, &requester, &target);
    }
    if (type == ND_RA)
        note_routers(s, icmpv6);
}

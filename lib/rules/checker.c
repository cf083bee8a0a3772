/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/checker.h"

#include "rules/claims/claim.h"
#include "rules/suspicions/group_traffic.h"
#include "rules/check_context.h"
#include "wire/link_frame.h"
#include "wire/encap.h"
#include "wire/mgid.h"
#include "wire/nd.h"

struct checker {
    struct fabric *fabric;
    bool own_fabric;
    const struct deviations *known;
    struct reported *reported;
    struct claims *claims;
    struct suspicions *suspicions;
    struct events *events; /* of the current packet, if checker_frame() observes it */
    checker_report *report;
    uint64_t *passes; /* counters of passes by rule; NULL: report takes passes too */
    void *user;
    checker_watch *watch; /* NULL: nobody */
    void *watcher;
    bool muted, is_marked;
    uint32_t frame;
    const struct packet *packet; /* the current one; NULL: none */
    const char *message;      /* name of the current Neighbour Discovery message, "" for others */
    struct dhcp_names client; /* of the current DHCP message; "" for others */
};

static const struct dhcp_names no_client = {"", ""};

struct checker *checker_new(struct fabric *fabric, const struct deviations *known,
                            checker_report *report, void *user)
{
    struct checker *c = g_new0(struct checker, 1);
    c->own_fabric = fabric == NULL;
    c->fabric = fabric ? fabric : fabric_new();
    c->known = known;
    c->reported = reported_new(fabric_undone(c->fabric));
    c->claims = claims_new(fabric_undone(c->fabric));
    c->suspicions = suspicions_new();
    c->events = events_new();
    c->report = report;
    c->user = user;
    c->message = "";
    c->client = no_client;
    return c;
}

void checker_mute(struct checker *c, bool muted)
{
    c->muted = muted;
}

void checker_mark(struct checker *c, bool is_marked)
{
    c->is_marked = is_marked;
}

void checker_free(struct checker *c)
{
    if (!c)
        return;
    if (c->own_fabric)
        fabric_free(c->fabric);
    reported_free(c->reported);
    claims_free(c->claims);
    suspicions_free(c->suspicions);
    events_free(c->events);
    g_free(c);
}

void checker_count_passes(struct checker *c, uint64_t *passes)
{
    c->passes = passes;
}

void checker_hold(struct checker *c)
{
    claims_hold(c->claims);
}

void checker_watch_packets(struct checker *c, checker_watch *watch, void *user)
{
    c->watch = watch;
    c->watcher = user;
}

/* The contents of a corrupt packet cannot be attributed to the sender. */
static bool checked_packet_is_corrupt(void *user)
{
    const struct checker *c = user;
    return c->packet && packet_is_corrupt(c->packet);
}

/* The finding is inconclusive; why: the reason. */
static void report_unknown(struct checker *c, const struct finding *f, const char *why)
{
    struct finding unknown = {.rule = f->rule,
                              .outcome = OUTCOME_INCONCLUSIVE,
                              .expected = "",
                              .actual = why,
                              .entity = f->entity,
                              .reason = ""};
    c->report(c->user, c->frame, &unknown);
}

/* Buffers of the texts of a failure. */
struct failure_texts {
    char id[SERVICE_ID_TEXT_SIZE], cause[CAUSE_TEXT], value[24];
};

static const char *decimal_text(char text[24], uint64_t value)
{
    char *p = text + 23;
    *p = '\0';
    do
        *--p = (char)('0' + value % 10);
    while (value /= 10);
    return p;
}

/* What the lists of known deviations may name of the failure. */
static struct failure failure_of(const struct checker *c, const struct finding *f,
                                 struct failure_texts *texts)
{
    bool has_number = finding_has_number(f);
    return (struct failure){.rule = f->rule,
                            .cause = finding_cause(f, texts->cause),
                            .value = has_number ? decimal_text(texts->value, *f->value) : "",
                            .expected = f->expected,
                            .actual = f->actual,
                            .message = c->message,
                            .service_id = f->frame ? NULL : sender_service_id(c->packet, texts->id),
                            .chaddr = c->client.chaddr,
                            .client_id = c->client.client_id};
}

/* A failure that is not proved. If it were, and were a known deviation, it would not count. */
static void report_doubtful(struct checker *c, const struct finding *f)
{
    struct failure_texts texts;
    const struct failure failure = failure_of(c, f, &texts);
    struct finding unknown = {.rule = f->rule,
                              .outcome = OUTCOME_INCONCLUSIVE,
                              .offset = f->offset,
                              .expected = "",
                              .actual = f->doubt,
                              .entity = "",
                              .reason = ""};
    if (!deviations_reason(c->known, &failure))
        c->report(c->user, c->frame, &unknown);
}

/* A failure that nothing has proved, or a suspicion. A known deviation would not count. */
static bool possible_counts(void *user, const struct finding *f)
{
    struct checker *c = user;
    struct failure_texts texts;
    enum rule_level level = rules[f->rule].level;
    if ((level != RULE_MUST && level != RULE_SHOULD) || (!f->frame && checked_packet_is_corrupt(c)))
        return false;
    const struct failure failure = failure_of(c, f, &texts);
    return !deviations_reason(c->known, &failure);
}

static void report_possible(struct checker *c, const struct finding *f)
{
    struct sender sender;
    struct finding possible = *f;
    if (!possible.sender) {
        sender = sender_of(fabric_facts(c->fabric), c->packet);
        possible.sender = &sender;
    }
    c->report(c->user, f->frame ? f->frame : c->frame, &possible);
}

/*
 * Marks a known deviation. Of an earlier packet at fault (f->frame), the Service-ID is not known
 * any more.
 */
static void report_failure(struct checker *c, const struct finding *f)
{
    struct failure_texts texts;
    const struct failure failure = failure_of(c, f, &texts);
    const char *reason = deviations_reason(c->known, &failure);
    const char *undecided = reason ? NULL : deviations_undecided(c->known, &failure);
    if (undecided) {
        report_unknown(c, f, undecided);
        return;
    }
    struct sender sender;
    struct finding failed = *f;
    failed.outcome = reason ? OUTCOME_DEVIATION : OUTCOME_FAIL;
    failed.reason = reason ? reason : f->reason;
    if (!failed.sender) {
        sender = sender_of(fabric_facts(c->fabric), c->packet);
        failed.sender = &sender;
    }
    c->report(c->user, f->proved_frame ? f->proved_frame : c->frame, &failed);
}

__attribute__((noinline)) static void report_violation(struct checker *c, const struct finding *f)
{
    if (checked_packet_is_corrupt(c))
        report_unknown(c, f, "the packet is corrupt: its ICRC or VCRC is wrong");
    else if (f->doubt)
        report_doubtful(c, f);
    else if (f->outcome == OUTCOME_FAIL)
        report_failure(c, f);
    else
        c->report(c->user, c->frame, f);
}

/* The first frame of the flow by which alone the current packet is IPoIB's; 0: it is otherwise. */
static uint32_t flow_frame(const struct checker *c, const struct finding *f)
{
    return c->packet && !f->frame ? c->packet->classification.flow_frame : 0;
}

/* Nothing later explains it: it is reported as one that stands at once. */
static void report_by_flow(struct checker *c, const struct finding *f, uint32_t frame)
{
    struct finding suspected = *f;
    suspected.outcome = OUTCOME_SUSPECTED;
    suspected.reason =
        c->packet->classification.connection
            ? "unless another connection has the queue pair by now: its own has ended"
            : "unless the queue pair is not that of the earlier IPoIB packets any "
              "more: the set-up of the connection was not captured";
    suspected.other_frame = frame;
    suspected.by_flow = true;
    if (!possible_counts(c, &suspected))
        return;
    report_possible(c, &suspected);
    suspected.stands = true;
    suspected.frame = c->frame;
    report_possible(c, &suspected);
}

static void pass_finding(void *user, const struct finding *f)
{
    struct checker *c = user;
    uint32_t frame = f->outcome == OUTCOME_FAIL ? flow_frame(c, f) : 0;
    if (frame && !checked_packet_is_corrupt(c))
        report_by_flow(c, f, frame);
    else if (f->outcome == OUTCOME_FAIL || f->outcome == OUTCOME_NOTED)
        report_violation(c, f);
    else if (f->outcome == OUTCOME_UNPROVED || f->outcome == OUTCOME_SUSPECTED)
        report_possible(c, f);
    else
        c->report(c->user, c->frame, f);
}

static void ignore_finding(void *user, const struct finding *f)
{
    (void)user;
    (void)f;
}

static struct reporter reporter(struct checker *c, const uint8_t *base, uint16_t interface)
{
    return (struct reporter){.report = c->muted ? ignore_finding : pass_finding,
                             .passes = c->muted ? NULL : c->passes,
                             .corrupt = checked_packet_is_corrupt,
                             .counts = c->muted ? NULL : possible_counts,
                             .user = c,
                             .base = base,
                             .reported = c->muted ? NULL : c->reported,
                             .interface = interface};
}

/* ---- datagrams */

/* The name of the Neighbour Discovery message in lists of known deviations. */
static const char *nd_name(struct view icmpv6)
{
    static const char *const names[] = {"RS", "RA", "NS", "NA", "Redirect"};
    uint8_t type = view_has(icmpv6, 0, 1) == WIRE_OK ? icmpv6.p[0] : 0;
    if (type == ND_RS && nd_has_ethernet_option(icmpv6))
        return "RS with 6 bytes of the address";
    return type >= ND_RS && type <= ND_REDIRECT ? names[type - ND_RS] : "";
}

/* check_context NULL: the frame has no InfiniBand headers. */
static void check_datagram(const struct reporter *r, const struct check_context *check_context,
                           const struct datagram *d)
{
    if (d->encap.type == TYPE_ARP || d->encap.type == TYPE_RARP) {
        check_arp(r, d);
        if (check_context)
            check_arp_in_fabric(check_context, d);
        else
            check_target_flags(r, d);
    } else if (d->icmpv6.p) {
        struct checker *c = r->user;
        c->message = nd_name(d->icmpv6);
        check_nd(r, d->icmpv6, !check_context && datagram_is_of_interface(d));
        if (check_context)
            check_nd_in_fabric(check_context, d);
        else
            check_announced_ids(r, d);
        c->message = "";
    } else if (d->dhcp_bytes.p) {
        struct checker *c = r->user;
        c->client = dhcp_client_names(check_context, d);
        check_dhcp(r, check_context, d);
        c->client = no_client;
    }
    check_reported_mtu(r, d);
    check_ipv6_addresses(r, check_context ? &check_context->p->ib : NULL, d);
}

static void check_payload(const struct reporter *r, const struct check_context *check_context,
                          const struct datagram *d, enum datagram_over over)
{
    check_encapsulation(r, d, over);
    if (d->header != WIRE_OK || !encapsulation_fits(d))
        return;
    check_datagram(r, check_context, d);
}

static void check_ud_datagram(const struct check_context *s)
{
    const struct ib_packet *ib = &s->p->ib;
    bool multicast = ib_is_multicast(ib);
    if (multicast && ib->dgid && !mgid_is_ipoib(ib->dgid) && !check_other_group(s))
        return;
    check_datagram_headers(s->r, ib, &s->p->datagram);
    check_transmission(s);
    if (ib->dgid && mgid_is_ipoib(ib->dgid))
        check_multicast(s);
    else if (!multicast)
        check_unicast(s);
    check_listeners(s);
    check_pkey_of_sender(s);
    if (multicast)
        check_ip_to_group(s);
    check_source_qp(s);
    check_payload(s->r, s, &s->p->datagram, OVER_UD);
}

static void check_ud(const struct check_context *s)
{
    check_ud_datagram(s);
    claims_decide_requester(s);
}

static void check_connected(const struct check_context *s)
{
    const struct packet *p = s->p;
    /* only the first packet of a message has the encapsulation header */
    if (!packet_begins_message(p)) {
        check_connection_part(s);
        return;
    }
    check_connection_data(s);
    if (p->classification.class == PAYLOAD_IPOIB) {
        check_payload(s->r, s, &p->datagram, OVER_CONNECTION);
    } else {
        check_encapsulation(s->r, &p->datagram, OVER_CONNECTION_FIRST);
        if (p->datagram.header == WIRE_OK)
            check_ipv6_addresses(s->r, &p->ib, &p->datagram);
    }
}

/* ---- management */

/* Returns true if an event is about an IPoIB group. */
static bool check_events(const struct check_context *s)
{
    bool ipoib = false;
    for (unsigned i = 0; i < s->e->count; i++) {
        const struct subnet_event *e = &s->e->list[i];
        ipoib |= e->group && mgid_is_ipoib(e->group->mgid);
        check_group_event(s, e);
        check_subnet_event(s, e);
        suspect_after_event(s, e);
        if (e->kind == SUBNET_TEARDOWN)
            check_teardown(s, e->connection);
    }
    return ipoib;
}

static void name_foreign(const struct check_context *s, const struct cm *cm)
{
    const struct connection *conn = s->p->classification.connection;
    struct entity entity = entity_connection(conn ? conn->number : 0);
    uint8_t service = conn ? conn->service : (uint8_t)cm->service;
    if (cm->message == CM_REQ && service != SERVICE_UNKNOWN)
        report_note(s->r, R_ULP_IDENTIFY, &entity, cm->service_id,
                    s->p->ib.payload.p + REQ_SERVICE_ID, 8, "a request to connect (REQ) of %s",
                    names_find(cm_service_names, service));
}

/* Is it a truncated REQ of IPoIB? The model does not know its connection. */
static bool is_truncated_req(const struct packet *p)
{
    const struct mad_payload *m = &p->mad;
    return m->kind == MAD_KIND_CM && m->result == WIRE_TRUNCATED && m->has_header &&
           m->cm.message == CM_REQ && view_has(m->bytes, REQ_SERVICE_ID, 8) == WIRE_OK &&
           cm_service_is_ipoib(cm_service_of(be64(m->bytes.p + REQ_SERVICE_ID)));
}

static bool check_mad(const struct check_context *s)
{
    const struct cm *cm = packet_cm(s->p);
    if (s->e->smi)
        claims_decide_port(s, s->e->smi, s->e->smi_whole);
    if (s->e->sa_sent)
        claims_decide_sa(s);
    if (s->e->gsi)
        claims_decide_port(s, s->e->gsi, s->e->gsi_whole);
    bool ipoib = check_events(s);
    if (is_truncated_req(s->p)) {
        report_inconclusive(s->r, R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA, s->p->ib.payload.p,
                            truncated_by_capture);
        return true;
    }
    if (!cm)
        return ipoib;
    if (!packet_cm_is_ipoib(s->p, cm)) {
        name_foreign(s, cm);
        check_other_service(s, cm);
        return false;
    }
    check_connection_message(s);
    return true;
}

/* ---- frames */

/* Checks a datagram without InfiniBand headers: only those of its own contents. */
static bool check_without_ib(const struct reporter *r, const struct packet *p)
{
    if (p->pseudo_dgid)
        check_pseudo_header_group(r, p->pseudo_dgid, dlt_ipoib_has_grh(p->bytes), &p->datagram);
    if (p->datagram.header != WIRE_FOREIGN)
        check_payload(r, NULL, &p->datagram, OVER_UD);
    else
        check_datagram(r, NULL, &p->datagram);
    return true;
}

/* Another protocol may have the queue pair, so the packet is not IPoIB's for other checks. */
static void check_wrong_field(const struct check_context *s)
{
    const struct packet *p = s->p;
    if (packet_has_wrong_field(p) && !packet_is_corrupt(p))
        report_inconclusive(
            s->r, p->datagram.encap.reserved ? R_RFC4391_6_RESERVED_ZERO : R_RFC4755_4_TYPE,
            p->ib.payload.p, "the connection of the packet is not known");
}

static bool check_packet(const struct check_context *s)
{
    const struct packet *p = s->p;
    switch (p->classification.class) {
    case PAYLOAD_MAD:
        return check_mad(s);
    case PAYLOAD_IPOIB:
        if (p->ib.transport == IB_UD)
            check_ud(s);
        else
            check_connected(s);
        return true;
    case PAYLOAD_FRAGMENT:
        check_connected(s);
        return true;
    case PAYLOAD_OTHER:
        check_wrong_field(s);
        return false;
    case PAYLOAD_NONE:
    case PAYLOAD_FOREIGN:
        break;
    }
    return false;
}

/*
 * A copy has all fields that a rule checks in a single packet from the first one. So their findings
 * are the same, and were reported there.
 */
static bool is_ipoib_copy(const struct packet *p)
{
    const struct cm *cm = packet_cm(p);
    return p->classification.class == PAYLOAD_IPOIB ||
           p->classification.class == PAYLOAD_FRAGMENT || (cm && packet_cm_is_ipoib(p, cm));
}

/* The next packet is p. */
static void settle_claims(struct checker *c, const struct packet *p)
{
    struct reporter r = reporter(c, NULL, 0);
    const struct check_context s = {&r, fabric_facts(c->fabric), p, NULL, c->claims, NULL};
    c->packet = NULL;
    claims_settle(&s);
}

bool checker_packet(struct checker *c, const struct packet *p, const struct events *e)
{
    struct reporter r = reporter(c, p->bytes.p, p->at.interface);
    struct suspicions *suspicions = c->muted ? NULL : c->suspicions;
    struct check_context s = {&r, fabric_facts(c->fabric), p, e, c->claims, suspicions};
    c->frame = p->at.frame;
    if (claims_are_held(c->claims))
        settle_claims(c, p);
    c->packet = p;
    if (packet_lacks_ib(p))
        return check_without_ib(&r, p);
    if (p->copy_of) {
        claims_decide_copy(&s);
        return is_ipoib_copy(p);
    }
    bool ipoib = check_packet(&s);
    if (packet_is_known_corrupt(p))
        fabric_forget_packet(c->fabric, p);
    return ipoib;
}

void checker_report_waiting(struct checker *c)
{
    struct reporter r = reporter(c, NULL, 0);
    c->packet = NULL;
    const struct check_context s = {&r,           fabric_facts(c->fabric), NULL, NULL, c->claims,
                                    c->suspicions};
    claims_report_waiting(&s);
    check_teardowns_at_end(&s);
    suspicions_report(&s);
}

/* A frame in which no InfiniBand and no IPoIB was found. */
static void count_undecoded(struct unseen *u, const struct capture_frame *f,
                            enum wire_result result)
{
    if (link_frame_is_unknown(f->linktype, f->bytes))
        unseen_add(u, UNSEEN_LINK_TYPE, 1, f->number);
    else if (result == WIRE_TRUNCATED)
        unseen_add(u, UNSEEN_TRUNCATED, 1, f->number);
    else if (link_frame_begins_lrh(f->bytes))
        unseen_add(u, UNSEEN_WRONG_LINK_TYPE, 1, f->number);
    else
        unseen_add(u, result == WIRE_OK ? UNSEEN_OTHER : UNSEEN_MALFORMED, 1, f->number);
}

/* false: the frame has neither InfiniBand nor IPoIB. */
static bool read_packet(struct fabric *fabric, struct packet *p, const struct capture_frame *f)
{
    struct link_frame located;
    struct capture_position at = {.frame = f->number, .ns = f->ns};
    enum wire_result result = link_frame_locate(f->linktype, f->bytes, &located);
    if (result != WIRE_OK || located.kind == LINK_FRAME_NONE) {
        count_undecoded(fabric_count_unseen(fabric), f, result);
        return false;
    }
    struct capture_interface captured = {f->interface, located.port, 0};
    at.interface = fabric_enter_interface(fabric, captured);
    packet_read_frame(p, &at, &located);
    if (located.kind == LINK_FRAME_IB && located.start != IB_START_LRH)
        unseen_add(fabric_count_unseen(fabric), UNSEEN_ROCE, 1, f->number);
    return true;
}

bool checker_frame(struct checker *c, const struct capture_frame *f)
{
    struct packet p;
    if (!read_packet(c->fabric, &p, f))
        return false;
    p.is_marked = c->is_marked;
    fabric_observe(c->fabric, &p, c->events);
    bool ipoib = checker_packet(c, &p, c->events);
    if (c->watch)
        c->watch(c->watcher, &p, c->events);
    return ipoib;
}

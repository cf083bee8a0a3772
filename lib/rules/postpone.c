/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/postpone.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "rules/fact.h"
#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/lladdr.h"
#include "wire/mgid.h"

/*
 * A postponed finding is decided by a later packet: it is reported if that packet confirms it, and
 * dropped otherwise. Most wait for the next GSI packet of the port: the PSN of that packet shows
 * whether one of its requests was not captured.
 */

/* Most findings that wait. A further one is refused, and its result stays inconclusive. */
enum { FINDINGS_MAX = 256, PORT_TEXT = INET6_ADDRSTRLEN + 32 };

struct postponed_finding {
    const struct endport *port; /* the port whose packet decides it; NULL: unused */
    bool by_smi;                /* that packet is one of its SMI (QP0), not of its GSI (QP1) */
    uint16_t lid;               /* the port's LID at the packet of the finding; 0: not known */
    /*
     * Frame since which every packet of the SA's GSI must have been captured; 0: it does not depend
     * on the SA's packets.
     */
    uint32_t since;
    bool port_is_complete; /* no packet of the port's GSI is missing */
    bool sa_is_complete;   /* no packet of the SA's GSI is missing */
    bool is_unproved;      /* reported as OUTCOME_UNPROVED */
    /* A datagram of this requester decides it instead; target.length 0: it does not. */
    struct resolution request;
    /* The port shows, as a member, the parameters of this group (postpone.h); NULL: it does not. */
    const struct group *member_of;
    enum rule_number rule;
    struct entity about; /* points to bytes and group below */
    uint8_t bytes[LLADDR_SIZE], group[MGID_SIZE];
    uint64_t value;
    uint32_t frame;
    struct sender sender;
    struct port to; /* destination of the packet, with its QP */
    uint32_t qpn;
    uint16_t pkey; /* of the CM message's connection; of other packets, their own */
    char expected[96], actual[96];
};

struct postponed {
    struct postponed_finding *findings; /* array of FINDINGS_MAX; NULL: not used so far */
    unsigned next, waiting;
    struct undone *undone;
};

struct postponed *postponed_new(struct undone *undone)
{
    struct postponed *p = g_new0(struct postponed, 1);
    p->undone = undone;
    return p;
}

void postponed_free(struct postponed *p)
{
    if (p)
        g_free(p->findings);
    g_free(p);
}

/* Copies what the entity points to: the packet is gone when the finding is decided. */
static void keep_entity(struct postponed_finding *f, const struct entity *about)
{
    f->about = *about;
    if (about->bytes) {
        memcpy(f->bytes, about->bytes, about->kind == ENTITY_ADDRESS ? LLADDR_SIZE : GID_SIZE);
        f->about.bytes = f->bytes;
    }
    if (about->group) {
        memcpy(f->group, about->group, MGID_SIZE);
        f->about.group = f->group;
    }
}

static bool same_gid(const uint8_t *a, const uint8_t *b)
{
    return a == b || (a && b && memcmp(a, b, GID_SIZE) == 0);
}

/* Compares two link-layer addresses without the flags, which do not identify the interface. */
static bool same_address(const uint8_t *a, const uint8_t *b)
{
    return a == b || (a && b && memcmp(a + 1, b + 1, LLADDR_SIZE - 1) == 0);
}

static bool same_entity(const struct entity *a, const struct entity *b)
{
    return a->kind == b->kind && a->number == b->number && a->other == b->other &&
           (a->kind == ENTITY_ADDRESS ? same_address : same_gid)(a->bytes, b->bytes) &&
           same_gid(a->group, b->group);
}

static bool is_same_finding(const struct postponed_finding *f, const struct postponed_finding *g)
{
    return f->port == g->port && f->rule == g->rule && f->value == g->value &&
           same_entity(&f->about, &g->about);
}

static bool is_postponed(const struct postponed *p, const struct postponed_finding *f)
{
    for (unsigned i = 0; p->waiting && i < FINDINGS_MAX; i++)
        if (p->findings[i].port && is_same_finding(&p->findings[i], f))
            return true;
    return false;
}

/*
 * The free slot after the newest finding, so that findings stay in their order as long as slots do
 * not run short. NULL: none is free.
 */
static struct postponed_finding *free_slot(struct postponed *p)
{
    for (unsigned i = 0; i < FINDINGS_MAX; i++) {
        struct postponed_finding *slot = &p->findings[p->next++ % FINDINGS_MAX];
        if (!slot->port)
            return slot;
    }
    return NULL;
}

static void add_postponed(struct postponed *p, const struct postponed_finding *f)
{
    if (!p->findings)
        p->findings = g_new0(struct postponed_finding, FINDINGS_MAX);
    struct postponed_finding *slot = free_slot(p);
    if (!slot) {
        undone_refuse(p->undone, UNDONE_WAITING);
        return;
    }
    p->waiting++;
    *slot = *f;
    keep_entity(slot, &f->about);
}

static uint16_t partition_of(const struct packet *p)
{
    const struct connection *c = p->classification.connection;
    return c ? c->pkey : p->ib.pkey;
}

static void postpone_finding(const struct check_context *s, struct postponed_finding *f,
                             const struct entity *about, const char *expected, const char *actual)
{
    f->about = *about;
    f->frame = s->p->at.frame;
    f->sender = sender_of(s->f, s->p);
    f->lid = f->port->lid;
    f->to = s->p->dst;
    f->qpn = s->p->ib.dqpn;
    f->pkey = partition_of(s->p);
    snprintf(f->expected, sizeof f->expected, "%s", expected);
    snprintf(f->actual, sizeof f->actual, "%s", actual);
    if (!packet_is_corrupt(s->p) && !is_postponed(s->postponed, f))
        add_postponed(s->postponed, f);
}

void postpone(const struct check_context *s, const struct endport *port, enum rule_number rule,
              const struct entity *about, uint64_t value, const char *expected, const char *actual)
{
    struct postponed_finding f = {.port = port, .rule = rule, .value = value};
    report_inconclusive(s->r, rule, NULL,
                        "not proved at this packet: a request of the port may be missing");
    postpone_finding(s, &f, about, expected, actual);
}

void postpone_to_sa(const struct check_context *s, const struct endport *port, uint32_t since,
                    bool port_is_complete, enum rule_number rule, const struct entity *about,
                    uint64_t value, const char *expected, const char *actual)
{
    struct postponed_finding f = {.port = port,
                                  .since = since,
                                  .port_is_complete = port_is_complete,
                                  .rule = rule,
                                  .value = value};
    report_inconclusive(s->r, rule, NULL,
                        "not proved at this packet: a request of the port may be missing");
    postpone_finding(s, &f, about, expected, actual);
}

void postpone_to_smi(const struct check_context *s, const struct endport *port,
                     enum rule_number rule, const struct entity *about, uint64_t value,
                     const char *expected, const char *actual)
{
    struct postponed_finding f = {.port = port, .by_smi = true, .rule = rule, .value = value};
    report_inconclusive(s->r, rule, NULL,
                        "not proved at this packet: an SMP of the port may be missing");
    postpone_finding(s, &f, about, expected, actual);
}

void postpone_to_member(const struct check_context *s, const struct group *group,
                        enum rule_number rule, const struct entity *about, uint64_t value,
                        const char *expected, const char *actual)
{
    const struct endport *port = endport_of(group->informed);
    const struct member *m = port ? groups_member(s->f->groups, group, port) : NULL;
    struct postponed_finding f = {.port = port, .member_of = group, .rule = rule, .value = value};
    report_inconclusive(
        s->r, rule, NULL,
        "not proved at this packet: the SA may have sent the sender other parameters");
    if (m && m->join_state && member_is_known(m))
        postpone_finding(s, &f, about, expected, actual);
    else
        report_unproved(s->r, rule, about, expected, actual,
                        "the SA may have sent the sender other parameters");
}

void postpone_to_requester(const struct check_context *s, const struct endport *port,
                           const struct resolution *q, enum rule_number rule,
                           const struct entity *about, uint64_t value, const char *expected,
                           const char *actual)
{
    struct postponed_finding f = {.port = port, .request = *q, .rule = rule, .value = value};
    report_inconclusive(
        s->r, rule, NULL,
        "not proved at this packet: an ARP request of the requester may be missing");
    postpone_finding(s, &f, about, expected, actual);
}

/*
 * What the member shows about the group's parameters. SAME: they are the same as in the packet of
 * the finding. REQUESTED: its request for the group has no response yet, so the response decides.
 * DIFFERENT: they have changed, or this is not known.
 */
enum parameters { PARAMETERS_SAME, PARAMETERS_REQUESTED, PARAMETERS_DIFFERENT };

static enum parameters parameters_of_member(const struct check_context *s,
                                            const struct postponed_finding *f)
{
    const struct group *group = group_of(f->member_of);
    const struct member *m = groups_member(s->f->groups, group, f->port);
    if (!m || group->changed_frame > f->frame)
        return PARAMETERS_DIFFERENT;
    return m->pending ? PARAMETERS_REQUESTED : PARAMETERS_SAME;
}

/*
 * Can a request with this method contradict the finding? A join can. If the finding is that the
 * port is no member (join-before-send), a leave can too: the capture may have the response to the
 * leave before the datagram, although the port sent the datagram before it left.
 */
static bool is_request_of(uint8_t method, const struct postponed_finding *f)
{
    return method == SA_SET || (method == SA_DELETE && f->rule == R_RFC4391_10_JOIN_BEFORE_SEND);
}

/*
 * Is the current packet a request that contradicts the finding, and that may have been sent before
 * the packet of the finding? Frames that are close together may be captured in the wrong order
 * (model/order.h). The request counts if it is for the group of the finding. If the finding has no
 * group, a request for any broadcast group counts, because its response has the parameters of the
 * link. A request that was truncated before the MGID counts, because it may be for the group. For
 * data on a connection that was not set up, a CM message counts instead: it may set it up.
 */
static bool is_request_near(const struct check_context *s, const struct postponed_finding *f)
{
    const struct mad_payload *m = &s->p->mad;
    if (f->rule == R_RFC4755_2_3_CONNECTION_BEFORE_IP)
        return m->kind == MAD_KIND_CM && order_is_uncertain(&s->f->order, f->frame);
    if (view_has(m->bytes, 0, SA_DATA + MCM_MGID + MGID_SIZE) == WIRE_TRUNCATED)
        return order_is_uncertain(&s->f->order, f->frame);
    if (m->kind != MAD_KIND_SA || m->result != WIRE_OK || !is_request_of(m->sa.mad.method, f) ||
        m->sa.mad.attribute != SA_MC_MEMBER_RECORD ||
        view_has(m->sa.data, MCM_MGID, MGID_SIZE) != WIRE_OK)
        return false;
    const uint8_t *mgid = m->sa.data.p + MCM_MGID;
    const uint8_t *group = f->about.kind == ENTITY_GROUP ? f->bytes
                           : f->about.group              ? f->group
                                                         : NULL;
    bool same = group ? memcmp(mgid, group, MGID_SIZE) == 0 : mgid_is_broadcast(mgid);
    return same && order_is_uncertain(&s->f->order, f->frame);
}

/*
 * Is the current packet a subscription, and the finding that the port lacks one? RFC 4391 section
 * 10 does not require that a sender subscribes before its first datagram.
 */
static bool is_subscription(const struct check_context *s, const struct postponed_finding *f)
{
    const struct mad_payload *m = &s->p->mad;
    return f->rule == R_RFC4391_10_SUBSCRIBE_TRAPS && m->kind == MAD_KIND_SA &&
           m->result == WIRE_OK && m->sa.mad.method == SA_SET &&
           m->sa.mad.attribute == SA_INFORM_INFO;
}

/* Is this an SMP with a table that the SM may have set before the packet of the finding? */
static bool is_smp_near(const struct check_context *s, const struct postponed_finding *f)
{
    const struct mad_payload *m = &s->p->mad;
    bool may_set = m->kind == MAD_KIND_SMP && m->result == WIRE_OK &&
                   (m->smp.mad.attribute == SMP_PORT_INFO ||
                    m->smp.mad.attribute == SMP_PKEY_TABLE);
    return may_set && order_is_uncertain(&s->f->order, f->frame);
}

/*
 * The QP of the port that the CM message of the finding names. NULL: it has not sent IPoIB, or it
 * sends on another partition than the connection's, so it is another interface's.
 */
static const struct qp *qp_of_message(const struct check_context *s,
                                      const struct postponed_finding *f)
{
    const struct qp *qp = qp_of_port(s, f->port, (uint32_t)f->value);
    return qp && same_partition(qp->pkey, f->pkey) ? qp : NULL;
}

/*
 * The QP that, by the finding, is no interface's: the destination of the datagram, or the QPN in
 * the CM message. NULL: the finding is about no QP, or the QP has not sent IPoIB.
 */
static const struct qp *qp_of_finding(const struct check_context *s,
                                      const struct postponed_finding *f)
{
    const struct port to = port_on(f->to, f->port->interface);
    switch (f->rule) {
    case R_RFC4391_9_1_1_TRAFFIC_TO_QPN:
    case R_RFC4391_9_4_REVALIDATE_ARP:
        return qpns_find(s->f->qpns, &to, f->qpn);
    case R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA:
    case R_RFC4755_3_5_SERVICE_ID:
        return qp_of_message(s, f);
    default:
        return NULL;
    }
}

/*
 * Has the QP of the finding sent IPoIB after the packet of the finding? Then it is an interface's.
 * The datagram or the CM message was right, and the ARP or ND message that announced the QPN was
 * not captured.
 */
static bool is_sender(const struct check_context *s, const struct postponed_finding *f)
{
    const struct qp *qp = qp_of_finding(s, f);
    return qp && qp->sequence.last_frame > f->frame;
}

/* The connection of a finding about a QPN in a CM message; NULL: it is about none. */
static const struct connection *connection_of_finding(const struct check_context *s,
                                                      const struct postponed_finding *f)
{
    bool is_qpn = f->rule == R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA ||
                  f->rule == R_RFC4755_3_5_SERVICE_ID;
    return is_qpn && f->about.number ? connections_at(s->f->connections, f->about.number - 1)
                                     : NULL;
}

/* Do both sides of the connection name the QPN? Then its announcement was not captured. */
static bool is_agreed(const struct check_context *s, const struct postponed_finding *f)
{
    const struct connection *c = connection_of_finding(s, f);
    return c && f->port == endport_of(c->endport[1]) && connection_agrees(c, (uint32_t)f->value);
}

static bool is_explained(const struct check_context *s, const struct postponed_finding *f)
{
    return is_sender(s, f) || is_agreed(s, f);
}

/*
 * What the current packet shows about a finding. EXPLAINED: a captured packet contradicts it.
 * UNPROVED: neither, and no later packet can decide it.
 */
enum settled { PROVED, EXPLAINED, UNPROVED };

/*
 * sender: the port with its LID. whole: the current packet's PSN follows that of the sender's
 * previous packet, so none is missing. The PSNs show nothing if the finding's port or the sender
 * was initialised after the finding, or if the finding's port has another LID now: another port may
 * have, or have had, the LID.
 */
static enum settled settled_by(const struct check_context *s, const struct postponed_finding *f,
                               const struct endport *sender, bool whole)
{
    bool same_port = f->frame > f->port->initialised_frame &&
                     f->frame > sender->initialised_frame &&
                     f->port->gsi.gap_frame < s->p->at.frame &&
                     (!f->lid || endport_has_lid(f->port, f->lid));
    bool near = f->by_smi ? is_smp_near(s, f) : is_request_near(s, f);
    if (near || is_explained(s, f) || is_subscription(s, f))
        return EXPLAINED;
    return whole && same_port ? PROVED : UNPROVED;
}

/* The port's GID and LID, as far as they are known. */
static void put_port(const struct endport *port, char *out, size_t size)
{
    char gid[INET6_ADDRSTRLEN];
    if (!endport_has_gid(port))
        snprintf(out, size, "LID %u", port->lid);
    else
        snprintf(out, size, "port %s, LID %u", inet_ntop(AF_INET6, port->gid, gid, sizeof gid),
                 port->lid);
}

/* The packet that decides the finding. */
static void put_awaited(const struct check_context *s, const struct postponed_finding *f, char *out,
                        size_t size)
{
    char port[PORT_TEXT];
    put_port(f->port, port, sizeof port);
    if (f->request.target.length)
        snprintf(out, size, "the next datagram of the requester (LID %u)", f->request.lid);
    else if (f->by_smi)
        snprintf(out, size, "the next SMP response of %s", port);
    else if (f->since && f->port_is_complete)
        snprintf(out, size, "the next packet of the SA (LID %u)",
                 subnet_sa_lid(s->f->subnet, f->port->interface));
    else
        snprintf(out, size, "the next SA request or CM message of %s", port);
}

/* Reports a finding that nothing has decided. ending: why. */
static void report_undecided(const struct check_context *s, struct postponed_finding *f,
                             const char *ending)
{
    char awaited[PORT_TEXT + 64], why[PORT_TEXT + 192];
    struct reporter r = *s->r;
    r.sender = &f->sender;
    r.frame = f->frame;
    r.interface = f->port->interface;
    put_awaited(s, f, awaited, sizeof awaited);
    snprintf(why, sizeof why, "waits for %s: %s", awaited, ending);
    if (!f->is_unproved && !is_reported(&r, f->rule, &f->about, f->value))
        report_unproved(&r, f->rule, &f->about, f->expected, f->actual, why);
    f->is_unproved = true;
}

static void report_proved(const struct check_context *s, const struct postponed_finding *f)
{
    char expected[sizeof f->expected + 24];
    struct reporter r = *s->r;
    r.sender = &f->sender;
    r.frame = f->frame;
    snprintf(expected, sizeof expected, "%s in frame %u", f->expected, f->frame);
    if (is_new(&r, f->rule, &f->about, f->value))
        report_fail_about(&r, f->rule, &f->about, NULL, 0, expected, f->actual);
}

/* Why a finding is not proved although its packet has come; NULL: it is. */
static const char *why_unproved(const struct check_context *s, const struct postponed_finding *f,
                                enum settled decision)
{
    if (decision != PROVED)
        return "a packet before it may be missing";
    if (order_is_reversed(&s->f->order))
        return "the capture is in the order of two clocks or capture points";
    return facts_are_undone(s, f->rule) ? "a table of the checker was full" : NULL;
}

/* Reports the finding unless a packet explains it, and frees its place. */
static void end_postponed(const struct check_context *s, struct postponed_finding *f,
                          enum settled decision)
{
    const char *why = why_unproved(s, f, decision);
    if (decision != EXPLAINED && why)
        report_undecided(s, f, why);
    else if (decision != EXPLAINED)
        report_proved(s, f);
    f->port = NULL;
    s->postponed->waiting--;
}

/*
 * The current packet is from the finding's port. The finding goes on waiting if the member's
 * request has no response yet, or if the SA's packets have not confirmed the finding yet.
 */
static void decide_finding(const struct check_context *s, struct postponed_finding *f,
                           const struct endport *sender, bool whole)
{
    enum settled decision = settled_by(s, f, sender, whole);
    enum parameters parameters = decision == PROVED && f->member_of ? parameters_of_member(s, f)
                                                                    : PARAMETERS_SAME;
    if (parameters == PARAMETERS_DIFFERENT)
        decision = EXPLAINED;
    f->port_is_complete = decision == PROVED && parameters == PARAMETERS_SAME;
    if (parameters != PARAMETERS_REQUESTED &&
        !(f->port_is_complete && f->since && !f->sa_is_complete))
        end_postponed(s, f, decision);
}

/*
 * Did the port of the finding send the current packet? A virtual function shares the LID and the
 * GSI of its port, with a GID of its own (IBA 4.1.1).
 */
static bool is_by(const struct endport *sender, const struct endport *port, uint16_t lid)
{
    return sender == port || (sender->interface == port->interface && endport_has_lid(sender, lid));
}

static void decide_all(const struct check_context *s, const struct endport *port, bool by_smi,
                       bool whole)
{
    struct postponed *p = s->postponed;
    uint16_t lid = port_to_lid(s->p->src);
    for (unsigned i = 0; p->waiting && i < FINDINGS_MAX; i++) {
        struct postponed_finding *f = &p->findings[(p->next + i) % FINDINGS_MAX]; /* oldest first */
        f->port = f->port ? endport_of(f->port) : NULL;
        if (f->port && f->by_smi == by_smi && !f->request.target.length && !f->port_is_complete &&
            is_by(f->port, port, lid))
            decide_finding(s, f, port, whole);
    }
}

void postponed_decide_sa(const struct check_context *s)
{
    struct postponed *p = s->postponed;
    const struct sa_sequence *q = subnet_sa_sequence(s->f->subnet, s->p->at.interface);
    for (unsigned i = 0; p->waiting && i < FINDINGS_MAX; i++) {
        struct postponed_finding *f = &p->findings[(p->next + i) % FINDINGS_MAX]; /* oldest first */
        f->port = f->port ? endport_of(f->port) : NULL;
        if (!f->port || !f->since || f->sa_is_complete ||
            f->port->interface != s->p->at.interface || order_is_uncertain(&s->f->order, f->frame))
            continue;
        f->sa_is_complete = q && q->gsi.gap_frame <= f->since;
        if (f->port_is_complete || !f->sa_is_complete)
            end_postponed(s, f,
                          is_explained(s, f)  ? EXPLAINED
                          : f->sa_is_complete ? PROVED
                                              : UNPROVED);
    }
}

/*
 * Is the current datagram an ARP request from the IP address to which the reply of the finding
 * went? Then the requester has that address, and the reply may be right.
 */
static bool requests_from_target(const struct check_context *s, const struct postponed_finding *f)
{
    const struct datagram *d = &s->p->datagram;
    return d->encap.type == TYPE_ARP && d->arp_result == WIRE_OK && d->arp.op == ARP_REQUEST &&
           d->arp.pln == 4 && be32(d->body.p + d->arp.spa) == f->value;
}

/* Did the requester of the finding's ARP request send the current datagram? */
static bool is_requester(const struct check_context *s, const struct postponed_finding *f)
{
    return f->port && f->request.target.length && f->port->interface == s->p->at.interface &&
           f->request.lid == port_to_lid(s->p->src) &&
           be24(f->request.requester + LLADDR_QPN) == s->p->ib.sqpn;
}

void postponed_decide_requester(const struct check_context *s)
{
    struct postponed *p = s->postponed;
    bool counts = p->waiting && s->e->has_sender_qp;
    for (unsigned i = 0; counts && !packet_is_corrupt(s->p) && i < FINDINGS_MAX; i++) {
        struct postponed_finding *f = &p->findings[(p->next + i) % FINDINGS_MAX]; /* oldest first */
        f->port = f->port ? endport_of(f->port) : NULL;
        if (!is_requester(s, f))
            continue;
        bool whole = sender_is_followed(s, f->frame), explained = requests_from_target(s, f);
        if (!whole || explained || !order_is_uncertain(&s->f->order, f->frame))
            end_postponed(s, f, explained ? EXPLAINED : whole ? PROVED : UNPROVED);
    }
}

void postponed_decide(const struct check_context *s, const struct endport *port, bool whole)
{
    decide_all(s, port, false, whole);
}

void postponed_decide_smi(const struct check_context *s, const struct endport *port, bool whole)
{
    decide_all(s, port, true, whole);
}

void postponed_report_waiting(const struct check_context *s)
{
    struct postponed *p = s->postponed;
    for (unsigned i = 0; p->waiting && i < FINDINGS_MAX; i++) {
        struct postponed_finding *f = &p->findings[(p->next + i) % FINDINGS_MAX]; /* oldest first */
        f->port = f->port ? endport_of(f->port) : NULL;
        if (f->port)
            report_undecided(s, f, "the capture ends before it");
    }
}

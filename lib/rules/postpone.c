/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/postpone.h"

#include <stdio.h>

#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/lladdr.h"
#include "wire/mgid.h"

/*
 * A claim is a violation that waits for its proof. To settle a claim is to report it, if a later
 * packet proves it, or to drop it. Most claims wait for the next GSI packet of the claim's port:
 * the PSN of that packet shows whether one of its requests was not captured.
 */

/* Most claims that can wait. A further one replaces the oldest, whose result stays inconclusive. */
enum { CLAIMS = 256 };

struct claim {
    const struct endport *port; /* the port whose packet settles the claim; NULL: unused */
    bool by_smi;                /* that packet is one of its SMI (QP0), not of its GSI (QP1) */
    uint16_t lid;               /* the port's LID when the claim was made; 0: not known */
    /*
     * Frame since which every packet of the SA's GSI must have been captured; 0: the claim does not
     * depend on the SA's packets.
     */
    uint32_t since;
    bool by_port; /* the port's GSI: no packet of it is missing */
    bool by_sa;   /* the SA's GSI: no packet of it is missing */
    /* A datagram of this requester settles the claim instead; target.length 0: it does not. */
    struct resolution request;
    /* The port is the witness of this group's parameters (postpone.h); NULL: it is none. */
    const struct group *witnessed;
    enum rule_number rule;
    struct entity about; /* points to bytes and group below */
    uint8_t bytes[LLADDR_SIZE], group[MGID_SIZE];
    uint64_t value;
    uint32_t frame;
    struct sender sender;
    struct port to; /* destination of the packet, with its QP */
    uint32_t qpn;
    uint16_t pkey; /* of the CM message's connection; of other packets, their own */
    char expected[128], actual[96];
};

struct postponed {
    struct claim *claims; /* array of CLAIMS; NULL: not used so far */
    unsigned next, waiting;
};

struct postponed *postponed_new(void)
{
    return g_new0(struct postponed, 1);
}

void postponed_free(struct postponed *p)
{
    if (p)
        g_free(p->claims);
    g_free(p);
}

/* Copies what the entity points to: the claim is needed after the packet is gone. */
static void keep_entity(struct claim *c, const struct entity *about)
{
    c->about = *about;
    if (about->bytes) {
        memcpy(c->bytes, about->bytes, about->kind == ENTITY_ADDRESS ? LLADDR_SIZE : GID_SIZE);
        c->about.bytes = c->bytes;
    }
    if (about->group) {
        memcpy(c->group, about->group, MGID_SIZE);
        c->about.group = c->group;
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

static bool is_same_claim(const struct claim *c, const struct claim *d)
{
    return c->port == d->port && c->rule == d->rule && c->value == d->value &&
           same_entity(&c->about, &d->about);
}

static bool claim_waits(const struct postponed *p, const struct claim *c)
{
    for (unsigned i = 0; p->waiting && i < CLAIMS; i++)
        if (p->claims[i].port && is_same_claim(&p->claims[i], c))
            return true;
    return false;
}

static void add_claim(struct postponed *p, const struct claim *c)
{
    if (!p->claims)
        p->claims = g_new0(struct claim, CLAIMS);
    struct claim *slot = &p->claims[p->next++ % CLAIMS];
    p->waiting += slot->port == NULL;
    *slot = *c;
    keep_entity(slot, &c->about);
}

static uint16_t partition_of(const struct packet *p)
{
    const struct connection *c = p->classification.connection;
    return c ? c->pkey : p->ib.pkey;
}

static void store_claim(const struct check_context *s, struct claim *c, const struct entity *about,
                        const char *expected, const char *actual)
{
    c->about = *about;
    c->frame = s->p->at.frame;
    c->sender = sender_of(s->f, s->p);
    c->lid = c->port->lid;
    c->to = s->p->dst;
    c->qpn = s->p->ib.dqpn;
    c->pkey = partition_of(s->p);
    snprintf(c->expected, sizeof c->expected, "%s in frame %u", expected, c->frame);
    snprintf(c->actual, sizeof c->actual, "%s", actual);
    if (!packet_is_corrupt(s->p) && !claim_waits(s->postponed, c))
        add_claim(s->postponed, c);
}

void postpone(const struct check_context *s, const struct endport *port, enum rule_number rule,
              const struct entity *about, uint64_t value, const char *expected, const char *actual)
{
    struct claim c = {.port = port, .rule = rule, .value = value};
    report_inconclusive(s->r, rule, NULL,
                        "not proved at this packet: a request of the port may be missing");
    store_claim(s, &c, about, expected, actual);
}

void postpone_to_sa(const struct check_context *s, const struct endport *port, uint32_t since,
                    bool by_port, enum rule_number rule, const struct entity *about, uint64_t value,
                    const char *expected, const char *actual)
{
    struct claim c = {
        .port = port, .since = since, .by_port = by_port, .rule = rule, .value = value};
    report_inconclusive(s->r, rule, NULL,
                        "not proved at this packet: a request of the port may be missing");
    store_claim(s, &c, about, expected, actual);
}

void postpone_to_smi(const struct check_context *s, const struct endport *port,
                     enum rule_number rule, const struct entity *about, uint64_t value,
                     const char *expected, const char *actual)
{
    struct claim c = {.port = port, .by_smi = true, .rule = rule, .value = value};
    report_inconclusive(s->r, rule, NULL,
                        "not proved at this packet: an SMP of the port may be missing");
    store_claim(s, &c, about, expected, actual);
}

void postpone_to_witness(const struct check_context *s, const struct group *group,
                         enum rule_number rule, const struct entity *about, uint64_t value,
                         const char *expected, const char *actual)
{
    const struct endport *port = endport_of(group->informed);
    const struct member *m = port ? groups_member(s->f->groups, group, port) : NULL;
    struct claim c = {.port = port, .witnessed = group, .rule = rule, .value = value};
    report_inconclusive(
        s->r, rule, NULL,
        "not proved at this packet: the SA may have sent the sender other parameters");
    if (m && m->join_state && member_is_known(m))
        store_claim(s, &c, about, expected, actual);
}

void postpone_to_requester(const struct check_context *s, const struct endport *port,
                           const struct resolution *q, enum rule_number rule,
                           const struct entity *about, uint64_t value, const char *expected,
                           const char *actual)
{
    struct claim c = {.port = port, .request = *q, .rule = rule, .value = value};
    report_inconclusive(
        s->r, rule, NULL,
        "not proved at this packet: an ARP request of the requester may be missing");
    store_claim(s, &c, about, expected, actual);
}

/*
 * What the witness shows about the group's parameters. CONFIRMS: they are the same as in the packet
 * of the claim. ASKS: its request for the group has no response yet, so the response decides.
 * DENIES: they have changed, or this is not known.
 */
enum testimony { CONFIRMS, ASKS, DENIES };

static enum testimony ask_witness(const struct check_context *s, const struct claim *c)
{
    const struct group *group = group_of(c->witnessed);
    const struct member *m = groups_member(s->f->groups, group, c->port);
    if (!m || group->changed_frame > c->frame)
        return DENIES;
    return m->pending ? ASKS : CONFIRMS;
}

/*
 * Can a request with this method contradict the claim? A join can. If the claim is that the port is
 * no member (join-before-send), a leave can too: the capture may have the response to the leave
 * before the datagram, although the port sent the datagram before it left.
 */
static bool is_request_of(uint8_t method, const struct claim *c)
{
    return method == SA_SET || (method == SA_DELETE && c->rule == R_RFC4391_10_JOIN_BEFORE_SEND);
}

/*
 * Is the current packet a request that contradicts the claim, and that may have been sent before
 * the packet of the claim? Frames that are close together may be captured in the wrong order
 * (model/order.h). The request counts if it is for the group of the claim. If the claim has no
 * group, a request for any broadcast group counts, because its response has the parameters of the
 * link. A request that was truncated before the MGID counts, because it may be for the group. For
 * data on a connection that was not set up, a CM message counts instead: it may set it up.
 */
static bool is_request_near(const struct check_context *s, const struct claim *c)
{
    const struct mad_payload *m = &s->p->mad;
    if (c->rule == R_RFC4755_2_3_CONNECTION_BEFORE_IP)
        return m->kind == MAD_KIND_CM && order_is_uncertain(&s->f->order, c->frame);
    if (view_has(m->bytes, 0, SA_DATA + MCM_MGID + MGID_SIZE) == WIRE_TRUNCATED)
        return order_is_uncertain(&s->f->order, c->frame);
    if (m->kind != MAD_KIND_SA || m->result != WIRE_OK || !is_request_of(m->sa.mad.method, c) ||
        m->sa.mad.attribute != SA_MC_MEMBER_RECORD ||
        view_has(m->sa.data, MCM_MGID, MGID_SIZE) != WIRE_OK)
        return false;
    const uint8_t *mgid = m->sa.data.p + MCM_MGID;
    const uint8_t *group = c->about.kind == ENTITY_GROUP ? c->bytes
                           : c->about.group              ? c->group
                                                         : NULL;
    bool same = group ? memcmp(mgid, group, MGID_SIZE) == 0 : mgid_is_broadcast(mgid);
    return same && order_is_uncertain(&s->f->order, c->frame);
}

/* Is the current packet an SMP with a table that the SM may have set before the claim's packet? */
static bool is_smp_near(const struct check_context *s, const struct claim *c)
{
    const struct mad_payload *m = &s->p->mad;
    bool may_set = m->kind == MAD_KIND_SMP && m->result == WIRE_OK &&
                   (m->smp.mad.attribute == SMP_PORT_INFO ||
                    m->smp.mad.attribute == SMP_PKEY_TABLE);
    return may_set && order_is_uncertain(&s->f->order, c->frame);
}

/*
 * The QP of the port that the CM message of the claim names. NULL: it has not sent IPoIB, or it
 * sends on another partition than the connection's, so it is another interface's.
 */
static const struct qp *qp_of_message(const struct check_context *s, const struct claim *c)
{
    const struct qp *qp = qp_of_port(s, c->port, (uint32_t)c->value);
    return qp && same_partition(qp->pkey, c->pkey) ? qp : NULL;
}

/*
 * The QP that the claim says is no interface's: the destination of the datagram, or the QPN in the
 * CM message. NULL: the claim is about no QP, or the QP has not sent IPoIB.
 */
static const struct qp *qp_of_claim(const struct check_context *s, const struct claim *c)
{
    const struct port to = port_on(c->to, c->port->interface);
    switch (c->rule) {
    case R_RFC4391_9_1_1_TRAFFIC_TO_QPN:
    case R_RFC4391_9_4_REVALIDATE_ARP:
        return qpns_find(s->f->qpns, &to, c->qpn);
    case R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA:
    case R_RFC4755_3_5_SERVICE_ID:
        return qp_of_message(s, c);
    default:
        return NULL;
    }
}

/*
 * Has the QP of the claim sent IPoIB after the packet of the claim? Then it is an interface's. The
 * datagram or the CM message was right, and the ARP or ND message that announced the QPN was not
 * captured.
 */
static bool is_sender(const struct check_context *s, const struct claim *c)
{
    const struct qp *qp = qp_of_claim(s, c);
    return qp && qp->frame > c->frame;
}

/*
 * Does the current packet prove the claim? sender: the port with its LID. whole: its PSN follows
 * that of the sender's previous packet, so none is missing. If the claim's port or the sender was
 * initialised after the claim, or the claim's port has another LID now, the PSNs prove nothing:
 * another port may have, or have had, the LID.
 */
static bool is_proved(const struct check_context *s, const struct claim *c,
                      const struct endport *sender, bool whole)
{
    bool same_port = c->frame > c->port->initialised_frame &&
                     c->frame > sender->initialised_frame && c->port->gap_frame < s->p->at.frame &&
                     (!c->lid || endport_has_lid(c->port, c->lid));
    bool near = c->by_smi ? is_smp_near(s, c) : is_request_near(s, c);
    return whole && same_port && !near && !is_sender(s, c);
}

/* Reports the claim if it is a failure, and frees its place. */
static void end(const struct check_context *s, struct claim *c, bool is_failure)
{
    struct reporter r = *s->r;
    r.sender = &c->sender;
    r.frame = c->frame;
    if (is_failure && !order_is_reversed(&s->f->order) && is_new(&r, c->rule, &c->about, c->value))
        report_fail_about(&r, c->rule, &c->about, NULL, 0, c->expected, c->actual);
    c->port = NULL;
    s->postponed->waiting--;
}

/*
 * The current packet is from the claim's port. The claim goes on waiting if the witness asks, or if
 * the SA's packets have not confirmed the claim yet.
 */
static void settle_claim(const struct check_context *s, struct claim *c,
                         const struct endport *sender, bool whole)
{
    bool proved = is_proved(s, c, sender, whole);
    enum testimony testimony = proved && c->witnessed ? ask_witness(s, c) : CONFIRMS;
    c->by_port = proved && testimony == CONFIRMS;
    if (testimony != ASKS && !(c->by_port && c->since && !c->by_sa))
        end(s, c, c->by_port);
}

/*
 * Did the port of the claim send the current packet? A virtual function shares the LID and the GSI
 * of its port, with a GID of its own (IBA 4.1.1).
 */
static bool is_by(const struct endport *sender, const struct endport *port, uint16_t lid)
{
    return sender == port || (sender->interface == port->interface && endport_has_lid(sender, lid));
}

static void settle_all(const struct check_context *s, const struct endport *port, bool by_smi,
                       bool whole)
{
    struct postponed *p = s->postponed;
    uint16_t lid = port_to_lid(s->p->src);
    for (unsigned i = 0; p->waiting && i < CLAIMS; i++) {
        struct claim *c = &p->claims[(p->next + i) % CLAIMS]; /* oldest first */
        c->port = c->port ? endport_of(c->port) : NULL;
        if (c->port && c->by_smi == by_smi && !c->request.target.length && !c->by_port &&
            is_by(c->port, port, lid))
            settle_claim(s, c, port, whole);
    }
}

void postponed_settle_sa(const struct check_context *s)
{
    struct postponed *p = s->postponed;
    const struct sa_sequence *q = subnet_sa_sequence(s->f->subnet, s->p->at.interface);
    for (unsigned i = 0; p->waiting && i < CLAIMS; i++) {
        struct claim *c = &p->claims[(p->next + i) % CLAIMS]; /* oldest first */
        c->port = c->port ? endport_of(c->port) : NULL;
        if (!c->port || !c->since || c->by_sa || c->port->interface != s->p->at.interface ||
            order_is_uncertain(&s->f->order, c->frame))
            continue;
        c->by_sa = q && q->gap_frame <= c->since;
        if (c->by_port || !c->by_sa)
            end(s, c, c->by_port && c->by_sa && !is_sender(s, c));
    }
}

/*
 * Is the current datagram an ARP request from the IP address to which the reply of the claim went?
 * Then the requester has that address, and the reply may be right.
 */
static bool requests_from_target(const struct check_context *s, const struct claim *c)
{
    const struct datagram *d = &s->p->datagram;
    return d->encap.type == TYPE_ARP && d->arp_result == WIRE_OK && d->arp.op == ARP_REQUEST &&
           d->arp.pln == 4 && be32(d->body.p + d->arp.spa) == c->value;
}

/* Did the requester of the claim's ARP request send the current datagram? */
static bool is_requester(const struct check_context *s, const struct claim *c)
{
    return c->port && c->request.target.length && c->port->interface == s->p->at.interface &&
           c->request.lid == port_to_lid(s->p->src) &&
           be24(c->request.requester + LLADDR_QPN) == s->p->ib.sqpn;
}

void postponed_settle_requester(const struct check_context *s)
{
    struct postponed *p = s->postponed;
    const struct qp *qp = &s->e->sender_qp; /* before this datagram */
    bool counts = p->waiting && s->e->has_sender_qp && qp->psn != s->p->ib.psn;
    for (unsigned i = 0; counts && !packet_is_corrupt(s->p) && i < CLAIMS; i++) {
        struct claim *c = &p->claims[(p->next + i) % CLAIMS]; /* oldest first */
        c->port = c->port ? endport_of(c->port) : NULL;
        if (!is_requester(s, c))
            continue;
        bool known = qp_is_followed(qp, c->frame, s->p->ib.psn) && !requests_from_target(s, c);
        if (!known || !order_is_uncertain(&s->f->order, c->frame))
            end(s, c, known);
    }
}

void postponed_settle(const struct check_context *s, const struct endport *port, bool whole)
{
    settle_all(s, port, false, whole);
}

void postponed_settle_smi(const struct check_context *s, const struct endport *port, bool whole)
{
    settle_all(s, port, true, whole);
}

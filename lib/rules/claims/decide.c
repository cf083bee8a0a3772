/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/copies.h"
#include "rules/claims/claim_state.h"
#include "rules/suspicions/suspicions.h"
#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/nanoseconds.h"

/*
 * What the member shows about the group's parameters. SAME: they are the same as in the packet of
 * the claim. REQUESTED: its request for the group has no response yet, so the response decides.
 * DIFFERENT: they have changed, or this is not known.
 */
enum parameters { PARAMETERS_SAME, PARAMETERS_REQUESTED, PARAMETERS_DIFFERENT };

static enum parameters parameters_of_member(const struct check_context *s, const struct claim *f)
{
    const struct group *group = group_of(f->group_of_member);
    const struct member *m = groups_member(s->f->groups, group, f->port);
    if (!m || group->changed_frame > f->frame)
        return PARAMETERS_DIFFERENT;
    return m->pending ? PARAMETERS_REQUESTED : PARAMETERS_SAME;
}

/*
 * What the current packet shows about a claim. EXPLAINED: a captured packet contradicts it.
 * UNPROVED: neither, and no later packet can decide it.
 */
enum settled { PROVED, EXPLAINED, UNPROVED };

/*
 * Has the port gone on with its PSNs since the claim? If the SM brought it up again, but not from
 * its start, and its PSNs did not restart from 0, its QP1 is the same.
 */
static bool goes_on(const struct check_context *s, const struct claim *f,
                    const struct endport *port)
{
    return f->frame > port->initialised_frame || (f->frame > port->new_frame && s->p->ib.psn != 0);
}

/*
 * sender: the port with its LID. whole: the current packet's PSN follows that of the sender's
 * previous packet, so none is missing. The PSNs show nothing if the claim's port or the sender
 * started after the claim, or if the claim's port has another LID now: another port may have, or
 * have had, the LID.
 */
static enum settled settled_by(const struct check_context *s, const struct claim *f,
                               const struct endport *sender, bool whole)
{
    bool same_port = goes_on(s, f, f->port) && goes_on(s, f, sender) &&
                     f->port->gsi.gap_frame < s->p->at.frame &&
                     (!f->lid || endport_has_lid(f->port, f->lid));
    if (claim_is_explained_by_request(s, f) || claim_is_explained(s, f))
        return EXPLAINED;
    return whole && same_port ? PROVED : UNPROVED;
}

/* Why a claim is not proved although its packet has come; NULL: it is. */
static const char *why_unproved(const struct check_context *s, const struct claim *f,
                                enum settled decision)
{
    if (decision != PROVED)
        return f->frame > f->port->initialised_frame ? "a packet before it may be missing"
                                                     : "the port was brought up again before it";
    if (f->is_late || order_is_reversed(&s->f->order))
        return CLAIM_OF_TWO_CLOCKS;
    return facts_are_undone(s, f->rule) ? "a table of the checker was full" : NULL;
}

/* Reports that it is proved. False: it is held. */
static bool prove_claim(const struct check_context *s, struct claim *f)
{
    bool held = s->claims->holds && !packet_is_corrupt(s->p);
    if (!claim_report_proved(s, f, held) || !held)
        return true;
    f->proved_frame = s->p->at.frame;
    f->proved_ns = s->p->at.ns;
    s->claims->held++;
    return false;
}

/* Reports the claim unless a packet explains it, and frees its place. */
static void end_claim(const struct check_context *s, struct claim *f, enum settled decision)
{
    const char *why = why_unproved(s, f, decision);
    if (decision != UNPROVED)
        suspicions_drop(s, f->rule, &f->about);
    if (decision != EXPLAINED && why)
        claim_report_undecided(s, f, why);
    else if (decision != EXPLAINED && !prove_claim(s, f))
        return;
    claim_free(s->claims, f);
}

/* Has every packet come that decides the claim? */
static bool is_complete(const struct claim *f)
{
    return f->port_is_complete && !f->lacks_copy && (!f->since || f->sa_is_complete);
}

/*
 * The current packet is from the claim's port. The claim goes on waiting if the member's request
 * has no response yet, or for a packet of the SA or a copy.
 */
static void decide_claim(const struct check_context *s, struct claim *f,
                         const struct endport *sender, bool whole)
{
    enum settled decision = settled_by(s, f, sender, whole);
    bool by_member = decision == PROVED && f->when == FACT_AT_MEMBER;
    enum parameters parameters = by_member ? parameters_of_member(s, f) : PARAMETERS_SAME;
    if (parameters == PARAMETERS_REQUESTED)
        return;
    if (parameters == PARAMETERS_DIFFERENT)
        decision = EXPLAINED;
    f->port_is_complete = decision == PROVED;
    if (decision != PROVED || is_complete(f))
        end_claim(s, f, decision);
}

/*
 * Did the port of the claim send the current packet? A virtual function shares the LID and the
 * GSI of its port, with a GID of its own (IBA 4.1.1).
 */
static bool is_by(const struct endport *sender, const struct endport *port, uint16_t lid)
{
    return sender == port || (sender->interface == port->interface && endport_has_lid(sender, lid));
}

static bool waits_for_gsi(const struct claim *f)
{
    return !f->port_is_complete &&
           (f->when == FACT_AT_MEMBER || f->when == FACT_AT_RESPONSE || f->when == FACT_AT_REQUEST);
}

/*
 * Does the master SM, whose port this is, ask or set a switch, as in a light sweep? The next packet
 * of a sweep of all ports is the port's own response.
 */
static bool is_master_to_switch(const struct check_context *s, const struct endport *port)
{
    const struct mad *m = &s->p->mad.smp.mad;
    bool of_switch = m->attribute == SMP_SWITCH_INFO || m->attribute == SMP_LINEAR_TABLE ||
                     m->attribute == SMP_MULTICAST_TABLE;
    return s->p->mad.kind == MAD_KIND_SMP && !(m->method & MAD_RESPONSE) && of_switch &&
           is_sa_port(s, port);
}

/*
 * The master SM sends an SMP. Is none of its SMPs missing since the last one of the claim's port?
 * Then it has changed nothing at this port.
 */
static bool shows_no_smp(const struct check_context *s, const struct claim *f,
                         const struct endport *manager)
{
    uint32_t since = f->port->smi.last_frame, first = manager->smi.first_frame;
    return f->when == FACT_AT_SMP && f->port->interface == manager->interface && since && first &&
           first <= since && sequence_is_whole_since(&manager->smi, since) &&
           !order_is_uncertain(&s->f->order, f->frame);
}

void claims_decide_port(const struct check_context *s, const struct endport *port, bool whole)
{
    uint16_t lid = port_to_lid(s->p->src);
    bool smi = s->p->ib.sqpn == QPN_SMI, of_master = smi && whole && is_master_to_switch(s, port);
    unsigned at = 0;
    for (struct claim *f; (f = claims_next(s->claims, &at));)
        if ((smi ? f->when == FACT_AT_SMP : waits_for_gsi(f)) && is_by(f->port, port, lid))
            decide_claim(s, f, port, whole);
        else if (of_master && shows_no_smp(s, f, port) &&
                 settled_by(s, f, f->port, true) != UNPROVED)
            end_claim(s, f, settled_by(s, f, f->port, true));
}

static enum settled settled_by_sa(const struct check_context *s, const struct claim *f)
{
    if (claim_is_explained(s, f))
        return EXPLAINED;
    return f->sa_is_complete ? PROVED : UNPROVED;
}

void claims_decide_sa(const struct check_context *s)
{
    const struct sa_sequence *q = subnet_sa_sequence(s->f->subnet, s->p->at.interface);
    unsigned at = 0;
    for (struct claim *f; (f = claims_next(s->claims, &at));) {
        if (!f->since || f->sa_is_complete || f->port->interface != s->p->at.interface ||
            order_is_uncertain(&s->f->order, f->frame))
            continue;
        f->sa_is_complete = q && sa_sequence_is_whole_since(q, f->since);
        /* before a response to the port, its request must have been captured */
        bool alone = claim_is_decided_by_sa(f) && !endport_has_lid(f->port, port_to_lid(s->p->dst));
        if (is_complete(f) || alone || !f->sa_is_complete)
            end_claim(s, f, settled_by_sa(s, f));
    }
}

/*
 * Is the current datagram an ARP request from the IP address to which the reply of the claim
 * went? Then the requester has that address, and the reply may be right. If the target of the claim
 * is its sender: is it the reply to the same request?
 */
static bool requests_from_target(const struct check_context *s, const struct claim *f)
{
    const struct datagram *d = &s->p->datagram;
    const struct arp *a = &d->arp;
    const uint8_t *p = d->body.p;
    if (d->encap.type != TYPE_ARP || d->arp_result != WIRE_OK || a->pln != 4)
        return false;
    if (a->op != ARP_REPLY || be32(p + a->tpa) != f->value)
        return a->op == ARP_REQUEST && be32(p + a->spa) == f->value;
    struct resolution like = {.link = packet_link_key(s->p), .target = ip_read(p + a->spa, 4)};
    memcpy(like.requester, p + a->tha, LLADDR_SIZE);
    const struct resolution *q = resolution_request(s->f->resolutions, &like, 0);
    return !q || q->frame < f->frame;
}

/* Did the requester of the claim's ARP request send the current datagram? */
static bool is_requester(const struct check_context *s, const struct claim *f)
{
    return f->when == FACT_AT_DATAGRAM && f->frame != s->p->at.frame &&
           f->port->interface == s->p->at.interface && f->request.lid == port_to_lid(s->p->src) &&
           be24(f->request.requester + LLADDR_QPN) == s->p->ib.sqpn;
}

void claims_decide_requester(const struct check_context *s)
{
    unsigned at = 0;
    if (!s->e->has_sender_qp || packet_is_corrupt(s->p))
        return;
    for (struct claim *f; (f = claims_next(s->claims, &at));) {
        if (!is_requester(s, f))
            continue;
        bool whole = sender_is_followed(s, f->frame), explained = requests_from_target(s, f);
        if (!whole || explained || !order_is_uncertain(&s->f->order, f->frame))
            end_claim(s, f, explained ? EXPLAINED : whole ? PROVED : UNPROVED);
    }
}

void claims_decide_copy(const struct check_context *s)
{
    unsigned at = 0;
    for (struct claim *f; (f = claims_next(s->claims, &at));) {
        if (f->frame != s->p->copy_of)
            continue;
        f->is_late |= claim_is_late_copy(s, f);
        f->lacks_copy = false;
        if (is_complete(f))
            end_claim(s, f, PROVED);
    }
}

void claims_report_waiting(const struct check_context *s)
{
    while (claims_end_first_held(s))
        ;
    unsigned at = 0;
    for (struct claim *f; (f = claims_next(s->claims, &at));)
        claim_report_undecided(s, f, "the capture ends before it");
}

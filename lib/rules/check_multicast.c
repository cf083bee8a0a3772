/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of a datagram to an IPoIB group: does the group exist, has the sender joined it, does the
 * sender use the parameters from the SA (RFC 4391 §5, 10)?
 */
#include "rules/result.h"
#include "rules/suspicions/group_traffic.h"
#include "rules/suspicions/results.h"
#include "rules/suspicions/suspicions.h"
#include "wire/encap.h"
#include "wire/ip.h"
#include "wire/mgid.h"
#include "wire/nanoseconds.h"

static bool check_group_there(const struct check_context *s, const struct group *g,
                              const struct endport *sender)
{
    const struct result r = {.rule = R_RFC4391_10_GROUP_BEFORE_USE,
                             .about = entity_group(g->mgid),
                             .value = g->state,
                             .at = {s->r->base + s->p->ib.grh_off + GRH_DGID, GID_SIZE},
                             .expected = "a group that the SA has",
                             .actual = g->state == GROUP_DELETED ? "the SA said that it was deleted"
                                                                 : "the SA said that there is none",
                             .facts = {{FACT_GROUP_ABSENT, .port = sender, .group = g}}};
    if (g->state == GROUP_PRESENT) {
        report_pass_about(s->r, r.rule, &r.about);
        return true;
    }
    /* a missing broadcast group is reported by check_link.c */
    if (group_is_broadcast(g) && group_is_absent(g))
        return false;
    return !report_result(s, &r);
}

/* No group has a unicast LID as its MLID (IBA 4.1.3), so no record of the SA is needed. */
static bool is_to_one_port(const struct ib_packet *ib)
{
    return ib->has_lrh && ib->dlid < LID_MULTICAST_FIRST;
}

/* Returns false if the datagram went to another MLID than the group's. */
static bool check_mlid(const struct check_context *s, const struct group *g,
                       const struct endport *sender, const struct member *m)
{
    struct result r = {.rule = R_RFC4391_10_MLID_AS_DLID,
                       .about = entity_group(g->mgid),
                       .wanted = g->mlid,
                       .value = s->p->ib.dlid,
                       .at = {s->r->base + LRH_DLID, 2},
                       .describe = describe_hex,
                       .facts = {{FACT_MLID, .port = sender, .group = g, .member = m}}};
    r.about.other = port_to_lid(s->p->src);
    if (!s->p->ib.has_lrh)
        return true;
    if (is_to_one_port(&s->p->ib)) {
        expect_about(s->r, r.rule, &r.about, false, r.at.p, r.at.n, "the group's MLID",
                     "a unicast LID");
        return false;
    }
    if (g->state != GROUP_PRESENT || g->mlid == 0) {
        report_inconclusive(s->r, r.rule, NULL, "the SA's record of the group was not captured");
        return true;
    }
    if (r.value != r.wanted)
        return !report_result(s, &r);
    report_pass_about(s->r, r.rule, &r.about);
    return true;
}

/* The port is no member of the group. */
static void set_no_member(struct result *r, const struct endport *port, const struct member *m)
{
    if (m && m->frame) {
        r->actual = m->refused ? "its join was refused" : "it left the group";
        r->facts[0] = (struct fact){FACT_NO_MEMBERSHIP, .port = port, .member = m};
    } else {
        r->actual = m ? "it asked for the group's record and never joined" : "it never joined it";
        r->facts[0] = (struct fact){FACT_NO_JOIN, .port = port, .member = m, .since_start = !m};
    }
}

/*
 * A sender that uses the group's MLID got it from the SA. If no join of the sender was captured,
 * the join itself was probably lost. So it is a violation only if the sender is known to have left
 * or to have been refused, or if all requests of its port since its start were captured.
 */
static void check_joined(const struct check_context *s, const struct endport *sender,
                         const struct member *m)
{
    struct result r = {.rule = R_RFC4391_10_JOIN_BEFORE_SEND,
                       .about = entity_port(s->p->ib.sgid, 0),
                       .expected = "a member of the group"};
    r.about.group = s->p->ib.dgid;
    if (m && m->join_state) {
        report_pass_about(s->r, r.rule, &r.about);
        return;
    }
    set_no_member(&r, sender, m);
    report_result(s, &r);
}

/* The part of the subscription that is missing; implementations differ in it. Constant strings. */
static const char *lacking_subscription(const struct endport *sender, const struct member *m)
{
    return sender->subscribed                    ? "only one subscription"
           : m->join_state & JOIN_SEND_ONLY_FULL ? "no subscription of this send-only full member"
                                                 : "no subscription of this send-only non-member";
}

static void describe_subscription(const struct check_context *s, const struct result *r,
                                  char *expected, char *actual)
{
    (void)s;
    g_strlcpy(expected, "subscriptions to the traps 66 and 67", RESULT_TEXT);
    g_snprintf(actual, RESULT_TEXT, "%s (join component mask 0x%x)", r->name,
               r->facts[1].member->join_mask);
}

/*
 * The finding has the component mask of the join, by which lists of known deviations distinguish
 * implementations.
 */
static void check_subscribed(const struct check_context *s, const struct endport *sender,
                             const struct member *m)
{
    struct entity port = entity_port(s->p->ib.sgid, 0);
    if (!m && !fact_is_known(s, (struct fact){FACT_NO_JOIN, .port = sender}))
        report_inconclusive(s->r, R_RFC4391_10_SUBSCRIBE_TRAPS, NULL,
                            "the port's join was not captured");
    if (!m || m->join_state & JOIN_FULL ||
        !(m->join_state & (JOIN_SEND_ONLY_NON | JOIN_SEND_ONLY_FULL)))
        return;
    const uint8_t both = SUBSCRIBED_CREATED | SUBSCRIBED_DELETED;
    const char *lacking = lacking_subscription(sender, m);
    const struct result r = {.rule = R_RFC4391_10_SUBSCRIBE_TRAPS,
                             .about = port,
                             .value = (uintptr_t)lacking,
                             .is_code = true,
                             .name = lacking,
                             .describe = describe_subscription,
                             .facts = {{FACT_SUBSCRIPTIONS, .port = sender},
                                       {FACT_MEMBERSHIP, .port = sender, .member = m}}};
    if (sender->subscribed == both)
        report_pass_about(s->r, r.rule, &port);
    else if ((sender->subscribed | sender->subscribed_to_one) == both)
        report_inconclusive(s->r, r.rule, NULL,
                            "the port subscribed to single groups, maybe not to this one");
    else if (!m->join_mask)
        report_inconclusive(s->r, r.rule, NULL, "the port's join was not captured");
    else
        report_result(s, &r);
}

static void describe_parameters(const struct check_context *s, const struct result *r,
                                char *expected, char *actual)
{
    const struct group *b = r->facts[0].group;
    const struct ib_packet *ib = &s->p->ib;
    const char *form = "TClass 0x%02x, FlowLabel 0x%05x, HopLimit %u, SL %u";
    g_snprintf(expected, RESULT_TEXT, form, b->tclass, b->flow_label, b->hop_limit, b->sl);
    g_snprintf(actual, RESULT_TEXT, form, ib->tclass, ib->flow_label, ib->hop_limit, ib->sl);
}

/*
 * An InfiniBand router decrements the HopLimit (IBA 8.3.6). A port of the subnet has joined by this
 * GID; the prefix fe80::/64 never leaves its subnet (IBA 4.1.1).
 */
static bool may_be_routed(const struct check_context *s, const struct group *b)
{
    const struct ib_packet *ib = &s->p->ib;
    const struct endport *port = endports_by_gid(s->f->endports, s->p->at.interface, ib->sgid);
    return ib->hop_limit < b->hop_limit && !gid_has_default_prefix(ib->sgid) &&
           !(port && port->named_frame);
}

static bool has_parameters(const struct ib_packet *ib, const struct group *g)
{
    return ib->tclass == g->tclass && ib->flow_label == g->flow_label &&
           ib->hop_limit == g->hop_limit && (!ib->has_lrh || ib->sl == g->sl);
}

/*
 * Why a datagram with other parameters than those of its group's record may be right; NULL: the
 * sender's join decides. All groups have the parameters of the broadcast group (RFC 4391 §10), so a
 * sender may use these: "".
 */
static const char *why_other_parameters(const struct check_context *s, const struct group *g)
{
    const struct group *b = groups_broadcast(s->f->groups, g->interface, s->p->ib.pkey,
                                             group_scope(g));
    if (group_is_broadcast(g))
        return NULL;
    if (b && has_parameters(&s->p->ib, b))
        return "";
    return !b         ? "the SA's record of the broadcast group, whose parameters all groups have, "
                        "was not captured"
           : is_sa(s) ? "nothing shows the joins of the SA's own port"
                      : NULL;
}

/*
 * RFC 4391 §5: the interface uses the parameters that the join returned. Returns true if the result
 * is a failure.
 */
static bool check_parameters(const struct check_context *s, const struct group *g)
{
    const struct ib_packet *ib = &s->p->ib;
    struct result r = {.rule = R_RFC4391_5_JOIN_PARAMETERS_USED,
                       .about = entity_port(ib->sgid, 0),
                       .value = (uint64_t)ib->flow_label << 32 | (uint64_t)ib->tclass << 16 |
                                (uint64_t)ib->hop_limit << 8 | ib->sl,
                       .at = {s->r->base + ib->grh_off, GRH_SGID},
                       .describe = describe_parameters,
                       .facts = {{FACT_PARAMETERS, .group = g}}};
    r.about.group = g->mgid;
    if (has_parameters(ib, g)) {
        report_pass_about(s->r, r.rule, &r.about);
        return false;
    }
    const char *why = may_be_routed(s, g) ? "the packet may have come through an InfiniBand "
                                            "router, which changes these fields"
                                          : why_other_parameters(s, g);
    if (!why)
        return report_result(s, &r);
    if (why[0])
        report_inconclusive(s->r, r.rule, NULL, why);
    return false;
}

static void note_sl(const struct check_context *s, const struct group *g)
{
    const struct group *b = groups_broadcast(s->f->groups, g->interface, be16(g->mgid + MGID_PKEY),
                                             group_scope(g));
    struct entity group = entity_group(g->mgid);
    /*
     * an InfiniBand router decrements the HopLimit (IBA 8.3.6) and chooses the SL of the next
     * subnet
     */
    bool routed = b && s->p->ib.hop_limit < b->hop_limit;
    if (b && s->p->ib.has_lrh && !routed && s->p->ib.sl != b->sl)
        report_note(s->r, R_RFC4391_4_1_GROUP_SL, &group, s->p->ib.sl, s->r->base + LRH_SL_LNH, 1,
                    "SL %u; the broadcast group has SL %u", s->p->ib.sl, b->sl);
}

/* ---- contents of the datagram */

/* A datagram to the all-router or broadcast group although its own group exists (RFC 4391 §10). */
static void note_forward(const struct check_context *s, const struct group *g, struct view ip)
{
    uint8_t mgid[MGID_SIZE], length = ip.cap && ip.p[0] >> 4 == 6 ? 16 : 4;
    uint32_t at = length == 4 ? IPV4_DESTINATION : IPV6_DESTINATION;
    if (view_has(ip, at, length) != WIRE_OK ||
        (length == 4 ? ip.p[at] >> 4 != 0xe : ip.p[at] != 0xff))
        return;
    mgid_of_group(mgid, g->mgid, ip.p + at, length);
    const struct group *right = memcmp(mgid, g->mgid, MGID_SIZE)
                                    ? groups_find(s->f->groups, g->interface, mgid)
                                    : NULL;
    struct entity group = entity_group(mgid);
    /* all routers of the same IP version; else check_mgid.c reports the signature */
    bool routers = mgid_is_all_routers(g->mgid) && memcmp(mgid, g->mgid, MGID_PKEY) == 0;
    if (right && right->state == GROUP_PRESENT && (group_is_broadcast(g) || routers))
        report_note(s->r, R_RFC4391_10_FORWARD_AFTER_CREATE, &group, s->p->ib.slid,
                    s->r->base + s->p->ib.grh_off + GRH_DGID, GID_SIZE,
                    "its datagrams still go to another group");
}

/* Is the first report older than the time that a listener has to join as FullMember? */
static bool has_had_time(const struct check_context *s, const struct listener *l)
{
    return l->reported_ns && clocks_at_least(&s->f->order.clocks, l->reported_on, l->reported_ns) >=
                                 LISTENER_JOIN_SECONDS * NANOSECONDS;
}

static void check_listener(const struct check_context *s, const struct listener *l,
                           const struct endport *port)
{
    const struct member *m = l->member;
    bool full = m && m->join_state & JOIN_FULL;
    struct result r = {.rule = R_RFC4391_10_RECEIVER_FULLMEMBER,
                       .about = entity_port(port ? port->gid : NULL, 0),
                       .expected = "a FullMember of the group that it listens to",
                       .actual = "a member without FullMember",
                       .facts = {{FACT_MEMBERSHIP, .port = port, .member = m}}};
    r.about.group = l->mgid;
    if (!m || !m->join_state)
        set_no_member(&r, port, m);
    bool known = port && fact_is_known(s, r.facts[0]);
    if (known && full) {
        suspicions_drop(s, r.rule, &r.about);
        report_pass_about(s->r, r.rule, &r.about);
    } else if (m && m->refused) /* the node must attempt the join (RFC 4391 §10) */
        report_inconclusive(s->r, r.rule, NULL, "the SA refused the port's last join");
    else if (port && !full && has_had_time(s, l)) {
        suspicions_drop(s, r.rule, &r.about); /* the claim takes its place */
        report_result(s, &r);
    } else if (!known || !full) {
        if (known && m && m->frame)
            suspect_result(s, &r, m->frame, true);
        report_inconclusive(s->r, r.rule, NULL,
                            known ? "the port may still join, or listen no more: it has not "
                                    "reported the group 5 seconds after its first report"
                                  : "the port's join was not captured");
    }
}

/* The finding is about the report, and not about the packet that shows that it listens still. */
static void check_due(const struct check_context *s, const struct listener *l)
{
    struct reporter reporter = *s->r;
    struct check_context of = *s;
    reporter.frame = l->frame;
    of.r = &reporter;
    check_listener(&of, l, l->port);
}

void check_listeners(const struct check_context *s)
{
    for (unsigned i = 0; i < s->e->listener_count; i++)
        if (s->e->listeners[i].frame)
            check_due(s, &s->e->listeners[i]);
}

void check_multicast(const struct check_context *s)
{
    const struct ib_packet *ib = &s->p->ib;
    const struct datagram *d = &s->p->datagram;
    uint16_t type = d->encap.type;
    const struct endport *sender = s->e->sender;
    const struct group *g = groups_find(s->f->groups, s->p->at.interface, ib->dgid);
    if (!g || !check_scope(s, s->r->base + ib->grh_off + GRH_DGID, sender) ||
        !check_group_there(s, g, sender))
        return;
    if (is_sa(s))
        sender = NULL;
    if (sender)
        check_interface_joined(s, sender, ib->dgid[MGID_FLAGS_SCOPE] & 0x0f);
    const struct member *m = sender ? groups_member(s->f->groups, g, sender) : NULL;
    bool there = g->state == GROUP_PRESENT;
    if (!check_mlid(s, g, sender, m))
        return;
    check_joined(s, sender, m);
    if (sender)
        check_subscribed(s, sender, m);
    bool fails = there && ib->has_lrh && check_parameters(s, g);
    if (!there && group_is_broadcast(g))
        report_inconclusive(s->r, R_RFC4391_5_JOIN_PARAMETERS_USED, NULL,
                            "the SA's record of the group was not captured");
    if (!group_is_broadcast(g) && !fails)
        note_sl(s, g);
    if (d->header == WIRE_OK && (type == TYPE_IPV4 || type == TYPE_IPV6))
        note_forward(s, g, d->body);
    for (unsigned i = 0; i < s->e->listener_count; i++)
        if (!s->e->listeners[i].frame)
            check_listener(s, &s->e->listeners[i], sender);
    if (!fails)
        suspect_group_traffic(s, g);
}

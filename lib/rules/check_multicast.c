/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of a datagram to an IPoIB group: does the group exist, has the sender joined it, does the
 * sender use the parameters from the SA (RFC 4391 §5, 10)?
 */
#include "rules/postpone.h"
#include "rules/scene.h"
#include "wire/encap.h"
#include "wire/ip.h"
#include "wire/mgid.h"

/*
 * Time allowed between a listener's first report and the join as FullMember, which the kernel does
 * asynchronously.
 */
enum { JOIN_SECONDS = 5 };

static bool check_group_there(const struct scene *s, const struct group *g)
{
    struct subject group = subject_group(g->mgid);
    if (g->state == GROUP_THERE) {
        pass_about(s->r, R_RFC4391_10_GROUP_BEFORE_USE, &group);
        return true;
    }
    if (!group_is_absent(g)) {
        inconclusive(s->r, R_RFC4391_10_GROUP_BEFORE_USE, NULL, "its creation was not seen");
        return true;
    }
    if (g->state == GROUP_GONE && order_is_uncertain(&s->f->order, g->gone_frame)) {
        inconclusive(s->r, R_RFC4391_10_GROUP_BEFORE_USE, NULL, "it was deleted a moment ago");
        return true;
    }
    if (!group_is_broadcast(g)) /* a missing broadcast group is reported by check_link.c */
        expect_about(s->r, R_RFC4391_10_GROUP_BEFORE_USE, &group, false,
                     s->r->base + s->p->ib.grh_off + GRH_DGID, GID_SIZE, "a group that the SA has",
                     g->state == GROUP_GONE ? "the SA told that it was deleted"
                                            : "the SA said that there is none");
    return false;
}

/*
 * May the SA have given the sender another MLID? A restarted subnet manager assigns new MLIDs; a
 * member that has not joined again since uses the old one and cannot know better. If the group was
 * deleted, its memberships ended, and this does not apply.
 */
static bool told_otherwise(const struct scene *s, const struct group *g,
                           const struct endport *sender, const struct member *m, uint16_t dlid)
{
    if (!m || !m->frame)
        return g->records > 1 || is_sa(s) || (m && m->pending) || !sender ||
               !endport_is_followed(sender);
    bool on_its_way = m->mlid_before == dlid && order_is_uncertain(&s->f->order, m->frame);
    return !member_is_known(m) || on_its_way || (m->mlid == dlid && m->frame > g->gone_frame);
}

static bool check_mlid(const struct scene *s, const struct group *g, const struct endport *sender,
                       const struct member *m)
{
    struct subject group = subject_group(g->mgid);
    char expected[16], actual[16];
    group.other = s->p->ib.slid;
    if (!s->p->ib.has_lrh)
        return true;
    if (g->state != GROUP_THERE || g->mlid == 0) {
        inconclusive(s->r, R_RFC4391_10_MLID_AS_DLID, NULL, "the group's record was not seen");
        return true;
    }
    if (g->mlid == s->p->ib.dlid) {
        pass_about(s->r, R_RFC4391_10_MLID_AS_DLID, &group);
        return true;
    }
    if (told_otherwise(s, g, sender, m, s->p->ib.dlid)) {
        inconclusive(s->r, R_RFC4391_10_MLID_AS_DLID, NULL,
                     "the sender was told another MLID, or may have been");
        return true;
    }
    g_snprintf(expected, sizeof expected, "0x%04x", g->mlid);
    g_snprintf(actual, sizeof actual, "0x%04x", s->p->ib.dlid);
    postpone(s, sender, R_RFC4391_10_MLID_AS_DLID, &group, s->p->ib.dlid, expected, actual);
    return false;
}

/*
 * A sender that uses the group's MLID got it from the SA. If no join of the sender was captured,
 * the join itself was probably lost. So it is a violation only if the sender is known to have left
 * or to have been refused, or if all requests of its port since its start were captured.
 */
static void check_joined(const struct scene *s, const struct endport *sender,
                         const struct member *m)
{
    struct subject port = subject_port(s->p->ib.sgid, 0);
    bool known = m && member_is_known(m), followed = sender && endport_is_followed(sender);
    const char *why = NULL;
    port.group = s->p->ib.dgid;
    if (m && m->join_state) {
        pass_about(s->r, R_RFC4391_10_JOIN_BEFORE_SEND, &port);
        return;
    }
    if (known)
        why = m->refused ? "its join was refused" : "it left the group";
    else if (!m && followed && endport_is_whole(sender))
        why = "it never joined it";
    else if (m && followed && m->asked && !m->frame && !m->pending)
        why = "it asked for the group's record and never joined";
    if (why)
        postpone(s, sender, R_RFC4391_10_JOIN_BEFORE_SEND, &port, (uintptr_t)why,
                 "a member of the group", why);
    else
        inconclusive(s->r, R_RFC4391_10_JOIN_BEFORE_SEND, NULL, "its join was not seen");
}

/* The part of the subscription that is missing; implementations differ in it. Constant strings. */
static const char *lacking_subscription(const struct endport *sender, const struct member *m)
{
    return sender->subscribed                    ? "a subscription to one of them"
           : m->join_state & JOIN_SEND_ONLY_FULL ? "none of a send-only full member"
                                                 : "none of a send-only non-member";
}

static void check_subscribed(const struct scene *s, const struct endport *sender,
                             const struct member *m)
{
    struct subject port = subject_port(s->p->ib.sgid, 0);
    if (!m && !endport_is_followed(sender))
        inconclusive(s->r, R_RFC4391_10_SUBSCRIBE_TRAPS, NULL, "its join was not seen");
    if (!m || m->join_state & JOIN_FULL ||
        !(m->join_state & (JOIN_SEND_ONLY_NON | JOIN_SEND_ONLY_FULL)))
        return;
    uint8_t both = SUBSCRIBED_CREATED | SUBSCRIBED_DELETED;
    bool waits = (sender->subscribed | sender->subscribing) == both;
    const char *lacking = lacking_subscription(sender, m);
    if (sender->subscribed == both)
        pass_about(s->r, R_RFC4391_10_SUBSCRIBE_TRAPS, &port);
    else if (endport_is_followed(sender) && !waits)
        postpone(s, sender, R_RFC4391_10_SUBSCRIBE_TRAPS, &port, (uintptr_t)lacking,
                 "subscriptions to the traps 66 and 67", lacking);
    else
        inconclusive(s->r, R_RFC4391_10_SUBSCRIBE_TRAPS, NULL,
                     "what it subscribed to was not seen");
}

/* RFC 4391 §5: the interface uses the parameters that the join returned. */
static void check_parameters(const struct scene *s, const struct group *b)
{
    const struct ib_packet *ib = &s->p->ib;
    struct subject port = subject_port(ib->sgid, 0);
    port.group = b->mgid;
    bool same = ib->tclass == b->tclass && ib->flow_label == b->flow_label &&
                ib->hop_limit == b->hop_limit && (!ib->has_lrh || ib->sl == b->sl);
    if (same) {
        pass_about(s->r, R_RFC4391_5_JOIN_PARAMETERS_USED, &port);
        return;
    }
    if (may_be_told_others(s, b)) {
        inconclusive(s->r, R_RFC4391_5_JOIN_PARAMETERS_USED, NULL,
                     "the sender may have been told others, by a join that was not seen");
        return;
    }
    char expected[96], actual[96];
    const char *form = "TClass 0x%02x, FlowLabel 0x%05x, HopLimit %u, SL %u";
    const struct departure d = {R_RFC4391_5_JOIN_PARAMETERS_USED,
                                port,
                                (uint64_t)ib->flow_label << 32 | (uint64_t)ib->tclass << 16 |
                                    (uint64_t)ib->hop_limit << 8 | ib->sl,
                                s->r->base + ib->grh_off,
                                GRH_SGID,
                                expected,
                                actual};
    g_snprintf(expected, sizeof expected, form, b->tclass, b->flow_label, b->hop_limit, b->sl);
    g_snprintf(actual, sizeof actual, form, ib->tclass, ib->flow_label, ib->hop_limit, ib->sl);
    fail_told(s, b, &d);
}

static void note_sl(const struct scene *s, const struct group *g)
{
    const struct group *b = groups_broadcast(s->f->groups, g->interface, be16(g->mgid + MGID_PKEY),
                                             group_scope(g));
    struct subject group = subject_group(g->mgid);
    /*
     * an InfiniBand router decrements the HopLimit (IBA 8.3.6) and chooses the SL of the next
     * subnet
     */
    bool routed = b && s->p->ib.hop_limit < b->hop_limit;
    if (b && s->p->ib.has_lrh && !routed && s->p->ib.sl != b->sl)
        note(s->r, R_RFC4391_4_1_GROUP_SL, &group, s->p->ib.sl, s->r->base + LRH_SL_LNH, 1,
             "SL %u; the broadcast group has SL %u", s->p->ib.sl, b->sl);
}

/* ---- contents of the datagram */

/* A datagram to the all-router or broadcast group although its own group exists (RFC 4391 §10). */
static void note_forward(const struct scene *s, const struct group *g, struct view ip)
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
    struct subject group = subject_group(mgid);
    if (right && right->state == GROUP_THERE && (group_is_broadcast(g) || is_all_routers(g->mgid)))
        note(s->r, R_RFC4391_10_FORWARD_AFTER_CREATE, &group, s->p->ib.slid,
             s->r->base + s->p->ib.grh_off + GRH_DGID, GID_SIZE,
             "its datagrams still go to another group");
}

static void check_listener(const struct scene *s, const struct listener *l,
                           const struct endport *port)
{
    const struct member *m = l->member;
    struct subject subject = subject_port(port ? port->gid : NULL, 0);
    uint32_t now = (uint32_t)(s->p->at.ns / 1000000000);
    if (!m || m->join_state == 0 || !member_is_known(m)) {
        inconclusive(s->r, R_RFC4391_10_RECEIVER_FULLMEMBER, NULL, "its join was not seen");
        return;
    }
    subject.group = l->mgid;
    if (m->join_state & JOIN_FULL)
        pass_about(s->r, R_RFC4391_10_RECEIVER_FULLMEMBER, &subject);
    else if (l->reported_before && now - l->reported_before >= JOIN_SECONDS)
        postpone(s, port, R_RFC4391_10_RECEIVER_FULLMEMBER, &subject, 0,
                 "a FullMember of the group that it listens to", "a member without FullMember");
}

void check_multicast(const struct scene *s)
{
    const struct ib_packet *ib = &s->p->ib;
    const struct datagram *d = &s->p->datagram;
    uint16_t type = d->encap.type;
    const struct endport *sender = s->e->sender;
    const struct group *g = groups_find(s->f->groups, s->p->at.interface, ib->dgid);
    if (!g || !check_scope(s, s->r->base + ib->grh_off + GRH_DGID, sender) ||
        !check_group_there(s, g))
        return;
    if (is_sa(s))
        sender = NULL;
    if (sender)
        check_interface_joined(s, sender, ib->dgid[MGID_FLAGS_SCOPE] & 0x0f);
    const struct member *m = sender ? groups_member(s->f->groups, g, sender) : NULL;
    bool there = g->state == GROUP_THERE;
    if (!check_mlid(s, g, sender, m))
        return;
    check_joined(s, sender, m);
    if (sender)
        check_subscribed(s, sender, m);
    if (there && group_is_broadcast(g))
        check_parameters(s, g);
    else if (group_is_broadcast(g))
        inconclusive(s->r, R_RFC4391_5_JOIN_PARAMETERS_USED, NULL,
                     "the group's record was not seen");
    else
        note_sl(s, g);
    if (d->header == WIRE_OK && (type == TYPE_IPV4 || type == TYPE_IPV6))
        note_forward(s, g, d->body);
    for (unsigned i = 0; i < s->e->listener_count; i++)
        check_listener(s, &s->e->listeners[i], sender);
}

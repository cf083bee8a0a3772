/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of every datagram on a link: the Q_Key, the MTU, the broadcast group of the partition. */
#include <stdio.h>

#include "rules/postpone.h"
#include "rules/scene.h"
#include "wire/mgid.h"

static void check_controlled(const struct scene *s)
{
    uint32_t qkey = s->p->ib.qkey;
    struct subject link = subject_link(s->p->ib.pkey);
    if (is_controlled(qkey)) {
        pass(s->r, R_RFC4391_13_QKEY_CONTROLLED);
    } else if (is_news(s->r, R_RFC4391_13_QKEY_CONTROLLED, &link, qkey)) {
        char actual[16];
        snprintf(actual, sizeof actual, "0x%08x", qkey);
        fail_about(s->r, R_RFC4391_13_QKEY_CONTROLLED, &link,
                   s->r->base + s->p->ib.deth_off + DETH_QKEY, 4, "a controlled Q_Key", actual);
    }
}

/*
 * The scope of the sender's link: from the destination group, or from the groups that the QP sent
 * to before; 0: unknown.
 */
static uint8_t scope_of(const struct scene *s)
{
    const struct ib_packet *ib = &s->p->ib;
    if (ib->dgid && mgid_is_ipoib(ib->dgid))
        return ib->dgid[MGID_FLAGS_SCOPE] & 0x0f;
    return s->e->has_sender_qp ? s->e->sender_qp.scope : 0;
}

/* The link's broadcast group. If the scope is unknown, the partition must have only one. */
static const struct group *link_of(const struct scene *s)
{
    uint8_t scope = scope_of(s);
    return scope ? groups_broadcast(s->f->groups, s->p->at.interface, s->p->ib.pkey, scope)
                 : groups_only_broadcast(s->f->groups, s->p->at.interface, s->p->ib.pkey);
}

bool is_sa(const struct scene *s)
{
    return s->p->ib.has_lrh && s->p->ib.slid == subnet_sa_lid(s->f->subnet, s->p->at.interface);
}

static const struct endport *sender_of(const struct scene *s)
{
    const struct ib_packet *ib = &s->p->ib;
    if (ib->has_grh)
        return endports_by_gid(s->f->endports, s->p->at.interface, ib->sgid);
    return ib->has_lrh ? endports_by_lid(s->f->endports, s->p->at.interface, ib->slid) : NULL;
}

/*
 * The joins of the SA's own port are never captured. It is taken to have the current parameters if
 * no change of them was seen or may have been missed, and if the group's whole history is known or
 * the QP has used the group's Q_Key before.
 */
static bool sa_may_be_told_others(const struct scene *s, const struct group *broadcast)
{
    const struct qp *qp = s->e->has_sender_qp ? &s->e->sender_qp : NULL;
    bool uses = qp && qp->pkey == s->p->ib.pkey && qp->qkey == broadcast->qkey &&
                s->p->ib.qkey != broadcast->qkey;
    return broadcast->changed_frame || s->f->doubt_frame > broadcast->frame ||
           !(uses || fabric_knows_history(s->f, broadcast));
}

bool may_be_told_others(const struct scene *s, const struct group *broadcast)
{
    if (s->f->records_are_current)
        return broadcast->changed_frame != 0;
    const struct endport *sender = sender_of(s);
    const struct member *m = sender ? groups_member(s->f->groups, broadcast, sender) : NULL;
    bool followed = sender && endport_is_followed(sender);
    if (scope_of(s) == 0 && !followed) /* the link may have another scope */
        return true;
    if (is_sa(s)) /* a lost join of another port may have shown a change */
        return sa_may_be_told_others(s, broadcast);
    /* a packet sent before the second join has the parameters of the first */
    bool on_its_way = m && m->mlid_before && order_is_uncertain(&s->f->order, m->frame);
    return !m || on_its_way || !member_is_known(m) || m->frame < broadcast->changed_frame;
}

void fail_told(const struct scene *s, const struct group *broadcast, const struct departure *d)
{
    if (s->f->records_are_current) {
        if (is_news(s->r, d->rule, &d->about, d->value))
            fail_about(s->r, d->rule, &d->about, d->p, d->n, d->expected, d->actual);
    } else if (is_sa(s)) {
        postpone_to_witness(s, broadcast, d->rule, &d->about, d->value, d->expected, d->actual);
    } else {
        postpone(s, sender_of(s), d->rule, &d->about, d->value, d->expected, d->actual);
    }
}

bool has_joined_since(const struct scene *s, const struct endport *port, uint16_t pkey,
                      uint32_t frame)
{
    const struct link *l = groups_link(s->f->groups, s->p->at.interface, pkey);
    for (const struct group *b = l ? l->broadcast : NULL; b; b = b->next) {
        const struct member *m = groups_member(s->f->groups, b, port);
        if (m && (m->pending || m->frame > frame))
            return true;
    }
    return false;
}

bool lacks_broadcast(const struct scene *s, uint16_t pkey, uint8_t scope)
{
    const struct link *l = groups_link(s->f->groups, s->p->at.interface, pkey);
    bool missing = false;
    for (const struct group *b = l ? l->broadcast : NULL; b; b = b->next) {
        if (!group_is_absent(b))
            return false;
        missing |= group_scope(b) == scope;
    }
    return missing;
}

static const char *const told_others =
    "the sender may have been told others, by a join that was not seen";

static void check_from_join(const struct scene *s, const struct group *broadcast)
{
    const struct ib_packet *ib = &s->p->ib;
    struct departure d = {.rule = R_RFC4391_9_1_2_QKEY_FROM_JOIN,
                          .about = subject_qp(port_to_lid(s->p->src), ib->sqpn),
                          .value = ib->qkey,
                          .p = s->r->base + ib->deth_off + DETH_QKEY,
                          .n = 4};
    char expected[16], actual[16];
    if (ib->qkey == broadcast->qkey) {
        pass_about(s->r, d.rule, &d.about);
    } else if (may_be_told_others(s, broadcast)) {
        inconclusive(s->r, d.rule, NULL, told_others);
    } else {
        snprintf(expected, sizeof expected, "0x%08x", broadcast->qkey);
        snprintf(actual, sizeof actual, "0x%08x", ib->qkey);
        d.expected = expected;
        d.actual = actual;
        fail_told(s, broadcast, &d);
    }
}

static void fail_mtu(const struct scene *s, const struct group *broadcast)
{
    const struct view *payload = &s->p->ib.payload;
    char expected[32], actual[32];
    struct departure d = {.rule = R_RFC4391_7_LINK_MTU,
                          .about = subject_qp(port_to_lid(s->p->src), s->p->ib.sqpn),
                          .value = payload->len,
                          .p = payload->p,
                          .n = payload->cap,
                          .expected = expected,
                          .actual = actual};
    snprintf(expected, sizeof expected, "at most %u octets", ib_mtu_octets(broadcast->mtu));
    snprintf(actual, sizeof actual, "%u octets", payload->len);
    /* Each datagram is a violation of its own; only what has to wait for a proof is reported once.
     */
    if (s->f->records_are_current)
        fail(s->r, d.rule, d.p, d.n, expected, actual);
    else
        fail_told(s, broadcast, &d);
}

static void check_mtu(const struct scene *s, const struct group *broadcast)
{
    uint32_t mtu = ib_mtu_octets(broadcast->mtu);
    if (mtu == 0)
        return;
    if (s->p->ib.payload.len <= mtu)
        pass(s->r, R_RFC4391_7_LINK_MTU);
    /*
     * The LRH's length is corrupt, or the frame was truncated without a record of it. Some captures
     * leave out the CRCs.
     */
    else if (s->p->octets.len + ICRC_SIZE < s->p->ib.length)
        inconclusive(s->r, R_RFC4391_7_LINK_MTU, NULL, "the frame is shorter than its headers say");
    else if (may_be_told_others(s, broadcast))
        inconclusive(s->r, R_RFC4391_7_LINK_MTU, NULL, told_others);
    else
        fail_mtu(s, broadcast);
}

/*
 * The SA said that the partition has no broadcast group, or that it was deleted. Then there is no
 * IPoIB link (RFC 4391 §5).
 */
static void check_exists(const struct scene *s)
{
    const struct link *l = groups_link(s->f->groups, s->p->at.interface, s->p->ib.pkey);
    struct subject link = subject_link(s->p->ib.pkey);
    bool there = false, absent = false;
    for (const struct group *b = l ? l->broadcast : NULL; b; b = b->next) {
        there |= b->state == GROUP_THERE;
        absent |= group_is_absent(b);
    }
    if (there)
        pass_about(s->r, R_RFC4391_5_BROADCAST_GROUP_EXISTS, &link);
    else if (lacks_broadcast(s, s->p->ib.pkey, scope_of(s)))
        expect_about(s->r, R_RFC4391_5_BROADCAST_GROUP_EXISTS, &link, false, NULL, 0,
                     "a broadcast group", "IPoIB datagrams, though the SA has no broadcast group");
    else if (absent)
        inconclusive(s->r, R_RFC4391_5_BROADCAST_GROUP_EXISTS, NULL,
                     "the link may have another scope, whose broadcast group was not seen");
}

void check_transmission(const struct scene *s)
{
    const struct ib_packet *ib = &s->p->ib;
    const struct group *broadcast = link_of(s);
    check_controlled(s);
    check_exists(s);
    if (broadcast) {
        check_from_join(s, broadcast);
        check_mtu(s, broadcast);
    } else {
        inconclusive(s->r, R_RFC4391_9_1_2_QKEY_FROM_JOIN, NULL, "no join was seen");
        inconclusive(s->r, R_RFC4391_7_LINK_MTU, NULL, "no join was seen");
    }
    if (!is_partition(ib->pkey)) {
        struct subject qp = subject_qp(port_to_lid(s->p->src), ib->sqpn);
        note(s->r, R_PARTITION_VALUE_FORMAT, &qp, ib->pkey, s->r->base + ib->bth_off + BTH_PKEY, 2,
             "P_Key 0x%04x, which is no partition", ib->pkey);
    }
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every datagram of a link has in common: the Q_Key, the MTU, the partition. */
#include <stdio.h>

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
 * The scope of the sender's link: that of the group, or of the groups that its QP sent to before;
 * 0: not known.
 */
static uint8_t scope_of(const struct scene *s)
{
    const struct ib_packet *ib = &s->p->ib;
    if (ib->dgid && mgid_is_ipoib(ib->dgid))
        return ib->dgid[MGID_FLAGS_SCOPE] & 0x0f;
    return s->e->has_sender_qp ? s->e->sender_qp.scope : 0;
}

/* The link's broadcast group; where the scope is not known there must be one alone. */
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

bool may_be_told_others(const struct scene *s, const struct group *broadcast)
{
    if (s->f->records_are_current)
        return broadcast->changed_frame != 0;
    const struct endport *sender = sender_of(s);
    const struct member *m = sender ? groups_member(s->f->groups, broadcast, sender) : NULL;
    bool followed = sender && endport_is_followed(sender);
    if (scope_of(s) == 0 && !followed) /* it may be on a link of another scope */
        return true;
    if (is_sa(s)) /* a join of another port that was not captured may have shown the change */
        return broadcast->changed_frame || s->f->doubt_frame > broadcast->frame;
    /* what was on its way when it joined again has the values before */
    bool on_its_way = m && m->mlid_before && order_is_uncertain(&s->f->order, m->frame);
    return !m || on_its_way || !member_is_known(m) || m->frame < broadcast->changed_frame;
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
    struct subject qp = subject_qp(port_to_lid(s->p->src), ib->sqpn);
    if (ib->qkey != broadcast->qkey && may_be_told_others(s, broadcast))
        inconclusive(s->r, R_RFC4391_9_1_2_QKEY_FROM_JOIN, NULL, told_others);
    else
        expect_same(s->r, R_RFC4391_9_1_2_QKEY_FROM_JOIN, &qp,
                    s->r->base + ib->deth_off + DETH_QKEY, 4, broadcast->qkey, ib->qkey);
}

static void check_mtu(const struct scene *s, const struct group *broadcast)
{
    const struct view *payload = &s->p->ib.payload;
    uint32_t mtu = ib_mtu_octets(broadcast->mtu);
    if (mtu == 0)
        return;
    if (payload->len <= mtu) {
        pass(s->r, R_RFC4391_7_LINK_MTU);
        return;
    }
    /* The LRH's length is corrupt, or the frame was cut by something that does not say so. Some
     * leave out the CRCs. */
    const char *why = s->p->octets.len + ICRC_SIZE < s->p->ib.length
                          ? "the frame is shorter than its headers say"
                      : may_be_told_others(s, broadcast) ? told_others
                                                         : NULL;
    if (why) {
        inconclusive(s->r, R_RFC4391_7_LINK_MTU, NULL, why);
        return;
    }
    char expected[32], actual[32];
    snprintf(expected, sizeof expected, "at most %u octets", mtu);
    snprintf(actual, sizeof actual, "%u octets", payload->len);
    fail(s->r, R_RFC4391_7_LINK_MTU, payload->p, payload->cap, expected, actual);
}

/*
 * The SA said that the partition has no broadcast group, or that it was deleted: there is no IPoIB
 * link (RFC 4391 §5).
 */
static void check_exists(const struct scene *s)
{
    const struct link *l = groups_link(s->f->groups, s->p->at.interface, s->p->ib.pkey);
    struct subject link = subject_link(s->p->ib.pkey);
    bool there = false;
    for (const struct group *b = l ? l->broadcast : NULL; b; b = b->next)
        there |= b->state == GROUP_THERE;
    if (there)
        pass_about(s->r, R_RFC4391_5_BROADCAST_GROUP_EXISTS, &link);
    else if (lacks_broadcast(s, s->p->ib.pkey, scope_of(s)))
        expect_about(s->r, R_RFC4391_5_BROADCAST_GROUP_EXISTS, &link, false, NULL, 0,
                     "a broadcast group", "IPoIB datagrams, though the SA has no broadcast group");
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

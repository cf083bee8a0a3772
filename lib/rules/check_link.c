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
 * The link's broadcast group; of a unicast packet nobody knows the scope, so there must be one
 * alone.
 */
static struct group *link_of(const struct scene *s)
{
    const struct ib_packet *ib = &s->p->ib;
    if (ib->dgid && mgid_is_ipoib(ib->dgid))
        return groups_broadcast(s->f->groups, s->p->at.interface, ib->pkey,
                                ib->dgid[MGID_FLAGS_SCOPE] & 0x0f);
    return groups_only_broadcast(s->f->groups, s->p->at.interface, ib->pkey);
}

bool is_told_before_change(const struct scene *s, struct group *broadcast)
{
    const struct ib_packet *ib = &s->p->ib;
    struct endport *sender = ib->has_grh   ? endports_by_gid(s->f->endports, s->p->at.interface,
                                                             ib->sgid, false)
                             : ib->has_lrh ? endports_by_lid(s->f->endports, s->p->at.interface,
                                                             ib->slid, false)
                                           : NULL;
    const struct member *m = sender ? groups_member(s->f->groups, broadcast, sender, false) : NULL;
    return broadcast->changed_frame && (!m || m->frame < broadcast->changed_frame);
}

static const char *const told_before = "the sender may have been told others, before they changed";

static void check_from_join(const struct scene *s, struct group *broadcast)
{
    const struct ib_packet *ib = &s->p->ib;
    struct subject qp = subject_qp(port_to_lid(s->p->src), ib->sqpn);
    if (ib->qkey != broadcast->qkey && is_told_before_change(s, broadcast))
        inconclusive(s->r, R_RFC4391_9_1_2_QKEY_FROM_JOIN, NULL, told_before);
    else
        expect_same(s->r, R_RFC4391_9_1_2_QKEY_FROM_JOIN, &qp,
                    s->r->base + ib->deth_off + DETH_QKEY, 4, broadcast->qkey, ib->qkey);
}

static void check_mtu(const struct scene *s, struct group *broadcast)
{
    const struct view *payload = &s->p->ib.payload;
    uint32_t mtu = ib_mtu_octets(broadcast->mtu);
    if (mtu == 0)
        return;
    if (payload->len <= mtu) {
        pass(s->r, R_RFC4391_7_LINK_MTU);
        return;
    }
    /* The LRH's length is damaged, or the frame was cut by something that does not say so. */
    const char *why = s->p->octets.len < s->p->ib.length
                          ? "the frame is shorter than its headers say"
                      : is_told_before_change(s, broadcast) ? told_before
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
    bool there = false, missing = false;
    for (const struct group *b = l ? l->broadcast : NULL; b; b = b->next) {
        there |= b->state == GROUP_THERE;
        missing |= b->state == GROUP_MISSING || b->state == GROUP_GONE;
    }
    if (there)
        pass_about(s->r, R_RFC4391_5_BROADCAST_GROUP_EXISTS, &link);
    else if (missing)
        expect_about(s->r, R_RFC4391_5_BROADCAST_GROUP_EXISTS, &link, false, NULL, 0,
                     "a broadcast group", "IPoIB datagrams, though the SA has no broadcast group");
}

void check_transmission(const struct scene *s)
{
    const struct ib_packet *ib = &s->p->ib;
    struct group *broadcast = link_of(s);
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of every datagram on a link: the Q_Key, the MTU, the broadcast group of the partition. */
#include <stdio.h>

#include "rules/result.h"
#include "wire/mgid.h"

static void check_controlled(const struct check_context *s)
{
    uint32_t qkey = s->p->ib.qkey;
    struct entity link = entity_link(s->p->ib.pkey);
    if (is_controlled(qkey)) {
        report_pass(s->r, R_RFC4391_13_QKEY_CONTROLLED);
    } else if (is_new(s->r, R_RFC4391_13_QKEY_CONTROLLED, &link, qkey)) {
        char actual[16];
        snprintf(actual, sizeof actual, "0x%08x", qkey);
        const uint64_t seen = qkey;
        const struct reporter r = reporter_of_number(s->r, &seen);
        report_fail_about(&r, R_RFC4391_13_QKEY_CONTROLLED, &link,
                          s->r->base + s->p->ib.deth_off + DETH_QKEY, 4, "a controlled Q_Key",
                          actual);
    }
}

/* The link's broadcast group. If the scope is unknown, the partition must have only one. */
static const struct group *broadcast_group_of(const struct check_context *s)
{
    uint8_t scope = sending_scope(s);
    return scope ? groups_broadcast(s->f->groups, s->p->at.interface, s->p->ib.pkey, scope)
                 : groups_only_broadcast(s->f->groups, s->p->at.interface, s->p->ib.pkey);
}

static void fail_from_join(const struct check_context *s, const struct group *broadcast,
                           const struct entity *qp)
{
    const struct ib_packet *ib = &s->p->ib;
    const struct result r = {.rule = R_RFC4391_9_1_2_QKEY_FROM_JOIN,
                             .about = *qp,
                             .wanted = broadcast->qkey,
                             .value = ib->qkey,
                             .at = {s->r->base + ib->deth_off + DETH_QKEY, 4},
                             .describe = describe_hex,
                             .facts = {{FACT_PARAMETERS, .group = broadcast}}};
    report_result(s, &r);
}

static void check_from_join(const struct check_context *s, const struct group *broadcast)
{
    struct entity qp = entity_qp(port_to_lid(s->p->src), s->p->ib.sqpn);
    if (s->p->ib.qkey == broadcast->qkey)
        report_pass_about(s->r, R_RFC4391_9_1_2_QKEY_FROM_JOIN, &qp);
    else
        fail_from_join(s, broadcast, &qp);
}

static void describe_mtu(const struct check_context *s, const struct result *r, char *expected,
                         char *actual)
{
    (void)s;
    g_snprintf(expected, RESULT_TEXT, "at most %u bytes", (unsigned)r->wanted);
    g_snprintf(actual, RESULT_TEXT, "%u bytes", (unsigned)r->value);
}

/*
 * Each datagram is a violation of its own; a claim (rules/claims/claim.h) is reported once.
 */
static void fail_mtu(const struct check_context *s, const struct group *broadcast)
{
    const struct view *payload = &s->p->ib.payload;
    const struct result r = {.rule = R_RFC4391_7_LINK_MTU,
                             .about = entity_qp(port_to_lid(s->p->src), s->p->ib.sqpn),
                             .wanted = ib_mtu_bytes(broadcast->mtu),
                             .value = payload->len,
                             .at = {payload->p, payload->cap},
                             .often = REPORT_PACKET,
                             .describe = describe_mtu,
                             .facts = {{FACT_PARAMETERS, .group = broadcast}}};
    report_result(s, &r);
}

static void check_link_mtu(const struct check_context *s, const struct group *broadcast)
{
    uint32_t mtu = ib_mtu_bytes(broadcast->mtu);
    if (mtu == 0)
        return;
    if (s->p->ib.payload.len <= mtu)
        report_pass(s->r, R_RFC4391_7_LINK_MTU);
    /*
     * The LRH's length is corrupt, or the frame was truncated without a record of it. Some captures
     * leave out the CRCs.
     */
    else if (s->p->bytes.len + ICRC_SIZE < s->p->ib.length)
        report_inconclusive(s->r, R_RFC4391_7_LINK_MTU, NULL,
                            "the frame is shorter than its headers say");
    else
        fail_mtu(s, broadcast);
}

static void fail_exists(const struct check_context *s, const struct entity *link)
{
    const struct result r = {
        .rule = R_RFC4391_5_BROADCAST_GROUP_EXISTS,
        .about = *link,
        .expected = "a broadcast group",
        .actual = "IPoIB datagrams, though the SA has no broadcast group",
        .facts = {{FACT_NO_BROADCAST, .port = sending_port(s), .pkey = s->p->ib.pkey,
                   .scope = sending_scope(s)}},
        /* no broadcast group of the partition is left, whichever link the sender joined */
        .dropped = READ_MEMBER};
    report_result(s, &r);
}

/*
 * The SA said that the partition has no broadcast group, or that it was deleted. Then there is no
 * IPoIB link (RFC 4391 §5).
 */
static void check_exists(const struct check_context *s)
{
    struct entity link = entity_link(s->p->ib.pkey);
    bool there = false, absent = false;
    for (const struct group *b = broadcasts_of(s, s->p->ib.pkey); b; b = b->next) {
        there |= b->state == GROUP_PRESENT;
        absent |= group_is_absent(b);
    }
    if (there)
        report_pass_about(s->r, R_RFC4391_5_BROADCAST_GROUP_EXISTS, &link);
    else if (absent)
        fail_exists(s, &link);
}

void check_transmission(const struct check_context *s)
{
    const struct ib_packet *ib = &s->p->ib;
    const struct group *broadcast = broadcast_group_of(s);
    check_controlled(s);
    check_exists(s);
    if (broadcast) {
        check_from_join(s, broadcast);
        check_link_mtu(s, broadcast);
    } else {
        report_inconclusive(s->r, R_RFC4391_9_1_2_QKEY_FROM_JOIN, NULL,
                            "the SA's record of the broadcast group was not captured");
        report_inconclusive(s->r, R_RFC4391_7_LINK_MTU, NULL,
                            "the SA's record of the broadcast group was not captured");
    }
    if (!is_partition(ib->pkey)) {
        struct entity qp = entity_qp(port_to_lid(s->p->src), ib->sqpn);
        report_note(s->r, R_PARTITION_VALUE_FORMAT, &qp, ib->pkey,
                    s->r->base + ib->bth_off + BTH_PKEY, 2,
                    "P_Key 0x%04x, which is not a partition", ib->pkey);
    }
}

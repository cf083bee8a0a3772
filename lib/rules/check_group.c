/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of joins, leaves and group records of IPoIB groups (RFC 4391 §4.1, 5, 10). */
#include "rules/postpone.h"
#include "rules/scene.h"
#include "wire/mgid.h"

enum { SCOPE_LINK_LOCAL = 2 };
enum { IB_MTU_2048 = 4 };
enum { SELECTOR_LESS = 1, SELECTOR_EXACTLY = 2 };
/* A P_Key table counts as current for this time after an SMP whose PSN confirmed it. */
enum { PKEYS_SECONDS = 5 };
enum { ALL_NODES = 1 }; /* low bits of ff02::1 */

static struct subject port_of(const struct endport *p)
{
    return subject_port(endport_has_gid(p) ? p->gid : NULL, p->lid);
}

static bool is_full_member(const struct scene *s, const struct group *group,
                           const struct endport *port)
{
    const struct member *m = port ? groups_member(s->f->groups, group, port) : NULL;
    return m && m->join_state & JOIN_FULL;
}

/*
 * The port that sends to the group, or joins it, is a FullMember of a broadcast group of another
 * scope.
 */
static void fail_scope(const struct scene *s, const struct endport *port, const uint8_t *mgid,
                       const struct group *broadcast)
{
    struct mgid m = mgid_read(mgid);
    struct subject group = subject_group(mgid);
    uint32_t wanted = (uint32_t)m.flags << 4 | group_scope(broadcast),
             seen = (uint32_t)m.flags << 4 | m.scope;
    char expected[8], actual[8];
    /* a join is itself a GSI packet: its PSN already shows that no request is missing */
    if (s->p->verdict.class == PAYLOAD_MAD) {
        expect_same(s->r, R_RFC4391_4_SCOPE_CONSISTENT, &group, mgid + MGID_FLAGS_SCOPE, 1, wanted,
                    seen);
        return;
    }
    g_snprintf(expected, sizeof expected, "0x%02x", wanted);
    g_snprintf(actual, sizeof actual, "0x%02x", seen);
    postpone(s, port, R_RFC4391_4_SCOPE_CONSISTENT, &group, seen, expected, actual);
}

bool check_scope(const struct scene *s, const uint8_t *mgid, const struct endport *port)
{
    struct mgid m = mgid_read(mgid);
    struct subject group = subject_group(mgid);
    const struct link *l = groups_link(s->f->groups, s->p->at.interface, m.pkey);
    if (m.broadcast)
        return true;
    /* a broadcast group of this scope is known, but not known to be present */
    bool heard_of = false;
    for (const struct group *b = l ? l->broadcast : NULL; b; b = b->next)
        if (b->state == GROUP_THERE && group_scope(b) == m.scope) {
            pass_about(s->r, R_RFC4391_4_SCOPE_CONSISTENT, &group);
            return true;
        } else if (group_scope(b) == m.scope) {
            heard_of = true;
        }
    for (const struct group *b = l && !heard_of ? l->broadcast : NULL; b; b = b->next)
        if (b->state == GROUP_THERE && port && endport_is_followed(port) &&
            is_full_member(s, b, port)) {
            fail_scope(s, port, mgid, b);
            return false;
        }
    inconclusive(s->r, R_RFC4391_4_SCOPE_CONSISTENT, mgid,
                 "the sender's broadcast group was not seen");
    return true;
}

/* ---- requests */

/*
 * A P_Key table may be set again while the port is up. If both the SMP and its response are lost,
 * only the PSN of the port's next response shows it. Shortly after the port's last SMP, whose PSN
 * confirmed the table, this is taken to be excluded: a subnet manager sets tables before it brings
 * a port up, and again only when its configuration or the fabric changes.
 */
static void fail_pkey(const struct scene *s, const struct subnet_event *e,
                      const struct subject *port, uint16_t pkey)
{
    const char *expected = "a P_Key of the port's table",
               *actual = "a P_Key that the subnet manager did not give to the port";
    uint32_t now = (uint32_t)(s->p->at.ns / 1000000000);
    bool recently = e->endport->smi_psn && now - e->endport->smi_seconds <= PKEYS_SECONDS;
    if (!recently)
        postpone_to_smi(s, e->endport, R_RFC4391_5_PKEY_CONFIGURED, port, pkey, expected, actual);
    else if (is_news(s->r, R_RFC4391_5_PKEY_CONFIGURED, port, pkey))
        fail_about(s->r, R_RFC4391_5_PKEY_CONFIGURED, port, e->record + MCM_PKEY, 2, expected,
                   actual);
}

static void check_pkey_configured(const struct scene *s, const struct subnet_event *e,
                                  uint16_t pkey)
{
    struct subject port = port_of(e->endport);
    port.other = pkey & 0x7fffu;
    enum pkey_known known = endport_has_pkey(e->endport, pkey);
    if (known == PKEY_IS_NOT_THERE && !endport_is_followed(e->endport))
        known = PKEY_NOT_KNOWN; /* a newer table may not have been captured */
    switch (known) {
    case PKEY_IS_THERE:
        pass_about(s->r, R_RFC4391_5_PKEY_CONFIGURED, &port);
        break;
    case PKEY_IS_NOT_THERE:
        fail_pkey(s, e, &port, pkey);
        break;
    case PKEY_NOT_KNOWN:
        inconclusive(s->r, R_RFC4391_5_PKEY_CONFIGURED, NULL,
                     "the port's P_Key table was not seen");
        break;
    }
}

/* Does the request ask for a link MTU below 2048 bytes? */
static bool wants_small_mtu(const struct sa_request *q)
{
    return q && q->mtu &&
           ((q->mtu_selector == SELECTOR_EXACTLY && q->mtu < IB_MTU_2048) ||
            (q->mtu_selector == SELECTOR_LESS && q->mtu <= IB_MTU_2048));
}

static void check_join_mtu(const struct scene *s, const struct subnet_event *e)
{
    struct subject port = port_of(e->endport);
    if (!wants_small_mtu(e->request))
        return;
    if (e->group->state != GROUP_THERE)
        inconclusive(s->r, R_RFC4391_7_MTU_2044, NULL, "the broadcast group's MTU was not seen");
    else if (e->group->mtu >= IB_MTU_2048)
        expect_about(s->r, R_RFC4391_7_MTU_2044, &port, false, e->record + MCM_MTU, 1,
                     "an MTU of 2048 octets is taken", "less is asked for");
}

static void note_kind_of_join(const struct scene *s, const struct subnet_event *e)
{
    struct subject port = port_of(e->endport), group = subject_group(e->group->mgid);
    uint8_t state = e->request->join_state;
    bool send_only = (state & (JOIN_SEND_ONLY_NON | JOIN_SEND_ONLY_FULL)) && !(state & JOIN_FULL);
    if (state & JOIN_NON)
        note(s->r, R_RFC4391_11_ROUTER_NONMEMBER_JOIN, &group, state, e->record + MCM_SCOPE_JOIN, 1,
             "joined as NonMember, as routers do");
    if (send_only && e->endport->born_frame && !(e->member && e->member->asked))
        note(s->r, R_RFC4391_10_QUERY_SA_FIRST, &port, 0, e->record, MCM_SIZE,
             "joins to send without asking for the record first");
}

/* The IPv6 broadcast group of the drafts, joined instead of the RFC's broadcast group. */
static void note_draft_broadcast(const struct scene *s, const struct subnet_event *e,
                                 const struct mgid *m)
{
    static const uint8_t all_nodes[MGID_SIZE - MGID_GROUP] = {
        [MGID_SIZE - MGID_GROUP - 1] = ALL_NODES};
    const uint8_t *mgid = e->group->mgid;
    if (m->signature != MGID_SIGNATURE_IPV6 ||
        memcmp(mgid + MGID_GROUP, all_nodes, sizeof all_nodes) != 0 || !e->endport->born_frame)
        return;
    const struct link *l = groups_link(s->f->groups, e->interface, m->pkey);
    for (const struct group *b = l ? l->broadcast : NULL; b; b = b->next)
        if (is_full_member(s, b, e->endport))
            return;
    struct subject port = port_of(e->endport);
    note(s->r, R_DRAFT_7_IPV6_BROADCAST_GROUP, &port, m->pkey, e->record, MGID_SIZE,
         "joins IPv6's all-node group without the broadcast group, as the drafts have it");
}

static void on_join_asked(const struct scene *s, const struct subnet_event *e, const struct mgid *m)
{
    bool has_pkey = e->request->mask & MCM_HAS_PKEY;
    uint16_t pkey = has_pkey ? e->member_record.pkey : m->pkey;
    if (has_pkey)
        check_mgid(s->r, e->record + MCM_MGID, pkey);
    if (!e->endport)
        return;
    check_scope(s, e->record + MCM_MGID, e->endport);
    check_pkey_configured(s, e, pkey);
    if (m->broadcast)
        check_join_mtu(s, e);
    note_kind_of_join(s, e);
    note_draft_broadcast(s, e, m);
    if (!is_partition(pkey)) {
        struct subject port = port_of(e->endport);
        note(s->r, R_PARTITION_VALUE_FORMAT, &port, pkey, e->record + MCM_PKEY, 2,
             "P_Key 0x%04x, which is no partition", pkey);
    }
}

static void on_leave_asked(const struct scene *s, const struct subnet_event *e)
{
    struct subject port = port_of(e->endport);
    bool full = e->request->join_state & JOIN_FULL;
    port.group = e->group->mgid;
    if (full)
        pass_about(s->r, R_RFC4391_10_LEAVE, &port);
    else if (!e->join_state_before)
        inconclusive(s->r, R_RFC4391_10_LEAVE, e->record, "its join was not seen");
    else if (e->join_state_before == JOIN_FULL &&
             !order_is_uncertain(&s->f->order, e->member->frame) &&
             is_news(s->r, R_RFC4391_10_LEAVE, &port, e->request->join_state))
        fail_about(s->r, R_RFC4391_10_LEAVE, &port, e->record + MCM_SCOPE_JOIN, 1,
                   "FullMember in the JoinState", "another JoinState");
}

/* ---- records */

static void check_broadcast_record(const struct scene *s, const struct subnet_event *e)
{
    const struct group *g = &e->group_facts;
    struct subject group = subject_group(g->mgid);
    expect_same(s->r, R_RFC4391_4_1_SCOPE_LINK_LOCAL, &group, e->record + MGID_FLAGS_SCOPE, 1,
                (g->mgid[MGID_FLAGS_SCOPE] & 0xf0) | SCOPE_LINK_LOCAL, g->mgid[MGID_FLAGS_SCOPE]);
    if (is_controlled(g->qkey))
        pass_about(s->r, R_RFC4391_4_1_QKEY_CONTROLLED, &group);
    else if (is_news(s->r, R_RFC4391_4_1_QKEY_CONTROLLED, &group, g->qkey)) {
        char actual[16];
        g_snprintf(actual, sizeof actual, "0x%08x", g->qkey);
        fail_about(s->r, R_RFC4391_4_1_QKEY_CONTROLLED, &group, e->record + MCM_QKEY, 4,
                   "a controlled Q_Key (high-order bit 1)", actual);
    }
    if (g->mtu && g->mtu < IB_MTU_2048)
        note(s->r, R_DRAFT_6_1_LINK_MTU_1500, &group, g->mtu, e->record + MCM_MTU, 1,
             "a link MTU of %u octets, below the drafts' 1500", ib_mtu_octets(g->mtu) - 4);
}

/*
 * Compares one attribute; each attribute has its own entry in the deduplication cache. changed: the
 * broadcast group had other attributes, and the group may have been created with those.
 */
static void same_attribute(const struct scene *s, enum rule_number rule,
                           const struct subnet_event *e, const char *name, uint32_t at, uint32_t n,
                           uint32_t wanted, uint32_t seen, bool changed)
{
    struct subject group = subject_group(e->group->mgid);
    group.number = at;
    if (wanted == seen) {
        pass_about(s->r, rule, &group);
    } else if (changed) {
        inconclusive(s->r, rule, e->record + at,
                     "the broadcast group's attributes changed; the group may have those before");
    } else if (is_news(s->r, rule, &group, seen)) {
        char expected[48], actual[48];
        g_snprintf(expected, sizeof expected, "%s 0x%x", name, wanted);
        g_snprintf(actual, sizeof actual, "%s 0x%x", name, seen);
        fail_about(s->r, rule, &group, e->record + at, n, expected, actual);
    }
}

/*
 * May the port have received other parameters of the broadcast group since the SA's last record of
 * it? True if since that record a request of the port was lost, or the port was initialised or
 * asked to register again, or if it has a join pending.
 */
static bool may_have_changed(const struct scene *s, const struct subnet_event *e,
                             const struct group *b)
{
    if (!e->endport)
        return false;
    const struct member *m = groups_member(s->f->groups, b, e->endport);
    const struct endport *p = e->endport;
    return p->gap_frame > b->frame || p->born_frame > b->frame || p->reregister_frame > b->frame ||
           (m && m->pending);
}

static void check_group_record(const struct scene *s, const struct subnet_event *e)
{
    const struct group *g = &e->group_facts, *b = &e->broadcast_facts;
    bool changed = !fabric_knows_history(s->f, b) || may_have_changed(s, e, e->broadcast);
    enum rule_number must = R_RFC4391_10_GROUP_ATTRIBUTES,
                     should = R_RFC4391_10_GROUP_OTHER_ATTRIBUTES;
    if (!same_partition(b->pkey, g->pkey))
        same_attribute(s, must, e, "P_Key", MCM_PKEY, 2, b->pkey, g->pkey, changed);
    same_attribute(s, must, e, "Q_Key", MCM_QKEY, 4, b->qkey, g->qkey, changed);
    same_attribute(s, must, e, "MTU", MCM_MTU, 1, b->mtu, g->mtu, changed);
    same_attribute(s, must, e, "SL", MCM_SL_FLOW_HOP, 1, b->sl, g->sl, changed);
    same_attribute(s, must, e, "HopLimit", MCM_SL_FLOW_HOP + 3, 1, b->hop_limit, g->hop_limit,
                   changed);
    same_attribute(s, should, e, "TClass", MCM_TCLASS, 1, b->tclass, g->tclass, changed);
    same_attribute(s, should, e, "FlowLabel", MCM_SL_FLOW_HOP + 1, 2, b->flow_label, g->flow_label,
                   changed);
    same_attribute(s, should, e, "rate", MCM_RATE, 1, b->rate, g->rate, changed);
    same_attribute(s, should, e, "packet life time", MCM_LIFE, 1, b->life, g->life, changed);
}

static void on_record(const struct scene *s, const struct subnet_event *e, const struct mgid *m)
{
    check_mgid(s->r, e->record + MCM_MGID, e->group_facts.pkey);
    if (m->broadcast) {
        check_broadcast_record(s, e);
        return;
    }
    if (e->broadcast) {
        check_group_record(s, e);
        return;
    }
    inconclusive(s->r, R_RFC4391_10_GROUP_ATTRIBUTES, e->record,
                 "the broadcast group was not seen");
    inconclusive(s->r, R_RFC4391_10_GROUP_OTHER_ATTRIBUTES, e->record,
                 "the broadcast group was not seen");
}

/* ---- responses */

/*
 * Compares the group's MTU with the MTU of the port's link. The IBA's MTU codes have the order of
 * the MTUs.
 */
static void check_port_mtu(const struct scene *s, const struct subnet_event *e)
{
    struct subject port = port_of(e->endport);
    const struct endport *p = e->endport;
    if (p->neighbor_mtu)
        expect_about(s->r, R_RFC4391_4_1_GROUP_MTU, &port, e->group->mtu <= p->neighbor_mtu,
                     e->record + MCM_MTU, 1, "an MTU that the port's link has",
                     "the group's MTU is above it");
    if (p->mtu_cap && p->mtu_cap < e->group->mtu)
        note(s->r, R_RFC4391_5_JOIN_MTU_SUPPORTED, &port, e->group->mtu, e->record + MCM_MTU, 1,
             "joined a group of %u octets with a port that can do %u", ib_mtu_octets(e->group->mtu),
             ib_mtu_octets(p->mtu_cap));
}

static void on_broadcast_joined(const struct scene *s, const struct subnet_event *e)
{
    if (e->member_record.join_state & JOIN_FULL)
        pass(s->r, R_RFC4391_5_FULL_MEMBER_JOIN);
    else /* may be a tool's join; an interface is recognised when it sends */
        inconclusive(s->r, R_RFC4391_5_FULL_MEMBER_JOIN, e->record + MCM_SCOPE_JOIN,
                     "not FullMember; whether for an interface is not known");
    if (e->group->mtu >= IB_MTU_2048 && !wants_small_mtu(e->request))
        pass(s->r, R_RFC4391_7_MTU_2044);
    check_port_mtu(s, e);
}

/* Is a group of a partition joined whose broadcast group the SA does not have? */
static void check_has_broadcast(const struct scene *s, const struct subnet_event *e,
                                const struct mgid *m)
{
    struct subject link = subject_link(m->pkey);
    if (lacks_broadcast(s, m->pkey, m->scope))
        expect_about(s->r, R_RFC4391_5_BROADCAST_GROUP_EXISTS, &link, false, e->record, MGID_SIZE,
                     "a broadcast group",
                     "a group is joined, though the SA has no broadcast group");
}

static void on_refused(const struct scene *s, const struct subnet_event *e)
{
    const struct sa_request *q = e->request;
    const struct group *g = e->group;
    struct subject group = subject_group(g->mgid);
    if (g->state != GROUP_THERE || !q || !q->mtu)
        return;
    bool fits = q->mtu_selector == SELECTOR_EXACTLY ? g->mtu == q->mtu
                : q->mtu_selector == SELECTOR_LESS  ? g->mtu < q->mtu
                                                    : g->mtu > q->mtu;
    if (!fits)
        note(s->r, R_RFC4391_5_JOIN_MTU_SUPPORTED, &group, q->mtu, e->record, MCM_SIZE,
             "refused: the group's MTU is %u octets, asked was %u", ib_mtu_octets(g->mtu),
             ib_mtu_octets(q->mtu));
}

void check_group_event(const struct scene *s, const struct subnet_event *e)
{
    if (!e->group || !e->record || !mgid_is_ipoib(e->group->mgid))
        return;
    struct mgid m = mgid_read(e->group->mgid);
    switch (e->kind) {
    case SUBNET_JOIN_ASKED:
        on_join_asked(s, e, &m);
        break;
    case SUBNET_LEAVE_ASKED:
        if (e->endport)
            on_leave_asked(s, e);
        break;
    case SUBNET_JOINED:
        on_record(s, e, &m);
        if (m.broadcast && e->endport)
            on_broadcast_joined(s, e);
        else if (!m.broadcast)
            check_has_broadcast(s, e, &m);
        break;
    case SUBNET_GROUP_TOLD:
        on_record(s, e, &m);
        break;
    case SUBNET_JOIN_REFUSED:
        on_refused(s, e);
        break;
    default:
        break;
    }
}

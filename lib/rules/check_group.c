/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of joins, leaves and group records of IPoIB groups (RFC 4391 §4.1, 5, 10). */
#include "rules/result.h"
#include "rules/suspicions/group_traffic.h"
#include "wire/mgid.h"

enum { SCOPE_LINK_LOCAL = 2, SCOPE_RESERVED = 15 }; /* RFC 4291 2.7 */
/* IBA 15.2.5.17: MTUSelector, the relation of the MTU that is wanted to the one in the request */
enum { SELECTOR_GREATER = 0, SELECTOR_LESS = 1, SELECTOR_EXACTLY = 2, SELECTOR_LARGEST = 3 };
enum { ALL_NODES = 1 }; /* low bits of ff02::1 */

/* ---- requests */

/* Does the join request a group MTU below 2048 bytes, that is a link MTU below 2044? */
static bool wants_small_mtu(const struct sa_request *q)
{
    return q && q->mtu &&
           ((q->mtu_selector == SELECTOR_EXACTLY && q->mtu < IB_MTU_2048) ||
            (q->mtu_selector == SELECTOR_LESS && q->mtu <= IB_MTU_2048));
}

static void check_join_mtu(const struct check_context *s, const struct subnet_event *e)
{
    const struct result r = {
        .rule = R_RFC4391_7_MTU_2044,
        .about = entity_endport(e->endport),
        .at = {e->record + MCM_MTU, 1},
        .expected = "a request that allows an MTU of 2048 bytes",
        .actual = "the port requests a smaller MTU",
        .facts = {{FACT_GROUP_MTU, .group = e->group}},
        .dropped = READ_PKEYS}; /* on_join_request() read the P_Key table for another rule */
    bool small = e->group->state == GROUP_PRESENT && e->group->mtu < IB_MTU_2048;
    if (wants_small_mtu(e->request) && !small)
        report_result(s, &r);
}

static void note_kind_of_join(const struct check_context *s, const struct subnet_event *e)
{
    struct entity port = entity_endport(e->endport), group = entity_group(e->group->mgid);
    uint8_t state = e->request->join_state;
    bool send_only = (state & (JOIN_SEND_ONLY_NON | JOIN_SEND_ONLY_FULL)) && !(state & JOIN_FULL);
    if (state & JOIN_NON)
        report_note(s->r, R_RFC4391_11_ROUTER_NONMEMBER_JOIN, &group, state,
                    e->record + MCM_SCOPE_JOIN, 1, "requests to join as NonMember, as routers do");
    if (send_only && e->endport->initialised_frame && !(e->member && e->member->queried))
        report_note(s->r, R_RFC4391_10_QUERY_SA_FIRST, &port, 0, e->record, MCM_SIZE,
                    "a send-only join without a Get of the record before it");
}

/*
 * Early drafts of the RFC had an IPv6 broadcast group (ff02::1). Notes a port that joins it without
 * the RFC's broadcast group.
 */
static void note_draft_broadcast(const struct check_context *s, const struct subnet_event *e,
                                 const struct mgid *m)
{
    static const uint8_t all_nodes[MGID_SIZE - MGID_GROUP] = {
        [MGID_SIZE - MGID_GROUP - 1] = ALL_NODES};
    const uint8_t *mgid = e->group->mgid;
    if (m->signature != MGID_SIGNATURE_IPV6 ||
        memcmp(mgid + MGID_GROUP, all_nodes, sizeof all_nodes) != 0 ||
        !e->endport->initialised_frame)
        return;
    for (const struct group *b = groups_broadcasts(s->f->groups, e->interface, m->pkey); b;
         b = b->next)
        if (is_full_member(s, b, e->endport))
            return;
    struct entity port = entity_endport(e->endport);
    report_note(s->r, R_DRAFT_7_IPV6_BROADCAST_GROUP, &port, m->pkey, e->record, MGID_SIZE,
                "joins the IPv6 all-nodes group but not the broadcast group, as in early drafts");
}

static void on_join_request(const struct check_context *s, const struct subnet_event *e,
                            const struct mgid *m)
{
    bool has_pkey = e->request->mask & MCM_HAS_PKEY;
    uint16_t pkey = has_pkey ? e->member_record.pkey : m->pkey;
    if (has_pkey)
        check_mgid(s->r, e->record + MCM_MGID, pkey);
    else
        check_mgid_form(s->r, e->record + MCM_MGID);
    if (!e->endport)
        return;
    check_scope(s, e->record + MCM_MGID, e->endport);
    check_port_pkey(s, e->endport, pkey, e->record + MCM_PKEY);
    if (m->broadcast)
        check_join_mtu(s, e);
    note_kind_of_join(s, e);
    note_draft_broadcast(s, e, m);
    if (!is_partition(pkey)) {
        struct entity port = entity_endport(e->endport);
        report_note(s->r, R_PARTITION_VALUE_FORMAT, &port, pkey, e->record + MCM_PKEY, 2,
                    "P_Key 0x%04x, which is not a partition", pkey);
    }
}

static void on_leave_request(const struct check_context *s, const struct subnet_event *e)
{
    struct result r = {.rule = R_RFC4391_10_LEAVE,
                       .about = entity_endport(e->endport),
                       .value = e->request->join_state,
                       .at = {e->record + MCM_SCOPE_JOIN, 1},
                       .unknown_at = e->record,
                       .expected = "FullMember in the JoinState",
                       .actual = "another JoinState",
                       .facts = {{FACT_JOINED_BEFORE, .event = e}}};
    r.about.group = e->group->mgid;
    if (e->request->join_state & JOIN_FULL)
        report_pass_about(s->r, r.rule, &r.about);
    else if (!e->join_state_before || e->join_state_before == JOIN_FULL)
        report_result(s, &r);
}

/*
 * It listens no more, or has left the link, and stays a FullMember: no rule forbids that to a host
 * that sends to the group, now or later, or that listens to another IP group with this MGID; and
 * the port may have another interface, or a program that joined.
 */
static void on_stayed(const struct check_context *s, const struct subnet_event *e)
{
    report_inconclusive(s->r, R_RFC4391_10_LEAVE, NULL,
                        e->member->group == e->group
                            ? "the port listens no more and has not left the group: it may stay a "
                              "member to send to it, or to listen to another IP group of the MGID"
                            : "the port has left the link's broadcast, all-hosts or all-nodes "
                              "group, and not all others: another interface of it, or a program, "
                              "may stay a member");
}

/* ---- records */

/*
 * mgid: of a broadcast group, in the packet. RFC 4391 §4.1 recommends a default: an administrator
 * may configure a wider scope, for a link that spans IB subnets or will. Neither a router nor its
 * absence shows whether the scope was configured.
 */
static void check_default_scope(const struct reporter *r, const uint8_t *mgid)
{
    struct entity group = entity_group(mgid);
    const uint8_t *p = mgid + MGID_FLAGS_SCOPE;
    uint8_t scope = *p & 0x0f;
    if (scope > SCOPE_LINK_LOCAL && scope < SCOPE_RESERVED)
        report_inconclusive(
            r, R_RFC4391_4_1_SCOPE_LINK_LOCAL, p,
            "a capture does not show whether the scope is a default or was configured");
    else
        expect_same(r, R_RFC4391_4_1_SCOPE_LINK_LOCAL, &group, p, 1, (*p & 0xf0) | SCOPE_LINK_LOCAL,
                    *p);
}

/*
 * A record has a P_Key without the membership bit. May the SA have returned the P_Key of the port
 * that asked, a limited member, and not the group's? Not if the request names the full P_Key, or
 * the port's table has it.
 */
static bool may_be_limited_members(const struct check_context *s, const struct subnet_event *e)
{
    const struct sa_request *q = e->request;
    uint16_t full = e->group_facts.pkey | PKEY_MEMBERSHIP;
    bool named = q && q->mask & MCM_HAS_PKEY && q->wanted.pkey == full;
    bool in_table = e->endport && endport_has_entry(e->endport, full) == PKEY_IS_THERE;
    return s->p->mad.mad.method != SA_GET_TABLE_RESP && !named && !in_table;
}

static const char *const limited_members = "the SA may have returned the P_Key of the limited "
                                           "member that asked, and not the group's";

/* The MGID has the same partition, else check_mgid() has a finding. */
static void check_record_pkey(const struct check_context *s, const struct subnet_event *e)
{
    const struct group *g = &e->group_facts;
    struct entity group = entity_group(g->mgid);
    const uint8_t *at = e->record + MCM_PKEY;
    group.number = MCM_PKEY; /* the MGID's own P_Key has another result */
    if (!same_partition(g->pkey, be16(g->mgid + MGID_PKEY)))
        return;
    if (!(g->pkey & PKEY_MEMBERSHIP) && may_be_limited_members(s, e))
        report_inconclusive(s->r, R_RFC4391_4_1_PKEY_FULL_MEMBER, at, limited_members);
    else
        expect_same(s->r, R_RFC4391_4_1_PKEY_FULL_MEMBER, &group, at, 2, g->pkey | PKEY_MEMBERSHIP,
                    g->pkey);
}

static void check_broadcast_record(const struct check_context *s, const struct subnet_event *e)
{
    const struct group *g = &e->group_facts;
    struct entity group = entity_group(g->mgid);
    check_default_scope(s->r, e->record + MCM_MGID);
    check_record_pkey(s, e);
    if (is_controlled(g->qkey))
        report_pass_about(s->r, R_RFC4391_4_1_QKEY_CONTROLLED, &group);
    else if (is_new(s->r, R_RFC4391_4_1_QKEY_CONTROLLED, &group, g->qkey)) {
        char actual[16];
        g_snprintf(actual, sizeof actual, "0x%08x", g->qkey);
        const uint64_t seen = g->qkey;
        const struct reporter r = reporter_of_number(s->r, &seen);
        report_fail_about(&r, R_RFC4391_4_1_QKEY_CONTROLLED, &group, e->record + MCM_QKEY, 4,
                          "a controlled Q_Key (high-order bit 1)", actual);
    }
    if (g->mtu && g->mtu < IB_MTU_2048)
        report_note(s->r, R_DRAFT_6_1_LINK_MTU_1500, &group, g->mtu, e->record + MCM_MTU, 1,
                    "a link MTU of %u bytes, below the drafts' 1500", ib_mtu_bytes(g->mtu) - 4);
}

static void describe_attribute(const struct check_context *s, const struct result *r,
                               char *expected, char *actual)
{
    (void)s;
    g_snprintf(expected, RESULT_TEXT, "%s 0x%x", r->name, (unsigned)r->wanted);
    g_snprintf(actual, RESULT_TEXT, "%s 0x%x", r->name, (unsigned)r->value);
}

/* Each attribute has its own entry in the deduplication cache. */
static struct result attribute_result(enum rule_number rule, const struct subnet_event *e,
                                      const char *name, uint32_t at, uint32_t n, uint32_t seen)
{
    struct entity about = entity_group(e->group->mgid);
    const uint8_t *record = e->kind == SUBNET_GROUP_CREATED ? NULL : e->record + at;
    about.number = at;
    return (struct result){.rule = rule,
                           .about = about,
                           .wanted = seen,
                           .value = seen,
                           .at = {record, n},
                           .unknown_at = record,
                           .name = name,
                           .describe = describe_attribute,
                           .facts = {{FACT_CREATED_WITH, .event = e}}};
}

/* A Report that the group was created has no attribute: the SA's record before it is at fault. */
static void same_attribute(const struct check_context *s, struct result r, uint32_t wanted)
{
    const struct subnet_event *e = r.facts[0].event;
    bool same = r.value == wanted;
    struct reporter reporter = *s->r;
    struct check_context of = *s;
    r.wanted = wanted;
    reporter.frame = e->kind == SUBNET_GROUP_CREATED ? e->group->record_frame : 0;
    of.r = &reporter;
    if (same)
        report_pass_about(s->r, r.rule, &r.about);
    else
        report_result(&of, &r);
}

/* The broadcast group's P_Key may be that of a limited member; a full one is the group's. */
static void check_group_pkey(const struct check_context *s, const struct subnet_event *e)
{
    uint16_t wanted = e->broadcast_facts.pkey, pkey = e->group_facts.pkey;
    bool lacks_bit = wanted & ~pkey & PKEY_MEMBERSHIP;
    struct result r = attribute_result(R_RFC4391_10_GROUP_ATTRIBUTES, e, "P_Key", MCM_PKEY, 2,
                                       pkey);
    r.dropped = READ_PKEYS; /* may_be_limited_members(): a port of this partition */
    bool differs = !same_partition(wanted, pkey);
    if (differs && same_partition(wanted, be16(e->group->mgid + MGID_PKEY)))
        r.facts[0].kind = FACT_NONE; /* the P_Key of a link is in its MGIDs: it never changes */
    if (!differs && lacks_bit && may_be_limited_members(s, e)) {
        if (r.unknown_at) /* a Report has no P_Key */
            report_inconclusive(s->r, r.rule, r.unknown_at, limited_members);
    } else if (differs || lacks_bit) {
        same_attribute(s, r, wanted);
    }
}

static void check_group_record(const struct check_context *s, const struct subnet_event *e)
{
    const struct group *g = &e->group_facts, *b = &e->broadcast_facts;
    check_group_pkey(s, e);
#define ATTRIBUTE(rule, name, at, n, mask, member)                                                 \
    same_attribute(s, attribute_result(rule, e, name, at, n, g->member), b->member);
#include "rules/attributes.def"
#undef ATTRIBUTE
}

static void suspect_record(const struct check_context *s, const struct subnet_event *e)
{
    struct result r;
#define ATTRIBUTE(rule, name, at, n, mask, member)                                                 \
    r = attribute_result(rule, e, name, at, n, e->group_facts.member);                             \
    suspect_group_record(s, e, TRAFFIC_##member, &r);
#include "rules/attributes.def"
#undef ATTRIBUTE
}

/*
 * Does the record have another P_Key than its MGID, which has the link's? Then the SA is at fault,
 * unless the join that chose the MGID has the record's too.
 */
static bool has_pkey_of_another_link(const struct subnet_event *e, const struct mgid *m)
{
    const struct sa_request *q = e->request;
    return !m->broadcast && !same_partition(e->group_facts.pkey, m->pkey) && e->broadcast &&
           same_partition(e->broadcast_facts.pkey, m->pkey) &&
           !(q && q->mask & MCM_HAS_PKEY && !same_partition(q->wanted.pkey, m->pkey));
}

static void on_record(const struct check_context *s, const struct subnet_event *e,
                      const struct mgid *m)
{
    if (has_pkey_of_another_link(e, m))
        check_mgid_form(s->r, e->record + MCM_MGID);
    else
        check_mgid(s->r, e->record + MCM_MGID, e->group_facts.pkey);
    if (m->broadcast) {
        check_broadcast_record(s, e);
        return;
    }
    if (e->broadcast) {
        check_group_record(s, e);
        return;
    }
    suspect_record(s, e);
    report_inconclusive(s->r, R_RFC4391_10_GROUP_ATTRIBUTES, e->record,
                        "the SA's record of the broadcast group was not captured");
    report_inconclusive(s->r, R_RFC4391_10_GROUP_OTHER_ATTRIBUTES, e->record,
                        "the SA's record of the broadcast group was not captured");
}

/* ---- reports */

/*
 * A Report of the SM that a group was created or deleted. The node that created the group chose its
 * MGID (RFC 4391 §10). The Report does not name that node, so a finding names no sender; if the
 * node's join was captured, the finding was reported there.
 */
static void on_report(const struct check_context *s, const struct subnet_event *e,
                      const struct mgid *m)
{
    static const struct sender no_sender;
    const uint8_t *mgid = e->record + NOTICE_DETAILS_GID;
    struct reporter r = *s->r;
    r.sender = &no_sender;
    check_mgid_form(&r, mgid);
    if (e->group->state != GROUP_PRESENT) /* else a record with its P_Key was checked */
        report_inconclusive(s->r, R_RFC4391_4_MGID_PKEY, mgid + MGID_PKEY,
                            "the SM's Report does not contain the group's P_Key");
    if (m->broadcast)
        check_default_scope(&r, mgid);
    else
        check_scope(s, mgid, NULL);
    if (e->kind == SUBNET_GROUP_CREATED && e->broadcast && e->group->state == GROUP_PRESENT)
        check_group_record(s, e);
}

/* ---- responses */

/* The MTU of the port's hardware, if it is known, explains that of the link. */
static void check_link_mtu(const struct check_context *s, const struct subnet_event *e)
{
    if (check_mtu_cap(s, e->endport) || !e->group->mtu)
        return;
    if (e->group->mtu < IB_MTU_2048)
        report_inconclusive(s->r, R_RFC4391_7_MTU_2044, e->record + MCM_MTU,
                            "the link has a smaller MTU: a capture does not show what its ports "
                            "support");
    else if (!wants_small_mtu(e->request))
        report_pass(s->r, R_RFC4391_7_MTU_2044);
}

static void on_broadcast_joined(const struct check_context *s, const struct subnet_event *e)
{
    if (e->member_record.join_state & JOIN_FULL)
        report_pass(s->r, R_RFC4391_5_FULL_MEMBER_JOIN);
    else /* may be a tool's join; an interface is recognised when it sends */
        report_inconclusive(s->r, R_RFC4391_5_FULL_MEMBER_JOIN, e->record + MCM_SCOPE_JOIN,
                            "not FullMember: no datagram shows whether an interface joined");
    check_link_mtu(s, e);
    check_port_mtu(s, e->endport, e->group, e->record + MCM_MTU);
}

/* A port joins a group of the link: does the link have a broadcast group? */
static void check_has_broadcast(const struct check_context *s, const struct subnet_event *e,
                                const struct mgid *m)
{
    const struct result r = {
        .rule = R_RFC4391_5_BROADCAST_GROUP_EXISTS,
        .about = entity_link(m->pkey),
        .at = {e->record, MGID_SIZE},
        .expected = "a broadcast group",
        .actual = "a group is joined although the SA has no broadcast group",
        .facts = {{FACT_NO_BROADCAST, .port = e->endport, .pkey = m->pkey, .scope = m->scope}}};
    if (fact_is_known(s, r.facts[0]))
        report_result(s, &r);
}

/*
 * Does the group's MTU fit the request? With "largest available" the SA ignores the MTU in the
 * request (IBA 15.2.5.17).
 */
static bool mtu_fits(const struct sa_request *q, uint8_t mtu)
{
    switch (q->mtu_selector) {
    case SELECTOR_GREATER:
        return mtu > q->mtu;
    case SELECTOR_LESS:
        return mtu < q->mtu;
    case SELECTOR_EXACTLY:
        return mtu == q->mtu;
    default: /* SELECTOR_LARGEST */
        return true;
    }
}

static void on_refused(const struct check_context *s, const struct subnet_event *e)
{
    const struct sa_request *q = e->request;
    const struct group *g = e->group;
    struct entity group = entity_group(g->mgid);
    if (g->state != GROUP_PRESENT || !q || !q->mtu)
        return;
    if (!mtu_fits(q, g->mtu))
        report_note(s->r, R_RFC4391_5_JOIN_MTU_SUPPORTED, &group, q->mtu, e->record, MCM_SIZE,
                    "refused: the group's MTU is %u bytes, the request has %u",
                    ib_mtu_bytes(g->mtu), ib_mtu_bytes(q->mtu));
}

static void check_event(const struct check_context *s, const struct subnet_event *e)
{
    struct mgid m = mgid_read(e->group->mgid);
    switch (e->kind) {
    case SUBNET_JOIN_ASKED:
        on_join_request(s, e, &m);
        break;
    case SUBNET_LEAVE_ASKED:
        check_mgid_form(s->r, e->record + MCM_MGID);
        if (e->endport)
            on_leave_request(s, e);
        break;
    case SUBNET_LEFT: /* the Delete may not have been captured */
        check_mgid_form(s->r, e->record + MCM_MGID);
        break;
    case SUBNET_JOINED:
        on_record(s, e, &m);
        if (m.broadcast && e->endport)
            on_broadcast_joined(s, e);
        else if (!m.broadcast)
            check_has_broadcast(s, e, &m);
        break;
    case SUBNET_GROUP_RECORD:
        on_record(s, e, &m);
        if (!m.broadcast) /* the record does not name the node that created the group */
            check_scope(s, e->record + MCM_MGID, NULL);
        break;
    case SUBNET_JOIN_REFUSED:
        on_refused(s, e);
        check_refused_join(s, e);
        break;
    case SUBNET_GROUP_CREATED:
    case SUBNET_GROUP_DELETED:
        on_report(s, e, &m);
        break;
    default:
        break;
    }
}

void check_group_event(const struct check_context *s, const struct subnet_event *e)
{
    if (e->kind == SUBNET_STAYED)
        on_stayed(s, e);
    if (!e->group || !e->record || !mgid_is_ipoib(e->group->mgid))
        return;
    struct reporter reporter = *s->r;
    struct check_context context = *s;
    reporter.split = e->split.copy ? &e->split : NULL;
    context.r = &reporter;
    check_event(&context, e);
}

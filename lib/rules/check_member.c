/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Did the interface that sends on an IPoIB link join the link's broadcast group as FullMember (RFC
 * 4391 §5)?
 */
#include "rules/result.h"
#include "wire/nanoseconds.h"

enum joined {
    JOINED_UNKNOWN,
    JOINED_NEVER,
    JOINED_REFUSED,
    JOINED_AND_LEFT,
    JOINED_OTHERWISE,
    JOINED_FULL
};

/*
 * Seconds after which an interface that left the broadcast group is not one that joins again at
 * once, as Linux does when the SM changes.
 */
enum { LEFT_SECONDS = 5 };

static bool has_left(const struct check_context *s, const struct member *m)
{
    return !m->join_state && m->reported_ns &&
           clocks_at_least(&s->f->order.clocks, m->reported_on, m->reported_ns) >
               LEFT_SECONDS * NANOSECONDS;
}

static enum joined how_joined(const struct check_context *s, const struct member *m)
{
    if (!m || (!m->frame && !m->pending)) /* at most it asked for the group's record */
        return JOINED_NEVER;
    bool known = member_is_known(m);
    if (known && m->join_state & JOIN_FULL) /* also if a later join was refused */
        return JOINED_FULL;
    if (known && m->refused) /* an earlier request without a response may have been granted */
        return m->unanswered ? JOINED_UNKNOWN : JOINED_REFUSED;
    if (known && has_left(s, m))
        return JOINED_AND_LEFT;
    bool otherwise = m->join_state && !(m->join_state & JOIN_FULL) && member_seems_known(m);
    return otherwise && !m->refused ? JOINED_OTHERWISE : JOINED_UNKNOWN; /* it may have left */
}

/*
 * The best known membership of the port in the link's broadcast groups. *group: the group of that
 * membership. scope: of the link, 0 if unknown.
 */
static enum joined joined_link(const struct check_context *s, const struct endport *port,
                               uint8_t scope, const struct group **group)
{
    enum joined best = JOINED_NEVER;
    bool unknown = false;
    *group = NULL;
    for (const struct group *b = broadcasts_of(s, s->p->ib.pkey); b; b = b->next) {
        if (scope && group_scope(b) != scope)
            continue;
        enum joined joined = how_joined(s, groups_member(s->f->groups, b, port));
        unknown |= joined == JOINED_UNKNOWN;
        if (!*group || joined > best) {
            best = joined;
            *group = b;
        }
    }
    return unknown && best != JOINED_FULL ? JOINED_UNKNOWN : best;
}

/*
 * The LID alone does not identify the interface: a virtual function shares the LID and joins with
 * its own GID (IBA 4.1.1), but its link-layer address has another QPN. So the QPN must match too.
 */
const struct endport *sending_interface(const struct check_context *s)
{
    const struct ib_packet *ib = &s->p->ib;
    const struct endport *port = sending_port(s);
    bool its = port && endport_announced(port, ib->pkey, ib->sqpn) == ANNOUNCED;
    return its && !is_sa(s) ? port : NULL;
}

static struct fact membership_fact(enum joined joined, const struct endport *port, uint8_t scope,
                                   const struct member *m)
{
    switch (joined) {
    case JOINED_OTHERWISE:
        return (struct fact){FACT_JOIN_STATE, .port = port, .member = m, .scope = scope};
    case JOINED_AND_LEFT:
        return (struct fact){FACT_NO_MEMBERSHIP, .port = port, .member = m};
    default:
        return (struct fact){FACT_NO_JOIN, .port = port,
                             .member = joined == JOINED_REFUSED ? m : NULL,
                             .since_start = joined == JOINED_NEVER};
    }
}

static void fail_membership(const struct check_context *s, const struct endport *port,
                            uint8_t scope, enum joined joined, const struct group *group,
                            const struct entity *about)
{
    const struct member *m = group ? groups_member(s->f->groups, group, port) : NULL;
    static const char *const actual[] = {
        [JOINED_NEVER] = "it never joined it",
        [JOINED_REFUSED] = "its join was refused",
        [JOINED_AND_LEFT] = "it left it",
        [JOINED_OTHERWISE] = "it joined without FullMember",
    };
    /* it may be on a link of another scope since before the capture */
    bool other_link = group && joined == JOINED_AND_LEFT && sending_scope(s) != group_scope(group);
    const struct result r = {
        .rule = R_RFC4391_5_FULL_MEMBER_JOIN,
        .about = *about,
        .value = joined,
        .expected = "a FullMember of the broadcast group",
        .actual = actual[joined],
        .facts = {membership_fact(joined, port, scope, m),
                  {FACT_INTERFACE, .known = true},
                  {other_link ? FACT_NO_OTHER_LINK : FACT_NONE, .port = port}},
    };
    report_result(s, &r);
}

static const char *why_unknown(const struct check_context *s, const struct endport *port,
                               const struct group *group)
{
    const struct member *m = group ? groups_member(s->f->groups, group, port) : NULL;
    bool left = m && member_is_known(m) && !m->join_state && !m->refused;
    return left ? "the port left the broadcast group a moment ago: it may join again at once"
                : "the port's join, or the SA's response to it, was not captured";
}

void check_interface_joined(const struct check_context *s, const struct endport *port,
                            uint8_t scope)
{
    struct entity about = entity_endport(port);
    const struct group *group;
    enum joined joined = joined_link(s, port, scope, &group);
    about.group = group ? group->mgid : NULL;
    if (joined == JOINED_FULL) {
        report_pass_about(s->r, R_RFC4391_5_FULL_MEMBER_JOIN, &about);
        check_port_of_sender(s, port, group);
    } else if (joined == JOINED_UNKNOWN) {
        report_inconclusive(s->r, R_RFC4391_5_FULL_MEMBER_JOIN, NULL, why_unknown(s, port, group));
    } else {
        fail_membership(s, port, scope, joined, group, &about);
    }
}

void check_sending_interface(const struct check_context *s)
{
    const struct endport *port = sending_interface(s);
    if (port)
        check_interface_joined(s, port, 0);
}

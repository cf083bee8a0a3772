/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scope of an IPoIB MGID: that of the link's broadcast group (RFC 4391 §4). */
#include "rules/result.h"
#include "rules/suspicions/results.h"
#include "wire/mgid.h"

/* The queue pair of an interface, which is on one link, has sent to groups of another scope. */
static void suspect_scope(const struct check_context *s, struct result r)
{
    uint8_t before = s->p->classification.class == PAYLOAD_MAD ? 0 : scope_before(s);
    if (!before || before == (r.value & 0x0f))
        return;
    r.wanted = (r.value & 0xf0) | before;
    suspect_result(s, &r, s->e->sender_qp.group_frame, false);
}

/* broadcast: the group of the port's link; NULL: it is not known. */
static struct result scope_result(const struct endport *port, const uint8_t *mgid,
                                  const struct group *broadcast)
{
    struct mgid m = mgid_read(mgid);
    return (struct result){
        .rule = R_RFC4391_4_SCOPE_CONSISTENT,
        .about = entity_group(mgid),
        .wanted = (uint32_t)m.flags << 4 | (broadcast ? group_scope(broadcast) : 0),
        .value = (uint32_t)m.flags << 4 | m.scope,
        .at = {mgid + MGID_FLAGS_SCOPE, 1},
        .unknown_at = mgid,
        .describe = describe_hex,
        .facts = {{FACT_NO_OTHER_LINK, .port = broadcast ? port : NULL, .group = broadcast}},
    };
}

/* Is it a broadcast group of whose link the SA has never said anything? */
static bool is_unheard_of(const struct check_context *s, const uint8_t *mgid)
{
    const struct group *g = groups_find(s->f->groups, s->p->at.interface, mgid);
    return g && !group_was_mentioned(g);
}

/*
 * The port that sends to the group, or joins it, is a FullMember of a broadcast group of another
 * scope; NULL: of none. Returns true if the result is a failure.
 */
static bool fail_scope(const struct check_context *s, const struct endport *port,
                       const uint8_t *mgid, const struct group *broadcast, bool is_link_known)
{
    const struct result r = scope_result(port, mgid, broadcast);
    bool fails = report_result(s, &r);
    if (!fails && !is_link_known)
        suspect_scope(s, r);
    return fails;
}

bool check_scope(const struct check_context *s, const uint8_t *mgid, const struct endport *port)
{
    struct mgid m = mgid_read(mgid);
    struct entity group = entity_group(mgid);
    const struct group *other = NULL;
    bool unheard_of = m.broadcast && is_unheard_of(s, mgid);
    if (m.broadcast && !unheard_of)
        return true;
    /* a broadcast group of this scope is known, but not known to be present */
    bool unconfirmed = false;
    for (const struct group *b = broadcasts_of(s, m.pkey); b; b = b->next) {
        if (b->state == GROUP_PRESENT && group_scope(b) == m.scope) {
            report_pass_about(s->r, R_RFC4391_4_SCOPE_CONSISTENT, &group);
            return true;
        }
        unconfirmed |= group_scope(b) == m.scope && !unheard_of;
        if (!other && b->state == GROUP_PRESENT && is_full_member(s, b, port))
            other = b;
    }
    if (unheard_of && !other) {
        suspect_scope(s, scope_result(NULL, mgid, NULL));
        return true;
    }
    return !fail_scope(s, port, mgid, unconfirmed ? NULL : other, unconfirmed);
}

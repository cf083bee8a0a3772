/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RFC 4391 §5: every interface joins the broadcast group as FullMember. The SA has the membership
 * and discloses it to trusted requesters.
 */
#include <string.h>

#include "probe/checks/checks.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/records.h"
#include "probe/link/groups.h"
#include "probe/link/link.h"
#include "probe/link/sa.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/target.h"

/* The peer's membership of the broadcast group. */
struct peer_membership {
    char why[160]; /* why the SA does not disclose it; "": it does */
    bool member, known;
    uint8_t join_state; /* combined from all requested GIDs */
};

static void query_gid(struct target *t, const uint8_t *gid, struct peer_membership *s)
{
    struct member_state m;
    enum sa_result result = group_member_state_of(t, t->link->group.mgid, gid, &m);
    if (result != SA_SUCCESS)
        g_strlcpy(s->why, sa_failure_text(t, result, m.status), sizeof s->why);
    s->member |= m.member;
    s->known &= m.known;
    s->join_state |= m.join_state;
}

/*
 * A virtual function joins with its own GID, which it announces, and which is not the first GID of
 * the port.
 */
static struct peer_membership query_state(struct target *t)
{
    struct peer_membership s = {.known = true};
    uint8_t gid[16];
    memcpy(gid, t->link->transport->facts.gid,
           8); /* the subnet prefix is the same: the peer is in this subnet */
    const char *why = records_get_port_guid(t, gid + 8);
    if (why)
        g_snprintf(s.why, sizeof s.why, "the peer's port: %s", why);
    else
        query_gid(t, gid, &s);
    if (!s.why[0] && !(s.join_state & JOIN_FULL) &&
        memcmp(gid, t->peer->lladdr + LLADDR_GID, 16) != 0)
        query_gid(t, t->peer->lladdr + LLADDR_GID, &s);
    return s;
}

static void check_membership(struct target *t)
{
    char text[160], states[64];
    struct peer_membership s = query_state(t);
    results_sent(t->results, "SA Get MCMemberRecord of the peer's port in the broadcast group");
    if (!s.why[0] && !s.known) {
        results_skip(t->results, R_RFC4391_5_FULL_MEMBER_JOIN,
                     "the SA discloses members only with its SM_Key");
        return;
    }
    join_state_text(s.join_state, states, sizeof states);
    g_snprintf(text, sizeof text, "%s", s.why[0] ? s.why : s.member ? states : "not a member");
    results_received(t->results, "%s", text);
    results_add(t->results, R_RFC4391_5_FULL_MEMBER_JOIN,
                s.why[0]                   ? OUTCOME_INCONCLUSIVE
                : s.join_state & JOIN_FULL ? OUTCOME_PASS
                                           : OUTCOME_FAIL,
                "FullMember", text);
}

static const struct check checks[] = {
    {.name = "membership",
     .transport = CAN_QUERY_SA,
     .run = check_membership,
     .sends =
         "to the SA: MCMemberRecord of the peer's port in the broadcast group, with OpenSM's default SM_Key",
     .expects = "a FullMember",
     RULES(R_RFC4391_5_FULL_MEMBER_JOIN)},
};
const struct check_table membership_checks = {checks, G_N_ELEMENTS(checks)};

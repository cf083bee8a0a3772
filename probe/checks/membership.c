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
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/target.h"

/* The peer's membership of the broadcast group. */
struct standing_of_peer {
    bool told, member, known;
    uint8_t join_state; /* combined from all requested GIDs */
};

static void ask_gid(struct target *t, const uint8_t *gid, struct standing_of_peer *s)
{
    uint8_t join_state;
    bool member, known;
    s->told &= group_standing_of(t, t->link->group.mgid, gid, &join_state, &member, &known) ==
               SA_TOLD;
    s->member |= member;
    s->known &= known;
    s->join_state |= join_state;
}

/*
 * A virtual function joins with its own GID, which it announces, and which is not the first GID of
 * the port.
 */
static struct standing_of_peer ask_standing(struct target *t)
{
    struct standing_of_peer s = {.told = true, .known = true};
    uint8_t gid[16];
    memcpy(gid, t->link->transport->facts.gid,
           8); /* the subnet prefix is the same: the peer is in this subnet */
    if (!ask_port_guid(t, gid + 8))
        s.told = false;
    else
        ask_gid(t, gid, &s);
    if (s.told && !(s.join_state & JOIN_FULL) && memcmp(gid, t->peer->lladdr + LLADDR_GID, 16) != 0)
        ask_gid(t, t->peer->lladdr + LLADDR_GID, &s);
    return s;
}

static void check_membership(struct target *t)
{
    char text[80], states[64];
    struct standing_of_peer s = ask_standing(t);
    results_sent(t->results, "SA Get MCMemberRecord of the peer's port in the broadcast group");
    if (s.told && !s.known) {
        results_skip(t->results, R_RFC4391_5_FULL_MEMBER_JOIN,
                     "the SA tells of members by its own SM_Key alone");
        return;
    }
    join_state_text(s.join_state, states, sizeof states);
    g_snprintf(text, sizeof text, "%s",
               !s.told    ? "the SA does not tell"
               : s.member ? states
                          : "not a member");
    results_came(t->results, "%s", text);
    results_add(t->results, R_RFC4391_5_FULL_MEMBER_JOIN,
                !s.told                    ? OUTCOME_INCONCLUSIVE
                : s.join_state & JOIN_FULL ? OUTCOME_PASS
                                           : OUTCOME_FAIL,
                "FullMember", text);
}

static const struct check checks[] = {
    {.name = "membership",
     .transport = CAN_ASK_SA,
     .run = check_membership,
     .sends =
         "to the SA: MCMemberRecord of the peer's port in the broadcast group, with OpenSM's default SM_Key",
     .expects = "a FullMember",
     RULES(R_RFC4391_5_FULL_MEMBER_JOIN)},
};
const struct check_table membership_checks = {checks, G_N_ELEMENTS(checks)};

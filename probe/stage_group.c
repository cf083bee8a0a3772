/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stages around the broadcast group: there, within the port's means, open to it; and the host's
 * interface on it.
 */
#include "probe/own_group.h"
#include "probe/stages.h"

#include <stdio.h>
#include <string.h>

bool stage_broadcast_group(struct probe *p, const char *id)
{
    char why[256], mgid[48];
    results_sent(p->results, "SA Get MCMemberRecord of the broadcast-GID, scope 2 to 14");
    enum sa_result result = link_find_broadcast(p, why, sizeof why);
    if (result != SA_TOLD) {
        results_came(p->results, "%s", why);
        results_stage(
            p->results, id, result == SA_REFUSED ? OUTCOME_FAIL : OUTCOME_INCONCLUSIVE,
            result == SA_REFUSED
                ? "have the subnet manager create it: OpenSM does for partitions with the flag ipoib (partitions.conf)"
                : "",
            "%s", why);
        results_add(p->results, R_RFC4391_5_BROADCAST_GROUP_EXISTS,
                    result == SA_REFUSED ? OUTCOME_FAIL : OUTCOME_INCONCLUSIVE, "a broadcast group",
                    why);
        return false;
    }
    ip_text(true, p->link.mgid, mgid);
    results_came(p->results, "%s, MLID 0x%04x", mgid, p->link.mlid);
    results_add(p->results, R_RFC4391_5_BROADCAST_GROUP_EXISTS, OUTCOME_PASS, "", "it exists");
    snprintf(why, sizeof why, "searched from scope 2 outwards, found at %u", p->link.scope);
    results_add(p->results, R_RFC4391_4_1_SCOPE_SEARCH, OUTCOME_PASS, "", why);
    results_stage(p->results, id, OUTCOME_PASS, "",
                  "%s, MLID 0x%04x, Q_Key 0x%08x, SL %u, MTU %u octets", mgid, p->link.mlid,
                  p->link.qkey, p->link.sl, ib_mtu_octets(p->link.mtu));
    link_find_sm_key(p);
    return !p->stopped;
}

bool stage_group_mtu(struct probe *p, const char *id)
{
    unsigned group = ib_mtu_octets(p->link.mtu), port = ib_mtu_octets(p->t->facts.mtu);
    if (!group)
        results_stage(p->results, id, OUTCOME_FAIL,
                      "set the group's MTU in the partition configuration (mtu=4 is 2048)",
                      "the group's MTU code is %u, and InfiniBand has 1 to 5", p->link.mtu);
    else if (!p->t->facts.mtu)
        results_stage(p->results, id, OUTCOME_INCONCLUSIVE, "",
                      "group %u octets; the port's is told by libibverbs alone", group);
    else if (p->t->facts.mtu >= p->link.mtu)
        results_stage(p->results, id, OUTCOME_PASS, "",
                      "group %u octets, port %u: IP datagrams of %u", group, port, group - 4);
    else
        results_stage(
            p->results, id, OUTCOME_FAIL,
            "lower the group's MTU in the partition configuration (mtu=4 is 2048), or find out why this port's is so small",
            "the group's MTU is %u octets, the port's %u: the join is refused, or the driver gives up",
            group, port);
    return true;
}

bool stage_group_rate(struct probe *p, const char *id)
{
    uint32_t group = ib_rate_100mbps(p->link.rate), port = p->t->facts.rate_100mbps;
    if (!group || !port)
        results_stage(p->results, id, OUTCOME_INCONCLUSIVE, "",
                      "rate code %u of the group, or the port's rate, is not known", p->link.rate);
    else if (port >= group)
        results_stage(p->results, id, OUTCOME_PASS, "", "group %u.%u Gb/s, port %u.%u", group / 10,
                      group % 10, port / 10, port % 10);
    else
        results_stage(
            p->results, id, OUTCOME_FAIL,
            "lower the group's rate in the partition configuration (rate=3 is 10 Gb/s), or find out why this link is so slow",
            "the group's rate is %u.%u Gb/s, the port's %u.%u", group / 10, group % 10, port / 10,
            port % 10);
    return true;
}

/* ---- the join */

/* Varied at the group: as what else may this port join? */
static const char *find_join_state(struct probe *p)
{
    static const struct {
        uint8_t state;
        const char *name;
    } others[] = {{JOIN_NON, "NonMember"},
                  {JOIN_SEND_ONLY_NON, "SendOnlyNonMember"},
                  {JOIN_SEND_ONLY_FULL, "SendOnlyFullMember"}};
    struct mc_group g;
    uint16_t status;
    for (size_t i = 0; i < G_N_ELEMENTS(others) && !p->stopped; i++)
        if (group_join(p, p->link.mgid, others[i].state, false, &g, &status) == SA_TOLD)
            return others[i].name;
    return NULL;
}

/*
 * Varied in groups of the probe's own, which want what the broadcast group wants but for that:
 * which may it join?
 */
static const char *find_attribute(struct probe *p)
{
    static const struct {
        bool mtu, rate;
        const char *blame;
    } less[] = {
        {true, false, "the MTU: a group with the least one is granted (fabric.mtu)"},
        {false, true, "the rate: a group with the least one is granted (fabric.rate)"},
        {true, true,
         "the MTU and the rate: a group with the least of both is granted (fabric.mtu, fabric.rate)"}};
    uint16_t status;
    for (size_t i = 0; i < G_N_ELEMENTS(less) && !p->stopped; i++)
        if (own_group_try_least(p, less[i].mtu, less[i].rate, &status) == SA_TOLD)
            return less[i].blame;
    return NULL;
}

/* A refused join: one thing after the other is changed until the SM agrees. */
static void find_blame(struct probe *p, char *out, size_t size)
{
    uint16_t status;
    const char *state = find_join_state(p);
    if (state) {
        snprintf(
            out, size,
            "to blame: the JoinState, for as %s the port may join: look at the partition's membership and the SM's log",
            state);
        return;
    }
    if (own_group_try(p, NULL, &status) == SA_TOLD) {
        snprintf(
            out, size,
            "to blame: this group alone, for one with the same attributes is granted: look at the SM's log");
        return;
    }
    const char *attribute = find_attribute(p);
    if (attribute)
        snprintf(out, size, "to blame: %s", attribute);
    else
        snprintf(
            out, size,
            "every JoinState is refused, and groups of the least MTU and rate too: to blame are the partition or the port's GID; look at the SM's log");
}

static void tell_refusal(struct probe *p, const char *id, uint16_t status)
{
    char blame[VERDICT_TEXT];
    results_came(p->results, "status 0x%04x, %s", status, sa_status_name(status));
    find_blame(p, blame, sizeof blame);
    results_stage(p->results, id, OUTCOME_FAIL, blame,
                  "the subnet administrator refuses: status 0x%04x, %s", status,
                  sa_status_name(status));
}

bool stage_join(struct probe *p, const char *id)
{
    uint8_t state;
    char text[64];
    bool member, known;
    uint16_t status = 0;
    struct mc_group g;
    results_sent(p->results, "SA Set MCMemberRecord of the broadcast-GID, JoinState FullMember");
    if (group_standing(p, p->link.mgid, &state, &member, &known) == SA_TOLD && member) {
        results_stage(p->results, id, OUTCOME_PASS, "", "this port is in the group already%s%s",
                      known ? ": " : "", known ? join_state_text(state, text, sizeof text) : "");
        return true;
    }
    enum sa_result result = group_join(p, p->link.mgid, JOIN_FULL, false, &g, &status);
    switch (result) {
    case SA_TOLD:
        results_stage(
            p->results, id, OUTCOME_PASS, "",
            "accepted; this port was not in the group, and leaves it again at the end, unless an interface of this host is up there then");
        return true;
    case SA_REFUSED:
        tell_refusal(p, id, status);
        return false;
    default:
        results_stage(p->results, id, OUTCOME_INCONCLUSIVE, "", "%s", sa_silence_text(p, result));
        return false;
    }
}

bool stage_send_only_join(struct probe *p, const char *id)
{
    uint8_t state;
    bool member, known;
    uint16_t status = 0;
    enum sa_result result = SA_TOLD;
    struct mc_group g;
    if (group_standing(p, p->link.mgid, &state, &member, &known) != SA_TOLD || !known) {
        results_stage(
            p->results, id, VERDICT_SKIPPED, "",
            "the SA does not tell what this port is in the group: it could not be undone with certainty");
        return true;
    }
    if (state & JOIN_SEND_ONLY_FULL)
        results_stage(p->results, id, OUTCOME_PASS, "", "this port is one already");
    else if ((result = group_join(p, p->link.mgid, JOIN_SEND_ONLY_FULL, false, &g, &status)) ==
             SA_TOLD)
        results_stage(p->results, id, OUTCOME_PASS, "", "accepted, and left again");
    else if (result == SA_REFUSED)
        results_stage(p->results, id, OUTCOME_NOTED,
                      "Linux then joins as FullMember wherever it sends",
                      "refused: status 0x%04x, %s", status, sa_status_name(status));
    else
        results_stage(p->results, id, OUTCOME_INCONCLUSIVE, "", "%s", sa_silence_text(p, result));
    return !p->stopped;
}

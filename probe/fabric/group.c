/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stages about the broadcast group: existence, the port's MTU and rate, joining; and the
 * SendOnlyFullMember join.
 */
#include <stdio.h>
#include <string.h>

#include "hca/mcgroup.h"
#include "probe/fabric/made_group.h"
#include "probe/fabric/stages.h"
#include "probe/link/groups.h"
#include "probe/link/hostif.h"
#include "probe/link/link.h"
#include "probe/link/sysfs.h"
#include "probe/link/sa.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "probe/run/text.h"

static void report_missing_group(struct target *t, const char *id, const char *why)
{
    static const char create[] =
        "have the subnet manager create it: OpenSM does for partitions with the flag ipoib (partitions.conf)";
    uint16_t other = link_other_partition(t);
    char *text = other ? g_strdup_printf("%s; 0x%04x has one", why, other) : g_strdup(why),
         *advice = other
                       ? g_strdup_printf("%s; or use that partition: --pkey 0x%04x", create, other)
                       : g_strdup(create);
    results_stage(t->results, id, OUTCOME_FAIL, advice, "%s", text);
    g_free(advice);
    g_free(text);
}

static void report_no_group(struct target *t, const char *id, const struct group_search *s,
                            const char *why)
{
    results_received(t->results, "%s", why);
    if (s->missing)
        report_missing_group(t, id, why);
    else
        results_stage(t->results, id, OUTCOME_INCONCLUSIVE, sa_failure_advice(s->result, s->status),
                      "%s", why);
    results_add(t->results, R_RFC4391_5_BROADCAST_GROUP_EXISTS,
                s->missing ? OUTCOME_FAIL : OUTCOME_INCONCLUSIVE, "a broadcast group", why);
}

static bool stage_broadcast_group(struct target *t, const char *id)
{
    GError *why = NULL;
    char mgid[48], found[64];
    results_sent(t->results, "SA Get MCMemberRecord of the broadcast-GID, scope 2 to 14");
    struct group_search search = link_find_broadcast(t, &why);
    if (search.result != SA_SUCCESS) {
        report_no_group(t, id, &search, why->message);
        g_error_free(why);
        return false;
    }
    text_ip(true, t->link->group.mgid, mgid);
    results_received(t->results, "%s, MLID 0x%04x", mgid, t->link->group.mlid);
    results_add(t->results, R_RFC4391_5_BROADCAST_GROUP_EXISTS, OUTCOME_PASS, "", "it exists");
    snprintf(found, sizeof found, "searched from scope 2 outwards, found at %u",
             t->link->group.scope);
    results_add(t->results, R_RFC4391_4_1_SCOPE_SEARCH, OUTCOME_PASS, "", found);
    results_stage(t->results, id, OUTCOME_PASS, "",
                  "%s, MLID 0x%04x, Q_Key 0x%08x, SL %u, MTU %u bytes", mgid, t->link->group.mlid,
                  t->link->group.qkey, t->link->group.sl, ib_mtu_bytes(t->link->group.mtu));
    link_find_sm_key(t);
    return !t->run->stopped;
}

static bool stage_group_mtu(struct target *t, const char *id)
{
    unsigned group = ib_mtu_bytes(t->link->group.mtu),
             port = ib_mtu_bytes(t->link->transport->facts.mtu);
    if (!group)
        results_stage(t->results, id, OUTCOME_FAIL,
                      "set the group's MTU in the partition configuration (mtu=4 is 2048)",
                      "the group's MTU code is %u, and InfiniBand has 1 to 5", t->link->group.mtu);
    else if (!t->link->transport->facts.mtu)
        checked_add_stage_without(t->results->checked, id,
                                  "the port has no libibverbs device, which reports its MTU");
    else if (t->link->transport->facts.mtu >= t->link->group.mtu)
        results_stage(t->results, id, OUTCOME_PASS, "",
                      "group %u bytes, port %u: IP datagrams of %u", group, port, group - 4);
    else
        results_stage(
            t->results, id, OUTCOME_FAIL,
            "lower the group's MTU in the partition configuration (mtu=4 is 2048), or find out why this port's is so small",
            "the group's MTU is %u bytes, the port's %u: the join is refused, or the driver gives up",
            group, port);
    return true;
}

/* With the name of the port's rate in OpenSM's partitions.conf, which is its code in records. */
static void advise_rate(struct target *t, uint32_t rate_100mbps)
{
    const struct name *rate = ib_rate_names;
    while (rate->name && ib_rate_100mbps((uint8_t)rate->value) != rate_100mbps)
        rate++;
    char *code = rate->name ? g_strdup_printf(" (rate=%u is %s)", (unsigned)rate->value, rate->name)
                            : g_strdup("");
    results_advise(t->results,
                   "lower the group's rate in the partition configuration%s, or find out why this "
                   "link is so slow: iblinkinfo",
                   code);
    g_free(code);
}

static bool stage_group_rate(struct target *t, const char *id)
{
    uint32_t group = ib_rate_100mbps(t->link->group.rate),
             port = t->link->transport->facts.rate_100mbps;
    if (!group || !port)
        results_stage(t->results, id, OUTCOME_INCONCLUSIVE, "",
                      "rate code %u of the group, or the port's rate, is not known",
                      t->link->group.rate);
    else if (port >= group)
        results_stage(t->results, id, OUTCOME_PASS, "", "group %u.%u Gb/s, port %u.%u", group / 10,
                      group % 10, port / 10, port % 10);
    else {
        results_stage(t->results, id, OUTCOME_FAIL, "",
                      "the group's rate is %u.%u Gb/s, the port's %u.%u", group / 10, group % 10,
                      port / 10, port % 10);
        advise_rate(t, port);
    }
    return true;
}

/* ---- the join */

/* Tries the other JoinStates on the broadcast group and returns the first that is accepted. */
static const char *find_join_state(struct target *t)
{
    static const struct {
        uint8_t state;
        const char *name;
    } others[] = {{JOIN_NON, "NonMember"},
                  {JOIN_SEND_ONLY_NON, "SendOnlyNonMember"},
                  {JOIN_SEND_ONLY_FULL, "SendOnlyFullMember"}};
    struct mc_group g;
    uint16_t status;
    for (size_t i = 0; i < G_N_ELEMENTS(others) && !t->run->stopped; i++)
        if (group_join(t, t->link->group.mgid, others[i].state, false, &g, &status) == SA_SUCCESS)
            return others[i].name;
    return NULL;
}

/*
 * Tries temporary groups with the broadcast group's attributes, but the minimum MTU or rate, and
 * returns the first that is accepted.
 */
static const char *find_refused_attribute(struct target *t)
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
    for (size_t i = 0; i < G_N_ELEMENTS(less) && !t->run->stopped; i++)
        if (made_group_try_least(t, less[i].mtu, less[i].rate, &status) == SA_SUCCESS)
            return less[i].blame;
    return NULL;
}

/* Finds the cause of a refused join: changes one parameter after the other until the SM accepts. */
static void find_refused_parameter(struct target *t, char *out, size_t size)
{
    uint16_t status;
    const char *state = find_join_state(t);
    if (state) {
        snprintf(
            out, size,
            "cause: the JoinState, because the port may join as %s: check the partition's membership and the SM's log",
            state);
        return;
    }
    if (made_group_try(t, NULL, &status) == SA_SUCCESS) {
        snprintf(
            out, size,
            "only this group is rejected; the SA grants one with the same attributes: see the SM's log");
        return;
    }
    const char *attribute = find_refused_attribute(t);
    if (t->run->sa.failures > 0 || t->run->sa.failure == SA_MALFORMED)
        snprintf(out, size, "the cause is not known: %s",
                 sa_failure_text(t, t->run->sa.failure, t->run->sa.status));
    else if (attribute)
        snprintf(out, size, "cause: %s", attribute);
    else
        snprintf(
            out, size,
            "every JoinState is rejected, and groups of the smallest MTU and rate too: the cause is the partition or the port's GID; see the SM's log");
}

static void report_refusal(struct target *t, const char *id, uint16_t status)
{
    char blame[VERDICT_TEXT];
    results_received(t->results, "status 0x%04x, %s", status, sa_status_name(status));
    find_refused_parameter(t, blame, sizeof blame);
    results_stage(t->results, id, OUTCOME_FAIL, blame, "the SA refuses: status 0x%04x, %s", status,
                  sa_status_name(status));
}

/* There was no join, or the SA did not answer it. */
static void report_no_membership(struct target *t, const char *id, enum sa_result result,
                                 uint16_t status)
{
    results_stage(t->results, id, OUTCOME_INCONCLUSIVE, sa_failure_advice(result, status), "%s%s",
                  result == SA_REJECTED ? "whether this port is in the group is not known: " : "",
                  sa_failure_text(t, result, status));
}

/*
 * The interface joined when it came up, and the SA does not know it any more; or it is coming up,
 * and has no carrier yet.
 */
static bool has_lost_group(const struct target *t)
{
    char *name = host_interface(t->link), *carrier = sysfs_interface(name ? name : "", "carrier");
    bool lost = name && strcmp(carrier, "1") == 0;
    g_free(carrier);
    g_free(name);
    return lost;
}

static void report_lost_group(struct target *t, const char *id)
{
    char *name = host_interface(t->link);
    results_stage(t->results, id, OUTCOME_FAIL, "",
                  "%s is up, but the SA did not list its port in the group before this test: it "
                  "received nothing from the group; the SM was restarted without reregistration of "
                  "its clients?",
                  name ? name : "the interface");
    results_advise(
        t->results,
        "from a console: ip link set %s down; ip link set %s up; then other hosts: saquery -m",
        name ? name : "INTERFACE", name ? name : "INTERFACE");
    g_free(name);
}

static bool stage_join(struct target *t, const char *id)
{
    struct member_state m;
    char text[64];
    uint16_t status;
    struct mc_group g;
    results_sent(t->results, "SA Set MCMemberRecord of the broadcast-GID, JoinState FullMember");
    enum sa_result result = group_member_state(t, t->link->group.mgid, &m);
    status = m.status;
    if (result == SA_SUCCESS && m.member) {
        results_stage(t->results, id, OUTCOME_PASS, "", "this port is in the group already%s%s",
                      m.known ? ": " : "",
                      m.known ? join_state_text(m.join_state, text, sizeof text) : "");
        return true;
    }
    if (result == SA_SUCCESS)
        result = group_join(t, t->link->group.mgid, JOIN_FULL, false, &g, &status);
    if (result == SA_SUCCESS && has_lost_group(t))
        report_lost_group(t, id);
    else if (result == SA_SUCCESS)
        results_stage(
            t->results, id, OUTCOME_PASS, "",
            "accepted; this port was not in the group, and leaves it again at the end, unless an interface of this host is up there then");
    else if (group_join_is_refused(t, result))
        report_refusal(t, id, status);
    else
        report_no_membership(t, id, result, status);
    return result == SA_SUCCESS;
}

static void try_send_only(struct target *t, const char *id)
{
    uint16_t status = 0;
    struct mc_group g;
    enum sa_result result = group_join(t, t->link->group.mgid, JOIN_SEND_ONLY_FULL, false, &g,
                                       &status);
    if (result == SA_SUCCESS)
        results_stage(t->results, id, OUTCOME_PASS, "", "accepted; it leaves again at the end");
    else if (group_join_is_refused(t, result))
        results_stage(t->results, id, OUTCOME_NOTED,
                      "Linux then joins every group that it sends to as FullMember",
                      "refused: status 0x%04x, %s", status, sa_status_name(status));
    else
        report_no_membership(t, id, result, status);
}

/* The SA discloses the JoinState only to requesters with its SM_Key (IBA 15.4.1). */
static bool stage_send_only_join(struct target *t, const char *id)
{
    struct member_state m;
    enum sa_result result = group_member_state(t, t->link->group.mgid, &m);
    bool wrong_key = t->link->sm_key_result == SA_SUCCESS ||
                     t->link->sm_key_result == SA_NO_RESPONSE;
    if (result != SA_SUCCESS)
        report_no_membership(t, id, result, m.status);
    else if (!m.known && !wrong_key)
        report_no_membership(t, id, t->link->sm_key_result, t->link->sm_key_status);
    else if (!m.known)
        results_stage(
            t->results, id, OUTCOME_NOTED, "",
            "not tested: the SA says only with its SM_Key how this port joined the group, and the change could not be undone safely");
    else if (m.join_state & JOIN_SEND_ONLY_FULL)
        results_stage(t->results, id, OUTCOME_PASS, "", "this port is one already");
    else
        try_send_only(t, id);
    return !t->run->stopped;
}

static const struct stage_of_fabric stages[] = {
    {.id = "fabric.broadcast-group",
     .looks_at = "the partition's broadcast group exists (scope 2, then larger scopes)",
     .sends = "SA Get MCMemberRecord",
     .run = stage_broadcast_group,
     .transport = CAN_QUERY_SA,
     RULES(R_RFC4391_5_BROADCAST_GROUP_EXISTS, R_RFC4391_4_1_SCOPE_SEARCH)},
    {.id = "fabric.mtu",
     .looks_at = "the port supports the group's MTU",
     .sends = "nothing",
     .run = stage_group_mtu,
     .transport = CAN_QUERY_SA},
    {.id = "fabric.rate",
     .looks_at = "the port supports the group's rate",
     .sends = "nothing",
     .run = stage_group_rate,
     .transport = CAN_QUERY_SA},
};
const struct stage_table group_stages = {stages, G_N_ELEMENTS(stages)};

static const struct stage_of_fabric joins[] = {
    {.id = "fabric.join",
     .looks_at = "the SA lets this port join the broadcast group",
     .sends =
         "SA Set MCMemberRecord, only if it is not in it; Delete of that at the end, unless an interface of this host is up there then",
     .run = stage_join,
     .transport = CAN_QUERY_SA},
    {.id = "fabric.send-only-join",
     .looks_at = "the SA lets it join as SendOnlyFullMember, as Linux does to send",
     .sends = "SA Set MCMemberRecord, only if it is known not to be; Delete of that at the end",
     .run = stage_send_only_join,
     .transport = CAN_QUERY_SA},
};
const struct stage_table join_stages = {joins, G_N_ELEMENTS(joins)};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests how the SM handles a group: creation, each kind of join, leave, and traps. Uses a temporary
 * group with the broadcast group's attributes that no host uses.
 */
#include <stdio.h>
#include <string.h>

#include "hca/client.h"
#include "hca/mcgroup.h"
#include "probe/fabric/made_group.h"
#include "probe/fabric/stages.h"
#include "probe/link/groups.h"
#include "probe/link/link.h"
#include "probe/link/sa.h"
#include "probe/link/transport.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "wire/put.h"

enum { TRAP_WAIT_MS = 1500 };

/* ---- the traps 66 and 67 */

static const uint16_t group_traps[] = {TRAP_GROUP_CREATED, TRAP_GROUP_DELETED};

/* IBA 13.4.8.3: generic traps from all issuers, for all groups (the GID is zero). */
static enum sa_result subscribe(struct target *t, uint16_t trap, bool on, uint16_t *status)
{
    enum { ALL_TYPES = 0xffff, ALL_LIDS = 0xffff, QP1 = 1, RESPONSE_TIME = 18 };
    struct sa_query q = {.method = SA_SET, .attribute = SA_INFORM_INFO};
    struct sa_response a;
    put16(q.record + INFORM_LID_BEGIN, ALL_LIDS);
    q.record[INFORM_GENERIC] = 1;
    q.record[INFORM_SUBSCRIBE] = on;
    put16(q.record + INFORM_TYPE, ALL_TYPES);
    put16(q.record + INFORM_TRAP, trap);
    put32(q.record + INFORM_QPN_TIME, QP1 << 8 | RESPONSE_TIME);
    memset(q.record + INFORM_PRODUCER, 0xff, 3);
    enum sa_result result = sa_query_send(t, &q, &a);
    *status = a.status;
    sa_response_clear(&a);
    return result;
}

struct group_life {
    uint8_t mgid[16];
    bool watches;
    enum sa_result subscriptions[G_N_ELEMENTS(group_traps)]; /* SA_REJECTED also if not tried */
    char subscription[200];                                  /* why one failed; "": none did */
    enum transport_result traps[G_N_ELEMENTS(group_traps)];  /* valid if watches is set */
    char why[256];                                           /* why a trap could not be received */
    enum sa_result made, non_member, send_only;
    enum { NOT_ASKED, MAKES_GROUP, MAKES_NONE } send_only_join; /* of a group that does not exist */
    GString *not_done; /* requests that the SA refused or did not answer; ends the stage's text */
    enum sa_result failure; /* of a request that the SA did not answer; SA_SUCCESS: none */
    bool left; /* the SA confirmed the FullMember's leave; otherwise the Delete may be lost */
    bool gone, stays;  /* state without the FullMember; neither: the SA did not disclose it */
    uint16_t status;   /* the SA's status if it refused to create the group, or a Get before it */
    bool made_refused; /* the former */
};

/* ERROR: traps can no longer be received. */
static void end_wait(struct target *t, struct group_life *c, enum transport_result result)
{
    for (size_t i = 0; i < G_N_ELEMENTS(group_traps); i++)
        if (c->traps[i] != TRANSPORT_OK)
            c->traps[i] = result;
    if (result == TRANSPORT_ERROR)
        g_strlcpy(c->why, t->link->transport->error, sizeof c->why);
}

static void take_notice(struct group_life *c, const uint8_t *notice)
{
    for (size_t i = 0; i < G_N_ELEMENTS(group_traps); i++)
        if (be16(notice + NOTICE_TRAP) == group_traps[i] &&
            memcmp(notice + NOTICE_DETAILS_GID, c->mgid, 16) == 0)
            c->traps[i] = TRANSPORT_OK;
}

/* The group was made and left before: one wait is enough for both. */
static void await_traps(struct target *t, struct group_life *c)
{
    uint8_t notice[NOTICE_SIZE];
    struct transport *transport = t->link->transport;
    gint64 end = g_get_monotonic_time() + (gint64)TRAP_WAIT_MS * 1000;
    c->traps[0] = c->traps[1] = TRANSPORT_NOTHING;
    while (c->traps[0] != TRANSPORT_OK || c->traps[1] != TRANSPORT_OK) {
        gint64 left = (end - g_get_monotonic_time()) / 1000;
        enum transport_result result = TRANSPORT_NOTHING;
        if (left > 0 && !t->run->stopped)
            result = transport->ops->next_notice(transport, (int)left, notice);
        t->run->stopped |= result == TRANSPORT_STOPPED;
        if (result != TRANSPORT_OK) {
            end_wait(t, c, t->run->stopped ? TRANSPORT_STOPPED : result);
            return;
        }
        take_notice(c, notice);
    }
}

static const char *group_state_text(const struct group_life *c)
{
    return c->gone    ? "the group is gone"
           : !c->left ? "the SA did not confirm the FullMember's leave"
           : c->stays ? "the group is still there"
                      : "the SA did not say whether the group still exists";
}

/* Notes a request that was not done, for the end of the stage's text. Returns its result. */
static enum sa_result done(const struct target *t, struct group_life *c, const char *request,
                           enum sa_result result, uint16_t status)
{
    if (result != SA_SUCCESS)
        g_string_append_printf(c->not_done, "%s%s: %s", c->not_done->len ? "; " : "", request,
                               sa_failure_text(t, result, status));
    return result;
}

/* Returns the result of the last request. */
static enum sa_result noted(const struct target *t, struct group_life *c, enum sa_result result)
{
    if (t->run->sa.failures > 0)
        c->failure = t->run->sa.failure;
    return result;
}

static void watch(struct target *t, struct group_life *c)
{
    const struct transport_ops *ops = t->link->transport->ops;
    enum transport_result watched = ops->watch ? ops->watch(t->link->transport) : TRANSPORT_NOTHING;
    c->watches = watched == TRANSPORT_OK;
    if (!c->watches && watched != TRANSPORT_NOTHING)
        g_strlcpy(c->subscription, "this host cannot receive them", sizeof c->subscription);
    for (size_t i = 0; c->watches && i < G_N_ELEMENTS(group_traps); i++) {
        uint16_t status;
        enum sa_result result = noted(t, c, subscribe(t, group_traps[i], true, &status));
        c->subscriptions[i] = result;
        c->watches = result == SA_SUCCESS;
        if (!c->watches)
            g_snprintf(c->subscription, sizeof c->subscription, "subscription to trap %u: %s",
                       group_traps[i], sa_failure_text(t, result, status));
    }
}

/* A subscription that was not confirmed may exist or not: the SA may refuse to end it. */
static void unwatch(struct target *t, struct group_life *c)
{
    for (size_t i = 0; i < G_N_ELEMENTS(group_traps); i++) {
        uint16_t status;
        if (c->subscriptions[i] == SA_REJECTED)
            continue;
        enum sa_result result = subscribe(t, group_traps[i], false, &status);
        char request[40];
        g_snprintf(request, sizeof request, "end of the subscription to trap %u", group_traps[i]);
        if (c->subscriptions[i] == SA_SUCCESS)
            done(t, c, request, result, status);
    }
}

/* ---- life of a group */

static bool leave_noted(struct target *t, struct group_life *c, uint8_t join_state)
{
    bool left = group_leave(t, c->mgid, join_state);
    noted(t, c, SA_SUCCESS);
    return left;
}

/* A SendOnlyNonMember must not make the group: a refusal of the join is the expected response. */
static void try_to_make_by_send_only(struct target *t, struct group_life *c)
{
    struct mc_group g;
    uint16_t status;
    enum sa_result result = noted(t, c,
                                  group_join(t, c->mgid, JOIN_SEND_ONLY_NON, true, &g, &status));
    if (group_join_is_refused(t, result))
        c->send_only_join = MAKES_NONE;
    else if (done(t, c, "SendOnlyNonMember join of no group", result, status) == SA_SUCCESS)
        c->send_only_join = MAKES_GROUP;
    leave_noted(t, c, JOIN_SEND_ONLY_NON);
}

/* Joins the group in another way. */
static enum sa_result join_too(struct target *t, struct group_life *c, uint8_t join_state,
                               const char *name)
{
    struct mc_group g;
    uint16_t status;
    enum sa_result result = group_join(t, c->mgid, join_state, false, &g, &status);
    return noted(t, c, done(t, c, name, result, status));
}

/* Is the group there without its FullMember? */
static void look_for_group(struct target *t, struct group_life *c)
{
    struct mc_group g;
    uint16_t status;
    enum sa_result after = noted(t, c, group_get(t, c->mgid, &g, &status));
    c->gone = group_is_missing(after, status);
    c->stays = c->left && after == SA_SUCCESS;
    if (!c->gone)
        done(t, c, "whether the group still exists", after, status);
}

static void create_and_leave(struct target *t, struct group_life *c)
{
    struct mc_group g;
    try_to_make_by_send_only(t, c);
    c->made = group_join(t, c->mgid, JOIN_FULL, true, &g, &c->status);
    c->made_refused = group_join_is_refused(t, c->made);
    if (c->made == SA_MALFORMED)
        leave_noted(t, c, JOIN_FULL);
    if (c->made != SA_SUCCESS)
        return;
    c->non_member = join_too(t, c, JOIN_NON, "NonMember join");
    c->send_only = join_too(t, c, JOIN_SEND_ONLY_NON, "SendOnlyNonMember join");
    /* The port's remaining JoinStates do not keep a group alive. */
    c->left = leave_noted(t, c, JOIN_FULL);
    if (c->watches)
        await_traps(t, c);
    look_for_group(t, c);
    leave_noted(t, c, JOIN_SEND_ONLY_NON);
    leave_noted(t, c, JOIN_NON);
}

static void report_send_only(struct results *r, const struct group_life *c)
{
    bool makes = c->send_only_join == MAKES_GROUP, keeps = c->send_only == SA_SUCCESS && c->stays;
    bool neither = c->send_only_join == MAKES_NONE && c->send_only == SA_SUCCESS && c->gone;
    results_add(r, R_RFC4391_10_SENDONLY_SEMANTICS,
                makes || keeps ? OUTCOME_FAIL
                : neither      ? OUTCOME_PASS
                               : OUTCOME_INCONCLUSIVE,
                neither ? "" : "it neither makes a group nor keeps it",
                makes              ? "a SendOnlyNonMember join made the group"
                : keeps            ? "a SendOnlyNonMember keeps the group"
                : neither          ? "a SendOnlyNonMember neither makes a group nor keeps it"
                : c->not_done->len ? c->not_done->str
                                   : group_state_text(c));
}

static void report_rules(struct target *t, const struct group_life *c)
{
    struct results *r = t->results;
    results_sent(
        r, "SA Set MCMemberRecord of a group of the probe's own, then Delete of its FullMember");
    results_received(r, "%s", group_state_text(c));
    results_add(r, R_RFC4391_10_LEAVE, c->gone ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE,
                c->gone ? "" : "the group goes with its last FullMember",
                c->gone ? "the SA takes a FullMember leave, and the group goes with it"
                        : group_state_text(c));
    report_send_only(r, c);
    bool router = c->non_member == SA_SUCCESS && c->watches;
    results_add(r, R_RFC4391_11_ROUTER_NONMEMBER_JOIN, router ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE,
                router ? "" : "a NonMember join, and a subscription with a wildcard MGID",
                router               ? "NonMember join and subscription to all groups are accepted"
                : c->subscription[0] ? c->subscription
                : c->not_done->len   ? c->not_done->str
                                     : "another program of this host receives the traps");
}

static const char *trap_text(enum transport_result result)
{
    return result == TRANSPORT_OK        ? "received"
           : result == TRANSPORT_NOTHING ? "not received"
                                         : "could not be received";
}

/* A trap that this host cannot receive proves nothing about the SM; a refusal is no result. */
static void report_unwatched(struct target *t, const char *id, const struct group_life *c)
{
    if (c->failure != SA_SUCCESS)
        results_stage(t->results, id, OUTCOME_INCONCLUSIVE, "", "%s; %s", group_state_text(c),
                      sa_failure_text(t, c->failure, t->run->sa.status));
    else
        results_stage(
            t->results, id, c->subscription[0] ? OUTCOME_INCONCLUSIVE : OUTCOME_NOTED, "",
            "accepted%s; traps 66 and 67 were not tested: %s", c->gone ? " and gone again" : "",
            c->subscription[0] ? c->subscription : "another program of this host receives them");
}

static void report_traps(struct target *t, const char *id, const struct group_life *c)
{
    /* No deletion is reported for a group that still exists. */
    bool missed = c->traps[0] == TRANSPORT_NOTHING || (c->traps[1] == TRANSPORT_NOTHING && c->gone);
    if (!c->watches)
        report_unwatched(t, id, c);
    else if (c->traps[0] == TRANSPORT_OK && c->traps[1] == TRANSPORT_OK)
        results_stage(t->results, id, OUTCOME_PASS, "",
                      "created, %sleft and deleted; traps 66 and 67 were received",
                      c->not_done->len ? "" : "joined in every way, ");
    else
        results_stage(
            t->results, id, missed ? OUTCOME_FAIL : OUTCOME_INCONCLUSIVE,
            missed
                ? "these traps inform senders and routers that wait for a group: see the SM's log"
                : "",
            "trap 66 (created) %s, trap 67 (deleted) %s%s%s%s%s", trap_text(c->traps[0]),
            trap_text(c->traps[1]), c->why[0] ? "; " : "", c->why, c->gone ? "" : "; ",
            c->gone ? "" : group_state_text(c));
}

static void report_no_mgid(struct target *t, const char *id, enum sa_result found, uint16_t status)
{
    if (found != SA_REJECTED)
        results_stage(t->results, id, OUTCOME_INCONCLUSIVE, "", "%s",
                      sa_failure_text(t, found, status));
    else if (!status)
        results_stage(t->results, id, OUTCOME_INCONCLUSIVE, "", "no free MGID was found");
    else
        results_stage(t->results, id, OUTCOME_INCONCLUSIVE, sa_failure_advice(found, status),
                      "the SA does not say whether a group exists: 0x%04x, %s", status,
                      sa_status_name(status));
}

static void report_not_made(struct target *t, const char *id, const struct group_life *c)
{
    if (c->made == SA_REJECTED && c->made_refused) {
        results_stage(
            t->results, id, OUTCOME_FAIL,
            "hosts cannot create IP multicast groups either: check that MLIDs are left (fabric.census), and see the SM's log",
            "a group with the broadcast group's attributes is not made: status 0x%04x, %s",
            c->status, sa_status_name(c->status));
        checked_advise_stage(t->results->checked, "fabric.own-groups",
                             "first fabric.own-group: the SM makes no group, and an interface "
                             "that is set down and up may lose others");
    } else
        results_stage(t->results, id, OUTCOME_INCONCLUSIVE, "", "a group is not made%s: %s",
                      c->made == SA_MALFORMED ? " as requested" : "",
                      sa_failure_text(t, c->made, c->status));
}

static bool stage_own_group(struct target *t, const char *id)
{
    struct group_life c = {.subscriptions = {SA_REJECTED, SA_REJECTED}};
    uint16_t status;
    enum sa_result found = made_group_mgid(t, c.mgid, &status);
    if (found != SA_SUCCESS) {
        report_no_mgid(t, id, found, status);
        return !t->run->stopped;
    }
    c.not_done = g_string_new(NULL);
    watch(t, &c);
    create_and_leave(t, &c);
    t->link->transport->ending |= t->run->stopped; /* always remove the subscription */
    unwatch(t, &c);
    if (c.made == SA_SUCCESS) {
        report_rules(t, &c);
        report_traps(t, id, &c);
    } else
        report_not_made(t, id, &c);
    if (c.not_done->len)
        results_withhold_stage(t->results, "%s", c.not_done->str);
    g_string_free(c.not_done, TRUE);
    return !t->run->stopped;
}

static const struct stage_of_fabric stages[] = {
    {.id = "fabric.own-group",
     .looks_at =
         "the SM creates, announces and deletes a multicast group, and lets this port join it",
     .sends =
         "SA Set and Delete MCMemberRecord of a group that does not exist, Set InformInfo of traps 66 and 67",
     .run = stage_own_group,
     .of_subnet = true,
     .transport = CAN_QUERY_SA,
     RULES(R_RFC4391_10_LEAVE, R_RFC4391_10_SENDONLY_SEMANTICS,
           R_RFC4391_11_ROUTER_NONMEMBER_JOIN)},
};
const struct stage_table own_group_stages = {stages, G_N_ELEMENTS(stages)};

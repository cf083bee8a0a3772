/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stage fabric.own-group, with SAs that keep, create or lose groups, fall silent, or send no
 * traps.
 */
#include "probe_peer.h"

#include <string.h>

#include "sa_answer.h"
#include "wire/put.h"
#include "probe/fabric/stages.h"
#include "wire/smp.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

enum { NO_RECORDS = 0x0300, DENIED = 0x0200, NOT_PERMITTED = 0x0700 }; /* IBA 15.2.1.3 */

/* An SA with one group, and its faults. */
struct made_sa {
    bool makes, keeps;      /* a SendOnlyNonMember creates the group, keeps it */
    bool refuses_send_only; /* rejects its join of a group that exists */
    bool refuses_non_member, hides_states;
    uint16_t subscription[4]; /* statuses of its responses: trap 66, trap 67, and their ends */
    bool loses_leave, mute_at_leave; /* loses the FullMember's Delete, or the response to it */
    /*
     * status of its response to the last Get, which asks whether the group is deleted; 0: the true
     * status
     */
    uint16_t at_last;
    bool silent_at_last;              /* no response to that Get */
    enum transport_result notices[2]; /* results of waiting for the traps */
};

static struct made_sa sa;
static struct {
    bool there;
    uint8_t held, joined, mgid[16]; /* JoinStates: now, and of all joins */
    bool full_left;
    unsigned notices, subscriptions;
} now;

static uint16_t change(const struct sa_query *q)
{
    uint8_t state = q->record[MCM_SCOPE_JOIN];
    memcpy(now.mgid, q->record + MCM_MGID, 16);
    if (q->method == SA_DELETE) {
        now.held &= (uint8_t)~state;
        now.full_left |= state == JOIN_FULL;
        now.there = now.held & JOIN_FULL || (sa.keeps && now.held & JOIN_SEND_ONLY_NON);
        return 0;
    }
    if (!now.there && state != JOIN_FULL && !sa.makes)
        return DENIED;
    if (now.there && state == JOIN_SEND_ONLY_NON && sa.refuses_send_only)
        return DENIED;
    if (state == JOIN_NON && sa.refuses_non_member)
        return DENIED;
    now.joined |= state;
    now.held |= state;
    now.there = true;
    return 0;
}

/* Returns the status of the response, or -1: no response. */
static int respond(const struct sa_query *q)
{
    bool of_port = q->mask & MCM_HAS_PORT_GID;
    bool full_leaves = q->method == SA_DELETE && q->record[MCM_SCOPE_JOIN] == JOIN_FULL;
    if (q->attribute == SA_INFORM_INFO)
        return sa.subscription[now.subscriptions++];
    if (q->attribute != SA_MC_MEMBER_RECORD)
        return 0;
    if (full_leaves && sa.loses_leave)
        return -1;
    if (q->method != SA_GET) {
        int status = change(q);
        return full_leaves && sa.mute_at_leave ? -1 : status;
    }
    if (!of_port && now.full_left && (sa.silent_at_last || sa.at_last))
        return sa.silent_at_last ? -1 : sa.at_last;
    return (of_port ? now.held != 0 : now.there) ? 0 : NO_RECORDS;
}

static enum transport_result query(struct transport *t, const struct sa_query *q, int ms,
                                   struct sa_response *a)
{
    uint8_t record[SA_DATA_SIZE] = {0};
    int status = respond(q);
    (void)t;
    (void)ms;
    if (status < 0)
        return TRANSPORT_NOTHING;
    a->stride = 0;
    sa_answer_head(q, (uint16_t)status, a);
    memcpy(record, q->record, MCM_SIZE);
    sa_answer_group(record);
    record[MCM_SCOPE_JOIN] = (uint8_t)(0x20 | (sa.hides_states ? 0 : now.held));
    if (status == 0)
        g_byte_array_append(a->records, record, sizeof record);
    return TRANSPORT_OK;
}

static enum transport_result watch(struct transport *t)
{
    (void)t;
    return TRANSPORT_OK;
}

static enum transport_result next_notice(struct transport *t, int ms, uint8_t notice[NOTICE_SIZE])
{
    unsigned n = now.notices++;
    (void)ms;
    if (sa.notices[n] == TRANSPORT_ERROR)
        g_strlcpy(t->error, "the device is gone", sizeof t->error);
    assert_true(n < 2);
    memset(notice, 0, NOTICE_SIZE);
    put16(notice + NOTICE_TRAP, n == 0 ? TRAP_GROUP_CREATED : TRAP_GROUP_DELETED);
    memcpy(notice + NOTICE_DETAILS_GID, now.mgid, 16);
    return sa.notices[n];
}

/* Runs the stage and asserts its outcome, its text and the outcomes of the rules. */
static void look(struct made_sa with, int stage, const char *words, int leave, int send_only)
{
    struct options options = {.rate = 1000, .timeout_ms = 1};
    memset(options.selection.rule, true, sizeof options.selection.rule);
    struct checked checked = {.name = (char *)"fabric", .verdict = verdict_new(NULL)};
    struct results results = {.checked = &checked};
    struct probe_fixture fixture;
    struct target *target = probe_fixture_make(&fixture, &options, &results);
    struct fake fake;
    fake_begin(&fake, target, NO_FAULT, true);
    const struct transport_ops *before = target->link->transport->ops;
    struct transport_ops ops = *before;
    ops.query = query;
    ops.watch = watch;
    ops.next_notice = next_notice;
    target->link->transport->ops = &ops;
    sa = with;
    memset(&now, 0, sizeof now);
    results_begin(&results, "fabric.own-group");
    assert_true(own_group_stages.stages[0].run(target, "fabric.own-group"));
    assert_int_equal(now.held, with.loses_leave ? JOIN_FULL : 0); /* unchanged */
    target->link->transport->ops = before;
    fake_end(target);
    assert_int_equal(checked.stages->len, 1);
    const struct stage *s = checked.stages->pdata[0];
    if (s->outcome != stage || !strstr(s->text, words))
        fail_msg("%d: \"%s\" does not say \"%s\"", s->outcome, s->text, words);
    assert_int_equal(verdict_worst(checked.verdict, R_RFC4391_10_LEAVE), leave);
    assert_int_equal(verdict_worst(checked.verdict, R_RFC4391_10_SENDONLY_SEMANTICS), send_only);
    probe_fixture_forget(&checked);
}

static void sa_that_sends_both_traps(void **state)
{
    (void)state;
    look((struct made_sa){0}, OUTCOME_PASS, "traps 66 and 67 were received", OUTCOME_PASS,
         OUTCOME_PASS);
}

/* Failures of a rule of level INFO are noted. */
static void send_only_members_count(void **state)
{
    (void)state;
    look((struct made_sa){.makes = true}, OUTCOME_PASS, "", OUTCOME_PASS, OUTCOME_NOTED);
    look((struct made_sa){.keeps = true}, OUTCOME_PASS, "", OUTCOME_INCONCLUSIVE, OUTCOME_NOTED);
}

static void unconfirmed_membership_is_inconclusive(void **state)
{
    (void)state;
    look((struct made_sa){.silent_at_last = true}, OUTCOME_INCONCLUSIVE,
         "whether the group still exists: the SA did not answer", OUTCOME_INCONCLUSIVE,
         OUTCOME_INCONCLUSIVE);
    look((struct made_sa){.at_last = DENIED}, OUTCOME_INCONCLUSIVE,
         "whether the group still exists: the SA refuses: status 0x0200", OUTCOME_INCONCLUSIVE,
         OUTCOME_INCONCLUSIVE);
    look((struct made_sa){.refuses_send_only = true}, OUTCOME_INCONCLUSIVE,
         "SendOnlyNonMember join: the SA refuses: status 0x0200", OUTCOME_PASS,
         OUTCOME_INCONCLUSIVE);
}

/* One of several requests is refused: the stage says which, with the status. */
static void refused_requests_are_named(void **state)
{
    (void)state;
    look((struct made_sa){.refuses_non_member = true}, OUTCOME_INCONCLUSIVE,
         "NonMember join: the SA refuses: status 0x0200, request invalid", OUTCOME_PASS,
         OUTCOME_PASS);
    look((struct made_sa){.subscription = {NOT_PERMITTED}}, OUTCOME_INCONCLUSIVE,
         "subscription to trap 66: the SA refuses: status 0x0700, request denied", OUTCOME_PASS,
         OUTCOME_PASS);
    look((struct made_sa){.subscription = {0, 0, NOT_PERMITTED}}, OUTCOME_INCONCLUSIVE,
         "end of the subscription to trap 66: the SA refuses: status 0x0700", OUTCOME_PASS,
         OUTCOME_PASS);
}

/* Without the SM_Key the SA hides the JoinState: the joins are sent nevertheless. */
static void hidden_states_change_nothing(void **state)
{
    (void)state;
    look((struct made_sa){.hides_states = true}, OUTCOME_PASS, "joined in every way", OUTCOME_PASS,
         OUTCOME_PASS);
    assert_int_equal(now.joined, JOIN_FULL | JOIN_NON | JOIN_SEND_ONLY_NON);
}

static void leave_without_a_response_is_inconclusive(void **state)
{
    (void)state;
    look((struct made_sa){.loses_leave = true, .notices = {TRANSPORT_OK, TRANSPORT_NOTHING}},
         OUTCOME_INCONCLUSIVE, "the SA did not confirm the FullMember's leave",
         OUTCOME_INCONCLUSIVE, OUTCOME_INCONCLUSIVE);
    look((struct made_sa){.mute_at_leave = true}, OUTCOME_PASS, "traps 66 and 67 were received",
         OUTCOME_PASS, OUTCOME_PASS);
}

static void traps(void **state)
{
    (void)state;
    look((struct made_sa){.notices = {TRANSPORT_OK, TRANSPORT_NOTHING}}, OUTCOME_FAIL,
         "trap 66 (created) received, trap 67 (deleted) not received", OUTCOME_PASS, OUTCOME_PASS);
    look((struct made_sa){.keeps = true, .notices = {TRANSPORT_OK, TRANSPORT_NOTHING}},
         OUTCOME_INCONCLUSIVE, "trap 67 (deleted) not received; the group is still there",
         OUTCOME_INCONCLUSIVE, OUTCOME_NOTED);
    look((struct made_sa){.notices = {TRANSPORT_ERROR, TRANSPORT_ERROR}}, OUTCOME_INCONCLUSIVE,
         "trap 67 (deleted) could not be received; the device is gone", OUTCOME_PASS, OUTCOME_PASS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sa_that_sends_both_traps),
        cmocka_unit_test(send_only_members_count),
        cmocka_unit_test(unconfirmed_membership_is_inconclusive),
        cmocka_unit_test(refused_requests_are_named),
        cmocka_unit_test(hidden_states_change_nothing),
        cmocka_unit_test(leave_without_a_response_is_inconclusive),
        cmocka_unit_test(traps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stages of the fabric diagnosis, with faults that a real subnet manager hardly has: each fault is
 * reported, and none on a fabric without faults.
 */
#include "probe_peer.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "probe/fabric/stages.h"
#include "probe/link/link.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

struct looked {
    struct checked checked;
    struct stage *stage;
    unsigned subscribed, subscriptions;
};

/* ---- the host's interfaces, simulated: ib0 is up, and wants two groups */

static bool has_interface;

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): the linker sets these names */
char *__wrap_host_interface(const struct probe_link *l);
char *__wrap_host_interface(const struct probe_link *l)
{
    (void)l;
    return has_interface ? g_strdup("ib0") : NULL;
}

gboolean __real_g_file_get_contents(const char *path, char **text, gsize *n, GError **error);
gboolean __wrap_g_file_get_contents(const char *path, char **text, gsize *n, GError **error);
gboolean __wrap_g_file_get_contents(const char *path, char **text, gsize *n, GError **error)
{
    if (strcmp(path, "/proc/net/dev_mcast") != 0)
        return __real_g_file_get_contents(path, text, n, error);
    *text = g_strdup("4    ib0             1     0     00ffffffff12601bffff00000000000000000001\n"
                     "4    ib0             1     0     00ffffffff12601bffff000000000001ff001896\n"
                     "5    ib1             1     0     00ffffffff12401bffff00000000000000000001\n");
    return TRUE;
}
/* NOLINTEND(clang-diagnostic-reserved-identifier) */

static unsigned unconfirmed; /* messages that a leave was not confirmed */

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): the linker sets these names */
void __wrap_say(const char *format, ...);
void __wrap_say(const char *format, ...)
{
    unconfirmed += strstr(format, "did not confirm") != NULL;
}
/* NOLINTEND(clang-diagnostic-reserved-identifier) */

/* ---- a stage */

/* Runs one stage on the simulated fabric. Of *as, only the subnet's fields are used. */
static void look(struct looked *l, const char *id, const struct fake *as)
{
    struct options options = {.rate = 1000, .timeout_ms = 1};
    memset(options.selection.rule, true, sizeof options.selection.rule);
    *l = (struct looked){.checked = {.name = (char *)"fabric", .verdict = verdict_new(NULL)}};
    struct results results = {.checked = &l->checked};
    struct probe_fixture fixture;
    struct target *target = probe_fixture_make(&fixture, &options, &results);
    struct fake fake;
    fake_begin(&fake, target, as->fault, true);
    fake.masters = as->masters;
    fake.groups = as->groups;
    fake.mlids = as->mlids;
    fake.solicited = as->solicited;
    fake.foreign = as->foreign;
    fake.memberless = as->memberless;
    fake.unlisted_sm = as->unlisted_sm;
    fake.unlisted_cap = as->unlisted_cap;
    fake.group_pkey = as->group_pkey;
    fake.refuses_send_only = as->refuses_send_only;
    fake.ipv6 = as->ipv6;
    fake.no_groups = as->no_groups;
    fake.sa_fails = as->sa_fails;
    fake.sa_busy = as->sa_busy;
    fake.sa_silent = as->sa_silent;
    fake.agent = as->agent;
    fake.down_at = as->down_at;
    fake.broadcasts = as->broadcasts;
    fake.broadcasts_are_own = as->broadcasts_are_own;
    fake.broadcasts_elsewhere = as->broadcasts_elsewhere;
    fake.group_status = as->group_status;
    fake.silent_after = as->silent_after ? fake.asks + as->silent_after : 0;
    fake.refused_trap = as->refused_trap;
    fake.lost_trap = as->lost_trap;
    fake.refused = as->refused;
    fake.refused_attribute = as->refused_attribute;
    fake.wrong_record = as->wrong_record;
    fake.makes_groups = as->makes_groups;
    fake.lists_none = as->lists_none;
    fake.spoils = as->spoils;
    target->about_fabric = true;
    const struct stage_of_fabric *s;
    for (unsigned i = 0; (s = fabric_stage_at(i)); i++)
        if (strcmp(s->id, id) == 0) {
            results_begin(&results, id);
            assert_true(s->run(target, id) || as->sa_fails || as->sa_busy || as->sa_silent ||
                        as->group_status || as->refused || as->wrong_record || as->spoils.method);
        }
    l->subscribed = fake.subscribed;
    l->subscriptions = fake.subscriptions;
    fake.silent_after = fake.refused = 0;
    fake.sa_busy = fake.sa_silent = fake.wrong_record = false;
    fake.group_status = 0;
    fake_end(target);
    assert_int_equal(fake.joins, fake.leaves); /* the probe left all groups that it joined */
    assert_int_equal(l->checked.stages->len, 1);
    l->stage = l->checked.stages->pdata[0];
}

/* Runs all stages on a sound fabric whose SA is silent, or busy, after that number of requests. */
struct run_of_all {
    enum verdict_status status;
    unsigned asked, unconfirmed;
    uint8_t held;                         /* JoinState in the probe's group after the run */
    char error[VERDICT_TEXT], undone[40]; /* the first stage without a result; "": none */
    bool names_status;                    /* a stage has the status 0x0700 in its text */
};

enum sa_fault { SA_SILENT, SA_IS_BUSY, INTERRUPTED, SA_REFUSES_ONE, NO_VERBS };
enum { SWITCH_INFO_RECORD = 0x0014, SM_INFO_RECORD = 0x0018 }; /* IBA 15.2.5 */

static bool names_status(const struct checked *j)
{
    bool names = false;
    for (guint i = 0; i < j->stages->len; i++)
        names |= strstr(((const struct stage *)j->stages->pdata[i])->text, "0x0700") != NULL;
    return names;
}

static struct run_of_all run_all(unsigned after, enum sa_fault fault)
{
    /* a port that is named needs no interface of the host */
    const struct choice named = {.optional = true};
    struct options options = {.rate = 1000, .timeout_ms = 1};
    memset(options.selection.rule, true, sizeof options.selection.rule);
    struct checked checked = {.name = g_strdup("fabric"), .verdict = verdict_new(NULL)};
    struct results results = {.checked = &checked};
    const struct report report = {.probed = true, .captures = &checked, .n = 1};
    struct probe_fixture fixture;
    struct target *target = probe_fixture_make(&fixture, &options, &results);
    struct fake fake;
    struct run_of_all a = {.error = ""};
    fake_begin(&fake, target, NO_FAULT, true);
    target->link->choice = &named;
    fake.masters = 1;
    fake.makes_groups = true;
    unsigned before = fake.asks;
    *(fault == SA_IS_BUSY       ? &fake.busy_after
      : fault == INTERRUPTED    ? &fake.signal_at
      : fault == SA_REFUSES_ONE ? &fake.refused_at
                                : &fake.silent_after) = after ? before + after : 0;
    unconfirmed = 0;
    struct transport_ops ops = *target->link->transport->ops;
    ops.watch = NULL; /* another program receives the traps */
    if (fault == NO_VERBS) {
        ops.capabilities &= ~(unsigned)CAN_SEND;
        ops.lacks = "the port has no libibverbs device";
    }
    target->link->transport->ops = &ops;
    fabric_run(target, OPENED, NULL);
    link_close(target);
    link_report_not_left(target->link, &checked);
    a.names_status = names_status(&checked);
    a.status = checked_summary(&report, &checked).status;
    a.asked = fake.asks - before;
    g_strlcpy(a.error, checked_why_not(&report, &checked), sizeof a.error);
    if (checked.undone)
        g_strlcpy(a.undone, ((struct undone_stage *)checked.undone->pdata[0])->stage,
                  sizeof a.undone);
    fake.silent_after = fake.busy_after = 0;
    fake_end(target);
    checked_clear(&checked);
    a.unconfirmed = unconfirmed;
    a.held = fake.made.held;
    return a;
}

static void says(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("\"%s\" does not say \"%s\"", text, words);
}

static void forget(struct looked *l)
{
    l->checked.name = NULL;
    checked_clear(&l->checked);
}

/*
 * 0 is a claim: whenever the SA stops to answer, the fabric is not OK. Without any answer fabric.sm
 * fails; afterwards there is no verdict, and the reason is given.
 */
static void what_is_undone_is_not_ok(void **state)
{
    (void)state;
    struct run_of_all whole = run_all(0, SA_SILENT);
    if (whole.status != VERDICT_CONFORMANT)
        fail_msg("%s: %s", whole.undone, whole.error);
    assert_string_equal(whole.undone, "");
    for (unsigned busy = 0; busy <= 1; busy++)
        for (unsigned after = 1; after < whole.asked; after++) {
            struct run_of_all a = run_all(after, busy ? SA_IS_BUSY : SA_SILENT);
            if (a.status != VERDICT_UNJUDGED)
                fail_msg("status %d after %u of %u responses", a.status, after, whole.asked);
            assert_string_not_equal(a.undone, "");
            says(a.error, busy ? "busy" : "not answer");
        }
    assert_int_equal(run_all(whole.asked, SA_SILENT).status, VERDICT_CONFORMANT);
}

/* Whenever a signal arrives, the groups are left, and a leave that the SA confirms is no message.
 */
static void interrupted_leaves_are_confirmed(void **state)
{
    (void)state;
    struct run_of_all whole = run_all(0, SA_SILENT);
    for (unsigned at = 1; at <= whole.asked; at++) {
        struct run_of_all a = run_all(at, INTERRUPTED);
        assert_int_equal(a.held, 0);
        assert_int_equal(a.unconfirmed, 0);
    }
    assert_true(run_all(whole.asked - 3, SA_SILENT).unconfirmed > 0);
}

/*
 * Whichever request the SA refuses, a stage says so with the status. Three refusals change nothing:
 * the SM_Key is not needed, the SA must refuse that a SendOnlyNonMember makes a group, and it need
 * not find ports by their CapabilityMask.
 */
static void what_is_refused_is_said(void **state)
{
    enum { WITHOUT_EFFECT = 3 };
    unsigned silent = 0;
    (void)state;
    struct run_of_all whole = run_all(0, SA_REFUSES_ONE);
    assert_int_equal(whole.status, VERDICT_CONFORMANT);
    for (unsigned at = 1; at <= whole.asked; at++) {
        struct run_of_all a = run_all(at, SA_REFUSES_ONE);
        if (!a.names_status) {
            print_message("request %u of %u\n", at, whole.asked);
            silent++;
        }
    }
    assert_int_equal(silent, WITHOUT_EFFECT);
}

/* The list of SMs: refused, not supported (it is optional), empty. */
static void unlisted_masters(void **state)
{
    struct looked l;
    (void)state;
    look(&l, "fabric.sm", &(struct fake){.refused = 0x0700, .refused_attribute = SM_INFO_RECORD});
    assert_int_equal(l.stage->outcome, OUTCOME_INCONCLUSIVE);
    says(l.stage->text, "cannot be listed: the SA refuses: status 0x0700, request denied");
    assert_int_equal(verdict_worst(l.checked.verdict, R_SM_ONE_MASTER), OUTCOME_INCONCLUSIVE);
    forget(&l);
    look(&l, "fabric.sm", &(struct fake){.refused = 0x000c, .refused_attribute = SM_INFO_RECORD});
    assert_int_equal(l.stage->outcome, OUTCOME_NOTED);
    says(l.stage->text, "0x000c, method with this attribute not supported");
    forget(&l);
    look(&l, "fabric.sm", &(struct fake){.masters = 0});
    assert_int_equal(l.stage->outcome, OUTCOME_INCONCLUSIVE);
    says(l.stage->text, "no master is listed");
    forget(&l);
}

/* An answer with a status is not silence. */
static void a_port_without_an_sa_answers(void **state)
{
    struct looked l;
    (void)state;
    look(&l, "fabric.sm",
         &(struct fake){.refused = 0x000c, .refused_attribute = SA_CLASS_PORT_INFO});
    assert_int_equal(l.stage->outcome, OUTCOME_FAIL);
    says(l.stage->text, "there is no SA at LID 1: the port there answers status 0x000c, method");
    assert_null(strstr(l.stage->text, "not answer"));
    forget(&l);
    look(&l, "fabric.sm",
         &(struct fake){.refused = 0x0700, .refused_attribute = SA_CLASS_PORT_INFO, .masters = 1});
    assert_int_equal(l.stage->outcome, OUTCOME_INCONCLUSIVE);
    says(l.stage->text, "ClassPortInfo, which every SA has: the SA refuses: status 0x0700");
    forget(&l);
}

/* A port has a performance management agent, whether an SM runs there or not (IBA 16.1). */
static void a_silent_sa_is_dead_or_unreachable(void **state)
{
    static const struct {
        enum agent_answer agent;
        const char *text, *advice;
    } all[] = {{AGENT_ANSWERS, "the port with LID 1 is alive: the subnet manager there hangs",
                "restart the SM"},
               {AGENT_SILENT, "nothing at LID 1 answers: its host is off, a cable", "iblinkinfo"},
               {AGENT_NOT_ASKED, "it answered 4 requests after ", "perfquery"}};
    struct looked l;
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        look(&l, "fabric.sm", &(struct fake){.sa_silent = true, .agent = all[i].agent});
        assert_int_equal(l.stage->outcome, OUTCOME_FAIL);
        says(l.stage->text, "the SA at LID 1 does not answer; ");
        says(l.stage->text, all[i].text);
        says(l.stage->advice, all[i].advice);
        forget(&l);
    }
}

/* The switches' forwarding tables lead to a port that is Down (IBA 14.2.5.6, 14.2.5.10). */
static void the_way_to_a_silent_sa_ends(void **state)
{
    static const struct {
        unsigned down_at;
        const char *text;
    } all[] = {{1, "ends at port 5 of the switch with LID 70 (hop 1), which is Down: the cable"},
               {2, "ends at port 9 of the switch with LID 71 (hop 2), which is Down: the cable"},
               {3, "nothing at LID 1 answers, and this port's switch does: its host is off"}};
    struct looked l;
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        look(&l, "fabric.sm",
             &(struct fake){.sa_silent = true, .agent = AGENT_SILENT, .down_at = all[i].down_at});
        assert_int_equal(l.stage->outcome, OUTCOME_FAIL);
        says(l.stage->text, all[i].text);
        forget(&l);
    }
}

/* A packet of another port to the broadcast group proves it; a quiet link proves nothing. */
static void delivery_is_proved_by_a_packet(void **state)
{
    struct looked l;
    (void)state;
    look(&l, "fabric.delivery", &(struct fake){.fault = NO_FAULT});
    assert_int_equal(l.stage->outcome, OUTCOME_NOTED);
    says(l.stage->text, "not tested: whether packets to the broadcast group reach this port");
    says(l.stage->advice, "--source");
    forget(&l);
    look(&l, "fabric.delivery", &(struct fake){.broadcasts = 2});
    assert_int_equal(l.stage->outcome, OUTCOME_PASS);
    says(l.stage->text, "2 packets to the broadcast group arrived");
    forget(&l);
    look(&l, "fabric.delivery", &(struct fake){.broadcasts = 2, .broadcasts_are_own = true});
    assert_int_equal(l.stage->outcome, OUTCOME_NOTED);
    forget(&l);
    look(&l, "fabric.delivery", &(struct fake){.broadcasts = 2, .broadcasts_elsewhere = true});
    assert_int_equal(l.stage->outcome, OUTCOME_NOTED);
    forget(&l);
}

/* A record of another group than the one that was asked for proves nothing. */
static void another_record_is_malformed(void **state)
{
    static const char *const ids[] = {"fabric.broadcast-group", "fabric.join",
                                      "fabric.send-only-join"};
    struct looked l;
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) {
        look(&l, ids[i], &(struct fake){.wrong_record = true});
        assert_int_equal(l.stage->outcome, OUTCOME_INCONCLUSIVE);
        says(
            l.stage->text,
            "the SA's answer does not fit: its record is of group ::, and the request was about ff12:");
        forget(&l);
    }
}

/* A stage without another result than an answer that does not fit its request says so. */
static void answers_that_do_not_fit(void **state)
{
    enum { GROUP = SA_MC_MEMBER_RECORD, QKEY_END = MCM_QKEY + 2 };
    static const struct {
        const char *id;
        struct fake as;
        const char *words;
    } all[] = {
        {"fabric.sm",
         {.masters = 1, .spoils = {SA_GET_TABLE, SM_INFO_RECORD, .lacks = 12}},
         "its table ends inside a record"},
        {"fabric.sm",
         {.masters = 1, .spoils = {SA_GET_TABLE, SM_INFO_RECORD, 0xc000}},
         "LID 0xc000, which no port has"},
        {"fabric.broadcast-group",
         {.spoils = {SA_GET, GROUP, 5, MCM_MLID}},
         "MLID 0x0005, and MLIDs"},
        {"fabric.send-only-join",
         {.spoils = {SA_SET, GROUP, 0x2100, MCM_SCOPE_JOIN}},
         "granted as FullMember, and the request was for SendOnlyFullMember"},
        {"fabric.send-only-join", {.spoils = {SA_SET, GROUP, 0, MCM_MLID}}, "MLID 0x0000"},
        {"fabric.send-only-join",
         {.spoils = {SA_SET, GROUP, 1, QKEY_END}},
         "Q_Key 0x00000001, but the group's record has 0x00000b1b"},
        {"fabric.send-only-join",
         {.spoils = {SA_SET, GROUP, 0x8100, MCM_MTU}},
         "MTU code 1 (256 bytes)"},
        {"fabric.own-group",
         {.makes_groups = true, .spoils = {SA_SET, GROUP, 1, QKEY_END}},
         "Q_Key 0x00000001, but the request has 0x00000b1b"},
        {"fabric.census", {.lists_none = true}, "the list lacks the broadcast group"},
        {"fabric.census",
         {.groups = 3, .spoils = {SA_GET_TABLE, GROUP, .lacks = 20}},
         "2 groups, 2 of IPoIB"},
        {"fabric.census",
         {.groups = 3, .spoils = {SA_GET_TABLE, GROUP, .lacks = 20}},
         "its table ends inside a record"},
        {"fabric.census",
         {.groups = 3, .spoils = {SA_GET_TABLE, GROUP, 0, MCM_MLID}},
         "group ff12:401b:ffff::ef00:0 has MLID 0x0000"},
        {"fabric.census",
         {.groups = 3, .spoils = {SA_GET_TABLE, GROUP, 1, MCM_MGID}},
         "which is no MGID"},
        {"fabric.census",
         {.groups = 3, .mlids = 64, .spoils = {SA_GET_TABLE, SWITCH_INFO_RECORD, .lacks = 10}},
         "the switches cannot be listed: the SA's answer does not fit: its table ends"},
    };
    struct looked l;
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        look(&l, all[i].id, &all[i].as);
        says(l.stage->text, all[i].words);
        assert_int_equal(l.stage->outcome, OUTCOME_INCONCLUSIVE);
        forget(&l);
    }
}

/* Refused is not the same as none: whether MLIDs are left is not known then. */
static void unlisted_switches(void **state)
{
    struct looked l;
    (void)state;
    look(&l, "fabric.census",
         &(struct fake){.refused = 0x0700, .refused_attribute = SWITCH_INFO_RECORD, .groups = 3});
    assert_int_equal(l.stage->outcome, OUTCOME_INCONCLUSIVE);
    says(l.stage->text, "(the switches cannot be listed: the SA refuses: status 0x0700");
    forget(&l);
    look(&l, "fabric.census",
         &(struct fake){.refused = 0x000c, .refused_attribute = SWITCH_INFO_RECORD, .groups = 3});
    assert_int_equal(l.stage->outcome, OUTCOME_NOTED);
    forget(&l);
}

/* A port of which only libibumad is there: what needs libibverbs is not done. */
static void without_verbs_it_is_not_judged(void **state)
{
    (void)state;
    struct run_of_all a = run_all(0, NO_VERBS);
    assert_int_equal(a.status, VERDICT_UNJUDGED);
    says(a.error, "has no libibverbs device");
}

static void two_masters(void **state)
{
    struct looked l;
    (void)state;
    look(&l, "fabric.sm", &(struct fake){.masters = 1});
    assert_int_equal(l.stage->outcome, OUTCOME_PASS);
    assert_int_equal(verdict_worst(l.checked.verdict, R_SM_ONE_MASTER), OUTCOME_PASS);
    forget(&l);
    look(&l, "fabric.sm", &(struct fake){.masters = 2});
    assert_int_equal(l.stage->outcome, OUTCOME_FAIL);
    says(l.stage->text, "at LID 1: master, priority 0; 0000000000000000 at LID 2: master");
    says(l.stage->advice, "two masters");
    assert_int_equal(verdict_worst(l.checked.verdict, R_SM_ONE_MASTER),
                     OUTCOME_NOTED); /* a rule of level INFO */
    forget(&l);
}

/* An SM that the master does not know: IsSM without IsSMdisabled (IBA 14.2.5.6). */
static void an_unlisted_sm_is_said(void **state)
{
    struct looked l;
    (void)state;
    look(&l, "fabric.sm", &(struct fake){.masters = 1, .unlisted_sm = 7});
    assert_int_equal(l.stage->outcome, OUTCOME_INCONCLUSIVE);
    says(l.stage->text, "the port with LID 7 says that a subnet manager runs on it too");
    says(l.stage->advice, "smpquery");
    forget(&l);
    look(&l, "fabric.sm", &(struct fake){.masters = 2, .unlisted_sm = 2});
    assert_null(strstr(l.stage->text, "it too"));
    forget(&l);
    look(&l, "fabric.sm", &(struct fake){.masters = 1, .unlisted_sm = 7, .unlisted_cap = 0x402});
    assert_int_equal(l.stage->outcome, OUTCOME_PASS);
    forget(&l);
}

static void send_only_is_refused(void **state)
{
    struct looked l;
    (void)state;
    look(&l, "fabric.send-only-join", &(struct fake){.masters = 1});
    assert_int_equal(l.stage->outcome, OUTCOME_PASS);
    forget(&l);
    look(&l, "fabric.send-only-join", &(struct fake){.refuses_send_only = true});
    assert_int_equal(l.stage->outcome, OUTCOME_NOTED);
    says(l.stage->text, "refused: status 0x0200");
    says(l.stage->advice, "joins every group");
    forget(&l);
    look(&l, "fabric.send-only-join", &(struct fake){.group_status = 0x0700});
    assert_int_equal(l.stage->outcome, OUTCOME_INCONCLUSIVE); /* the Get before the join */
    says(l.stage->text, "is not known: the SA refuses: status 0x0700, request denied");
    forget(&l);
}

/* A P_Key's low 15 bits are the partition (IBA 10.9.1.1); the link's is 0xffff. */
static void groups_of_other_partitions(void **state)
{
    static const struct {
        uint16_t pkey;
        const char *text;
    } cases[] = {{0x7fff, "3 groups, 3 of IPoIB (0 of other partitions)"},
                 {0x8001, "3 groups, 3 of IPoIB (3 of other partitions)"}};
    struct looked l;
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        look(&l, "fabric.census", &(struct fake){.groups = 3, .group_pkey = cases[i].pkey});
        says(l.stage->text, cases[i].text);
        forget(&l);
    }
}

/* CPU time in seconds that the census of this number of groups takes. */
static double census_seconds(unsigned groups)
{
    struct looked l;
    char words[60];
    clock_t begin = clock();
    look(&l, "fabric.census", &(struct fake){.groups = groups});
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    snprintf(words, sizeof words, "%u groups, %u of IPoIB", groups, groups);
    says(l.stage->text, words);
    forget(&l);
    return seconds;
}

/*
 * Four times as many groups take about four times as long. Comparing each pair would take 16 times
 * as long.
 */
static void a_large_census_is_linear(void **state)
{
    (void)state;
    double few = census_seconds(50000), many = census_seconds(200000);
    assert_true(many < 10);
    assert_true(many < 9 * few);
}

/* Reported from 80 % on. There are 16383 MLIDs (0xc000 to 0xfffe) if no switch reports fewer. */
static void mlids_run_out(void **state)
{
    struct looked l;
    (void)state;
    look(&l, "fabric.census", &(struct fake){.groups = 51, .mlids = 64});
    assert_int_equal(l.stage->outcome, OUTCOME_PASS);
    says(l.stage->text, "51 MLIDs of 64");
    forget(&l);
    look(&l, "fabric.census", &(struct fake){.groups = 52, .mlids = 64});
    assert_int_equal(l.stage->outcome, OUTCOME_FAIL);
    says(l.stage->text, "52 groups, 52 of IPoIB (0 of other partitions), 52 MLIDs of 64; 52 for "
                        "IPv4, 0 solicited-node, 0 other IPv6, 0 not of IPoIB; 0 without a member");
    says(l.stage->advice, "IPv4 groups take most");
    forget(&l);
    look(&l, "fabric.census", &(struct fake){.groups = 52});
    assert_int_equal(l.stage->outcome, OUTCOME_PASS);
    says(l.stage->text, "52 MLIDs of 16383 (no switch reports");
    forget(&l);
}

/* The advice fits the groups that take most MLIDs. */
static void advice_fits_the_groups(void **state)
{
    static const struct {
        struct fake as;
        const char *text, *advice;
    } all[] = {{{.groups = 60, .mlids = 64, .solicited = 40},
                "20 for IPv4, 40 solicited-node, 0 other IPv6, 0 not of IPoIB; 0 without",
                "disable IPv6"},
               {{.groups = 60, .mlids = 64, .foreign = 40},
                "20 for IPv4, 0 solicited-node, 0 other IPv6, 40 not of IPoIB; 0 without",
                "other protocols than IPoIB"},
               {{.groups = 60, .mlids = 64, .memberless = 50},
                "0 not of IPoIB; 50 without a member",
                "groups without a member take most: the partition configuration has them, or the "
                "SM keeps them"}};
    struct looked l;
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        look(&l, "fabric.census", &all[i].as);
        assert_int_equal(l.stage->outcome, OUTCOME_FAIL);
        says(l.stage->text, all[i].text);
        says(l.stage->advice, all[i].advice);
        forget(&l);
    }
}

/* Many groups: some of them are asked for their members. */
static void leaked_groups_are_noted(void **state)
{
    static const struct {
        struct fake as;
        bool noted;
    } all[] = {{{.groups = 100, .memberless = 80}, true},
               {{.groups = 100, .memberless = 10}, false},
               {{.groups = 60, .memberless = 60}, false}}; /* few: no queries for them */
    struct looked l;
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        look(&l, "fabric.census", &all[i].as);
        assert_int_equal(l.stage->outcome, all[i].noted ? OUTCOME_NOTED : OUTCOME_PASS);
        assert_int_equal(
            strstr(l.stage->text, "of 8 groups that were asked for, 7 have no member") != NULL,
            all[i].noted);
        assert_int_equal(strstr(l.stage->advice, "leaked groups: ") != NULL, all[i].noted);
        forget(&l);
    }
}

/* A quarter of the MLIDs: 75 of 300. */
static void leaked_groups_that_take_many_mlids_fail(void **state)
{
    static const struct {
        struct fake as;
        enum outcome outcome;
    } all[] = {{{.groups = 100, .mlids = 300, .memberless = 75}, OUTCOME_FAIL},
               {{.groups = 100, .mlids = 300, .memberless = 74}, OUTCOME_NOTED},
               {{.groups = 100, .mlids = 300, .memberless = 10}, OUTCOME_PASS}};
    struct looked l;
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        look(&l, "fabric.census", &all[i].as);
        assert_int_equal(l.stage->outcome, all[i].outcome);
        assert_int_equal(strstr(l.stage->text, "; 75 without a member") != NULL, i == 0);
        forget(&l);
    }
}

static void invalid_mtu_is_not_used(void **state)
{
    struct looked l;
    (void)state;
    look(&l, "fabric.mtu", &(struct fake){.fault = NO_FAULT});
    assert_int_equal(l.stage->outcome, OUTCOME_PASS);
    says(l.stage->text, "group 2048 bytes, port 2048");
    forget(&l);
    look(&l, "fabric.mtu", &(struct fake){.fault = UNKNOWN_MTU});
    assert_int_equal(l.stage->outcome, OUTCOME_FAIL);
    says(l.stage->text, "the group's MTU code is 7");
    forget(&l);
}

/* An error of this host is not reported as an error of the subnet manager. */
static void host_fails(void **state)
{
    struct looked l;
    (void)state;
    look(&l, "fabric.sm", &(struct fake){.sa_fails = true});
    assert_int_equal(l.stage->outcome, OUTCOME_INCONCLUSIVE);
    says(l.stage->text, "the device is gone");
    forget(&l);
}

/* A busy SA is not silent, and proves nothing about groups and joins (IBA 13.4.7). */
static void a_busy_sa_is_not_silent(void **state)
{
    static const char *const ids[] = {"fabric.sm", "fabric.broadcast-group", "fabric.join",
                                      "fabric.own-group", "fabric.census"};
    struct looked l;
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) {
        look(&l, ids[i], &(struct fake){.sa_busy = true});
        assert_int_equal(l.stage->outcome, OUTCOME_INCONCLUSIVE);
        says(l.stage->text, "busy");
        assert_null(strstr(l.stage->text, "not answer"));
        assert_null(strstr(l.stage->text, "no reply"));
        forget(&l);
    }
}

/* A status other than "no records" does not say that a group is missing (IBA 15.2.1.3). */
static void other_statuses_are_no_missing_group(void **state)
{
    static const struct {
        uint16_t status;
        const char *words, *advice;
    } all[] = {{0x0100, "0x0100, no resources", "short of memory or MLIDs"},
               {0x0200, "0x0200, request invalid", "see the SM's log"},
               {0x0500, "0x0500, invalid GID", "wait for its next sweep"},
               {0x0700, "0x0700, request denied", "configuration denies it"}};
    static const char *const ids[] = {"fabric.broadcast-group", "fabric.own-group"};
    struct looked l;
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        for (size_t k = 0; k < G_N_ELEMENTS(ids); k++) {
            look(&l, ids[k], &(struct fake){.group_status = all[i].status});
            assert_int_equal(l.stage->outcome, OUTCOME_INCONCLUSIVE);
            says(l.stage->text, "does not say whether");
            says(l.stage->text, all[i].words);
            says(l.stage->advice, all[i].advice);
            forget(&l);
        }
    look(&l, "fabric.broadcast-group", &(struct fake){.group_status = 0x0300});
    assert_int_equal(l.stage->outcome, OUTCOME_FAIL);
    says(l.stage->text, "there is no IPoIB broadcast group");
    forget(&l);
}

/* Each subscription is ended, even if the other one failed or its response was lost. */
static void subscriptions_end(void **state)
{
    static const struct fake as[] = {{.masters = 1},
                                     {.refused_trap = TRAP_GROUP_DELETED},
                                     {.lost_trap = TRAP_GROUP_DELETED},
                                     {.lost_trap = TRAP_GROUP_CREATED}};
    static const unsigned subscriptions[] = {2, 1, 2, 1};
    struct looked l;
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(as); i++) {
        look(&l, "fabric.own-group", &as[i]);
        assert_int_equal(l.subscriptions, subscriptions[i]);
        assert_int_equal(l.subscribed, 0);
        forget(&l);
    }
}

/* If the SA does not return a group, this port is not a member of it. */
static void wanted_groups(void **state)
{
    struct looked l;
    (void)state;
    has_interface = true;
    look(&l, "fabric.own-groups", &(struct fake){.ipv6 = true});
    assert_int_equal(l.stage->outcome, OUTCOME_PASS);
    says(l.stage->text, "ib0 wants 2 groups, and this port is in all of them");
    forget(&l);
    look(&l, "fabric.own-groups", &(struct fake){.no_groups = true});
    assert_int_equal(l.stage->outcome, OUTCOME_FAIL);
    says(l.stage->text, "not in ff12:601b:ffff::1, ff12:601b:ffff::1:ff00:1896");
    forget(&l);
    look(&l, "fabric.own-groups", &(struct fake){.ipv6 = true, .silent_after = 1});
    assert_int_equal(l.stage->outcome, OUTCOME_INCONCLUSIVE);
    says(l.stage->text, "this port is in 1 of them; of 1 it is not known: the SA did not answer");
    forget(&l);
    has_interface = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_undone_is_not_ok),
        cmocka_unit_test(interrupted_leaves_are_confirmed),
        cmocka_unit_test(what_is_refused_is_said),
        cmocka_unit_test(unlisted_masters),
        cmocka_unit_test(a_port_without_an_sa_answers),
        cmocka_unit_test(a_silent_sa_is_dead_or_unreachable),
        cmocka_unit_test(the_way_to_a_silent_sa_ends),
        cmocka_unit_test(delivery_is_proved_by_a_packet),
        cmocka_unit_test(another_record_is_malformed),
        cmocka_unit_test(answers_that_do_not_fit),
        cmocka_unit_test(unlisted_switches),
        cmocka_unit_test(without_verbs_it_is_not_judged),
        cmocka_unit_test(two_masters),
        cmocka_unit_test(send_only_is_refused),
        cmocka_unit_test(an_unlisted_sm_is_said),
        cmocka_unit_test(groups_of_other_partitions),
        cmocka_unit_test(mlids_run_out),
        cmocka_unit_test(advice_fits_the_groups),
        cmocka_unit_test(leaked_groups_are_noted),
        cmocka_unit_test(leaked_groups_that_take_many_mlids_fail),
        cmocka_unit_test(invalid_mtu_is_not_used),
        cmocka_unit_test(host_fails),
        cmocka_unit_test(subscriptions_end),
        cmocka_unit_test(wanted_groups),
        cmocka_unit_test(a_busy_sa_is_not_silent),
        cmocka_unit_test(other_statuses_are_no_missing_group),
        cmocka_unit_test(a_large_census_is_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

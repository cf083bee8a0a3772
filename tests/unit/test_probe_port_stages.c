/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stages of the target fabric about this port: its state, its P_Keys, the join of the broadcast
 * group, and whether packets to groups reach it (probe/fabric). The port is 1 of fake0, at port 5
 * of the switch with LID 70.
 */
#include "why_run.h"

#include <string.h>

#include "probe/fabric/stages.h"
#include "probe/link/groups.h"
#include "probe/link/hostping.h"
#include "wire/port_records.h"
#include "wire/put.h"
#include "wire/smp.h"

static void begin(void)
{
    why_run_begin(NULL);
    run.t->about_fabric = true;
    run.t->link->opened = true;
}

static void end(void)
{
    fake_end(run.t);
    probe_fixture_forget(&run.checked);
}

/* Runs that stage, and clears it. */
static void check(const char *id, int outcome, const char *text, const char *advice)
{
    const struct stage_of_fabric *s;
    unsigned i = 0;
    while ((s = fabric_stage_at(i)) && strcmp(s->id, id) != 0)
        i++;
    assert_non_null(s);
    results_begin(&run.results, id);
    s->run(run.t, id);
    const struct stage *last = run.checked.stages->pdata[run.checked.stages->len - 1];
    if (last->outcome != outcome || !strstr(last->text, text) || !strstr(last->advice, advice))
        fail_msg("%d \"%s\", \"%s\"; expected %d \"%s\", \"%s\"", last->outcome, last->text,
                 last->advice, outcome, text, advice);
    end();
}

/* ---- the port */

static void the_state_of_the_port(void **state)
{
    static const struct {
        uint8_t state;
        int outcome;
        const char *text, *advice;
    } all[] = {
        {PORT_ACTIVE, OUTCOME_PASS, "Active, MTU 2048 bytes, 10.0 Gb/s", ""},
        {PORT_INIT, OUTCOME_FAIL,
         "Initialize: the link is up, but no subnet manager has set the port",
         "opensm -g 0x0002c90300001896; otherwise see its log"},
        {PORT_ARMED, OUTCOME_FAIL, "Armed",
         "see the subnet manager's log: it has not made the port 0x0002c90300001896 Active"},
        {PORT_DOWN, OUTCOME_FAIL, "Down: there is no link", "ibstat fake0 1; check the cable"},
        {PORT_NO_CHANGE, OUTCOME_INCONCLUSIVE,
         "this network namespace does not show the RDMA device",
         "run it where /sys/class/infiniband shows the device"},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin();
        run.fake.base.facts.state = all[i].state;
        check("fabric.port-state", all[i].outcome, all[i].text, all[i].advice);
    }
}

static void both_forms_of_a_pkey(void **state)
{
    static const struct {
        uint16_t second;
        int outcome;
        const char *text;
    } all[] = {{0x7fff, OUTCOME_NOTED, "0xffff and 0x7fff are both in the table"},
               {0x8001, OUTCOME_PASS, "none"},
               {0, OUTCOME_PASS, "none"}};
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin();
        run.fake.base.facts.pkeys[1] = all[i].second;
        run.fake.base.facts.n_pkeys = 2;
        check("fabric.pkey-twins", all[i].outcome, all[i].text, "");
    }
}

/* The group has 2048 bytes (code 4) and 10 Gb/s (code 3). */
static void the_groups_mtu_and_rate(void **state)
{
    static const struct {
        const char *id;
        uint8_t mtu;
        uint32_t rate;
        int outcome;
        const char *text, *advice;
    } all[] = {
        {"fabric.mtu", 4, 100, OUTCOME_PASS, "group 2048 bytes, port 2048: IP datagrams of 2044",
         ""},
        {"fabric.mtu", 3, 100, OUTCOME_FAIL, "the group's MTU is 2048 bytes, the port's 1024",
         "mtu=4"},
        {"fabric.rate", 4, 100, OUTCOME_PASS, "group 10.0 Gb/s, port 10.0", ""},
        {"fabric.rate", 4, 25, OUTCOME_FAIL, "the group's rate is 10.0 Gb/s, the port's 2.5",
         "(rate=2 is 2.5"},
        {"fabric.rate", 4, 33, OUTCOME_FAIL, "the port's 3.3",
         "in the partition configuration, or find out why"},
        {"fabric.rate", 4, 0, OUTCOME_INCONCLUSIVE, "or the port's rate, is not known", ""},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin();
        run.fake.base.facts.mtu = all[i].mtu;
        run.fake.base.facts.rate_100mbps = all[i].rate;
        check(all[i].id, all[i].outcome, all[i].text, all[i].advice);
    }
}

/* ---- the join */

static bool is_join(const struct sa_query *q)
{
    return q->attribute == SA_MC_MEMBER_RECORD && q->method == SA_SET;
}

static bool is_of_link(const struct sa_query *q)
{
    return memcmp(q->record + MCM_MGID, run.t->link->group.mgid, GID_SIZE) == 0;
}

static bool refuses_full(const struct sa_query *q)
{
    return is_join(q) && is_of_link(q) && q->record[MCM_SCOPE_JOIN] & JOIN_FULL;
}

static bool refuses_this_group(const struct sa_query *q)
{
    return is_join(q) && is_of_link(q);
}

/* The codes of the least MTU and rate: 1 is 256 bytes, 2 is 2.5 Gb/s (IBA 15.2.5.17). */
static bool has_least_mtu(const struct sa_query *q)
{
    return (q->record[MCM_MTU] & 0x3f) == 1;
}

static bool has_least_rate(const struct sa_query *q)
{
    return (q->record[MCM_RATE] & 0x3f) == 2;
}

static bool refuses_mtu(const struct sa_query *q)
{
    return is_join(q) && (is_of_link(q) || !has_least_mtu(q));
}

static bool refuses_rate(const struct sa_query *q)
{
    return is_join(q) && (is_of_link(q) || !has_least_rate(q));
}

static bool refuses_mtu_and_rate(const struct sa_query *q)
{
    return is_join(q) && (is_of_link(q) || !has_least_mtu(q) || !has_least_rate(q));
}

/* The cause is found by changing one parameter after the other. */
static void the_cause_of_a_refused_join(void **state)
{
    static const struct {
        bool (*refuses)(const struct sa_query *q);
        const char *advice;
    } all[] = {
        {refuses_full, "cause: the JoinState, because the port may join as NonMember"},
        {refuses_this_group, "only this group is rejected; the SA grants one with the same"},
        {refuses_mtu, "cause: the MTU: a group with the least one is granted (fabric.mtu)"},
        {refuses_rate, "cause: the rate: a group with the least one is granted (fabric.rate)"},
        {refuses_mtu_and_rate, "cause: the MTU and the rate: a group with the least of both is"},
        {is_join, "every JoinState is rejected, and groups of the smallest MTU and rate too"},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin();
        run.fake.member = false;
        run.fake.makes_groups = true;
        run.sa_refuses = all[i].refuses;
        check("fabric.join", OUTCOME_FAIL, "the SA refuses: status 0x0200, request invalid",
              all[i].advice);
        assert_false(run.fake.made.there); /* the groups that were tried are gone */
    }
}

static void a_membership_that_was_lost(void **state)
{
    (void)state;
    for (int carrier = 0; carrier <= 1; carrier++) {
        begin();
        run.fake.member = false;
        host_add_file("/sys/class/net/ib0/carrier", carrier ? "1\n" : "0\n");
        if (carrier)
            check("fabric.join", OUTCOME_FAIL,
                  "ib0 is up, but the SA did not list its port in the group before this test",
                  "from a console: ip link set ib0 down; ip link set ib0 up; then other hosts");
        else
            check("fabric.join", OUTCOME_PASS, "accepted; this port was not in the group", "");
    }
}

/* ---- the link that other targets need */

static enum transport_result cannot(struct transport *t, const uint8_t *mgid, uint16_t mlid)
{
    (void)mgid;
    (void)mlid;
    g_strlcpy(t->error, "cannot attach", sizeof t->error);
    return TRANSPORT_ERROR;
}

static enum transport_result cannot_open(struct transport *t, unsigned pkey_index, uint32_t qkey)
{
    (void)pkey_index;
    (void)qkey;
    g_strlcpy(t->error, "no memory", sizeof t->error);
    return TRANSPORT_ERROR;
}

static void check_link(const char *text)
{
    GError *error = NULL;
    assert_false(link_open(run.t, &error));
    if (!strstr(error->message, text))
        fail_msg("\"%s\"; expected \"%s\"", error->message, text);
    g_error_free(error);
    run.fake.sa_silent = false;
    end();
}

static bool is_silent_to_joins(const struct sa_query *q)
{
    run.fake.sa_silent = is_join(q);
    return false;
}

/* The group has 2048 bytes and 10 Gb/s. */
static void a_link_that_cannot_be_joined(void **state)
{
    static const struct {
        uint8_t mtu;
        uint32_t rate;
        const char *text;
    } all[] = {
        {3, 25,
         "request invalid (ERR_REQ_INVALID); the group's MTU and rate are above this port's"},
        {3, 100, "(ERR_REQ_INVALID); the group's MTU is above this port's"},
        {4, 25, "(ERR_REQ_INVALID); the group's rate is above this port's"},
        {4, 100, "the SA refuses to join this port to the broadcast group: status 0x0200"},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin();
        run.t->link->opened = run.fake.member = false;
        run.sa_refuses = is_join;
        run.fake.base.facts.mtu = all[i].mtu;
        run.fake.base.facts.rate_100mbps = all[i].rate;
        check_link(all[i].text);
    }
    begin();
    run.t->link->opened = run.fake.member = false;
    run.sa_refuses = is_silent_to_joins;
    check_link("cannot join the broadcast group: the SA did not answer");
}

static void a_link_that_cannot_be_opened(void **state)
{
    (void)state;
    begin();
    run.t->link->opened = false;
    run.fake.base.facts.state = PORT_ARMED;
    check_link("fake0 port 1 is not active: see 'ipoib-probe fabric'");
    begin();
    run.t->link->opened = false;
    run.ops.open_qp = cannot_open;
    check_link("no memory");
    begin();
    run.t->link->opened = false;
    run.ops.attach = cannot;
    check_link("cannot attach");
}

/* ---- packets to groups */

/* The hosts that have replied to ARP: ports of these GUIDs. */
static void set_repliers(unsigned n)
{
    run.fake.ipv6 = true;
    run.t->link->repliers.n = n;
    for (unsigned i = 0; i < n; i++) {
        memcpy(run.t->link->repliers.gids[i], run.fake.base.facts.gid, GID_SIZE);
        run.t->link->repliers.gids[i][GID_SIZE - 1] = (uint8_t)(0xa0 + i);
    }
}

static void packets_to_groups(void **state)
{
    (void)state;
    begin();
    run.t->link->opened = false;
    check("fabric.delivery", VERDICT_SKIPPED, "the link was not opened", "");
    begin();
    set_repliers(2);
    run.fake.fault = DEAF_TO_GROUP;
    check("fabric.delivery", OUTCOME_INCONCLUSIVE,
          "packets to groups do not reach this port: 2 hosts reply to ARP, by unicast, and none of "
          "their advertisements to all IPv6 nodes arrives; or each of them filters ND",
          "ibroute -C fake0 -P 1 -M 70  # MLID 0xc000 must lead to LID 3");
    begin();
    set_repliers(1); /* one alone may filter ND */
    run.fake.fault = DEAF_TO_GROUP;
    check("fabric.delivery", OUTCOME_NOTED, "none arrived meanwhile, as on a quiet link",
          "--source");
    begin();
    set_repliers(2);
    run.t->link->forwarded = true;
    check("fabric.delivery", OUTCOME_NOTED,
          "none arrived meanwhile, as on a quiet link; advertisements of 2 hosts to all IPv6 nodes "
          "arrive",
          "");
}

static uint8_t masks; /* of each MLID, for the ports 0 to 7 of a switch */

static enum agent_answer answer_masks(struct transport *t, struct smp_request *q, int ms)
{
    (void)t;
    (void)ms;
    assert_int_equal(q->lid, 70);
    assert_int_equal(q->attribute, SMP_MULTICAST_TABLE);
    for (unsigned i = 0; i < 32; i++) /* IBA 14.2.5.12 */
        put16(q->data + (size_t)2 * i, masks);
    return AGENT_ANSWERS;
}

static void what_the_switch_forwards(void **state)
{
    static const struct {
        uint8_t masks;
        bool down, outside, alone;
        int outcome;
        const char *text, *advice;
    } all[] = {
        {1 << 5, false, false, false, OUTCOME_PASS,
         "the switch with LID 70 forwards the broadcast group to this port, by its port 5", ""},
        {0xdf, false, false, false, OUTCOME_FAIL,
         "the switch with LID 70 does not forward the broadcast group (MLID 0xc000) to its port 5, "
         "which leads to this one: hosts that ask for this host's address do not reach it",
         "ibroute -C fake0 -P 1 -M 70"},
        {0xdf, false, false, true, VERDICT_SKIPPED, "or the group has no other member", ""},
        {0xdf, true, false, false, VERDICT_SKIPPED, "no interface of this host is up and in", ""},
        {0xdf, false, true, false, VERDICT_SKIPPED, "no interface of this host is up and in", ""},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin();
        why_run_list(
            (struct listed_port){.gid = 0xa0, .lid = 10, .name = "n3", .member = !all[i].alone});
        run.fake.switches.there = true;
        run.ops.ask_smp = answer_masks;
        masks = all[i].masks;
        host.down = all[i].down;
        run.fake.member = !all[i].outside;
        check("fabric.forwarding", all[i].outcome, all[i].text, all[i].advice);
    }
}

/* ---- all stages */

/* The second port of a subnet does not repeat what is the subnet's. */
static void a_subnet_that_has_its_results(void **state)
{
    char *texts[2] = {NULL, NULL};
    GArray *subnets = g_array_new(FALSE, FALSE, sizeof(struct seen_subnet));
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        begin();
        run.fake.masters = 1;
        run.options.targets = g_array_new(FALSE, FALSE, sizeof(struct target_option));
        run.t->run->subnets = subnets;
        g_strlcpy(run.t->name, i ? "fabric 2" : "fabric 1", sizeof run.t->name);
        run.fake.spoils.method = SA_GET_TABLE; /* the GUID of the master SM */
        run.fake.spoils.attribute = SA_SM_INFO_RECORD;
        run.fake.spoils.at = SM_RECORD_INFO + SM_INFO_GUID + 6;
        run.fake.spoils.value = 0x1896;
        fabric_run(run.t, OPENED, NULL);
        for (guint k = 0; k < run.checked.stages->len; k++) {
            const struct stage *s = run.checked.stages->pdata[k];
            if (strcmp(s->id, "fabric.census") == 0)
                texts[i] = g_strdup(s->text);
        }
        g_array_unref(run.options.targets);
        end();
    }
    assert_non_null(texts[0]);
    assert_null(strstr(texts[0], "the same subnet"));
    assert_string_equal(texts[1], "the same subnet as that of fabric 1, which has the result");
    g_free(texts[0]);
    g_free(texts[1]);
    g_array_unref(subnets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_state_of_the_port),
        cmocka_unit_test(both_forms_of_a_pkey),
        cmocka_unit_test(the_groups_mtu_and_rate),
        cmocka_unit_test(the_cause_of_a_refused_join),
        cmocka_unit_test(a_membership_that_was_lost),
        cmocka_unit_test(a_link_that_cannot_be_joined),
        cmocka_unit_test(a_link_that_cannot_be_opened),
        cmocka_unit_test(packets_to_groups),
        cmocka_unit_test(what_the_switch_forwards),
        cmocka_unit_test(a_subnet_that_has_its_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probe against a peer in memory: exactly the rules of its fault fail. */
#include "probe_peer.h"

#include <string.h>

#include "probe/checks.h"
#include "probe/stages.h"
#include "probe/message.h"
#include "probe/octets.h"

/* ---- a run */

struct outcome_of_run {
    struct fake fake;
    struct judged judged;
    struct verdict_summary summary;
};

/* Partition 0x8001: the probe's port is in it too. */
static void join_other_partition(struct fake *f)
{
    f->base.facts.pkeys[f->base.facts.n_pkeys++] = OTHER_PKEY;
}

static void run(struct outcome_of_run *o, enum fault fault, bool source, bool member)
{
    char why[256];
    struct options options = {.rate = 100000, .timeout_ms = 1, .disruptive = true, .has_source = source};
    memset(options.selection.rule, true, sizeof options.selection.rule);
    memset(o, 0, sizeof *o);
    o->judged = (struct judged){.name = (char *)"peer", .verdict = verdict_new(NULL)};
    struct results results = {.judged = &o->judged};
    struct probe p = {.options = &options, .results = &results};
    fake_begin(&o->fake, &p, fault, member);
    join_other_partition(&o->fake);
    if (source) {
        p.source = (struct source){.given = true};
        memcpy(p.source.ip, own_ip, 4);
        assert_true(station_open(&p, why, sizeof why));
    }
    memcpy(p.peer.ip, peer_ip, 4);
    g_strlcpy(p.peer.name, "10.0.0.2", sizeof p.peer.name);
    run_peer(&p, NULL);
    fake_end(&p);
    o->summary = verdict_summarize(o->judged.verdict, true);
}

static void clear(struct outcome_of_run *o)
{
    g_free(o->judged.trouble);
    verdict_free(o->judged.verdict);
    if (o->judged.stages)
        g_ptr_array_unref(o->judged.stages);
}

/* The identifiers of what failed, with a space behind each. */
static void check_failed(const struct outcome_of_run *o, const char *expected)
{
    GString *failed = g_string_new(NULL);
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (verdict_count(o->judged.verdict, (enum rule_number)i, OUTCOME_FAIL))
            g_string_append_printf(failed, "%s ", rules[i].id);
    assert_string_equal(failed->str, expected);
    g_string_free(failed, TRUE);
}

static void check_fault(enum fault fault, const char *expected)
{
    struct outcome_of_run o;
    run(&o, fault, true, true);
    check_failed(&o, expected);
    clear(&o);
}

/* ---- the tests */

static void good_peer(void **state)
{
    struct outcome_of_run o;
    (void)state;
    run(&o, NO_FAULT, true, true);
    /* The Q_Key is not a controlled one: SHOULD, and no list of deviations was given. */
    check_failed(&o, "rfc4391.13.qkey-controlled ");
    assert_int_equal(o.summary.must, 0);
    assert_int_equal(verdict_worst(o.judged.verdict, R_RFC4391_6_RESERVED_IGNORED), OUTCOME_PASS);
    assert_int_equal(verdict_worst(o.judged.verdict, R_RFC4391_6_GRH_OPTIONAL), OUTCOME_PASS);
    assert_int_equal(verdict_worst(o.judged.verdict, R_RFC4391_7_MTU_2044), OUTCOME_PASS);
    assert_int_equal(verdict_worst(o.judged.verdict, R_RFC4391_9_1_QKEY_MATCH), OUTCOME_PASS);
    assert_int_equal(verdict_worst(o.judged.verdict, R_RFC4755_3_1_UD_ONLY_FLAGS), OUTCOME_PASS);
    assert_int_equal(verdict_worst(o.judged.verdict, R_PARTITION_INVALID_DROPPED), OUTCOME_PASS);
    /* what is asked by ARP of this peer was not left out, though NS would ask it too */
    assert_int_equal(
        verdict_count(o.judged.verdict, R_RFC4391_9_1_1_FLAGS_IGNORED, (enum outcome)VERDICT_SKIPPED), 0);
    clear(&o);
}

static void each_fault_is_found(void **state)
{
    (void)state;
#define ALWAYS "rfc4391.13.qkey-controlled "
    check_fault(NEEDS_GRH, "rfc4391.6.grh-optional " ALWAYS);
    check_fault(REFUSES_GRH, "rfc4391.6.grh-optional " ALWAYS);
    check_fault(MINDS_RESERVED, "rfc4391.6.reserved-ignored " ALWAYS);
    check_fault(MINDS_FLAGS, "rfc4391.9.1.1.flags-ignored " ALWAYS "rfc4755.3.1.ud-only-flags ");
    check_fault(OTHER_SENDER_QPN, ALWAYS "rfc4755.2.2.one-ud-qp ");
    check_fault(WRONG_TARGET, "rfc4391.9.2.arp-as-rfc826 " ALWAYS);
    check_fault(WRONG_TARGET_LLADDR, "rfc4391.9.2.arp-as-rfc826 " ALWAYS);
    check_fault(ANSWERS_SENDER, "rfc4391.9.1.1.arp-reply-qpn " ALWAYS);
    check_fault(SENDS_IP_TO_SENDER, "rfc4391.9.1.1.traffic-to-qpn " ALWAYS);
    check_fault(NOT_FULL_MEMBER, "rfc4391.5.full-member-join " ALWAYS);
    check_fault(DEAF_TO_MULTICAST, "rfc4391.2.multicast-supported " ALWAYS);
    check_fault(TAKES_ANY_QKEY, "rfc4391.9.1.qkey-match " ALWAYS);
    check_fault(WRONG_PATH, "rfc4391.9.1.1.gid-of-port " ALWAYS);
    check_fault(WRONG_GUID, "rfc4391.9.1.1.gid-from-port-guid " ALWAYS);
    check_fault(SMALL_MTU, "rfc4391.7.mtu-2044 " ALWAYS);
    check_fault(SENDS_RESERVED, "rfc4391.6.reserved-zero " ALWAYS);
    check_fault(SENDS_FLAGS, "rfc4391.9.1.1.reserved-flags " ALWAYS "rfc4755.3.1.ud-only-flags ");
    check_fault(ECHOES_FLAGS, ALWAYS "rfc4755.3.1.ud-only-flags ");
    check_fault(HARDWARE_TYPE_1, "rfc4391.9.2.arp-hardware-type " ALWAYS);
}

/* A rule of level INFO: told, not counted. */
static void wrong_pkey_is_noted(void **state)
{
    struct outcome_of_run o;
    (void)state;
    run(&o, TAKES_ANY_PKEY, false, true);
    check_failed(&o, ALWAYS);
    assert_int_equal(verdict_worst(o.judged.verdict, R_PARTITION_INVALID_DROPPED), OUTCOME_NOTED);
    clear(&o);
}

/* A peer that goes, and a fabric that loses every other packet, are at fault for nothing. */
static void silence_is_no_fault(void **state)
{
    struct outcome_of_run o;
    (void)state;
    check_fault(DIES, ALWAYS);
    check_fault(DROPS_HALF, ALWAYS);
    run(&o, IS_ABSENT, false, true);
    check_failed(&o, "");
    assert_int_equal(o.summary.status, VERDICT_UNJUDGED);
    assert_non_null(o.judged.trouble);
    clear(&o);
}

static void nothing_is_left_behind(void **state)
{
    struct outcome_of_run o;
    (void)state;
    run(&o, NO_FAULT, false, true);
    assert_int_equal(o.fake.joins, 0); /* the host is in the group: nothing to do, and nothing to undo */
    assert_int_equal(o.fake.leaves, 0);
    assert_int_equal(o.fake.announced, 0); /* nobody can remember the probe */
    clear(&o);
    run(&o, NO_FAULT, false, false);
    assert_int_equal(o.fake.joins, 1);
    assert_int_equal(o.fake.leaves, 1);
    assert_false(o.fake.member);
    clear(&o);
}

/* Nothing is made of a size that is none, and nothing held against the peer. */
static void mtu_is_none(void **state)
{
    struct outcome_of_run o;
    (void)state;
    run(&o, UNKNOWN_MTU, true, true);
    check_failed(&o, ALWAYS);
    assert_int_equal(verdict_worst(o.judged.verdict, R_RFC4391_7_MTU_2044), VERDICT_SKIPPED);
    assert_int_equal(verdict_worst(o.judged.verdict, R_RFC4391_4_1_GROUP_MTU), OUTCOME_INCONCLUSIVE);
    clear(&o);
}

static const uint8_t peer_ip6[16] = {0xfd, [15] = 2}, own_ip6[16] = {0xfd, [15] = 9};

/* An IPv6 peer; the SA answers so many questions of the run, and is silent then. 0: it answers all. */
static void run_ipv6(struct outcome_of_run *o, unsigned answers)
{
    struct options options = {.rate = 100000, .timeout_ms = 1, .disruptive = true};
    memset(options.selection.rule, true, sizeof options.selection.rule);
    memset(o, 0, sizeof *o);
    o->judged = (struct judged){.name = (char *)"peer", .verdict = verdict_new(NULL)};
    struct results results = {.judged = &o->judged};
    struct probe p = {.options = &options, .results = &results};
    fake_begin(&o->fake, &p, NO_FAULT, true);
    o->fake.ipv6 = true;
    o->fake.silent_after = answers ? o->fake.asks + answers - 1 : 0;
    p.peer.ipv6 = true;
    memcpy(p.peer.ip, peer_ip6, 16);
    g_strlcpy(p.peer.name, "fd00::2", sizeof p.peer.name);
    run_peer(&p, NULL);
    fake_end(&p);
}

/* What could not be asked, for want of the groups that it goes to, is held against nobody. */
static void silent_sa_accuses_nobody(void **state)
{
    enum { ENOUGH = 60 };
    struct outcome_of_run o;
    (void)state;
    run_ipv6(&o, 0);
    check_failed(&o, ALWAYS);
    assert_int_equal(verdict_worst(o.judged.verdict, R_RFC4391_2_MULTICAST_SUPPORTED), OUTCOME_PASS);
    /* this port is in one partition alone */
    assert_int_equal(verdict_worst(o.judged.verdict, R_PARTITION_INVALID_DROPPED), VERDICT_SKIPPED);
    assert_true(o.fake.asks < ENOUGH);
    clear(&o);
    run_ipv6(&o, 1);
    assert_string_equal(o.judged.trouble, "fd00::2: not asked: no answer of the subnet administrator");
    clear(&o);
    for (unsigned answers = 2; answers < ENOUGH; answers++) {
        run_ipv6(&o, answers);
        check_failed(&o, o.judged.trouble ? "" : ALWAYS);
        clear(&o);
    }
}

/* An address that nobody could be asked for is not taken. */
static void source_is_asked_for(void **state)
{
    struct options options = {.rate = 100000, .timeout_ms = 1};
    char why[256] = "";
    (void)state;
    for (unsigned answers = 1; answers < 8; answers++) {
        struct judged nobody = {.verdict = verdict_new(NULL)};
        struct results idle = {.judged = &nobody};
        struct probe p = {.options = &options, .results = &idle};
        static struct fake f;
        fake_begin(&f, &p, NO_FAULT, true);
        f.ipv6 = true;
        f.silent_after = f.asks + answers;
        p.source = (struct source){.given = true, .ipv6 = true};
        memcpy(p.source.ip, own_ip6, 16);
        assert_false(station_open(&p, why, sizeof why)); /* the peer has every address */
        assert_non_null(strstr(why, f.sent ? "in use, by" : "no answer"));
        assert_false(p.source.usable);
        fake_end(&p);
        verdict_free(nobody.verdict);
    }
}

/* RFC 4391 §4 and §8, and the pairs of addresses of real hosts. */
static void addresses(void **state)
{
    static const uint8_t broadcast[16] = {0xff, 0x12, 0x40, 0x1b, 0xbe, 0xef, [12] = 0xff, 0xff, 0xff, 0xff};
    static const uint8_t node[16] = {0xff, 0x12, 0x60, 0x1b, 0xff, 0xff, [11] = 0x01, 0xff, 0x66, 0xde, 0x52};
    static const uint8_t address[16] = {0xfe, 0x80, [8] = 0x9a, 0x03, 0x9b, 0x03, 0x00, 0x66, 0xde, 0x52};
    static const uint8_t guid[8] = {0x98, 0x03, 0x9b, 0x03, 0x00, 0x66, 0xde, 0x52};
    uint8_t group[16], out[16];
    (void)state;
    broadcast_mgid(out, 2, 0x3eef);
    assert_memory_equal(out, broadcast, 16);
    solicited_node(group, address);
    ipv6_mgid(out, 2, 0xffff, group);
    assert_memory_equal(out, node, 16);
    link_local_of(out, guid);
    assert_memory_equal(out, address, 16);
}

static bool names(const enum rule_number *list, unsigned n, enum rule_number rule)
{
    while (n && list[n - 1] != rule)
        n--;
    return n > 0;
}

/* What no capture shows, a check or a stage asks for: else --list would promise it in vain. */
static void what_a_probe_alone_sees_is_asked_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < RULE_COUNT; i++) {
        bool asked = !rule_by_probe(&rules[i]) || rule_in_capture(&rules[i]);
        for (unsigned k = 0; k < n_checks; k++)
            asked |= names(checks[k].rules, checks[k].n_rules, (enum rule_number)i);
        for (unsigned k = 0; k < n_stages; k++)
            asked |= names(stages[k].rules, stages[k].n_rules, (enum rule_number)i);
        if (!asked)
            fail_msg("no check of %s", rules[i].id);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_peer),
        cmocka_unit_test(each_fault_is_found),
        cmocka_unit_test(wrong_pkey_is_noted),
        cmocka_unit_test(silence_is_no_fault),
        cmocka_unit_test(nothing_is_left_behind),
        cmocka_unit_test(mtu_is_none),
        cmocka_unit_test(silent_sa_accuses_nobody),
        cmocka_unit_test(source_is_asked_for),
        cmocka_unit_test(addresses),
        cmocka_unit_test(what_a_probe_alone_sees_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

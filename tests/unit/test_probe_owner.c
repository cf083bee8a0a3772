/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which host sent a packet: another port that sends with the peer's IP address (RFC 5227 §2.4, RFC
 * 4861 §7.2), a peer that changes during the test, and proxies (RFC 1027, RFC 4861 §7.2.8); all
 * simulated.
 */
#include "probe_peer.h"

#include <stdio.h>
#include <string.h>

#include "probe/checks/checks.h"
#include "probe/checks/owner.h"
#include "probe/exchange/source.h"
#include "probe/link/link.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

enum { QUICK_MS = 1 };

struct outcome_of_run {
    struct checked checked;
    struct verdict_summary summary;
};

static const uint8_t peer_ip6[16] = {0xfd, [15] = 2};

static void set_source(struct target *target)
{
    target->link->source = (struct own_address){.given = true};
    memcpy(target->link->source.ip, own_ip, 4);
    assert_true(source_address_open(target, NULL));
}

/*
 * Runs all checks; the peer and the other port are as in *as. source: the probe has its own
 * address.
 */
static void run_with(struct outcome_of_run *o, const struct fake *as, bool source,
                     unsigned timeout_ms)
{
    static struct fake fake;
    struct options options = {.rate = 100000, .timeout_ms = timeout_ms, .has_source = source};
    memset(options.selection.rule, true, sizeof options.selection.rule);
    o->checked = (struct checked){.name = (char *)"peer", .verdict = verdict_new(NULL)};
    struct results results = {.checked = &o->checked};
    struct probe_fixture fixture;
    struct target *target = probe_fixture_make(&fixture, &options, &results);
    fake_begin(&fake, target, as->fault, true);
    fake.ipv6 = as->ipv6;
    if (source)
        set_source(target);
    fake.second = as->second;
    fake.proxy = as->proxy;
    fake.change = as->change;
    fake.network = as->network;
    fake.change.after += as->change.after ? fake.sent : 0;
    target->ipv6 = as->ipv6;
    memcpy(target->ip, as->ipv6 ? peer_ip6 : peer_ip, as->ipv6 ? 16 : 4);
    g_strlcpy(target->name, as->ipv6 ? "fd00::2" : "10.0.0.2", sizeof target->name);
    checks_run_peer(target, NULL);
    fake_end(target);
    o->summary = verdict_summarize(o->checked.verdict, true);
}

static void clear(struct outcome_of_run *o)
{
    probe_fixture_forget(&o->checked);
}

/* Asserts the identifiers of the rules that failed, each followed by a space. */
static void check_failed(const struct outcome_of_run *o, const char *expected, const char *when)
{
    GString *failed = g_string_new(NULL);
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (verdict_count(o->checked.verdict, (enum rule_number)i, OUTCOME_FAIL))
            g_string_append_printf(failed, "%s ", rules[i].id);
    if (strcmp(failed->str, expected) != 0)
        fail_msg("%s: failed: %s", when, failed->str);
    g_string_free(failed, TRUE);
}

static const struct stage *stage_of(const struct outcome_of_run *o, const char *id)
{
    for (guint i = 0; o->checked.stages && i < o->checked.stages->len; i++) {
        const struct stage *s = o->checked.stages->pdata[i];
        if (strcmp(s->id, id) == 0)
            return s;
    }
    return NULL;
}

static void says(const char *text, const char *words)
{
    if (!text || !strstr(text, words))
        fail_msg("\"%s\" does not say \"%s\"", text ? text : "", words);
}

/* In each run, the Q_Key of the group is not a controlled one. */
#define ALWAYS "rfc4391.13.qkey-controlled "

/* ---- a second owner */

/*
 * RFC 5227 §2.4: another sender hardware address with the peer's IP address is a conflict at any
 * time. Faults of that packet are not the peer's.
 */
static void another_port_is_a_finding_about_the_address(void **state)
{
    static const enum fault faults[] = {NO_FAULT, HARDWARE_TYPE_1, SENDS_RESERVED};
    static const unsigned late[] = {0, 20, 50, 600, 900};
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(faults); i++)
        for (size_t l = 0; l < G_N_ELEMENTS(late); l++) {
            struct outcome_of_run o;
            struct fake as = {.second = {.there = true, .late_ms = late[l], .fault = faults[i]}};
            char when[40];
            snprintf(when, sizeof when, "fault %d, %u ms late", (int)faults[i], late[l]);
            run_with(&o, &as, l % 2, 500);
            if (late[l] || faults[i] == NO_FAULT)
                check_failed(&o, ALWAYS, when);
            const struct stage *s = stage_of(&o, "peer.arp-flux");
            assert_non_null(s);
            assert_int_equal(s->outcome, OUTCOME_FAIL);
            says(s->text, "QPN 0x000048, GID fe80::2:c903:0:1895");
            says(s->text, "QPN 0x000051, GID fe80::2:c903:0:18a1");
            says(s->text, "LID 7");
            says(s->text, "LID 9");
            clear(&o);
        }
}

/* The peer's own fault is reported, even if the other port has the same fault. */
static void violation_of_the_peer_is_found(void **state)
{
    struct outcome_of_run o;
    const struct fake as = {
        .fault = SENDS_RESERVED,
        .second = {.there = true, .late_ms = 20, .lies = true, .fault = SENDS_RESERVED}};
    (void)state;
    run_with(&o, &as, false, 500);
    check_failed(&o, "rfc4391.6.reserved-zero " ALWAYS, "both");
    clear(&o);
}

/* The other port announces the peer's own link-layer address, but its LID or QPN differs. */
static void port_with_the_address_of_the_peer_is_not_the_peer(void **state)
{
    static const struct second liars[] = {
        {.there = true, .lies = true, .late_ms = 20, .fault = SENDS_RESERVED},
        {.there = true, .lies = true, .late_ms = 20, .fault = HARDWARE_TYPE_1, .same_lid = true},
        {.there = true, .lies = true, .late_ms = 20, .fault = SENDS_RESERVED, .same_qpn = true}};
    (void)state;
    for (size_t i = 0; i < 2 * G_N_ELEMENTS(liars); i++) {
        struct outcome_of_run o;
        struct fake as = {.second = liars[i / 2]};
        as.second.late_ms = i % 2 ? as.second.late_ms : 0; /* 0: the other port replies first */
        run_with(&o, &as, true, 500);
        check_failed(&o, ALWAYS, "a liar");
        const struct stage *s = stage_of(&o, "peer.arp-flux");
        assert_non_null(s);
        assert_int_equal(s->outcome, OUTCOME_FAIL);
        says(s->text, liars[i / 2].same_qpn ? "LID 9" : "QPN 0x000051");
        clear(&o);
    }
}

/* A reply of another port does not count as the peer's: a peer that drops something still fails. */
static void reply_of_another_port_is_not_the_peers(void **state)
{
    static const struct {
        enum fault fault;
        const char *failed;
    } all[] = {{DEAF_TO_MULTICAST, "rfc4391.2.multicast-supported " ALWAYS},
               {MINDS_RESERVED, "rfc4391.6.reserved-ignored " ALWAYS}};
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        struct outcome_of_run o;
        const struct fake as = {.fault = all[i].fault,
                                .second = {.there = true, .lies = true, .late_ms = 20}};
        run_with(&o, &as, false, 500);
        check_failed(&o, all[i].failed, "deaf");
        clear(&o);
    }
}

/*
 * Neither does an echo reply. Here it arrives at the QPN that sent the request, with the other
 * port's address.
 */
static void echo_reply_of_another_port_does_not_count(void **state)
{
    struct outcome_of_run o;
    const struct fake as = {
        .fault = SMALL_MTU,
        .second = {
            .there = true, .late_ms = 20, .responds_to_echo = true, .fault = SENDS_RESERVED}};
    (void)state;
    run_with(&o, &as, true, 500);
    check_failed(&o, "rfc4391.7.mtu-2044 " ALWAYS, "echo");
    clear(&o);
}

/*
 * RFC 4861 §7.2.7 and §7.2.8: several hosts may reply for an anycast address, and a proxy for
 * another host. Their NAs have no Override flag.
 */
static void without_override_it_is_no_conflict(void **state)
{
    struct outcome_of_run o;
    struct fake as = {.ipv6 = true, .second = {.there = true, .late_ms = 20}};
    (void)state;
    run_with(&o, &as, false, 500);
    const struct stage *s = stage_of(&o, "peer.arp-flux");
    assert_non_null(s);
    assert_int_equal(s->outcome, OUTCOME_FAIL);
    check_failed(&o, ALWAYS, "IPv6");
    clear(&o);
    as.second.weak = true;
    run_with(&o, &as, false, 500);
    s = stage_of(&o, "peer.arp-flux");
    assert_non_null(s);
    assert_int_equal(s->outcome, OUTCOME_NOTED);
    says(s->text, "GID fe80::2:c903:0:18a1");
    check_failed(&o, ALWAYS, "IPv6, without Override");
    clear(&o);
}

/* If one port announces the address, no conflict is reported. */
static void single_port_is_no_arp_flux(void **state)
{
    static const enum fault faults[] = {NO_FAULT, NEEDS_GRH, OTHER_SENDER_QPN, DEAF_TO_UNICAST};
    (void)state;
    for (size_t i = 0; i < 2 * G_N_ELEMENTS(faults); i++) {
        struct outcome_of_run o;
        const struct fake as = {.fault = faults[i / 2], .ipv6 = i % 2};
        run_with(&o, &as, false, 500);
        assert_null(stage_of(&o, "peer.arp-flux"));
        assert_null(stage_of(&o, "peer.changed"));
        clear(&o);
    }
}

/* ---- a peer that changes */

/*
 * The peer changes at each point of the run: no MUST fails, the change is reported, and later
 * checks use the new address.
 */
static void a_change_is_no_violation(void **state)
{
    static const struct change changes[] = {{.lid = true},
                                            {.qpn = true},
                                            {.gid = true, .qpn = true, .lid = true},
                                            {.lid = true, .silent = 4},
                                            {.qpn = true, .silent = 4}};
    (void)state;
    for (size_t c = 0; c < G_N_ELEMENTS(changes); c++)
        for (unsigned after = 1; after < 40; after++) {
            struct outcome_of_run o;
            struct fake as = {.change = changes[c], .ipv6 = after % 4 == 3};
            char when[60];
            as.change.after = after;
            snprintf(when, sizeof when, "change %zu after %u packets", c, after);
            run_with(&o, &as, after % 2, 250);
            check_failed(&o, o.checked.trouble ? "" : ALWAYS, when);
            const struct stage *flux = stage_of(&o, "peer.arp-flux");
            if (flux && flux->outcome == OUTCOME_FAIL)
                fail_msg("%s: %s", when, flux->text);
            const struct stage *s = stage_of(&o, "peer.reachable");
            if (s && s->outcome == OUTCOME_FAIL)
                fail_msg("%s: %s", when, s->text);
            clear(&o);
        }
}

/* The same if the network loses, duplicates and delays packets, and with a lying port. */
static void lossy_network_with_a_change_raises_no_violation(void **state)
{
    static const struct change changes[] = {
        {.after = 0}, {.lid = true}, {.qpn = true}, {.gid = true, .qpn = true, .lid = true}};
    enum { SEEDS = 60 };
    (void)state;
    for (unsigned seed = 1; seed <= SEEDS; seed++)
        for (size_t c = 0; c < G_N_ELEMENTS(changes); c++) {
            struct outcome_of_run o;
            struct fake as = {.change = changes[c],
                              .network = {.seed = seed, .late_ms = seed % 2 * 400}};
            char when[60];
            as.second = (struct second){.there = c == 0,
                                        .late_ms = seed % 700,
                                        .lies = seed % 3 == 0,
                                        .fault = SENDS_RESERVED};
            as.change.after = c ? seed : 0;
            snprintf(when, sizeof when, "change %zu, seed %u", c, seed);
            run_with(&o, &as, seed % 2, 500);
            /* the port that replies first counts as the peer, and so does its fault */
            bool first = c == 0 && verdict_count(o.checked.verdict, R_RFC4391_6_RESERVED_ZERO,
                                                 OUTCOME_FAIL) > 0;
            const struct stage *flux = stage_of(&o, "peer.arp-flux");
            const struct stage *reachable = stage_of(&o, "peer.reachable");
            if (!first)
                check_failed(&o, o.checked.trouble ? "" : ALWAYS, when);
            if (c && flux && flux->outcome == OUTCOME_FAIL)
                fail_msg("%s: %s", when, flux->text);
            if (c && reachable && reachable->outcome == OUTCOME_FAIL)
                fail_msg("%s: %s", when, reachable->text);
            clear(&o);
        }
}

static unsigned inconclusive_with(const struct outcome_of_run *o, const char *words)
{
    unsigned n = 0;
    for (size_t i = 0; i < RULE_COUNT; i++) {
        const struct verdict_result *r = verdict_result(o->checked.verdict, (enum rule_number)i,
                                                        OUTCOME_INCONCLUSIVE);
        for (unsigned k = 0; r && k < r->n_cases; k++)
            n += strstr(r->cases[k].actual, words) != NULL;
    }
    return n;
}

/*
 * The peer changes in the middle of the run: this is reported, and later checks pass at the new
 * address.
 */
static void a_change_is_named(void **state)
{
    static const struct {
        struct change change;
        const char *before, *after;
    } all[] = {{{.after = 5, .lid = true}, "LID 7", "LID 21"},
               {{.after = 5, .qpn = true}, "QPN 0x000048", "QPN 0x00004d"},
               {{.after = 5, .gid = true}, "GID fe80::2:c903:0:1895", "GID fe80::2:c903:0:189d"}};
    (void)state;
    for (size_t i = 0; i < 2 * G_N_ELEMENTS(all); i++) {
        struct outcome_of_run o;
        const struct fake as = {.change = all[i / 2].change, .ipv6 = i % 2};
        run_with(&o, &as, false, 250);
        const struct stage *s = stage_of(&o, "peer.changed");
        assert_non_null(s);
        assert_int_equal(s->outcome, OUTCOME_NOTED);
        says(s->text, all[i / 2].before);
        says(s->text, all[i / 2].after);
        assert_true(inconclusive_with(&o, "changed while it was tested") > 0);
        assert_int_equal(verdict_worst(o.checked.verdict, R_RFC4391_9_1_1_GID_OF_PORT),
                         OUTCOME_PASS);
        clear(&o);
    }
}

/* A peer with a fault has the same fault after the change. */
static void violation_after_a_change_is_found(void **state)
{
    struct outcome_of_run o;
    const struct fake as = {.fault = MINDS_RESERVED, .change = {.after = 5, .lid = true}};
    (void)state;
    run_with(&o, &as, false, 250);
    check_failed(&o, "rfc4391.6.reserved-ignored " ALWAYS, "a fault");
    clear(&o);
}

/* The address moves to another port for good: this is not a second owner. */
static void an_address_that_moves(void **state)
{
    struct outcome_of_run o;
    const struct fake as = {.change = {.after = 7, .lid = true, .qpn = true, .gid = true}};
    (void)state;
    run_with(&o, &as, false, 250);
    assert_non_null(stage_of(&o, "peer.changed"));
    assert_null(stage_of(&o, "peer.arp-flux"));
    clear(&o);
}

/* ---- proxies */

static void proxy_is_reported(void **state)
{
    (void)state;
    for (unsigned ipv6 = 0; ipv6 < 2; ipv6++) {
        struct outcome_of_run o;
        /* the simulated IPv6 peer has every address */
        const struct fake as = {.proxy = true, .ipv6 = ipv6};
        run_with(&o, &as, false, 500);
        const struct stage *s = stage_of(&o, "peer.proxy");
        assert_non_null(s);
        assert_int_equal(s->outcome, OUTCOME_NOTED);
        says(s->text, "proxy");
        check_failed(&o, ALWAYS, "a proxy");
        clear(&o);
    }
}

static void host_is_not_reported_as_a_proxy(void **state)
{
    static const struct fake as[] = {{.proxy = false},
                                     {.second = {.there = true, .late_ms = 20}},
                                     {.change = {.after = 5, .lid = true}}};
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(as); i++) {
        struct outcome_of_run o;
        run_with(&o, &as[i], false, 500);
        assert_null(stage_of(&o, "peer.proxy"));
        clear(&o);
    }
}

/* ---- the report */

static void the_report_names_both(void **state)
{
    static const char *const words[] = {"00:00:00:48:fe:80",
                                        "QPN 0x000048, GID fe80::2:c903:0:1895, LID 7",
                                        "QPN 0x000051, GID fe80::2:c903:0:18a1, LID 9"};
    struct outcome_of_run o;
    const struct fake as = {.second = {.there = true, .late_ms = 600}};
    (void)state;
    run_with(&o, &as, false, 500);
    struct report r = {.tool = "ipoib-probe",
                       .version = "0",
                       .deviations = "none",
                       .probed = true,
                       .captures = &o.checked,
                       .n = 1};
    GString *text = g_string_new(NULL);
    report_text_probed(text, &r, &o.checked, false);
    char **all = g_strsplit_set(text->str, " \n", -1); /* the screen wraps its lines */
    g_string_truncate(text, 0);
    for (char **word = all; *word; word++)
        g_string_append_printf(text, "%s%s", **word ? " " : "", *word);
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        says(text->str, words[i]);
    assert_int_equal(report_exit_status(&r), EXIT_VIOLATED);
    g_strfreev(all);
    g_string_free(text, TRUE);
    GString *json = report_whole(&report_parts_json, &r);
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        says(json->str, words[i]);
    g_string_free(json, TRUE);
    clear(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_port_is_a_finding_about_the_address),
        cmocka_unit_test(violation_of_the_peer_is_found),
        cmocka_unit_test(port_with_the_address_of_the_peer_is_not_the_peer),
        cmocka_unit_test(reply_of_another_port_is_not_the_peers),
        cmocka_unit_test(echo_reply_of_another_port_does_not_count),
        cmocka_unit_test(without_override_it_is_no_conflict),
        cmocka_unit_test(single_port_is_no_arp_flux),
        cmocka_unit_test(a_change_is_no_violation),
        cmocka_unit_test(lossy_network_with_a_change_raises_no_violation),
        cmocka_unit_test(a_change_is_named),
        cmocka_unit_test(violation_after_a_change_is_found),
        cmocka_unit_test(an_address_that_moves),
        cmocka_unit_test(proxy_is_reported),
        cmocka_unit_test(host_is_not_reported_as_a_proxy),
        cmocka_unit_test(the_report_names_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

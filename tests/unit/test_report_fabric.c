/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text report of a probe's target: on one screen what failed and what to do, passes and stages
 * that did not run as counts, each fact once, and the verdict. With verbose it has everything.
 */
#include "unit.h"

#include <string.h>

#include "report/report.h"

static char *text_with(struct checked *j, bool verbose)
{
    struct report r = {
        .tool = "ipoib-probe", .probed = true, .verbose = verbose, .captures = j, .n = 1};
    GString *out = g_string_new(NULL);
    report_text_probed(out, &r, j, false);
    return g_string_free(out, FALSE);
}

static char *text_of(struct checked *j)
{
    return text_with(j, false);
}

static unsigned count(const char *text, const char *words)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, words)); at += strlen(words))
        n++;
    return n;
}

static void cause_is_printed_once(void **state)
{
    struct checked j = {.name = g_strdup("fabric"),
                        .verdict = verdict_new(NULL),
                        .trouble = g_strdup("no InfiniBand device")};
    (void)state;
    checked_add_stage(&j, "fabric.device", OUTCOME_FAIL, "no InfiniBand device", "lspci");
    checked_add_stage(&j, "fabric.sm", VERDICT_SKIPPED, "fabric.device failed", "");
    checked_add_stage(&j, "fabric.pkey", VERDICT_SKIPPED, "fabric.device failed", "");
    checked_add_stage(&j, "fabric.mtu", VERDICT_SKIPPED, "fabric.device failed", "");
    char *text = text_of(&j);
    assert_int_equal(count(text, "no InfiniBand device"), 1);
    assert_non_null(strstr(text, "fabric: not tested, 1 problem\n"));
    assert_non_null(strstr(text, "3 stages not run: fabric.device failed; -v"));
    assert_non_null(strstr(text, "\nfabric: FAULT: 1 stage failed\n"));
    assert_null(strstr(text, "VIOLATED"));
    g_free(text);
    checked_clear(&j);
}

/* An error that is not a stage's is reported, too; single stages keep their names. */
static void errors_without_a_stage_are_printed(void **state)
{
    struct checked j = {.name = g_strdup("fabric"),
                        .verdict = verdict_new(NULL),
                        .trouble = g_strdup("the device is gone")};
    (void)state;
    checked_add_stage(&j, "fabric.device", OUTCOME_PASS, "mlx5_0 port 1", "");
    checked_add_stage(&j, "fabric.group-attributes", VERDICT_SKIPPED, "only with --disruptive", "");
    checked_add_stage(&j, "fabric.neighbours", OUTCOME_FAIL, "moved", "");
    char *text = text_of(&j);
    assert_non_null(strstr(text, "1 stage not run: only with --disruptive"));
    assert_non_null(strstr(
        text, "fabric: FAULT: 1 stage failed; and not checked to its end: the device is gone\n"));
    g_free(text);
    text = text_with(&j, true);
    assert_non_null(strstr(text, "fabric.group-attributes  only with --disruptive"));
    g_free(text);
    checked_clear(&j);
}

static void a_sound_fabric_is_ok(void **state)
{
    struct checked j = {.name = g_strdup("fabric"), .verdict = verdict_new(NULL)};
    const struct finding f = {.rule = R_SM_ONE_MASTER,
                              .outcome = OUTCOME_PASS,
                              .expected = "",
                              .actual = "1 master",
                              .entity = "",
                              .reason = ""};
    (void)state;
    verdict_frame(j.verdict, true);
    verdict_add_evidence(j.verdict, &f, &(struct verdict_evidence){"fabric.sm", "", ""});
    checked_add_stage(&j, "fabric.sm", OUTCOME_PASS, "it answers", "");
    char *text = text_of(&j);
    assert_non_null(strstr(text, "\nfabric: OK: 1 rule passed\n"));
    g_free(text);
    checked_clear(&j);
}

/* What did not run because an earlier stage had no result is not OK; a stage that was not asked for
 * changes nothing. */
static void an_undone_fabric_is_not_judged(void **state)
{
    struct checked j = {.name = g_strdup("fabric"), .verdict = verdict_new(NULL)};
    (void)state;
    verdict_frame(j.verdict, true);
    checked_add_stage(&j, "fabric.group-attributes", VERDICT_SKIPPED, "only with --disruptive", "");
    char *text = text_of(&j);
    assert_non_null(strstr(text, "\nfabric: OK: "));
    g_free(text);
    checked_add_stage(&j, "fabric.sm", OUTCOME_INCONCLUSIVE, "the SA at LID 1 is busy", "");
    checked_add_stage_not_run(&j, "fabric.pkey", j.stages->pdata[1]);
    text = text_of(&j);
    assert_int_equal(count(text, "the SA at LID 1 is busy"), 1);
    assert_non_null(strstr(text, "\nfabric: NOT JUDGED: see fabric.sm\n"));
    g_free(text);
    text = text_with(&j, true);
    assert_non_null(strstr(text, "fabric.pkey  fabric.sm had no result\n"));
    g_free(text);
    checked_clear(&j);
}

/* Something of a stage that passed was not done; a failure stays one. */
static void withheld_stage_is_not_judged(void **state)
{
    (void)state;
    for (int failed = 0; failed <= 1; failed++) {
        struct checked j = {.name = g_strdup("fabric"), .verdict = verdict_new(NULL)};
        verdict_frame(j.verdict, true);
        checked_add_stage_without(&j, "fabric.mtu", "no libibverbs");
        checked_add_stage(&j, "fabric.own-group", failed ? OUTCOME_FAIL : OUTCOME_PASS, "made", "");
        checked_withhold_stage(&j, "not left");
        char *text = text_of(&j);
        assert_non_null(strstr(text, "fabric.own-group  made; not left\n"));
        assert_non_null(strstr(text, failed ? "\nfabric: FAULT: 1 stage failed"
                                            : "\nfabric: NOT JUDGED: see fabric.own-group\n"));
        g_free(text);
        checked_clear(&j);
    }
}

/* --only with rules of which none applies judges nothing. */
static void only_rules_that_do_not_apply(void **state)
{
    static const char *const only[] = {"rfc4755", NULL};
    const struct finding f = {.rule = R_RFC4391_10_LEAVE,
                              .outcome = OUTCOME_PASS,
                              .expected = "",
                              .actual = "",
                              .entity = "",
                              .reason = ""};
    struct checked j = {.name = g_strdup("fabric"), .verdict = verdict_new(NULL)};
    const struct report r = {.probed = true, .only = only, .captures = &j, .n = 1};
    (void)state;
    verdict_frame(j.verdict, true);
    checked_add_stage(&j, "fabric.sm", OUTCOME_PASS, "it answers", "");
    assert_int_equal(report_exit_status(&r), EXIT_UNJUDGED);
    assert_string_equal(checked_why_not(&r, &j),
                        "nothing was judged: no rule or stage of --only had a result");
    j.sweep = true; /* the rules are those of its hosts */
    assert_int_equal(report_exit_status(&r), EXIT_CONFORMANT);
    j.sweep = false;
    verdict_add_evidence(j.verdict, &f, &(struct verdict_evidence){"", "", ""});
    assert_int_equal(report_exit_status(&r), EXIT_CONFORMANT);
    checked_clear(&j);
}

static void add_rule(struct checked *j, enum rule_number rule, enum outcome outcome,
                     const char *actual)
{
    const struct finding f = {.rule = rule,
                              .outcome = outcome,
                              .expected = "",
                              .actual = actual,
                              .entity = "",
                              .reason = ""};
    verdict_add_evidence(j->verdict, &f, &(struct verdict_evidence){"check", "a request", ""});
}

/* For a peer, the report gives the verdict of the rules; a stage that fails violates none. */
static void a_peer_conforms(void **state)
{
    struct checked j = {.name = g_strdup("10.0.0.2"), .verdict = verdict_new(NULL)};
    (void)state;
    checked_add_stage(&j, "peer.arp-flux", OUTCOME_FAIL, "two answer", "");
    char *text = text_of(&j);
    assert_non_null(strstr(text, "\n10.0.0.2: FAULT: 1 stage failed\n"));
    g_free(text);
    add_rule(&j, R_RFC4391_6_TYPE, OUTCOME_FAIL, "0x1234");
    text = text_of(&j);
    assert_non_null(strstr(text, "\n10.0.0.2: VIOLATED: 1 stage failed, 1 MUST violated\n"));
    g_free(text);
    checked_clear(&j);
}

/* ---- one screen */

static void fits_a_screen(const char *text)
{
    char **lines = g_strsplit(text, "\n", -1);
    assert_true(g_strv_length(lines) - 1 <= 22);
    for (char **line = lines; *line; line++)
        if (g_utf8_strlen(*line, -1) >= 80)
            fail_msg("wider than 80 columns: %s", *line);
    g_strfreev(lines);
}

/* What is copied from the terminal is run: no command ends in the middle of a line. */
static void screen_breaks_no_command(void **state)
{
    struct checked j = {.name = g_strdup("10.0.0.2"), .verdict = verdict_new(NULL)};
    (void)state;
    checked_add_stage(&j, "peer.end", OUTCOME_INCONCLUSIVE, "no reply",
                      "ip route get 10.0.0.3; nft list ruleset; ip link set ib1 down; ip link set "
                      "ib1 up  # addresses that were set by hand are gone then");
    checked_add_stage(&j, "peer.loss", OUTCOME_INCONCLUSIVE, "lost",
                      "sysctl net.ipv4.neigh.default.gc_thresh3 "
                      "net.ipv6.neigh.default.gc_thresh3; dmesg");
    char *text = text_of(&j);
    fits_a_screen(text);
    assert_non_null(strstr(text, "                  -> ip route get 10.0.0.3; nft list ruleset;\n"
                                 "                     ip link set ib1 down; ip link set ib1 up\n"
                                 "                     # addresses that were set by hand are "
                                 "gone then\n"));
    assert_non_null(strstr(text, /* longer than a line */
                           "                  -> sysctl net.ipv4.neigh.default.gc_thresh3\n"
                           "                     net.ipv6.neigh.default.gc_thresh3; dmesg\n"));
    g_free(text);
    checked_clear(&j);
}

/* Causes come first, then the rules that failed, whatever else is in the report; every pass is only
 * counted. */
static void screen_has_the_failures_and_counts_the_passes(void **state)
{
    struct checked j = {
        .name = g_strdup("10.0.0.2"), .verdict = verdict_new(NULL), .state = "reachable"};
    char *many = g_strnfill(3000, 'x');
    (void)state;
    for (char *at = many; *at; at += 10)
        *at = ' ';
    for (unsigned i = 0; i < 30; i++)
        checked_add_stage(&j, "peer.echo", OUTCOME_PASS, "it passed", "");
    checked_add_stage(&j, "peer.address", OUTCOME_NOTED, "it is there", "");
    checked_add_stage(&j, "peer.end", OUTCOME_INCONCLUSIVE, "no reply", "test again");
    add_rule(&j, R_RFC4391_6_TYPE, OUTCOME_FAIL, "0x1234");
    add_rule(&j, R_RFC4391_6_RESERVED_ZERO, OUTCOME_PASS, "");
    checked_add_stage(&j, "peer.reachable", OUTCOME_FAIL, "only by multicast",
                      "ip link set ib0 up");
    char *text = text_of(&j);
    fits_a_screen(text);
    assert_true(g_str_has_prefix(text, "10.0.0.2: reachable, 2 problems, 1 open question\n"
                                       "  fail          peer.reachable  only by multicast\n"
                                       "                  -> ip link set ib0 up\n"
                                       "  fail          rfc4391.6.type  "));
    assert_non_null(strstr(text, "  inconclusive  peer.end  no reply\n"
                                 "                  -> test again\n"));
    assert_non_null(strstr(text, "found     0x1234\n"));
    assert_non_null(strstr(text, "more: ipoib-probe --explain rfc4391.6.type\n"));
    assert_non_null(
        strstr(text, "  noted         peer.address  it is there\n30 stages passed; -v"));
    assert_null(strstr(text, "it passed"));
    assert_null(strstr(text, "reserved-zero"));
    assert_non_null(strstr(text, "\n10.0.0.2: VIOLATED: 1 stage failed, 1 MUST violated, "));
    g_free(text);
    for (unsigned i = 0; i < 9; i++)
        checked_add_stage(&j, "peer.loss", OUTCOME_FAIL, many, "");
    text = text_of(&j);
    fits_a_screen(text);
    assert_non_null(strstr(text, "reachable, 11 problems"));
    assert_non_null(strstr(text, " more (peer.loss, peer.loss, ...): -v lists them\n"));
    g_free(text);
    struct checked long_rule = {.name = g_strdup("10.0.0.2"), .verdict = verdict_new(NULL)};
    const struct finding f = {.rule = R_RFC4755_3_5_SERVICE_ID,
                              .outcome = OUTCOME_FAIL,
                              .expected = many,
                              .actual = many,
                              .entity = "",
                              .reason = ""};
    verdict_add_evidence(long_rule.verdict, &f, &(struct verdict_evidence){"check", many, many});
    text = text_of(&long_rule);
    fits_a_screen(text);
    g_free(text);
    checked_clear(&long_rule);
    text = text_with(&j, true);
    assert_int_equal(count(text, "it passed"), 30);
    assert_int_equal(count(text, many), 9);
    assert_non_null(strstr(text, "reserved-zero"));
    g_free(text);
    g_free(many);
    checked_clear(&j);
}

/* The reason of a peer without a reply is that of its stage; the verdict does not repeat it. */
static void reason_is_printed_once(void **state)
{
    struct checked j = {.name = g_strdup("10.0.0.9"),
                        .verdict = verdict_new(NULL),
                        .state = "not reachable",
                        .trouble = g_strdup("no reply to 3 ARP requests: no such host: check it"),
                        .cause = "peer.no-reply"};
    (void)state;
    checked_add_stage(&j, "peer.no-reply", OUTCOME_INCONCLUSIVE, "no such host: check it", "look");
    char *text = text_of(&j);
    assert_string_equal(text, "10.0.0.9: not reachable\n"
                              "  cause         peer.no-reply  no such host: check it\n"
                              "                  -> look\n"
                              "\n10.0.0.9: NOT JUDGED: no reply to 3 ARP requests\n");
    g_free(text);
    checked_clear(&j);
}

/* A later stage has shown what to do, or why one failed. */
static void later_stage_changes_a_failed_one(void **state)
{
    struct checked j = {.name = g_strdup("fabric"), .verdict = verdict_new(NULL)};
    (void)state;
    checked_add_stage(&j, "fabric.own-groups", OUTCOME_FAIL, "not in a group", "set it down");
    checked_add_stage(&j, "fabric.rate", OUTCOME_PASS, "as wanted", "");
    checked_add_stage(&j, "peer.rdma-cm", OUTCOME_FAIL, "a policy refuses it", "");
    checked_advise_stage(&j, "fabric.own-groups", "free MLIDs first");
    checked_advise_stage(&j, "fabric.rate", "nothing to do");
    checked_follow_stage(&j, "peer.rdma-cm", "fabric.rate"); /* which has passed */
    const struct stage *const *all = (const struct stage *const *)j.stages->pdata;
    assert_string_equal(all[0]->advice, "free MLIDs first");
    assert_string_equal(all[1]->advice, "");
    assert_string_equal(all[2]->text, "a policy refuses it");
    checked_follow_stage(&j, "peer.rdma-cm", "fabric.own-groups");
    assert_string_equal(all[2]->text, "a consequence of fabric.own-groups");
    assert_int_equal(all[2]->outcome, VERDICT_SKIPPED);
    checked_clear(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cause_is_printed_once),
        cmocka_unit_test(later_stage_changes_a_failed_one),
        cmocka_unit_test(errors_without_a_stage_are_printed),
        cmocka_unit_test(a_sound_fabric_is_ok),
        cmocka_unit_test(an_undone_fabric_is_not_judged),
        cmocka_unit_test(withheld_stage_is_not_judged),
        cmocka_unit_test(only_rules_that_do_not_apply),
        cmocka_unit_test(a_peer_conforms),
        cmocka_unit_test(screen_breaks_no_command),
        cmocka_unit_test(screen_has_the_failures_and_counts_the_passes),
        cmocka_unit_test(reason_is_printed_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

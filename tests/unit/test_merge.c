/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading reports again: results of every outcome survive unchanged. And the tally of several
 * reports.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/merge_tally.h"

/* One rule of each level, from the table. */
static const enum rule_number MUST_RULE = R_RFC4391_6_RESERVED_ZERO,
                              SHOULD_RULE = R_RFC4391_4_1_QKEY_CONTROLLED,
                              INFO_RULE = R_RFC4391_3_SAME_PARTITION;

static char path[] = "/tmp/ipoib-test-merge.XXXXXX";

static struct finding of(enum rule_number rule, enum outcome outcome, const char *actual)
{
    return (struct finding){.rule = rule,
                            .outcome = outcome,
                            .expected = "0x0000",
                            .actual = actual,
                            .entity = "group ff12::1",
                            .reason = outcome == OUTCOME_DEVIATION ? "known" : ""};
}

/* A capture with more cases and frames than a report keeps, and with each outcome. */
static struct checked a_capture(void)
{
    struct checked j = {.name = g_strdup("a.pcap"), .verdict = verdict_new(NULL)};
    char actual[16];
    for (uint32_t frame = 1; frame <= 25; frame++) {
        g_snprintf(actual, sizeof actual, "0x%04x", frame % 12);
        struct finding f = of(MUST_RULE, OUTCOME_FAIL, actual);
        verdict_frame(j.verdict, frame % 2);
        verdict_add(j.verdict, frame, &f);
    }
    const struct finding others[] = {
        of(MUST_RULE, OUTCOME_PASS, ""), of(MUST_RULE, OUTCOME_INCONCLUSIVE, "x"),
        of(SHOULD_RULE, OUTCOME_DEVIATION, "y \"quoted\" \\"),
        of(SHOULD_RULE, (enum outcome)VERDICT_KNOWN, "k"), of(INFO_RULE, OUTCOME_FAIL, "z")};
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        verdict_add(j.verdict, 7, &others[i]);
    return j;
}

static struct checked a_target(void)
{
    const struct verdict_evidence e = {"a check", "sent this", "that came"};
    struct checked j = {.name = g_strdup("10.0.0.2"), .verdict = verdict_new(NULL)};
    struct finding pass = of(MUST_RULE, OUTCOME_PASS, "good");
    verdict_frame(j.verdict, true);
    verdict_add_evidence(j.verdict, &pass, &e);
    verdict_skip(j.verdict, SHOULD_RULE, "needs --source", &e);
    checked_add_stage(&j, "fabric.mtu", OUTCOME_FAIL, "2048 < 4096", "look at the cable");
    return j;
}

/* Writes the report to a file and returns its text in *text. */
static void write_report(struct checked *j, bool probed, char **text)
{
    struct report r = {.tool = probed ? "ipoib-probe" : "ipoib-check",
                       .version = "1",
                       .deviations = "linux",
                       .probed = probed,
                       .captures = j,
                       .n = 1};
    GString *whole = report_whole(&report_parts_json, &r);
    assert_true(g_file_set_contents(path, whole->str, (gssize)whole->len, NULL));
    *text = g_string_free(whole, FALSE);
}

/*
 * Reads a report and writes it again: both must be the same. Only the name differs: the node's name
 * is put in front.
 */
static void comes_back(struct checked j, bool probed)
{
    char *written, *again;
    GError *error = NULL;
    struct merge_report given;
    struct restored r;
    write_report(&j, probed, &written);
    assert_true(merge_report_open(&given, path, &error));
    assert_int_equal(given.entries->len, 1);
    assert_true(restore(&r, &g_array_index(given.entries, struct merge_entry, 0), "1", &error));
    assert_null(error);
    assert_true(g_str_has_suffix(r.checked.name, j.name));
    g_free(r.checked.name);
    r.checked.name = g_strdup(j.name);
    write_report(&r.checked, probed, &again);
    assert_string_equal(again, written);
    restored_clear(&r);
    merge_report_clear(&given);
    checked_clear(&j);
    g_free(written);
    g_free(again);
}

static void test_comes_back(void **state)
{
    (void)state;
    comes_back(a_capture(), false);
    comes_back(a_target(), true);
}

/* The formats with tests report the skipped rule, too, with the same reason. */
static void test_skipped(void **state)
{
    const struct report_parts *const formats[] = {&report_parts_junit, &report_parts_tap};
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
        struct checked j = a_target();
        struct report r = {.tool = "ipoib-probe",
                           .version = "1",
                           .deviations = "linux",
                           .probed = true,
                           .captures = &j,
                           .n = 1};
        GString *whole = report_whole(formats[i], &r);
        assert_non_null(strstr(whole->str, "not tried: needs --source"));
        g_string_free(whole, TRUE);
        checked_clear(&j);
    }
}

static void test_node_of_a_file(void **state)
{
    static const char *const names[][2] = {
        {"reports/node01.json", "node01"}, {"node01", "node01"},
        {"a.b/c.d.json", "c.d"},           {".json", ".json"},
        {"-", "standard input"},           {"a\033b.json", "a\\x1bb"}};
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        char *node = merge_node_of(names[i][0]);
        assert_string_equal(node, names[i][1]);
        g_free(node);
    }
}

/* ---- the tally */

static void add(struct merge_tally *t, const char *node, bool strict, enum rule_number rule,
                enum outcome outcome)
{
    struct restored r = {.report = {.strict = strict, .n = 1},
                         .checked = {.verdict = verdict_new(NULL)}};
    struct finding f = of(rule, outcome, "x");
    r.report.captures = &r.checked;
    verdict_frame(r.checked.verdict, true);
    verdict_add(r.checked.verdict, 1, &f);
    tally_add(t, node, &r);
    checked_clear(&r.checked);
}

static void test_tally(void **state)
{
    struct merge_tally *t = tally_new();
    (void)state;
    add(t, "b", false, MUST_RULE, OUTCOME_INCONCLUSIVE);
    assert_int_equal(tally_nodes_with(t, MUST_RULE, OUTCOME_INCONCLUSIVE), 1);
    add(t, "a", false, MUST_RULE, OUTCOME_INCONCLUSIVE);
    add(t, "a", false, MUST_RULE, OUTCOME_PASS); /* replaces the inconclusive result before it */
    add(t, "a", false, MUST_RULE, OUTCOME_INCONCLUSIVE);
    assert_int_equal(tally_nodes_with(t, MUST_RULE, OUTCOME_INCONCLUSIVE), 1);
    assert_int_equal(tally_nodes_with(t, MUST_RULE, OUTCOME_PASS), 1);
    add(t, "a", false, MUST_RULE, OUTCOME_FAIL);
    add(t, "a", false, MUST_RULE, OUTCOME_PASS); /* a pass does not undo a failure */
    assert_int_equal(tally_worst(t->nodes->pdata[1], MUST_RULE), OUTCOME_FAIL);
    assert_int_equal(tally_worst(t->nodes->pdata[0], SHOULD_RULE), -1);
    assert_int_equal(tally_nodes_with(t, MUST_RULE, OUTCOME_PASS), 0);
    const struct tally_item *item = t->items->pdata[MUST_RULE];
    assert_int_equal(item->counts[OUTCOME_PASS], 2);
    assert_int_equal(item->counts[OUTCOME_INCONCLUSIVE], 3);
    assert_true(item->violation);
    assert_int_equal(t->nodes->len, 2);
    assert_string_equal(((struct tally_node *)t->nodes->pdata[0])->name, "b");
    /* by hand: of six captures one fails, two pass, three are inconclusive */
    assert_int_equal(t->by_status[VERDICT_VIOLATED], 1);
    assert_int_equal(t->by_status[VERDICT_CONFORMANT], 2);
    assert_int_equal(t->by_status[VERDICT_UNJUDGED], 3);
    assert_int_equal(tally_status(t->by_status, 0), VERDICT_VIOLATED);
    tally_free(t);
}

static void test_strictness(void **state)
{
    struct merge_tally *t = tally_new();
    const struct tally_item *item = t->items->pdata[SHOULD_RULE];
    (void)state;
    add(t, "a", false, SHOULD_RULE, OUTCOME_FAIL);
    assert_false(item->violation);
    assert_int_equal(t->by_status[VERDICT_UNJUDGED], 1); /* no MUST was checked */
    add(t, "b", true, SHOULD_RULE, OUTCOME_FAIL);
    assert_true(item->violation);
    assert_int_equal(t->by_status[VERDICT_VIOLATED], 1);
    tally_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comes_back), cmocka_unit_test(test_skipped),
        cmocka_unit_test(test_node_of_a_file), cmocka_unit_test(test_tally),
        cmocka_unit_test(test_strictness)};
    int fd = g_mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What findings add up to: counts, cases, frames, verdicts. Texts are escaped, and memory is
 * limited.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/plain.h"
#include "report/report.h"
#include "rules/sender.h"

/* One rule of each level, from the table. */
static const enum rule_number MUST_RULE = R_RFC4391_6_RESERVED_ZERO,
                              SHOULD_RULE = R_RFC4391_4_1_QKEY_CONTROLLED,
                              INFO_RULE = R_RFC4391_3_SAME_PARTITION;

static void add(struct verdict *v, uint32_t frame, enum rule_number rule, enum outcome outcome,
                const char *entity, const char *actual)
{
    const struct sender sender = {.lid = 3, .known = SENDER_LID};
    struct finding f = {.rule = rule,
                        .outcome = outcome,
                        .expected = "0x0000",
                        .actual = actual,
                        .entity = entity,
                        .reason = outcome == OUTCOME_DEVIATION ? "known" : "",
                        .sender = &sender};
    verdict_add(v, frame, &f);
}

static struct verdict *with_ipoib(void)
{
    struct verdict *v = verdict_new(NULL);
    verdict_frame(v, true);
    verdict_frame(v, false);
    return v;
}

static enum rule_number first_may(void)
{
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (rules[i].level == RULE_MAY)
            return (enum rule_number)i;
    fail_msg("no MAY rule");
    return RULE_COUNT;
}

static void rules_of_these_tests_have_their_levels(void **state)
{
    (void)state;
    assert_int_equal(rules[MUST_RULE].level, RULE_MUST);
    assert_int_equal(rules[SHOULD_RULE].level, RULE_SHOULD);
    assert_int_equal(rules[INFO_RULE].level, RULE_INFO);
}

static void no_applied_rule_is_not_judged(void **state)
{
    struct verdict *v = verdict_new(NULL);
    (void)state;
    assert_int_equal(verdict_summarize(v, false).status, VERDICT_UNJUDGED);
    verdict_frame(v, false);
    assert_int_equal(verdict_summarize(v, false).status, VERDICT_UNJUDGED);
    verdict_frame(v, true); /* IPoIB, and no rule applied: nothing is violated */
    assert_int_equal(verdict_summarize(v, false).status, VERDICT_CONFORMANT);
    assert_int_equal(verdict_frames(v), 2);
    assert_int_equal(verdict_ipoib_frames(v), 1);
    verdict_free(v);
}

static void a_capture_without_a_must_is_not_judged(void **state)
{
    struct verdict *v = with_ipoib();
    (void)state;
    assert_int_equal(verdict_summarize_capture(v, false).status, VERDICT_UNJUDGED);
    add(v, 1, SHOULD_RULE, OUTCOME_PASS, "", "");
    add(v, 1, INFO_RULE, OUTCOME_NOTED, "", "x");
    add(v, 2, MUST_RULE, OUTCOME_INCONCLUSIVE, "", "not captured");
    assert_int_equal(verdict_summarize_capture(v, false).status, VERDICT_UNJUDGED);
    add(v, 3, MUST_RULE, OUTCOME_DEVIATION, "", "x"); /* a known deviation counts as checked */
    assert_int_equal(verdict_summarize_capture(v, false).status, VERDICT_CONFORMANT);
    verdict_free(v);
}

static void a_violated_should_without_a_must_is_violated_when_strict(void **state)
{
    struct verdict *v = with_ipoib();
    (void)state;
    add(v, 1, SHOULD_RULE, OUTCOME_FAIL, "", "x");
    assert_int_equal(verdict_summarize_capture(v, true).status, VERDICT_VIOLATED);
    assert_int_equal(verdict_summarize_capture(v, false).status, VERDICT_UNJUDGED);
    verdict_free(v);
}

/* If no MUST is selected, the strictest selected rule must be checked. */
static void the_strictest_selected_level_must_be_judged(void **state)
{
    struct rule_selection s = {0};
    (void)state;
    assert_true(selection_add(&s, rules[SHOULD_RULE].id));
    assert_true(selection_add(&s, rules[INFO_RULE].id));
    struct verdict *v = verdict_new(&s);
    verdict_frame(v, true);
    add(v, 1, INFO_RULE, OUTCOME_NOTED, "", "x");
    assert_int_equal(verdict_summarize_capture(v, false).status, VERDICT_UNJUDGED);
    add(v, 1, SHOULD_RULE, OUTCOME_FAIL, "", "x");
    assert_int_equal(verdict_summarize_capture(v, false).status, VERDICT_CONFORMANT);
    verdict_free(v);
    s.rule[SHOULD_RULE] = false;
    v = verdict_new(&s);
    verdict_frame(v, true);
    assert_int_equal(verdict_summarize_capture(v, false).status, VERDICT_UNJUDGED);
    add(v, 1, INFO_RULE, OUTCOME_NOTED, "", "x");
    assert_int_equal(verdict_summarize_capture(v, false).status, VERDICT_CONFORMANT);
    verdict_free(v);
}

static void checked_rules_are_counted_of_those_that_a_capture_can_show(void **state)
{
    struct verdict *v = with_ipoib();
    unsigned applicable = 0;
    (void)state;
    for (size_t i = 0; i < RULE_COUNT; i++)
        applicable += rule_in_capture(&rules[i]) &&
                      (rules[i].level == RULE_MUST || rules[i].level == RULE_SHOULD);
    add(v, 1, MUST_RULE, OUTCOME_PASS, "", "");
    add(v, 1, MUST_RULE, OUTCOME_FAIL, "", "x"); /* one rule */
    add(v, 2, SHOULD_RULE, OUTCOME_DEVIATION, "", "x");
    add(v, 3, R_RFC4391_9_3_ND_OPTION_LENGTH, OUTCOME_INCONCLUSIVE, "", "x");
    add(v, 4, INFO_RULE, OUTCOME_NOTED, "", "x");
    assert_int_equal(verdict_summarize(v, false).judged, 2);
    assert_int_equal(verdict_summarize(v, false).applicable, applicable);
    verdict_free(v);
}

static void what_a_baseline_has_does_not_violate(void **state)
{
    struct verdict *v = with_ipoib();
    (void)state;
    add(v, 1, MUST_RULE, (enum outcome)VERDICT_KNOWN, "", "x");
    struct verdict_summary s = verdict_summarize_capture(v, true);
    assert_int_equal(s.status, VERDICT_CONFORMANT);
    assert_int_equal(s.known, 1);
    assert_int_equal(s.judged, 1);
    add(v, 2, MUST_RULE, OUTCOME_FAIL, "", "y");
    assert_int_equal(verdict_summarize_capture(v, true).status, VERDICT_VIOLATED);
    verdict_free(v);
}

static void inconclusive_only_is_not_judged(void **state)
{
    struct verdict *v = with_ipoib();
    (void)state;
    add(v, 1, MUST_RULE, OUTCOME_INCONCLUSIVE, "", "not captured");
    assert_int_equal(verdict_summarize(v, true).status, VERDICT_UNJUDGED);
    assert_int_equal(verdict_summarize(v, true).inconclusive, 1);
    add(v, 2, MUST_RULE, OUTCOME_PASS, "", "");
    assert_int_equal(verdict_summarize(v, true).status, VERDICT_CONFORMANT);
    assert_int_equal(verdict_summarize(v, true).inconclusive, 0);
    assert_int_equal(verdict_summarize(v, true).passed, 1);
    verdict_free(v);
}

static void must_violates_and_should_by_strictness(void **state)
{
    struct verdict *v = with_ipoib();
    (void)state;
    add(v, 1, SHOULD_RULE, OUTCOME_FAIL, "", "x");
    assert_int_equal(verdict_summarize(v, false).status, VERDICT_CONFORMANT);
    assert_int_equal(verdict_summarize(v, false).should, 1);
    assert_int_equal(verdict_summarize(v, true).status, VERDICT_VIOLATED);
    add(v, 1, MUST_RULE, OUTCOME_FAIL, "", "x");
    add(v, 2, MUST_RULE, OUTCOME_FAIL, "", "x");
    assert_int_equal(verdict_summarize(v, false).status, VERDICT_VIOLATED);
    assert_int_equal(verdict_summarize(v, false).must, 1); /* counts rules, not findings */
    assert_true(verdict_counts(MUST_RULE, false));
    assert_false(verdict_counts(SHOULD_RULE, false));
    assert_true(verdict_counts(SHOULD_RULE, true));
    assert_false(verdict_counts(INFO_RULE, true));
    verdict_free(v);
}

static void deviations_do_not_violate(void **state)
{
    struct verdict *v = with_ipoib();
    (void)state;
    add(v, 5, MUST_RULE, OUTCOME_DEVIATION, "connection 1", "x");
    assert_int_equal(verdict_summarize(v, true).status, VERDICT_CONFORMANT);
    assert_int_equal(verdict_summarize(v, true).deviated, 1);
    assert_string_equal(verdict_result(v, MUST_RULE, OUTCOME_DEVIATION)->cases[0].reason, "known");
    add(v, 6, MUST_RULE, OUTCOME_FAIL, "connection 1", "y"); /* the worst outcome counts */
    assert_int_equal(verdict_worst(v, MUST_RULE), OUTCOME_FAIL);
    assert_int_equal(verdict_summarize(v, true).deviated, 0);
    assert_int_equal(verdict_summarize(v, true).must, 1);
    verdict_free(v);
}

static void may_rules_and_notes_never_count(void **state)
{
    struct verdict *v = with_ipoib();
    enum rule_number may = first_may();
    (void)state;
    for (int outcome = 0; outcome < OUTCOMES; outcome++) {
        add(v, 1, may, (enum outcome)outcome, "", "x");
        assert_int_equal(verdict_count(v, may, (enum outcome)outcome), 0);
    }
    assert_int_equal(verdict_worst(v, may), -1);
    add(v, 1, INFO_RULE, OUTCOME_FAIL, "", "x");
    add(v, 1, INFO_RULE, OUTCOME_NOTED, "", "x");
    assert_int_equal(verdict_count(v, INFO_RULE, OUTCOME_FAIL), 0);
    assert_int_equal(verdict_count(v, INFO_RULE, OUTCOME_NOTED), 2);
    assert_int_equal(verdict_summarize(v, true).noted, 1);
    assert_int_equal(verdict_summarize(v, true).status, VERDICT_CONFORMANT);
    verdict_free(v);
}

static void frames_are_the_first_and_each_once(void **state)
{
    struct verdict *v = with_ipoib();
    (void)state;
    for (uint32_t frame = 1; frame <= VERDICT_FRAMES; frame++) {
        add(v, frame * 3, MUST_RULE, OUTCOME_FAIL, "", "x");
        add(v, frame * 3, MUST_RULE, OUTCOME_FAIL, "", "x");
    }
    const struct verdict_result *r = verdict_result(v, MUST_RULE, OUTCOME_FAIL);
    assert_int_equal(r->frames.n, VERDICT_FRAMES);
    assert_false(r->frames.more);
    assert_int_equal(r->frames.first[0], 3);
    assert_int_equal(r->frames.first[VERDICT_FRAMES - 1], 3 * VERDICT_FRAMES);
    add(v, 1000, MUST_RULE, OUTCOME_FAIL, "", "x");
    assert_true(r->frames.more);
    assert_int_equal(r->frames.n, VERDICT_FRAMES);
    assert_int_equal(r->n_cases, 1);
    assert_int_equal(r->cases[0].count, 2 * VERDICT_FRAMES + 1);
    assert_int_equal(r->count, 2 * VERDICT_FRAMES + 1);
    verdict_free(v);
}

/* The packet in `fault` is at fault, as the packet in `proved` shows. */
static void add_proved(struct verdict *v, uint32_t fault, uint32_t proved)
{
    struct finding f = {.rule = MUST_RULE,
                        .outcome = OUTCOME_FAIL,
                        .expected = "",
                        .actual = "x",
                        .entity = "",
                        .reason = "",
                        .frame = fault};
    verdict_add(v, proved, &f);
}

static void frames_at_fault_are_in_order_whatever_proved_them(void **state)
{
    static const uint32_t given[] = {20, 7, 13, 7, 20, 2};
    struct verdict *v = with_ipoib();
    (void)state;
    for (uint32_t i = 0; i < G_N_ELEMENTS(given); i++)
        add_proved(v, given[i], 30 + i);
    const struct verdict_result *r = verdict_result(v, MUST_RULE, OUTCOME_FAIL);
    assert_int_equal(r->frames.n, 4);
    assert_int_equal(r->frames.first[0], 2);
    assert_int_equal(r->frames.first[1], 7);
    assert_int_equal(r->frames.first[2], 13);
    assert_int_equal(r->frames.first[3], 20);
    assert_int_equal(r->cases[0].proved_frame, 30);
    for (uint32_t i = 0; i < VERDICT_FRAMES; i++)
        add_proved(v, 50 + i, 60 + i);
    assert_true(r->frames.more);
    add_proved(v, 1, 90);
    assert_int_equal(r->frames.n, VERDICT_FRAMES);
    assert_int_equal(r->frames.first[0], 1);
    assert_int_equal(r->frames.first[VERDICT_FRAMES - 1], 54);
    verdict_free(v);
}

static void cases_are_distinct_and_bounded(void **state)
{
    struct verdict *v = with_ipoib();
    char entity[32];
    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        g_snprintf(entity, sizeof entity, "port %u", i % 100);
        add(v, i + 1, MUST_RULE, OUTCOME_FAIL, entity, "x");
    }
    const struct verdict_result *r = verdict_result(v, MUST_RULE, OUTCOME_FAIL);
    assert_int_equal(r->count, 1000);
    assert_int_equal(r->n_cases, VERDICT_CASES);
    for (unsigned i = 0; i < VERDICT_CASES; i++)
        assert_int_equal(r->cases[i].count, 10); /* each of 100 ports ten times */
    assert_int_equal(r->uncased, 1000 - 10 * VERDICT_CASES);
    assert_int_equal(r->cases[2].frames.first[0], 3);
    assert_int_equal(r->cases[2].frames.first[1], 103);
    verdict_free(v);
}

static void a_long_text_is_one_case(void **state)
{
    struct verdict *v = with_ipoib();
    char text[2 * VERDICT_TEXT + 1];
    (void)state;
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    add(v, 1, MUST_RULE, OUTCOME_FAIL, "", text);
    text[sizeof text - 2] = 'b';
    add(v, 2, MUST_RULE, OUTCOME_FAIL, "", text);
    const struct verdict_result *r = verdict_result(v, MUST_RULE, OUTCOME_FAIL);
    assert_int_equal(r->n_cases, 1);
    assert_int_equal(r->cases[0].count, 2);
    assert_int_equal(strlen(r->cases[0].actual), VERDICT_TEXT);
    assert_string_equal(r->cases[0].actual + VERDICT_TEXT - 4, "a...");
    verdict_free(v);
}

static void selection_keeps_others_out(void **state)
{
    struct rule_selection s = {{false}};
    (void)state;
    assert_false(selection_add(&s, "rfc4391.60"));
    assert_false(selection_add(&s, ""));
    assert_true(selection_add(&s, "rfc4391.6"));
    assert_true(s.rule[MUST_RULE]);
    assert_false(s.rule[SHOULD_RULE]);
    struct verdict *v = verdict_new(&s);
    verdict_frame(v, true);
    add(v, 1, SHOULD_RULE, OUTCOME_FAIL, "", "x");
    assert_int_equal(verdict_worst(v, SHOULD_RULE), -1);
    add(v, 1, MUST_RULE, OUTCOME_FAIL, "", "x");
    assert_int_equal(verdict_worst(v, MUST_RULE), OUTCOME_FAIL);
    verdict_free(v);
}

static void selection_knows_what_a_capture_shows(void **state)
{
    struct rule_selection s = {{false}};
    (void)state;
    assert_true(selection_add(&s, "rfc4391.2.ud-supported")); /* only a probe can show it */
    assert_int_equal(selection_in_capture(&s), 0);
    assert_true(selection_add(&s, "rfc4391.6.reserved-zero"));
    assert_int_equal(selection_in_capture(&s), 1);
}

/* Exit status: 1 if any capture has a violation, else 2 if any has no verdict, else 0. */
static void exit_status_is_the_worst(void **state)
{
    struct checked j[2] = {{.name = "a", .verdict = with_ipoib()},
                           {.name = "b", .verdict = with_ipoib()}};
    struct report r = {.captures = j, .n = 2};
    char trouble[] = "cut short";
    (void)state;
    add(j[0].verdict, 1, MUST_RULE, OUTCOME_PASS, "", "");
    assert_int_equal(report_exit_status(&r), 2); /* no MUST was checked in the other one */
    add(j[1].verdict, 1, MUST_RULE, OUTCOME_PASS, "", "");
    assert_int_equal(report_exit_status(&r), 0);
    j[1].trouble = trouble;
    assert_int_equal(report_exit_status(&r), 2);
    add(j[0].verdict, 1, MUST_RULE, OUTCOME_FAIL, "", "x");
    assert_int_equal(report_exit_status(&r), 1);
    j[0].trouble = trouble;
    assert_int_equal(checked_summary(&r, &j[0]).status, VERDICT_VIOLATED);
    assert_int_equal(report_count(&r, VERDICT_UNJUDGED), 1);
    verdict_free(j[0].verdict);
    verdict_free(j[1].verdict);
}

static void plain_texts(void **state)
{
    static const struct {
        const char *text, *plain;
    } cases[] = {
        {"", ""},
        {"abc <&> \"'", "abc <&> \"'"},
        {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
        {"a\nb\tc\x1b[31m", "a\\x0ab\\x09c\\x1b[31m"},
        {"\x7f\xc2\x85", "\\x7f\\x85"}, /* DEL, NEL */
        /* not UTF-8, and an incomplete character */
        {"\xff\xc3", "\\xff\\xc3"},
        {"\xc0\x80", "\\xc0\\x80"},                         /* NUL in two bytes */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},                /* a surrogate */
        {"\xef\xbf\xbe\xef\xbf\xbf", "\\u{fffe}\\u{ffff}"}, /* not permitted in XML */
        {"\xe2\x80\xae", "\\u{202e}"},                      /* RIGHT-TO-LEFT OVERRIDE */
        {"\xe2\x80\xa8", "\\u{2028}"},                      /* LINE SEPARATOR */
    };
    char out[64];
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        assert_string_equal(plain_text(cases[i].text, out, sizeof out), cases[i].plain);
        assert_string_equal(plain_short(cases[i].text, out, sizeof out), cases[i].plain);
        char *copy = plain_dup(cases[i].text);
        assert_string_equal(copy, cases[i].plain);
        g_free(copy);
    }
}

static void plain_text_fits(void **state)
{
    char out[9];
    (void)state;
    assert_string_equal(plain_text("12345678", out, sizeof out), "12345678");
    assert_string_equal(plain_text("123456789", out, sizeof out), "12345...");
    /* no partial character */
    assert_string_equal(plain_text("1234\xc3\xbc\xc3\xbc\xc3\xbc", out, sizeof out), "1234...");
    assert_string_equal(plain_text("12\n456789", out, sizeof out), "12..."); /* no partial escape */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_of_these_tests_have_their_levels),
        cmocka_unit_test(no_applied_rule_is_not_judged),
        cmocka_unit_test(a_capture_without_a_must_is_not_judged),
        cmocka_unit_test(a_violated_should_without_a_must_is_violated_when_strict),
        cmocka_unit_test(the_strictest_selected_level_must_be_judged),
        cmocka_unit_test(checked_rules_are_counted_of_those_that_a_capture_can_show),
        cmocka_unit_test(what_a_baseline_has_does_not_violate),
        cmocka_unit_test(inconclusive_only_is_not_judged),
        cmocka_unit_test(must_violates_and_should_by_strictness),
        cmocka_unit_test(deviations_do_not_violate),
        cmocka_unit_test(may_rules_and_notes_never_count),
        cmocka_unit_test(frames_are_the_first_and_each_once),
        cmocka_unit_test(frames_at_fault_are_in_order_whatever_proved_them),
        cmocka_unit_test(cases_are_distinct_and_bounded),
        cmocka_unit_test(a_long_text_is_one_case),
        cmocka_unit_test(selection_keeps_others_out),
        cmocka_unit_test(selection_knows_what_a_capture_shows),
        cmocka_unit_test(exit_status_is_the_worst),
        cmocka_unit_test(plain_texts),
        cmocka_unit_test(plain_text_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rule table is complete and well-formed. Users type the identifiers. */
#include "tests/unit/unit.h"

#include <ctype.h>

#include "rules/rules.h"

/*
 * Every document, level and way of observation occurs. The list of rules has no number here: a rule
 * that disappears leaves its page in doc/rules, which tests/project/test_rule_pages.py reports.
 */
static void table_is_whole(void **state)
{
    (void)state;
    bool documents[RULE_CONCEPTS + 1] = {0}, levels[RULE_DRAFT + 1] = {0},
                                   seen[RULE_SEEN_NONE + 1] = {0};
    for (size_t i = 0; i < RULE_COUNT; i++)
        documents[rules[i].document] = levels[rules[i].level] = seen[rules[i].seen] = true;
    for (size_t i = 0; i < sizeof documents; i++)
        assert_true(documents[i]);
    for (size_t i = 0; i < sizeof levels; i++)
        assert_true(levels[i]);
    for (size_t i = 0; i < sizeof seen; i++)
        assert_true(seen[i]);
}

static void identifiers_are_unique_and_plain(void **state)
{
    (void)state;
    for (size_t i = 0; i < RULE_COUNT; i++) {
        for (const char *c = rules[i].id; *c; c++)
            assert_true(islower((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '.' ||
                        *c == '-');
        assert_ptr_equal(rule_find(rules[i].id), &rules[i]);
        size_t n = strlen(rules[i].text);
        assert_true(n > 20 && strchr(".)", rules[i].text[n - 1]));
        assert_true(*rules[i].section);
    }
    assert_null(rule_find("rfc4391.6"));
}

/* An identifier contains its document and section: rfc4391.9.1.2.pkey is RFC 4391 section 9.1.2. */
static void identifiers_name_their_section(void **state)
{
    (void)state;
    for (size_t i = 0; i < RULE_COUNT; i++) {
        const struct rule *r = &rules[i];
        const char *prefix = r->document == RULE_RFC4391   ? "rfc4391."
                             : r->document == RULE_RFC4755 ? "rfc4755."
                             : r->document == RULE_RFC4390 ? "rfc4390."
                                                           : NULL;
        if (!prefix)
            continue;
        assert_int_equal(strncmp(r->id, prefix, strlen(prefix)), 0);
        assert_int_equal(strncmp(r->id + strlen(prefix), r->section, strlen(r->section)), 0);
        assert_int_equal(r->id[strlen(prefix) + strlen(r->section)], '.');
    }
}

static void drafts_and_unseen_rules_say_why(void **state)
{
    (void)state;
    for (size_t i = 0; i < RULE_COUNT; i++) {
        const struct rule *r = &rules[i];
        assert_int_equal(r->level == RULE_DRAFT, r->basis == RULE_BY_DRAFT);
        assert_int_equal(rule_unseen_reason(r) == NULL, rule_in_capture(r));
    }
}

static void selectors_end_at_a_part(void **state)
{
    (void)state;
    const struct rule *r = &rules[R_RFC4391_6_RESERVED_ZERO];
    assert_true(rule_selected(r, "rfc4391"));
    assert_true(rule_selected(r, "rfc4391.6"));
    assert_true(rule_selected(r, "rfc4391.6."));
    assert_true(rule_selected(r, "rfc4391.6.reserved-zero"));
    assert_false(rule_selected(r, "rfc4391.6.reserved"));
    assert_false(rule_selected(r, "rfc439"));
    assert_false(rule_selected(r, "rfc4755"));
    assert_false(rule_selected(&rules[R_RFC4391_10_LEAVE], "rfc4391.1"));
}

static void levels_have_names(void **state)
{
    (void)state;
    const struct rule *r = rule_find("rfc4755.3.5.service-id");
    assert_non_null(r);
    assert_string_equal(rule_level_name(r->level), "MUST");
    assert_string_equal(rule_document_name(r->document), "RFC 4755");
    assert_string_equal(r->section, "3.5");
    assert_string_equal(rule_bound_name(r->bound), "sender");
    assert_string_equal(rule_basis_name(r->basis), "RFC 2119 keyword");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_whole),
        cmocka_unit_test(identifiers_are_unique_and_plain),
        cmocka_unit_test(identifiers_name_their_section),
        cmocka_unit_test(drafts_and_unseen_rules_say_why),
        cmocka_unit_test(selectors_end_at_a_part),
        cmocka_unit_test(levels_have_names),
    };
    return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/required.h"

#include <string.h>

/* Limits of a message: inconclusive rules, and reasons per rule. */
enum { RULES_NAMED = 5, REASONS_NAMED = 3 };

static bool requires(const char *selector, enum rule_number rule)
{
    bool named = rule_find(selector) ? strcmp(rules[rule].id, selector) == 0
                                     : rule_selected(&rules[rule], selector);
    return named && verdict_applicable(rule);
}

bool required_is_possible(const char *selector, const struct rule_selection *selection)
{
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (requires(selector, (enum rule_number)i) && (!selection || selection->rule[i]))
            return true;
    return false;
}

static bool was_judged(const struct report *r, const char *selector)
{
    for (size_t rule = 0; rule < RULE_COUNT; rule++)
        for (unsigned i = 0; requires(selector, (enum rule_number)rule) && i < r->n; i++)
            if (verdict_judged(r->captures[i].verdict, (enum rule_number)rule))
                return true;
    return false;
}

/* ---- reason */

/* The reasons why the rule was inconclusive in any capture, without duplicates. */
static GPtrArray *reasons_of(const struct report *r, enum rule_number rule)
{
    GPtrArray *reasons = g_ptr_array_new();
    for (unsigned i = 0; i < r->n; i++) {
        const struct verdict_result *found = verdict_result(r->captures[i].verdict, rule,
                                                            OUTCOME_INCONCLUSIVE);
        for (unsigned k = 0; found && k < found->n_cases && reasons->len < REASONS_NAMED; k++)
            if (!g_ptr_array_find_with_equal_func(reasons, found->cases[k].actual, g_str_equal,
                                                  NULL))
                g_ptr_array_add(reasons, found->cases[k].actual);
    }
    return reasons;
}

static void add_reasons(GString *out, const GPtrArray *reasons)
{
    for (guint i = 0; i < reasons->len; i++)
        g_string_append_printf(out, "%s%s", i ? "; " : "", (const char *)reasons->pdata[i]);
}

/* of_group: the selector selects several rules, so the message names them. */
static void name_rule(GString *out, enum rule_number rule, const GPtrArray *reasons, bool of_group,
                      unsigned before)
{
    if (of_group && before >= RULES_NAMED)
        return;
    g_string_append(out, before ? ", " : "inconclusive: ");
    if (of_group)
        g_string_append_printf(out, "%s (", rules[rule].id);
    add_reasons(out, reasons);
    g_string_append(out, of_group ? ")" : "");
}

static char *why_not_judged(const struct report *r, const char *selector)
{
    GString *out = g_string_new(NULL);
    unsigned inconclusive = 0;
    for (size_t i = 0; i < RULE_COUNT; i++) {
        enum rule_number rule = (enum rule_number)i;
        if (!requires(selector, rule))
            continue;
        GPtrArray *reasons = reasons_of(r, rule);
        if (reasons->len)
            name_rule(out, rule, reasons, !rule_find(selector), inconclusive++);
        g_ptr_array_unref(reasons);
    }
    if (inconclusive == 0)
        g_string_append(out, "nothing in the captures is about it");
    if (inconclusive > RULES_NAMED)
        g_string_append_printf(out, " and %u more", inconclusive - RULES_NAMED);
    return g_string_free(out, FALSE);
}

/* ---- all selectors */

static void required_clear(gpointer required)
{
    g_free(((struct required *)required)->why);
}

GArray *required_find(const struct report *r, const GPtrArray *selectors)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct required));
    g_array_set_clear_func(all, required_clear);
    for (guint i = 0; i < selectors->len; i++) {
        struct required one = {selectors->pdata[i], NULL};
        if (!was_judged(r, one.selector))
            one.why = why_not_judged(r, one.selector);
        g_array_append_val(all, one);
    }
    return all;
}

unsigned required_missing(const GArray *required)
{
    unsigned n = 0;
    for (guint i = 0; required && i < required->len; i++)
        n += g_array_index(required, struct required, i).why != NULL;
    return n;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings in words. See words.h. */
#include "verdict/words.h"

#include <inttypes.h>

const char *outcome_name(enum outcome outcome)
{
    static const char *const names[OUTCOMES] = {[OUTCOME_PASS] = "pass",
                                                [OUTCOME_FAIL] = "fail",
                                                [OUTCOME_DEVIATION] = "deviation",
                                                [OUTCOME_INCONCLUSIVE] = "inconclusive",
                                                [OUTCOME_NOTED] = "noted"};
    return names[outcome];
}

const char *status_name(enum verdict_status status)
{
    static const char *const names[] = {
        [VERDICT_CONFORMANT] = "conformant", [VERDICT_VIOLATED] = "violated", [VERDICT_UNJUDGED] = "unjudged"};
    return names[status];
}

void add_times(GString *out, uint64_t n)
{
    g_string_append_printf(out, "%" PRIu64 " time%s", n, n == 1 ? "" : "s");
}

void add_frames(GString *out, const struct verdict_frames *f)
{
    if (f->n == 0)
        return;
    g_string_append(out, f->n == 1 && !f->more ? "frame " : "frames ");
    for (unsigned i = 0; i < f->n; i++)
        g_string_append_printf(out, "%s%" PRIu32, i ? ", " : "", f->first[i]);
    if (f->more)
        g_string_append(out, " and others");
}

void add_case(GString *out, const struct verdict_case *c, bool why)
{
    const char *colon = c->subject[0] && (c->expected[0] || c->actual[0]) ? ": " : "";
    g_string_append_printf(out, "%s%s", c->subject, colon);
    if (c->expected[0])
        g_string_append_printf(out, "expected %s, found %s", c->expected, c->actual[0] ? c->actual : "something else");
    else
        g_string_append(out, c->actual);
    if (why && c->reason[0])
        g_string_append_printf(out, " (%s)", c->reason);
}

/* Is the case's reason to be told here? It is where the next case has another. */
static bool reason_ends(const struct verdict_result *r, unsigned i)
{
    return r->cases[i].reason[0] && (i + 1 == r->n_cases || !g_str_equal(r->cases[i].reason, r->cases[i + 1].reason));
}

static void add_case_lines(GString *out, const struct verdict_case *c, const char *indent)
{
    g_string_append(out, indent);
    add_times(out, c->count);
    g_string_append(out, ": ");
    add_case(out, c, false);
    g_string_append_c(out, '\n');
    if (c->frames.n == 0)
        return;
    g_string_append_printf(out, "%s  ", indent);
    add_frames(out, &c->frames);
    g_string_append_c(out, '\n');
}

void add_cases(GString *out, const struct verdict_result *r, const char *indent)
{
    for (unsigned i = 0; i < r->n_cases; i++) {
        add_case_lines(out, &r->cases[i], indent);
        if (reason_ends(r, i))
            g_string_append_printf(out, "%sknown: %s\n", indent, r->cases[i].reason);
    }
    if (r->uncased == 0)
        return;
    g_string_append(out, indent);
    add_times(out, r->uncased);
    g_string_append(out, ": further cases\n");
}

void add_place(GString *out, const struct rule *rule)
{
    g_string_append(out, rule_document_name(rule->document));
    if (rule->section[0])
        g_string_append_printf(out, ", section %s", rule->section);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report as TAP 13: for each capture one test of whether it could be judged, then one for each
 * selected rule of level MUST and SHOULD that a capture can show. Only violations that count are
 * "not ok"; doc/reports.md says why.
 */
#include "report/report.h"

#include <inttypes.h>

#include "report/words.h"

struct tap {
    GString *out;
    const struct report *report;
    const struct checked *checked;
    unsigned number;
};

/* Escapes '#' in a name, which would begin a directive (TAP 13). */
static void put_escaped(GString *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '#' || *text == '\\')
            g_string_append_c(out, '\\');
        g_string_append_c(out, *text);
    }
}

/*
 * Writes a string in the syntax that YAML and JSON share. The text is plain, so only two characters
 * need escaping.
 */
static void put_yaml(GString *out, const char *key, const char *text)
{
    g_string_append_printf(out, "%s: \"", key);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            g_string_append_c(out, '\\');
        g_string_append_c(out, *text);
    }
    g_string_append(out, "\"\n");
}

static void put_test(struct tap *t, bool ok, const char *what)
{
    g_string_append_printf(t->out, "%sok %u - ", ok ? "" : "not ", ++t->number);
    put_escaped(t->out, t->checked->name);
    g_string_append(t->out, ": ");
    put_escaped(t->out, what);
}

static void put_frames(GString *out, const struct verdict_frames *f, const char *indent)
{
    g_string_append_printf(out, "%sframes: [", indent);
    for (unsigned i = 0; i < f->n; i++)
        g_string_append_printf(out, "%s%" PRIu32, i ? ", " : "", f->first[i]);
    g_string_append(out, "]\n");
}

static void put_senders(GString *out, const struct verdict_senders *s)
{
    GString *text = g_string_new(NULL);
    words_add_senders(text, s);
    if (s->n) {
        g_string_append(out, "      ");
        put_yaml(out, "senders", text->str);
    }
    g_string_free(text, TRUE);
}

static void put_case(GString *out, const struct verdict_case *c, bool probed)
{
    g_string_append_printf(out, "    - count: %" PRIu64 "\n", c->count);
    const char *const keys[] = {"subject", "expected", "actual",  "reason",
                                "check",   "sent",     "received"};
    const char *const values[] = {c->entity, c->expected, c->actual,  c->reason,
                                  c->check,  c->sent,     c->received};
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        if (!values[i][0])
            continue;
        g_string_append(out, "      ");
        put_yaml(out, keys[i], values[i]);
    }
    if (!probed)
        put_frames(out, &c->frames, "      ");
    if (c->other_frame)
        g_string_append_printf(out, "      %s: %" PRIu32 "\n", other_frame_key(c->by_flow),
                               c->other_frame);
    if (c->proved_frame)
        g_string_append_printf(out, "      proved_frame: %" PRIu32 "\n", c->proved_frame);
    put_senders(out, &c->senders);
}

static void put_help(const struct tap *t, enum rule_number rule)
{
    GString *command = g_string_new(NULL);
    words_add_help(command, t->report->probed, rule);
    g_string_append(t->out, "  ");
    put_yaml(t->out, "help", command->str);
    g_string_free(command, TRUE);
}

static void put_cases(const struct tap *t, const char *key, const struct verdict_result *r)
{
    if (!r || r->n_cases == 0)
        return;
    g_string_append_printf(t->out, "  %s:\n", key);
    for (unsigned i = 0; i < r->n_cases; i++)
        put_case(t->out, &r->cases[i], t->report->probed);
}

/* UNDECIDED: the inconclusive result of a rule whose outcome another packet decides, or NULL. */
static void put_diagnostics(const struct tap *t, enum rule_number rule, enum outcome outcome,
                            const struct verdict_result *undecided)
{
    const struct verdict_result *r = verdict_result(t->checked->verdict, rule, outcome);
    if (!r && !undecided)
        return;
    g_string_append(t->out, "  ---\n  ");
    put_yaml(t->out, "outcome", outcome_name(outcome));
    g_string_append(t->out, "  ");
    put_yaml(t->out, "level", rule_level_name(rules[rule].level));
    g_string_append(t->out, "  ");
    GString *place = g_string_new(NULL);
    words_add_place(place, &rules[rule]);
    put_yaml(t->out, "section", place->str);
    g_string_free(place, TRUE);
    g_string_append(t->out, "  ");
    put_yaml(t->out, "message", rules[rule].text);
    put_help(t, rule);
    if (r) /* passes are only counted */
        g_string_append_printf(t->out, "  count: %" PRIu64 "\n", r->count);
    if (r && !t->report->probed)
        put_frames(t->out, &r->frames, "  ");
    put_cases(t, "cases", r);
    put_cases(t, "inconclusive", undecided);
    g_string_append(t->out, "  ...\n");
}

/* Appends # SKIP and the reason why the test was skipped. */
static void put_skip(const struct tap *t, int worst, const struct verdict_result *r)
{
    g_string_append_printf(t->out, " # SKIP %s", why_skipped(worst));
    if (r && r->n_cases > 0) {
        GString *text = g_string_new(NULL);
        words_add_case(text, &r->cases[0], true);
        g_string_append(t->out, ": ");
        put_escaped(t->out, text->str);
        g_string_free(text, TRUE);
    }
}

static void put_rule(struct tap *t, enum rule_number rule)
{
    int worst = verdict_worst(t->checked->verdict, rule);
    bool counts = report_fails(t->report, rule, worst);
    const struct verdict_result *r = worst < 0 ? NULL
                                               : verdict_result(t->checked->verdict, rule,
                                                                (enum outcome)worst);
    const struct verdict_result *undecided = checked_undecided(t->checked, rule);
    put_test(t, !counts, rules[rule].id);
    if (!counts && worst != OUTCOME_PASS && worst != OUTCOME_NOTED)
        put_skip(t, worst, r);
    g_string_append_c(t->out, '\n');
    if (worst > OUTCOME_PASS || undecided)
        put_diagnostics(t, rule, (enum outcome)worst, undecided);
}

static void put_unseen(const struct tap *t)
{
    const struct unseen *u = verdict_unseen(t->checked->verdict);
    if (t->report->probed || !unseen_any(u))
        return;
    g_string_append(t->out, "# not seen: ");
    words_add_unseen(t->out, u, true);
    g_string_append_c(t->out, '\n');
}

/* Informational notes never count, so they are comments, not tests. */
static void put_notes(const struct tap *t)
{
    for (size_t rule = 0; rule < RULE_COUNT; rule++) {
        const struct verdict_result *r = verdict_result(t->checked->verdict, (enum rule_number)rule,
                                                        OUTCOME_NOTED);
        for (unsigned i = 0; r && i < r->n_cases; i++) {
            g_string_append_printf(t->out, "# noted: %s: ", rules[rule].id);
            words_add_case(t->out, &r->cases[i], true);
            g_string_append(t->out, r->cases[i].frames.n ? ", " : "");
            words_add_frames(t->out, &r->cases[i].frames);
            g_string_append_c(t->out, '\n');
        }
    }
}

/* Writes a stage of the diagnosis of a fabric as a test. */
static void put_stage(struct tap *t, const struct stage *s)
{
    bool tried = s->outcome == OUTCOME_PASS || s->outcome == OUTCOME_FAIL ||
                 s->outcome == OUTCOME_NOTED;
    put_test(t, s->outcome != OUTCOME_FAIL, s->id);
    if (!tried) {
        g_string_append_printf(t->out, " # SKIP %s: ", outcome_name((enum outcome)s->outcome));
        put_escaped(t->out, s->text);
    }
    g_string_append(t->out, "\n  ---\n  ");
    put_yaml(t->out, "message", s->text);
    if (s->advice[0]) {
        g_string_append(t->out, "  ");
        put_yaml(t->out, "advice", s->advice);
    }
    g_string_append(t->out, "  ...\n");
}

static void put_capture(struct tap *t)
{
    bool whole = checked_wholly(t->report, t->checked);
    put_test(t, whole, "could be judged");
    g_string_append_c(t->out, '\n');
    if (!whole) {
        g_string_append(t->out, "  ---\n  ");
        put_yaml(t->out, "message", checked_why_not(t->report, t->checked));
        g_string_append(t->out, "  ...\n");
    }
    for (guint i = 0; t->checked->stages && i < t->checked->stages->len; i++)
        put_stage(t, t->checked->stages->pdata[i]);
    for (size_t rule = 0; rule < RULE_COUNT; rule++)
        if (checked_tests(t->report, t->checked, (enum rule_number)rule))
            put_rule(t, (enum rule_number)rule);
    put_notes(t);
    put_unseen(t);
}

static GString *tap_part(const struct report *r, const struct checked *j,
                         struct written_so_far *written)
{
    struct tap t = {g_string_new(NULL), r, j, written->tests};
    put_capture(&t);
    written->tests = t.number;
    written->captures++;
    return t.out;
}

static GString *tap_head(const struct report *r, const struct written_so_far *written)
{
    (void)r;
    GString *out = g_string_new("TAP version 13\n");
    g_string_append_printf(out, "1..%u\n", written->tests);
    return out;
}

static GString *tap_tail(const struct report *r)
{
    (void)r;
    return g_string_new(NULL);
}

const struct report_parts report_parts_tap = {tap_head, tap_part, tap_tail};

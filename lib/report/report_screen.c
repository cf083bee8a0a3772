/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A probe's target on one screen: a word for an operator, what failed with its advice, what was
 * noted, the number of passes, and the verdict. What does not fit is counted, and -v lists it.
 */
#include "report/report_text.h"

#include <string.h>

#include "report/words.h"
#include "report/wrap.h"

/* A terminal of 24 lines has the command before the report and the prompt after it. */
enum {
    SCREEN_LINES = 22,
    OUTCOME_COLUMNS = 16,
    TEXT_COLUMN = 18,
    FIELD_COLUMN = 28,
    FIELD_LINES = 8, /* of a stage or rule: its reason may be at the end */
    NAMED_LINES = 2  /* of what was sent, expected, found */
};

/* ---- problems: what failed, has no result, or asks for something to be done */

static const struct stage *stage_at(const struct text *t, guint i)
{
    const GPtrArray *all = t->checked->stages;
    return all && i < all->len ? all->pdata[i] : NULL;
}

static unsigned count_stages(const struct text *t, int outcome)
{
    const struct stage *s;
    unsigned n = 0;
    for (guint i = 0; (s = stage_at(t, i)); i++)
        n += s->outcome == outcome;
    return n;
}

static unsigned count_failed_rules(const struct text *t)
{
    unsigned n = 0;
    for (size_t i = 0; i < RULE_COUNT; i++)
        n += verdict_worst(t->checked->verdict, (enum rule_number)i) == OUTCOME_FAIL;
    return n;
}

/* The text from the column of texts on, cut to about that many lines. */
static void put_field(GString *out, const char *text, size_t at, size_t indent, unsigned lines)
{
    char *cut = wrap_cut(text, lines * (WRAP_WIDTH - indent));
    wrap_words(out, cut, at, indent);
    g_free(cut);
}

static void put_identified(GString *out, const char *id, const char *text)
{
    g_string_append_printf(out, "%s ", id);
    put_field(out, text, OUTCOME_COLUMNS + strlen(id) + 1, TEXT_COLUMN, FIELD_LINES);
}

/* A command is never left out, and is on one line if it fits. */
static void put_advice(GString *out, const char *advice)
{
    if (!advice || !advice[0])
        return;
    g_string_append_printf(out, "%*s-> ", TEXT_COLUMN, "");
    wrap_commands(out, advice, TEXT_COLUMN + 3, TEXT_COLUMN + 3);
}

/* A stage or rule as it is shown. */
struct item {
    const char *id;
    char *text;
};

static void free_item(gpointer item)
{
    g_free(((struct item *)item)->text);
    g_free(item);
}

/* Takes the text. */
static void add_item(GPtrArray *all, const char *id, char *text)
{
    struct item *item = g_new(struct item, 1);
    item->id = id;
    item->text = text;
    g_ptr_array_add(all, item);
}

static const struct item *item_at(const GPtrArray *all, guint i)
{
    return all->pdata[i];
}

/* A text of its own with the same options. */
static struct text begin_text(const struct text *t)
{
    struct text one = *t;
    one.out = g_string_new(NULL);
    return one;
}

static char *stage_text(const struct text *t, const struct stage *s)
{
    struct text one = begin_text(t);
    text_put_stage_outcome(&one, s);
    put_identified(one.out, s->id, s->text);
    put_advice(one.out, s->advice);
    return g_string_free(one.out, FALSE);
}

static void put_named(GString *out, const char *name, const char *text)
{
    if (!text[0])
        return;
    g_string_append_printf(out, "%*s%-9s ", TEXT_COLUMN, "", name);
    put_field(out, text, FIELD_COLUMN, FIELD_COLUMN, NAMED_LINES);
}

static char *rule_text(const struct text *t, enum rule_number rule)
{
    const struct verdict_result *r = verdict_result(t->checked->verdict, rule, OUTCOME_FAIL);
    const struct verdict_case *c = r && r->n_cases ? &r->cases[0] : NULL;
    struct text one = begin_text(t);
    text_put_outcome(&one, OUTCOME_FAIL);
    put_identified(one.out, rules[rule].id, rules[rule].text);
    if (c) {
        put_named(one.out, "sent", c->sent);
        put_named(one.out, "expected", c->expected);
        put_named(one.out, "found", c->actual[0] ? c->actual : c->received);
    }
    put_advice(one.out, t->report->advice ? t->report->advice(rule) : NULL);
    text_put_help(&one, rule, "                  ");
    return g_string_free(one.out, FALSE);
}

static void add_stages(GPtrArray *all, const struct text *t, int outcome, bool advised)
{
    const struct stage *s;
    for (guint i = 0; (s = stage_at(t, i)); i++)
        if (s->outcome == outcome && (s->advice[0] || !advised) && !text_is_cause(t, s))
            add_item(all, s->id, stage_text(t, s));
}

static void add_rules(GPtrArray *all, const struct text *t, enum rule_level level)
{
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (rules[i].level == level &&
            verdict_worst(t->checked->verdict, (enum rule_number)i) == OUTCOME_FAIL)
            add_item(all, rules[i].id, rule_text(t, (enum rule_number)i));
}

/* The cause of a target's silence. */
static const struct stage *cause_stage(const struct text *t)
{
    const struct stage *s;
    guint i = 0;
    while ((s = stage_at(t, i)) && !text_is_cause(t, s))
        i++;
    return s;
}

/*
 * The cause of the silence is what the user asks for. A failed stage may explain a rule that
 * failed; what failed may explain what has no result.
 */
static GPtrArray *problems(const struct text *t)
{
    const struct stage *cause = cause_stage(t);
    GPtrArray *all = g_ptr_array_new_with_free_func(free_item);
    if (cause)
        add_item(all, cause->id, stage_text(t, cause));
    add_stages(all, t, OUTCOME_FAIL, false);
    add_rules(all, t, RULE_MUST);
    add_stages(all, t, OUTCOME_INCONCLUSIVE, false);
    add_rules(all, t, RULE_SHOULD);
    add_stages(all, t, OUTCOME_NOTED, true);
    return all;
}

static bool is_lead(const struct text *t, const struct stage *s)
{
    return t->checked->lead && strcmp(s->id, t->checked->lead) == 0;
}

/* The stage that follows the first line. */
static void put_lead(const struct text *t)
{
    const struct stage *s;
    for (guint i = 0; (s = stage_at(t, i)); i++) {
        char *text = is_lead(t, s) ? stage_text(t, s) : g_strdup("");
        g_string_append(t->out, text);
        g_free(text);
    }
}

/* Other notes: where the target is, how it was reached. */
static GPtrArray *notes(const struct text *t)
{
    const struct stage *s;
    GPtrArray *all = g_ptr_array_new_with_free_func(free_item);
    for (guint i = 0; (s = stage_at(t, i)); i++)
        if (s->outcome == OUTCOME_NOTED && !s->advice[0] && !is_lead(t, s))
            add_item(all, s->id, stage_text(t, s));
    return all;
}

/* ---- the lines before and after them */

static void put_number(GString *out, unsigned n, const char *what)
{
    if (n > 0)
        g_string_append_printf(out, "%u %s%s", n, what, n == 1 ? "" : "s");
}

static const char *state_of(const struct checked *j)
{
    return j->state ? j->state : j->trouble ? "not tested" : NULL;
}

void text_put_headline(const struct text *t)
{
    unsigned failed = checked_failed_stages(t->checked) + count_failed_rules(t),
             open = count_stages(t, OUTCOME_INCONCLUSIVE) - (cause_stage(t) != NULL);
    const char *state = state_of(t->checked);
    struct text line = begin_text(t);
    text_put_coloured(&line, BOLD, t->checked->name);
    g_string_append_printf(line.out, ": %s", state ? state : "");
    g_string_append(line.out, state && (failed || open) ? ", " : "");
    put_number(line.out, failed, "problem");
    g_string_append(line.out, failed && open ? ", " : "");
    put_number(line.out, open, "open question");
    bool but = state && strstr(state, ", but "); /* "reachable, but packets are lost" */
    if (!failed && !open && !t->checked->trouble && !cause_stage(t) && !but)
        g_string_append_printf(line.out, "%sno problem found", state ? ", " : "");
    wrap_words(t->out, line.out->str, 0, 2);
    g_string_free(line.out, TRUE);
}

/* Why stages did not run, if the reason is one for all of them. */
static const char *common_reason(const struct text *t)
{
    const struct stage *s;
    const char *reason = NULL;
    for (guint i = 0; (s = stage_at(t, i)); i++)
        if (s->outcome == (int)VERDICT_SKIPPED && reason && strcmp(reason, s->text) != 0)
            return NULL;
        else if (s->outcome == (int)VERDICT_SKIPPED)
            reason = s->text;
    return reason;
}

/* "12 stages passed; 3 stages not run: fabric.sm failed; -v lists all"; "" if nothing was tried. */
static char *counts_text(const struct text *t)
{
    struct verdict_summary sum = checked_summary(t->report, t->checked);
    unsigned passed = count_stages(t, OUTCOME_PASS),
             skipped = count_stages(t, (int)VERDICT_SKIPPED);
    if (!passed && !skipped && !sum.passed && !sum.skipped)
        return g_strdup("");
    const char *reason = common_reason(t), *trouble = t->checked->trouble;
    if (reason && trouble && strstr(trouble, reason)) /* the verdict has it */
        reason = NULL;
    GString *words = g_string_new(NULL), *out = g_string_new(NULL);
    put_number(words, passed, "stage");
    g_string_append(words, passed ? " passed; " : "");
    put_number(words, skipped, "stage");
    g_string_append(words, skipped ? " not run" : "");
    g_string_append_printf(words, "%s%s%s", reason ? ": " : "", reason ? reason : "",
                           skipped ? "; " : "");
    g_string_append(words, "-v lists every stage and rule");
    wrap_words(out, words->str, 0, 0);
    g_string_free(words, TRUE);
    return g_string_free(out, FALSE);
}

static char *verdict_text(const struct text *t)
{
    struct text one = begin_text(t);
    GString *out = g_string_new("\n");
    text_put_verdict(&one);
    wrap_words(out, one.out->str, 0, 2);
    g_string_free(one.out, TRUE);
    return g_string_free(out, FALSE);
}

/* One of many targets: its verdict, and what there is to do. */
void text_put_brief(const struct text *t)
{
    struct text line = begin_text(t);
    const struct stage *s;
    text_put_verdict(&line);
    wrap_words(t->out, line.out->str, 0, 2);
    g_string_free(line.out, TRUE);
    GPtrArray *all = g_ptr_array_new_with_free_func(free_item);
    for (guint i = 0; (s = stage_at(t, i)); i++)
        if (text_shows_stage(t, s))
            add_item(all, s->id, stage_text(t, s));
    add_rules(all, t, RULE_MUST);
    add_rules(all, t, RULE_SHOULD);
    for (guint i = 0; i < all->len; i++)
        g_string_append(t->out, item_at(all, i)->text);
    g_ptr_array_unref(all);
}

/* ---- the screen */

/* Appends as many of the items as fit into the lines. Returns how many. */
static guint put_fitting(GString *out, const GPtrArray *all, unsigned lines, guint at_least)
{
    guint n = 0;
    for (; n < all->len; n++) {
        const char *text = item_at(all, n)->text;
        unsigned needed = wrap_lines(text) + (n + 1 < all->len);
        if (n >= at_least && needed > lines)
            break;
        lines -= MIN(lines, wrap_lines(text));
        g_string_append(out, text);
    }
    return n;
}

/* "  and 3 more (peer.watch, peer.counters, ...): -v lists them", one line */
static void put_rest(GString *out, const GPtrArray *all, guint shown)
{
    enum { NAMED = 2 };
    if (shown == all->len)
        return;
    g_string_append_printf(out, "  and %u more (", all->len - shown);
    for (guint i = shown; i < all->len && i < shown + NAMED; i++)
        g_string_append_printf(out, "%s%s", i == shown ? "" : ", ", item_at(all, i)->id);
    g_string_append_printf(out, "%s): -v lists them\n", all->len > shown + NAMED ? ", ..." : "");
}

void text_put_screen(const struct text *t)
{
    GPtrArray *first = problems(t), *others = notes(t);
    struct text head = begin_text(t);
    char *counts = counts_text(t), *verdict = verdict_text(t);
    text_put_headline(&head);
    put_lead(&head);
    unsigned most = SCREEN_LINES - (t->checked->lead != NULL), /* a line was printed before */
        taken = wrap_lines(head.out->str) + wrap_lines(counts) + wrap_lines(verdict),
             lines = most - MIN(taken, most);
    guint shown = put_fitting(head.out, first, lines, 1);
    put_rest(head.out, first, shown);
    taken += wrap_lines(head.out->str) - 1;
    lines = most - MIN(taken, most);
    put_fitting(head.out, others, lines, 0);
    g_string_append_printf(t->out, "%s%s%s", head.out->str, counts, verdict);
    g_string_free(head.out, TRUE);
    g_ptr_array_unref(first);
    g_ptr_array_unref(others);
    g_free(counts);
    g_free(verdict);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text report: rules in groups, the worst first, with the frames to open. What names a packet
 * that is wrong or missing comes before known deviations, which most captures have.
 */
#include "report/report_text.h"

#include <inttypes.h>
#include <string.h>

#include "report/required.h"
#include "report/words.h"

/* ---- a group: the rules with an outcome, of a level */

#define BASELINE_HEADING   "Known from the baseline"
#define DEVIATIONS_HEADING "Known deviations"
#define NOTED_HEADING      "Noted"
#define UNPROVED_HEADING   "Violated, but not proved"
#define SUSPECTED_HEADING  "Suspected"

static const char *violated_heading(enum rule_level level)
{
    return level == RULE_MUST ? "MUST, violated" : "SHOULD, violated";
}

struct rule_group {
    enum outcome outcome;
    int level; /* -1: any */
    enum colour colour;
    const char *heading;
};

struct listed {
    enum rule_number rule;
    uint64_t count;
};

static gint by_count(gconstpointer a, gconstpointer b)
{
    const struct listed *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return (gint)x->rule - (gint)y->rule;
}

static GArray *rules_of_group(const struct text *t, const struct rule_group *g)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(struct listed));
    for (size_t i = 0; i < RULE_COUNT; i++) {
        struct listed l = {(enum rule_number)i,
                           verdict_count(t->checked->verdict, (enum rule_number)i, g->outcome)};
        if (l.count && (g->level < 0 || (int)rules[i].level == g->level))
            g_array_append_val(found, l);
    }
    g_array_sort(found, by_count);
    return found;
}

/*
 * The verdict counts each rule once, by its worst outcome. If a rule is listed here with another
 * outcome, its text says so; else the reader's count of the listed rules differs from the
 * verdict's.
 */
static void put_counted_as(const struct text *t, const struct rule_group *g, enum rule_number rule,
                           const char *before, const char *after)
{
    static const char *const words[VERDICT_OUTCOMES] = {
        [OUTCOME_PASS] = "as passed",
        [OUTCOME_FAIL] = "under: ",
        [OUTCOME_DEVIATION] = "under: " DEVIATIONS_HEADING,
        [OUTCOME_NOTED] = "under: " NOTED_HEADING,
        [OUTCOME_UNPROVED] = "as inconclusive",
        [OUTCOME_SUSPECTED] = "under: " SUSPECTED_HEADING,
        [VERDICT_KNOWN] = "under: " BASELINE_HEADING};
    int worst = verdict_worst(t->checked->verdict, rule);
    if (worst != (int)g->outcome || worst == OUTCOME_UNPROVED)
        g_string_append_printf(t->out, "%sthis rule is counted %s%s%s", before, words[worst],
                               worst == OUTCOME_FAIL ? violated_heading(rules[rule].level) : "",
                               after);
}

static void put_rule(const struct text *t, const struct rule_group *g, enum rule_number rule)
{
    const struct verdict *v = t->checked->verdict;
    g_string_append(t->out, "  ");
    text_put_coloured(t, g->colour, rules[rule].id);
    g_string_append(t->out, "  (");
    words_add_place(t->out, &rules[rule]);
    g_string_append_printf(t->out, ")\n      %s\n", rules[rule].text);
    words_add_cases(t->out, verdict_result(v, rule, g->outcome), "      ");
    uint64_t passed = verdict_count(v, rule, OUTCOME_PASS);
    if (passed > 0) {
        g_string_append(t->out, "      passed ");
        words_add_times(t->out, passed);
        g_string_append_c(t->out, '\n');
    }
    put_counted_as(t, g, rule, "      ", "\n");
    if (g->outcome == OUTCOME_FAIL)
        text_put_help(t, rule, "      ");
}

/* Says how many reasons the rule has besides that of its first case. */
static void put_other_reasons(GString *out, const struct verdict_result *r)
{
    unsigned others = words_reasons(r) - 1;
    if (others > 0)
        g_string_append_printf(out, ", and %s%u other reason%s", r->uncased ? "more than " : "",
                               others, others == 1 ? "" : "s");
}

/* Inconclusive rules get one line each. */
static void put_shortly(const struct text *t, const struct rule_group *g, enum rule_number rule)
{
    const struct verdict_result *r = verdict_result(t->checked->verdict, rule, g->outcome);
    g_string_append_printf(t->out, "  %s  ", rules[rule].id);
    words_add_times(t->out, r->count);
    if (r->n_cases > 0 && (r->cases[0].actual[0] || r->cases[0].entity[0])) {
        g_string_append(t->out, ": ");
        words_add_case(t->out, &r->cases[0], true);
        put_other_reasons(t->out, r);
    }
    if (r->frames.n > 0) {
        g_string_append(t->out, ", ");
        g_string_append_printf(t->out, r->count > 1 ? "first in frame %" PRIu32 : "frame %" PRIu32,
                               r->frames.first[0]);
    }
    put_counted_as(t, g, rule, "; ", "");
    g_string_append_c(t->out, '\n');
}

static void put_group(const struct text *t, const struct rule_group *g)
{
    GArray *found = rules_of_group(t, g);
    if (found->len > 0) {
        g_string_append_c(t->out, '\n');
        text_put_coloured(t, BOLD, g->heading);
        g_string_append_c(t->out, '\n');
    }
    for (guint i = 0; i < found->len; i++) {
        enum rule_number rule = g_array_index(found, struct listed, i).rule;
        if (g->outcome == OUTCOME_INCONCLUSIVE)
            put_shortly(t, g, rule);
        else
            put_rule(t, g, rule);
    }
    g_array_unref(found);
}

/* A violation explains the events after it, also one that is not proved. */
static void put_groups(const struct text *t)
{
    const struct rule_group should = {OUTCOME_FAIL, RULE_SHOULD, t->report->strict ? RED : YELLOW,
                                      t->report->strict
                                          ? violated_heading(RULE_SHOULD)
                                          : "SHOULD, violated (counted only with --strict)"};
    const struct rule_group before[] = {
        {OUTCOME_FAIL, RULE_MUST, RED, violated_heading(RULE_MUST)},
        {OUTCOME_UNPROVED, -1, YELLOW, UNPROVED_HEADING},
        {OUTCOME_SUSPECTED, -1, YELLOW,
         SUSPECTED_HEADING
         ": two packets contradict each other; a packet that is missing may explain "
         "it"},
    };
    const struct rule_group after[] = {
        {(enum outcome)VERDICT_KNOWN, -1, YELLOW, BASELINE_HEADING},
        {OUTCOME_NOTED, -1, PLAIN, NOTED_HEADING},
        {OUTCOME_INCONCLUSIVE, -1, PLAIN,
         "Inconclusive: packets that decide the rule are missing, or may be missing"},
        {OUTCOME_DEVIATION, -1, YELLOW, DEVIATIONS_HEADING},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(before); i++) {
        put_group(t, &before[i]);
        if (i == 0 && t->report->strict)
            put_group(t, &should);
    }
    text_put_events(t);
    if (!t->report->strict)
        put_group(t, &should);
    for (size_t i = 0; i < G_N_ELEMENTS(after); i++)
        put_group(t, &after[i]);
}

/* ---- what was not seen, and what was left undone */

static void put_unseen(const struct text *t)
{
    const struct unseen *u = verdict_unseen(t->checked->verdict);
    if (!unseen_any(u))
        return;
    text_put_coloured(t, BOLD, "Not seen");
    g_string_append(t->out, ": ");
    words_add_unseen(t->out, u, true);
    g_string_append_c(t->out, '\n');
}

static void put_undone(const struct text *t)
{
    const struct undone *u = verdict_undone(t->checked->verdict);
    if (!undone_any(u))
        return;
    g_string_append_c(t->out, '\n');
    text_put_coloured(t, BOLD, "Undone: a table of the checker was full");
    g_string_append_c(t->out, '\n');
    words_add_undone(t->out, u);
}

void report_text_verdict(GString *out, const struct report *r, const struct checked *j,
                         bool colours)
{
    text_put_verdict(&(struct text){out, r, j, colours, false});
}

void report_text_of(GString *out, const struct report *r, const struct checked *j, bool colours)
{
    struct text t = {out, r, j, colours, false};
    if (r->probed) {
        report_text_probed(out, r, j, colours);
        return;
    }
    text_put_colour(&t, BOLD);
    g_string_append(out, j->name);
    text_put_colour(&t, PLAIN);
    g_string_append_printf(out, ": %" PRIu64 " frame%s, %" PRIu64 " with IPoIB\n",
                           verdict_frames(j->verdict), verdict_frames(j->verdict) == 1 ? "" : "s",
                           verdict_ipoib_frames(j->verdict));
    put_unseen(&t);
    put_undone(&t);
    put_groups(&t);
    text_put_verdict(&t);
}

static GString *text_part(const struct report *r, const struct checked *j,
                          struct written_so_far *written)
{
    GString *out = g_string_new(written->captures++ && !j->brief ? "\n" : NULL);
    report_text_of(out, r, j, false);
    return out;
}

static GString *text_head(const struct report *r, const struct written_so_far *written)
{
    (void)r;
    (void)written;
    return g_string_new(NULL);
}

static GString *text_tail(const struct report *r)
{
    GString *out = g_string_new(NULL);
    report_text_total(out, r);
    return out;
}

const struct report_parts report_parts_text = {text_head, text_part, text_tail};

GString *report_text(const struct report *r, bool colours)
{
    GString *out = g_string_new(NULL);
    for (unsigned i = 0; i < r->n; i++) {
        if (i > 0)
            g_string_append_c(out, '\n');
        report_text_of(out, r, &r->captures[i], colours);
    }
    report_text_total(out, r);
    return out;
}

/* What was not seen in any of the captures; frames of several captures are not named. */
static void add_all_unseen(GString *out, const struct report *r)
{
    struct unseen all = {0};
    for (unsigned i = 0; i < r->n; i++) {
        const struct verdict *v = r->captures[i].verdict;
        for (unsigned kind = 0; v && kind < UNSEEN_KINDS; kind++)
            unseen_add(&all, (enum unseen_kind)kind, verdict_unseen(v)->kinds[kind].count, 0);
    }
    if (r->probed || !unseen_withholds(&all))
        return;
    g_string_append(out, "; not seen: ");
    words_add_unseen(out, &all, false);
}

void report_text_total(GString *out, const struct report *r)
{
    const unsigned by_status[] = {[VERDICT_VIOLATED] = report_count(r, VERDICT_VIOLATED),
                                  [VERDICT_UNJUDGED] = report_count(r, VERDICT_UNJUDGED),
                                  [VERDICT_CONFORMANT] = report_count(r, VERDICT_CONFORMANT)};
    unsigned n = by_status[0] + by_status[1] + by_status[2];
    if (r->n > 1) {
        g_string_append_printf(out, "\n%u %s%s: ", n, r->probed ? "target" : "capture",
                               n == 1 ? "" : "s");
        words_add_statuses(out, by_status, report_partial(r));
        add_all_unseen(out, r);
        g_string_append_c(out, '\n');
    }
    for (unsigned i = 0; i < r->n; i++)
        if (checked_judges_too_few(r, &r->captures[i]))
            g_string_append_printf(out, "%s: NOT JUDGED: %u rules judged, at least %u required\n",
                                   r->captures[i].name, checked_summary(r, &r->captures[i]).judged,
                                   r->min_judged);
    for (guint i = 0; r->required && i < r->required->len; i++) {
        const struct required *one = &g_array_index(r->required, struct required, i);
        if (one->why)
            g_string_append_printf(out, "required %s: NOT JUDGED: %s\n", one->selector, one->why);
    }
}

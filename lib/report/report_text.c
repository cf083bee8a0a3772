/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text report: rules in groups, the worst first, with the frames to open. */
#include "report/report.h"

#include <inttypes.h>
#include <string.h>

#include "report/required.h"
#include "report/words.h"
#include "rules/deviation.h"

/* ECMA-48 SGR colours; nothing is written without colours */
enum colour { RED, YELLOW, GREEN, BOLD, PLAIN };

struct text {
    GString *out;
    const struct report *report;
    const struct judged *judged;
    bool colours;
    /* a fabric diagnosis: its verdict is OK or FAULT instead of CONFORMANT or VIOLATED */
    bool of_fabric;
};

static void put_colour(const struct text *t, enum colour colour)
{
    static const char *const codes[] = {"\033[1;31m", "\033[33m", "\033[32m", "\033[1m", "\033[0m"};
    if (t->colours)
        g_string_append(t->out, codes[colour]);
}

static void put_coloured(const struct text *t, enum colour colour, const char *words)
{
    put_colour(t, colour);
    g_string_append(t->out, words);
    put_colour(t, PLAIN);
}

/* ---- a group: the rules with an outcome, of a level */

struct group {
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

static GArray *rules_of_group(const struct text *t, const struct group *g)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(struct listed));
    for (size_t i = 0; i < RULE_COUNT; i++) {
        struct listed l = {(enum rule_number)i,
                           verdict_count(t->judged->verdict, (enum rule_number)i, g->outcome)};
        if (l.count && (g->level < 0 || (int)rules[i].level == g->level))
            g_array_append_val(found, l);
    }
    g_array_sort(found, by_count);
    return found;
}

/* A line with the command that prints the rule's page. */
static void put_help(const struct text *t, enum rule_number rule, const char *indent)
{
    g_string_append_printf(t->out, "%smore: ", indent);
    add_help(t->out, t->report->probed, rule);
    g_string_append_c(t->out, '\n');
}

static void put_rule(const struct text *t, const struct group *g, enum rule_number rule)
{
    const struct verdict *v = t->judged->verdict;
    g_string_append(t->out, "  ");
    put_coloured(t, g->colour, rules[rule].id);
    g_string_append(t->out, "  (");
    add_place(t->out, &rules[rule]);
    g_string_append_printf(t->out, ")\n      %s\n", rules[rule].text);
    add_cases(t->out, verdict_result(v, rule, g->outcome), "      ");
    uint64_t passed = verdict_count(v, rule, OUTCOME_PASS);
    if (passed > 0) {
        g_string_append(t->out, "      ");
        add_times(t->out, passed);
        g_string_append(t->out, " as demanded\n");
    }
    if (g->outcome == OUTCOME_FAIL)
        put_help(t, rule, "      ");
}

/* Inconclusive rules get one line each. */
static void put_shortly(const struct text *t, const struct group *g, enum rule_number rule)
{
    const struct verdict_result *r = verdict_result(t->judged->verdict, rule, g->outcome);
    g_string_append_printf(t->out, "  %s  ", rules[rule].id);
    add_times(t->out, r->count);
    if (r->n_cases > 0 && (r->cases[0].actual[0] || r->cases[0].subject[0])) {
        g_string_append(t->out, ": ");
        add_case(t->out, &r->cases[0], true);
        g_string_append(t->out, r->n_cases > 1 ? ", ..." : "");
    }
    if (r->frames.n > 0) {
        g_string_append(t->out, ", ");
        g_string_append_printf(t->out, r->count > 1 ? "first in frame %" PRIu32 : "frame %" PRIu32,
                               r->frames.first[0]);
    }
    g_string_append_c(t->out, '\n');
}

static void put_group(const struct text *t, const struct group *g)
{
    GArray *found = rules_of_group(t, g);
    if (found->len > 0) {
        g_string_append_c(t->out, '\n');
        put_coloured(t, BOLD, g->heading);
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

static void put_groups(const struct text *t)
{
    const struct group groups[] = {
        {OUTCOME_FAIL, RULE_MUST, RED, "MUST, violated"},
        {OUTCOME_FAIL, RULE_SHOULD, t->report->strict ? RED : YELLOW,
         t->report->strict ? "SHOULD, violated" : "SHOULD, violated (counted with --strict only)"},
        {(enum outcome)VERDICT_KNOWN, -1, YELLOW, "Known from the baseline"},
        {OUTCOME_DEVIATION, -1, YELLOW, "Known deviations"},
        {OUTCOME_NOTED, -1, PLAIN, "Noted"},
        {OUTCOME_INCONCLUSIVE, -1, PLAIN,
         "Inconclusive: what would decide was not captured or not seen"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(groups); i++)
        put_group(t, &groups[i]);
}

/* ---- the verdict */

static void put_part(GString *out, bool *first, unsigned n, const char *one, const char *many)
{
    if (n == 0)
        return;
    g_string_append_printf(out, "%s%u %s", *first ? "" : ", ", n, n == 1 ? one : many);
    *first = false;
}

/* Appends the names of the implementations whose known deviations are counted. */
static void put_implementations(const struct text *t)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (size_t rule = 0; rule < RULE_COUNT; rule++) {
        const struct verdict *v = t->judged->verdict;
        const struct verdict_result *r = verdict_result(v, (enum rule_number)rule,
                                                        OUTCOME_DEVIATION);
        bool counts = verdict_worst(v, (enum rule_number)rule) == OUTCOME_DEVIATION;
        for (unsigned i = 0; counts && r && i < r->n_cases; i++) {
            char *name = deviation_implementation(r->cases[i].reason);
            if (name && !g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
                g_ptr_array_add(names, name);
            else
                g_free(name);
        }
    }
    for (guint i = 0; i < names->len; i++)
        g_string_append_printf(t->out, "%s%s",
                               i == 0                ? " of "
                               : i == names->len - 1 ? " and "
                                                     : ", ",
                               (char *)names->pdata[i]);
    g_ptr_array_unref(names);
}

static void put_counts(const struct text *t, const struct verdict_summary *s)
{
    GString *out = t->out;
    bool first = true;
    put_part(out, &first, judged_failed_stages(t->judged), "stage failed", "stages failed");
    put_part(out, &first, s->must, "MUST violated", "MUSTs violated");
    put_part(out, &first, s->should, "SHOULD violated", "SHOULDs violated");
    put_part(out, &first, s->known, "violation known from the baseline",
             "violations known from the baseline");
    put_part(out, &first, s->deviated, "known deviation", "known deviations");
    if (s->deviated)
        put_implementations(t);
    put_part(out, &first, s->noted, "note", "notes");
    put_part(out, &first, s->inconclusive, "rule inconclusive", "rules inconclusive");
    put_part(out, &first, s->skipped, "rule skipped", "rules skipped");
    put_part(out, &first, s->passed, "rule passed", "rules passed");
    if (first)
        g_string_append(out, "the rules had no occasion");
}

/* Has a failed stage already shown the trouble? */
static bool trouble_is_told(const struct judged *j)
{
    for (guint i = 0; j->stages && i < j->stages->len; i++) {
        const struct stage *s = j->stages->pdata[i];
        if (s->outcome == OUTCOME_FAIL && strcmp(s->text, j->trouble) == 0)
            return true;
    }
    return false;
}

static void put_verdict(const struct text *t)
{
    static const struct {
        enum colour colour;
        const char *words;
    } shown[] = {
        [VERDICT_CONFORMANT] = {GREEN, "CONFORMANT"},
        [VERDICT_VIOLATED] = {RED, "VIOLATED"},
        [VERDICT_UNJUDGED] = {RED, "NOT JUDGED"},
    };
    struct verdict_summary s = judged_summary(t->report, t->judged);
    g_string_append_printf(t->out, "%s%s: ", t->judged->brief ? "" : "\n", t->judged->name);
    put_coloured(t, shown[s.status].colour,
                 !t->of_fabric                    ? shown[s.status].words
                 : s.status == VERDICT_CONFORMANT ? "OK"
                 : s.status == VERDICT_VIOLATED   ? "FAULT"
                                                  : shown[s.status].words);
    g_string_append(t->out, ": ");
    if (s.status == VERDICT_UNJUDGED)
        g_string_append(t->out, judged_why_not(t->report, t->judged));
    else
        put_counts(t, &s);
    if (!t->report->probed && judged_ipoib_frames(t->judged))
        g_string_append_printf(t->out, "; %u of %u MUST and SHOULD rules judged", s.judged,
                               s.applicable);
    if (s.status == VERDICT_VIOLATED && t->judged->trouble &&
        !(t->of_fabric && trouble_is_told(t->judged)))
        g_string_append_printf(t->out, "; and not judged to its end: %s", t->judged->trouble);
    g_string_append_c(t->out, '\n');
}

/* ---- a probe's target: a line for each stage and rule, and details of those that did not pass */

static enum colour colour_of(int outcome)
{
    return outcome == OUTCOME_FAIL        ? RED
           : outcome == OUTCOME_DEVIATION ? YELLOW
           : outcome == OUTCOME_PASS      ? GREEN
                                          : PLAIN;
}

static void put_outcome(const struct text *t, int outcome)
{
    g_string_append(t->out, "  ");
    put_colour(t, colour_of(outcome));
    g_string_append_printf(t->out, "%-14s", outcome_name((enum outcome)outcome));
    put_colour(t, PLAIN);
}

/* Number of consecutive stages from this one that did not run for the same reason. */
static guint not_run_from(const struct text *t, guint first)
{
    const GPtrArray *all = t->judged->stages;
    guint n = 0;
    for (guint i = first; t->of_fabric && i < all->len; i++, n++) {
        const struct stage *s = all->pdata[i];
        if (s->outcome != (int)VERDICT_SKIPPED ||
            strcmp(s->text, ((const struct stage *)all->pdata[first])->text) != 0)
            break;
    }
    return n;
}

static void put_stages(const struct text *t)
{
    for (guint i = 0; t->judged->stages && i < t->judged->stages->len; i++) {
        const struct stage *s = t->judged->stages->pdata[i];
        if (t->judged->brief && s->outcome != OUTCOME_FAIL)
            continue;
        guint not_run = not_run_from(t, i);
        if (not_run > 1) {
            put_outcome(t, s->outcome);
            g_string_append_printf(t->out, "%u stages not run: %s\n", not_run, s->text);
            i += not_run - 1;
            continue;
        }
        put_outcome(t, s->outcome);
        g_string_append_printf(t->out, "%s  %s\n", s->id, s->text);
        if (s->advice[0])
            g_string_append_printf(t->out, "                  -> %s\n", s->advice);
    }
}

static void put_line(GString *out, const char *name, const char *text)
{
    if (text[0])
        g_string_append_printf(out, "                  %-9s %s\n", name, text);
}

static void put_evidence(const struct text *t, const struct verdict_case *c)
{
    put_line(t->out, "sent", c->sent);
    put_line(t->out, "expected", c->expected);
    put_line(t->out, "found", c->actual);
    put_line(t->out, "came", c->came);
    put_line(t->out, "reason", c->reason);
}

static void put_probed_rule(const struct text *t, enum rule_number rule, int worst)
{
    const struct verdict_result *r = verdict_result(t->judged->verdict, rule, (enum outcome)worst);
    put_outcome(t, worst);
    g_string_append(t->out, rules[rule].id);
    if (rules[rule].level != RULE_MUST)
        g_string_append_printf(t->out, " (%s)", rule_level_name(rules[rule].level));
    bool explained = worst == OUTCOME_FAIL || worst == OUTCOME_DEVIATION ||
                     worst == OUTCOME_INCONCLUSIVE;
    const char *words = r && r->n_cases ? r->cases[0].actual : "";
    if (!explained && words[0])
        g_string_append_printf(t->out, "  %s", words);
    g_string_append_c(t->out, '\n');
    for (unsigned i = 0; explained && r && i < r->n_cases; i++)
        put_evidence(t, &r->cases[i]);
    if (worst == OUTCOME_FAIL)
        put_help(t, rule, "                  ");
}

/* One of many targets: only the failures. */
static void put_briefly(const struct text *t)
{
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (verdict_worst(t->judged->verdict, (enum rule_number)i) == OUTCOME_FAIL)
            put_probed_rule(t, (enum rule_number)i, OUTCOME_FAIL);
}

static bool is_of_fabric(const struct judged *j)
{
    return j->stages && j->stages->len > 0 &&
           g_str_has_prefix(((const struct stage *)j->stages->pdata[0])->id, "fabric.");
}

void report_text_probed(GString *out, const struct report *r, const struct judged *j, bool colours)
{
    struct text t = {out, r, j, colours, is_of_fabric(j)};
    if (j->sweep && !j->trouble) {
        for (guint i = 0; i < j->stages->len; i++)
            g_string_append_printf(out, "%s: %s\n", j->name,
                                   ((const struct stage *)j->stages->pdata[i])->text);
        return;
    }
    if (j->brief) {
        put_verdict(&t);
        put_stages(&t);
        put_briefly(&t);
        return;
    }
    put_colour(&t, BOLD);
    g_string_append(out, j->name);
    put_colour(&t, PLAIN);
    g_string_append_c(out, '\n');
    put_stages(&t);
    for (size_t i = 0; i < RULE_COUNT; i++) {
        int worst = verdict_worst(j->verdict, (enum rule_number)i);
        if (worst >= 0)
            put_probed_rule(&t, (enum rule_number)i, worst);
    }
    put_verdict(&t);
}

void report_text_verdict(GString *out, const struct report *r, const struct judged *j, bool colours)
{
    put_verdict(&(struct text){out, r, j, colours, false});
}

void report_text_of(GString *out, const struct report *r, const struct judged *j, bool colours)
{
    struct text t = {out, r, j, colours, false};
    if (r->probed) {
        report_text_probed(out, r, j, colours);
        return;
    }
    put_colour(&t, BOLD);
    g_string_append(out, j->name);
    put_colour(&t, PLAIN);
    g_string_append_printf(out, ": %" PRIu64 " frame%s, %" PRIu64 " with IPoIB\n",
                           verdict_frames(j->verdict), verdict_frames(j->verdict) == 1 ? "" : "s",
                           verdict_ipoib_frames(j->verdict));
    put_groups(&t);
    put_verdict(&t);
}

static GString *text_part(const struct report *r, const struct judged *j, struct told_so_far *told)
{
    GString *out = g_string_new(told->captures++ && !j->brief ? "\n" : NULL);
    report_text_of(out, r, j, false);
    return out;
}

static GString *text_head(const struct report *r, const struct told_so_far *told)
{
    (void)r;
    (void)told;
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

void report_text_total(GString *out, const struct report *r)
{
    unsigned violated = report_count(r, VERDICT_VIOLATED),
             unjudged = report_count(r, VERDICT_UNJUDGED),
             conformant = report_count(r, VERDICT_CONFORMANT);
    if (r->n > 1)
        g_string_append_printf(out, "\n%u %s: %u violated, %u not judged, %u conformant\n",
                               violated + unjudged + conformant, r->probed ? "targets" : "captures",
                               violated, unjudged, conformant);
    for (guint i = 0; r->required && i < r->required->len; i++) {
        const struct required *one = &g_array_index(r->required, struct required, i);
        if (one->why)
            g_string_append_printf(out, "required %s: NOT JUDGED: %s\n", one->selector, one->why);
    }
}

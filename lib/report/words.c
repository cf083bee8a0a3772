/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/words.h"

#include <inttypes.h>
#include <string.h>

const char *outcome_name(enum outcome outcome)
{
    static const char *const names[VERDICT_OUTCOMES] = {
        [OUTCOME_PASS] = "pass",           [OUTCOME_FAIL] = "fail",
        [OUTCOME_DEVIATION] = "deviation", [OUTCOME_INCONCLUSIVE] = "inconclusive",
        [OUTCOME_NOTED] = "noted",         [OUTCOME_UNPROVED] = "unproved",
        [OUTCOME_SUSPECTED] = "suspected", [VERDICT_SKIPPED] = "skipped",
        [VERDICT_KNOWN] = "known"};
    return names[outcome];
}

bool outcome_read(enum outcome *outcome, const char *name)
{
    for (int i = 0; i < VERDICT_OUTCOMES; i++)
        if (g_str_equal(outcome_name((enum outcome)i), name)) {
            *outcome = (enum outcome)i;
            return true;
        }
    return false;
}

const int outcomes_in_order[VERDICT_OUTCOMES] = {
    OUTCOME_FAIL,         OUTCOME_UNPROVED, OUTCOME_SUSPECTED, VERDICT_KNOWN,  OUTCOME_DEVIATION,
    OUTCOME_INCONCLUSIVE, OUTCOME_NOTED,    OUTCOME_PASS,      VERDICT_SKIPPED};

const char *why_skipped(int worst)
{
    switch (worst) {
    case OUTCOME_FAIL:
        return "violated, but a SHOULD counts only with --strict";
    case VERDICT_KNOWN:
        return "known from the baseline";
    case OUTCOME_DEVIATION:
        return "known deviation";
    case OUTCOME_UNPROVED:
        return "violated, but not proved";
    case OUTCOME_SUSPECTED:
        return "suspected";
    case OUTCOME_INCONCLUSIVE:
        return "inconclusive";
    case VERDICT_SKIPPED:
        return "not tried";
    default:
        return "did not apply in this capture";
    }
}

const char *status_name(enum verdict_status status)
{
    static const char *const names[] = {[VERDICT_CONFORMANT] = "conformant",
                                        [VERDICT_VIOLATED] = "violated",
                                        [VERDICT_UNJUDGED] = "unjudged"};
    return names[status];
}

void words_add_judged(GString *out, const struct verdict_summary *s, bool strict)
{
    unsigned violated = s->must + (strict ? s->should : 0);
    g_string_append_printf(out, "%u of %u rules judged", s->judged, s->applicable);
    if (violated)
        g_string_append_printf(out, ", %u violated", violated);
    else if (s->judged)
        g_string_append_printf(out, ", no %s",
                               s->should  ? "MUST violated"
                               : s->known ? "new violation"
                                          : "violation");
}

bool verdict_is_partial(const struct verdict_summary *s)
{
    return s->status == VERDICT_CONFORMANT &&
           (s->inconclusive > 0 || s->suspected > 0 || s->unseen);
}

const char *verdict_words(const struct verdict_summary *s)
{
    return verdict_is_partial(s) ? "no violation proved" : status_name(s->status);
}

const char *verdict_why_not(const struct verdict_summary *s, uint64_t ipoib_frames)
{
    bool undecided = (s->inconclusive || s->suspected) && !s->must && !s->should && !s->deviated &&
                     !s->passed;
    return !ipoib_frames                 ? "there is no IPoIB in it"
           : s->undone                   ? s->undone
           : s->all_corrupt              ? "every datagram with IPoIB in it is corrupt"
           : undecided                   ? "every applicable rule is inconclusive"
           : s->strictest == RULE_MUST   ? "no MUST was judged"
           : s->strictest == RULE_SHOULD ? "no SHOULD was judged"
                                         : "no rule was judged";
}

void words_add_statuses(GString *out, const unsigned by_status[3], unsigned partial)
{
    g_string_append_printf(out, "%u violated, %u not judged, ", by_status[VERDICT_VIOLATED],
                           by_status[VERDICT_UNJUDGED]);
    if (partial)
        g_string_append_printf(out, "%u no violation proved, ", partial);
    g_string_append_printf(out, "%u conformant", by_status[VERDICT_CONFORMANT] - partial);
}

void words_add_unseen(GString *out, const struct unseen *u, bool all)
{
    const char *before = "";
    for (unsigned i = 0; i < UNSEEN_KINDS; i++) {
        enum unseen_kind kind = (enum unseen_kind)i;
        uint64_t n = u->kinds[i].count;
        if (!n || !(all || unseen_texts[kind].withholds))
            continue;
        g_string_append_printf(out, "%s%" PRIu64 " %s%s %s", before, n, unseen_texts[kind].noun,
                               n == 1 ? "" : "s", unseen_texts[kind].rest);
        if (all && u->kinds[i].frame)
            g_string_append_printf(out,
                                   n == 1 ? " in frame %" PRIu32 : " from frame %" PRIu32 " on",
                                   u->kinds[i].frame);
        before = ", ";
    }
}

/* Entries of one frame count once. */
static void add_refusals(GString *out, enum undone_table table, const struct refusals *r)
{
    const char *effect = undone_texts[table].effect;
    g_string_append_printf(
        out, "  the table of %s: full from frame %" PRIu32 " on, %" PRIu64 " entr%s refused%s%s\n",
        undone_texts[table].words, r->frame, r->refused, r->refused == 1 ? "y" : "ies",
        effect ? ": " : "", effect ? effect : "");
}

void words_add_undone(GString *out, const struct undone *u)
{
    for (unsigned i = 0; i < UNDONE_TABLES; i++)
        if (u->tables[i].refused)
            add_refusals(out, (enum undone_table)i, &u->tables[i]);
    if (undone_verdict(u))
        g_string_append(
            out,
            "  From there on, rules that depend on what was refused are inconclusive.\n"
            "  What to do: split the capture (editcap -c 100000 CAPTURE PART.pcap) and check the "
            "parts.\n  If a node sends packets with ever new addresses, remove its packets "
            "first.\n");
}

void words_add_times(GString *out, uint64_t n)
{
    g_string_append_printf(out, "%" PRIu64 " time%s", n, n == 1 ? "" : "s");
}

void words_add_frames(GString *out, const struct verdict_frames *f)
{
    if (f->n == 0)
        return;
    g_string_append(out, f->n == 1 && !f->more ? "frame " : "frames ");
    for (unsigned i = 0; i < f->n; i++)
        g_string_append_printf(out, "%s%" PRIu32, i ? ", " : "", f->first[i]);
    if (f->more)
        g_string_append(out, " and others");
}

void words_add_senders(GString *out, const struct verdict_senders *s)
{
    for (unsigned i = 0; i < s->n; i++)
        g_string_append_printf(out, "%s%s", i ? "; " : "", s->first[i]);
    if (s->more)
        g_string_append(out, " and others");
}

void words_add_help(GString *out, bool probed, enum rule_number rule)
{
    g_string_append_printf(out, "%s --explain %s", probed ? "ipoib-probe" : "ipoib-check",
                           rules[rule].id);
}

static void add_what(GString *out, const struct verdict_case *c)
{
    if (c->expected[0])
        g_string_append_printf(out, "expected %s, found %s", c->expected,
                               c->actual[0] ? c->actual : "something else");
    else
        g_string_append(out, c->actual);
}

void words_add_other_frames(GString *out, const struct verdict_case *c)
{
    if (c->other_frame)
        g_string_append_printf(out, "; %s %" PRIu32, other_frame_words(c->by_flow), c->other_frame);
    if (c->proved_frame)
        g_string_append_printf(
            out, c->count > 1 ? "; proved from frame %" PRIu32 " on" : "; proved in frame %" PRIu32,
            c->proved_frame);
}

void words_add_case(GString *out, const struct verdict_case *c, bool why)
{
    const char *colon = c->entity[0] && (c->expected[0] || c->actual[0]) ? ": " : "";
    g_string_append_printf(out, "%s%s", c->entity, colon);
    add_what(out, c);
    if (why && c->reason[0])
        g_string_append_printf(out, " (%s)", c->reason);
    words_add_other_frames(out, c);
}

static bool says_the_same(const struct verdict_case *a, const struct verdict_case *b)
{
    return g_str_equal(a->expected, b->expected) && g_str_equal(a->actual, b->actual) &&
           g_str_equal(a->reason, b->reason);
}

static bool reported_before(const struct verdict_result *r, unsigned i)
{
    for (unsigned j = 0; j < i; j++)
        if (says_the_same(&r->cases[j], &r->cases[i]))
            return true;
    return false;
}

unsigned words_reasons(const struct verdict_result *r)
{
    unsigned n = 0;
    for (unsigned i = 0; i < r->n_cases; i++)
        n += !reported_before(r, i);
    return n;
}

/* The entities with the same finding: one line each. */
static void add_entities(GString *out, const struct verdict_result *r, unsigned first,
                         const char *indent)
{
    for (unsigned i = first; i < r->n_cases; i++) {
        const struct verdict_case *c = &r->cases[i];
        if (!says_the_same(&r->cases[first], c) || (c->frames.n == 0 && !c->entity[0]))
            continue;
        g_string_append_printf(out, "%s  %s%s", indent, c->entity,
                               c->entity[0] && c->frames.n ? ": " : "");
        words_add_frames(out, &c->frames);
        words_add_other_frames(out, c);
        g_string_append_c(out, '\n');
    }
}

static void unite(struct verdict_senders *all, const struct verdict_senders *some)
{
    all->more |= some->more;
    for (unsigned i = 0; i < some->n; i++) {
        bool there = false;
        for (unsigned j = 0; j < all->n; j++)
            there |= strcmp(all->first[j], some->first[i]) == 0;
        if (!there && all->n < VERDICT_SENDERS)
            all->first[all->n++] = some->first[i];
        else
            all->more |= !there;
    }
}

/* The senders, on one line for all entities with the same finding. */
static void add_sender_line(GString *out, const struct verdict_result *r, unsigned first,
                            const char *indent)
{
    struct verdict_senders all = {.n = 0};
    for (unsigned i = first; i < r->n_cases; i++)
        if (says_the_same(&r->cases[first], &r->cases[i]))
            unite(&all, &r->cases[i].senders);
    if (all.n == 0)
        return;
    g_string_append_printf(out, "%s  sent by ", indent);
    words_add_senders(out, &all);
    g_string_append_c(out, '\n');
}

static uint64_t times(const struct verdict_result *r, unsigned first)
{
    uint64_t n = 0;
    for (unsigned i = first; i < r->n_cases; i++)
        n += says_the_same(&r->cases[first], &r->cases[i]) ? r->cases[i].count : 0;
    return n;
}

/* Is it the last case with this reason? The reason is printed after it. */
static bool reason_ends(const struct verdict_result *r, unsigned i)
{
    for (unsigned j = i + 1; j < r->n_cases; j++)
        if (!reported_before(r, j) && g_str_equal(r->cases[i].reason, r->cases[j].reason))
            return false;
    return r->cases[i].reason[0];
}

static const char *word_before(const struct verdict_result *r, const char *reason)
{
    if (r->outcome == OUTCOME_UNPROVED)
        return "not proved: ";
    if (r->outcome == OUTCOME_SUSPECTED)
        return ""; /* "unless ..." */
    return g_str_has_prefix(reason, "known ") ? "" : "known: ";
}

void words_add_cases(GString *out, const struct verdict_result *r, const char *indent)
{
    for (unsigned i = 0; i < r->n_cases; i++) {
        if (reported_before(r, i))
            continue;
        g_string_append(out, indent);
        words_add_times(out, times(r, i));
        g_string_append(out, ": ");
        add_what(out, &r->cases[i]);
        g_string_append_c(out, '\n');
        add_entities(out, r, i, indent);
        add_sender_line(out, r, i, indent);
        if (reason_ends(r, i))
            g_string_append_printf(out, "%s%s%s\n", indent, word_before(r, r->cases[i].reason),
                                   r->cases[i].reason);
    }
    if (r->uncased == 0)
        return;
    g_string_append_printf(out, "%sfurther cases: %" PRIu64 " finding%s, not listed\n", indent,
                           r->uncased, r->uncased == 1 ? "" : "s");
}

void words_add_place(GString *out, const struct rule *rule)
{
    g_string_append(out, rule_document_name(rule->document));
    if (rule->section[0])
        g_string_append_printf(out, ", %s %s", rule_place_word(rule), rule->section);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/verdict.h"

#include <string.h>

#include "cli/plain.h"
#include "rules/sender.h"

struct verdict {
    const struct rule_selection *selection;
    uint64_t frames, ipoib_frames;
    struct undone undone;
    struct unseen unseen;
    /* of a checker, of all rules; next to each other, because most packets pass several rules */
    uint64_t passes[RULE_COUNT];
    uint64_t counts[RULE_COUNT][VERDICT_OUTCOMES]; /* other findings */
    /* allocated at the first finding */
    struct verdict_result *results[RULE_COUNT][VERDICT_OUTCOMES];
};

struct verdict *verdict_new(const struct rule_selection *selection)
{
    struct verdict *v = g_new0(struct verdict, 1);
    v->selection = selection;
    return v;
}

static void result_free(struct verdict_result *r)
{
    for (unsigned i = 0; r && i < r->n_cases; i++) {
        g_free(r->cases[i].entity);
        g_free(r->cases[i].expected);
        g_free(r->cases[i].actual);
        g_free(r->cases[i].reason);
        g_free(r->cases[i].cause);
        g_free(r->cases[i].check);
        g_free(r->cases[i].sent);
        g_free(r->cases[i].received);
        for (unsigned j = 0; j < r->cases[i].senders.n; j++)
            g_free(r->cases[i].senders.first[j]);
    }
    g_free(r);
}

void verdict_free(struct verdict *v)
{
    if (!v)
        return;
    for (size_t rule = 0; rule < RULE_COUNT; rule++)
        for (size_t outcome = 0; outcome < VERDICT_OUTCOMES; outcome++)
            result_free(v->results[rule][outcome]);
    g_free(v);
}

void verdict_frame(struct verdict *v, bool ipoib)
{
    v->frames++;
    v->ipoib_frames += ipoib;
}

uint64_t verdict_frames(const struct verdict *v)
{
    return v->frames;
}

uint64_t verdict_ipoib_frames(const struct verdict *v)
{
    return v->ipoib_frames;
}

void verdict_set_undone(struct verdict *v, const struct undone *u)
{
    v->undone = *u;
}

const struct undone *verdict_undone(const struct verdict *v)
{
    return &v->undone;
}

void verdict_set_unseen(struct verdict *v, const struct unseen *u)
{
    v->unseen = *u;
}

const struct unseen *verdict_unseen(const struct verdict *v)
{
    return &v->unseen;
}

/* ---- collecting */

/* Keeps the smallest numbers in their order, each once. Packets at fault are proved in any order.
 */
static void add_frame_number(struct verdict_frames *f, uint32_t frame)
{
    unsigned at = f->n;
    while (at > 0 && f->first[at - 1] > frame)
        at--;
    if (frame == 0 || (at > 0 && f->first[at - 1] == frame))
        return;
    f->more |= f->n == VERDICT_FRAMES;
    if (at == VERDICT_FRAMES)
        return;
    unsigned after = MIN(f->n, VERDICT_FRAMES - 1) - at;
    memmove(&f->first[at + 1], &f->first[at], after * sizeof f->first[0]);
    f->first[at] = frame;
    f->n = at + after + 1;
}

static void add_sender(struct verdict_senders *s, const struct sender *from)
{
    char text[SENDER_TEXT_SIZE], buffer[VERDICT_TEXT + 1];
    if (s->more || !sender_text(text, from)[0])
        return;
    const char *sender = plain_text(text, buffer, sizeof buffer);
    for (unsigned i = 0; i < s->n; i++)
        if (strcmp(s->first[i], sender) == 0)
            return;
    if (s->n < VERDICT_SENDERS)
        s->first[s->n++] = g_strdup(sender);
    else
        s->more = true;
}

/*
 * The case with these texts, as plain_short() cleans and shortens them: texts that differ only
 * beyond the limit are one case.
 */
static struct verdict_case *find_case(struct verdict_result *r, const char *const texts[4])
{
    for (unsigned i = 0; i < r->n_cases; i++) {
        struct verdict_case *c = &r->cases[i];
        if (g_str_equal(c->actual, texts[2]) && g_str_equal(c->entity, texts[0]) &&
            g_str_equal(c->expected, texts[1]) && g_str_equal(c->reason, texts[3]))
            return c;
    }
    return NULL;
}

static char *short_text(const char *text)
{
    char buffer[VERDICT_TEXT + 1];
    return g_strdup(plain_text(text ? text : "", buffer, sizeof buffer));
}

static struct verdict_case *new_case(struct verdict_result *r, const char *const texts[4],
                                     const struct verdict_evidence *e)
{
    if (r->n_cases == VERDICT_CASES)
        return NULL;
    struct verdict_case *c = &r->cases[r->n_cases++];
    c->entity = g_strdup(texts[0]);
    c->expected = g_strdup(texts[1]);
    c->actual = g_strdup(texts[2]);
    c->reason = g_strdup(texts[3]);
    c->check = short_text(e ? e->check : NULL);
    c->sent = short_text(e ? e->sent : NULL);
    c->received = short_text(e ? e->received : NULL);
    return c;
}

/* No case has the given texts as they are. */
static struct verdict_case *find_or_add_case(struct verdict_result *r, const char *const given[4],
                                             const struct verdict_evidence *e)
{
    char buffers[3][VERDICT_TEXT + 1], reason[VERDICT_REASON + 1];
    const char *texts[4];
    for (size_t i = 0; i < G_N_ELEMENTS(buffers); i++)
        texts[i] = plain_short(given[i], buffers[i], sizeof buffers[i]);
    texts[3] = plain_short(given[3], reason, sizeof reason);
    bool are_given = memcmp(texts, given, sizeof texts) == 0; /* they were plain and short */
    struct verdict_case *c = are_given ? NULL : find_case(r, texts);
    return c ? c : new_case(r, texts, e);
}

static const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

/* The frame of the packet at fault. proved: that of the packet that showed it. */
static uint32_t fault_frame(uint32_t proved, const struct finding *f)
{
    return f->frame ? f->frame : proved;
}

static void add_to_case(struct verdict_result *r, uint32_t proved, const struct finding *f,
                        const struct verdict_evidence *e)
{
    uint32_t frame = fault_frame(proved, f);
    const char *given[] = {text_or_empty(f->entity), text_or_empty(f->expected),
                           text_or_empty(f->actual), text_or_empty(f->reason)};
    /* the texts of most findings are those of a case already, which saves cleaning them */
    struct verdict_case *c = find_case(r, given);
    if (!c)
        c = find_or_add_case(r, given, e);
    if (!c) {
        r->uncased++;
        return;
    }
    if (c->count++ == 0) {
        c->other_frame = f->other_frame;
        c->by_flow = f->by_flow;
        bool is_proved = f->outcome != OUTCOME_SUSPECTED && f->outcome != OUTCOME_UNPROVED;
        c->proved_frame = is_proved && frame != proved ? proved : 0;
        char room[CAUSE_TEXT];
        const char *cause = finding_cause(f, room);
        c->cause = *cause ? g_strdup(cause) : NULL;
        c->has_value = f->value && finding_has_number(f);
        c->value = c->has_value ? *f->value : 0;
    }
    add_frame_number(&c->frames, frame);
    if (!e)
        add_sender(&c->senders, f->sender);
}

static enum outcome outcome_of(const struct finding *f)
{
    enum rule_level level = rules[f->rule].level;
    bool violated = f->outcome == OUTCOME_FAIL || f->outcome == OUTCOME_DEVIATION;
    return violated && level != RULE_MUST && level != RULE_SHOULD ? OUTCOME_NOTED : f->outcome;
}

/* Enters the finding with its frame and its texts. */
__attribute__((noinline)) static void add_result(struct verdict *v, uint32_t proved,
                                                 const struct finding *f,
                                                 const struct verdict_evidence *e)
{
    struct verdict_result **r = &v->results[f->rule][outcome_of(f)];
    if (!*r)
        *r = g_new0(struct verdict_result, 1);
    (*r)->outcome = (int)outcome_of(f);
    (*r)->count++;
    add_frame_number(&(*r)->frames, fault_frame(proved, f));
    add_to_case(*r, proved, f, e);
}

static inline bool is_counted(const struct verdict *v, enum rule_number rule)
{
    return rules[rule].level != RULE_MAY && verdict_selected(v, rule);
}

/* A pass without evidence is only counted. */
static inline void add_outcome(struct verdict *v, uint32_t frame, const struct finding *f,
                               const struct verdict_evidence *e)
{
    bool may_fall = f->held || (f->outcome == OUTCOME_SUSPECTED && !f->stands);
    if (may_fall || !is_counted(v, f->rule))
        return;
    v->counts[f->rule][outcome_of(f)]++;
    if (f->outcome != OUTCOME_PASS || e)
        add_result(v, frame, f, e);
}

void verdict_add(struct verdict *v, uint32_t frame, const struct finding *f)
{
    add_outcome(v, frame, f, NULL);
}

uint64_t *verdict_passes(struct verdict *v)
{
    return v->passes;
}

void verdict_add_evidence(struct verdict *v, const struct finding *f,
                          const struct verdict_evidence *e)
{
    add_outcome(v, 0, f, e);
}

void verdict_skip(struct verdict *v, enum rule_number rule, const char *why,
                  const struct verdict_evidence *e)
{
    struct finding f = {.rule = rule,
                        .outcome = (enum outcome)VERDICT_SKIPPED,
                        .expected = "",
                        .actual = why,
                        .entity = "",
                        .reason = ""};
    add_outcome(v, 0, &f, e);
}

void verdict_restore(struct verdict *v, enum rule_number rule, enum outcome outcome, uint64_t count,
                     struct verdict_result *r)
{
    result_free(v->results[rule][outcome]);
    v->counts[rule][outcome] = count;
    v->results[rule][outcome] = r;
    if (r)
        r->outcome = (int)outcome;
}

void verdict_restore_frames(struct verdict *v, uint64_t frames, uint64_t ipoib_frames)
{
    v->frames = frames;
    v->ipoib_frames = ipoib_frames;
}

/* ---- results */

uint64_t verdict_count(const struct verdict *v, enum rule_number rule, enum outcome outcome)
{
    uint64_t passes = outcome == OUTCOME_PASS && is_counted(v, rule) ? v->passes[rule] : 0;
    return v->counts[rule][outcome] + passes;
}

const struct verdict_result *verdict_result(const struct verdict *v, enum rule_number rule,
                                            enum outcome outcome)
{
    return v->results[rule][outcome];
}

bool verdict_selected(const struct verdict *v, enum rule_number rule)
{
    return !v->selection || v->selection->rule[rule];
}

/*
 * Outcomes that decide come before those that do not, except a failure that lacks its proof, and a
 * suspicion.
 */
static const int worst_first[VERDICT_OUTCOMES] = {
    OUTCOME_FAIL,  OUTCOME_UNPROVED, OUTCOME_SUSPECTED,    VERDICT_KNOWN,  OUTCOME_DEVIATION,
    OUTCOME_NOTED, OUTCOME_PASS,     OUTCOME_INCONCLUSIVE, VERDICT_SKIPPED};

bool outcome_is_worse(int one, int other)
{
    for (size_t i = 0; i < G_N_ELEMENTS(worst_first) && worst_first[i] != other; i++)
        if (worst_first[i] == one)
            return true;
    return false;
}

int verdict_worst(const struct verdict *v, enum rule_number rule)
{
    for (size_t i = 0; i < G_N_ELEMENTS(worst_first); i++)
        if (verdict_count(v, rule, (enum outcome)worst_first[i]))
            return worst_first[i];
    return -1;
}

bool verdict_counts(enum rule_number rule, bool strict)
{
    return rules[rule].level == RULE_MUST || (strict && rules[rule].level == RULE_SHOULD);
}

static void count_rule(struct verdict_summary *s, const struct verdict *v, enum rule_number rule)
{
    switch (verdict_worst(v, rule)) {
    case OUTCOME_FAIL:
        s->must += rules[rule].level == RULE_MUST;
        s->should += rules[rule].level == RULE_SHOULD;
        break;
    case OUTCOME_DEVIATION:
        s->deviated++;
        break;
    case OUTCOME_SUSPECTED:
        s->suspected++;
        break;
    case OUTCOME_UNPROVED:
    case OUTCOME_INCONCLUSIVE:
        s->inconclusive++;
        break;
    case OUTCOME_PASS:
        s->passed++;
        break;
    case OUTCOME_NOTED:
        s->noted++;
        break;
    case VERDICT_SKIPPED:
        s->skipped++;
        break;
    case VERDICT_KNOWN:
        s->known++;
        break;
    default:
        break;
    }
    if (!verdict_applicable(rule) || !verdict_selected(v, rule))
        return;
    s->applicable++;
    s->judged += verdict_judged(v, rule);
    if (rules[rule].level < s->strictest)
        s->strictest = rules[rule].level;
}

bool verdict_applicable(enum rule_number rule)
{
    enum rule_level level = rules[rule].level;
    return (level == RULE_MUST || level == RULE_SHOULD) && rule_in_capture(&rules[rule]);
}

bool verdict_judged(const struct verdict *v, enum rule_number rule)
{
    int worst = verdict_worst(v, rule);
    return worst >= 0 && worst != OUTCOME_UNPROVED && worst != OUTCOME_SUSPECTED &&
           worst != OUTCOME_INCONCLUSIVE && worst != VERDICT_SKIPPED;
}

struct verdict_summary verdict_summarize(const struct verdict *v, bool strict)
{
    struct verdict_summary s = {.strictest = RULE_INFO};
    for (size_t i = 0; i < RULE_COUNT; i++)
        count_rule(&s, v, (enum rule_number)i);
    /*
     * If rules applied but none was decided, the status is unjudged. If no rule applied, nothing is
     * violated.
     */
    bool undecided = (s.inconclusive || s.suspected) && !s.must && !s.should && !s.deviated &&
                     !s.passed && !s.known;
    if (s.must || (strict && s.should))
        s.status = VERDICT_VIOLATED;
    else if (!v->ipoib_frames || undecided)
        s.status = VERDICT_UNJUDGED;
    else
        s.status = VERDICT_CONFORMANT;
    return s;
}

static bool has_decided_rule(const struct verdict *v, enum rule_level strictest)
{
    for (size_t i = 0; i < RULE_COUNT; i++) {
        /* the levels that never count are treated as one */
        enum rule_level level = rules[i].level == RULE_DRAFT ? RULE_INFO : rules[i].level;
        if (level == strictest && rule_in_capture(&rules[i]) &&
            verdict_judged(v, (enum rule_number)i))
            return true;
    }
    return false;
}

struct verdict_summary verdict_summarize_capture(const struct verdict *v, bool strict)
{
    struct verdict_summary s = verdict_summarize(v, strict);
    s.undone = undone_verdict(&v->undone);
    s.unseen = unseen_withholds(&v->unseen);
    s.all_corrupt = v->unseen.kinds[UNSEEN_ALL_CORRUPT].count > 0;
    if (s.status == VERDICT_CONFORMANT &&
        (s.undone || s.all_corrupt || !has_decided_rule(v, s.strictest)))
        s.status = VERDICT_UNJUDGED;
    return s;
}

/* ---- selectors */

bool selection_add(struct rule_selection *s, const char *selector)
{
    bool found = false;
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (rule_selected(&rules[i], selector)) {
            s->rule[i] = true;
            found = true;
        }
    return found;
}

unsigned selection_in_capture(const struct rule_selection *s)
{
    unsigned n = 0;
    for (size_t i = 0; i < RULE_COUNT; i++)
        n += s->rule[i] && rule_in_capture(&rules[i]);
    return n;
}

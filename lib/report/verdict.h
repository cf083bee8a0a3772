/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was found in one capture (or of one peer), gathered rule by rule, and the verdict that
 * follows from it.
 *
 * Memory is bounded, whatever is found: of each rule and outcome at most VERDICT_CASES distinct
 * cases are kept, each with its first VERDICT_FRAMES frames and texts of at most VERDICT_TEXT
 * octets; the rest is counted.
 *
 * What a capture shows is found in frames; what a probe finds has evidence instead: the check, what
 * it sent, what came.
 */
#ifndef IPOIB_REPORT_VERDICT_H
#define IPOIB_REPORT_VERDICT_H

#include <glib.h>

#include "rules/check.h"

enum { VERDICT_FRAMES = 10, VERDICT_CASES = 10, VERDICT_SENDERS = 5, VERDICT_TEXT = 300 };

/* The first frames of something. */
struct verdict_frames {
    uint32_t first[VERDICT_FRAMES];
    unsigned n; /* in first */
    bool more;  /* there are others that are not in first */
};

/* The first senders of packets that show something. */
struct verdict_senders {
    char *first[VERDICT_SENDERS];
    unsigned n; /* in first */
    bool more;  /* there are others that are not in first */
};

/*
 * Outcomes that no check has. VERDICT_SKIPPED: a probe could not try the rule. VERDICT_KNOWN: a
 * violation that the baseline has already (report/baseline.h).
 */
enum { VERDICT_SKIPPED = OUTCOMES, VERDICT_KNOWN, VERDICT_OUTCOMES };

/* What a probe knows beside a finding. Texts, "" for nothing. */
struct verdict_evidence {
    const char *check; /* the name of the check that found it */
    const char *sent;
    const char *came;
};

/* The findings of a rule that say the same. */
struct verdict_case {
    char *subject, *expected, *actual,
        *reason;               /* valid UTF-8 without control characters; "" for nothing */
    char *check, *sent, *came; /* a probe's evidence, of the first of them; "" for nothing */
    uint64_t count;
    struct verdict_frames frames;
    struct verdict_senders senders;
};

/* The findings of a rule with the same outcome, in the order in which they came. */
struct verdict_result {
    uint64_t count;
    struct verdict_frames frames;
    struct verdict_case cases[VERDICT_CASES];
    unsigned n_cases;
    uint64_t uncased; /* findings of further cases, counted alone */
};

/* Which rules count: all, or those that a selector names (rule_selected). */
struct selection {
    bool rule[RULE_COUNT];
};

enum verdict_status {
    VERDICT_CONFORMANT,
    VERDICT_VIOLATED,
    VERDICT_UNJUDGED, /* no IPoIB was seen, or no rule that could violate was judged */
};

/* Of the rules that were judged, each counted once, by the worst that was found of it. */
struct verdict_summary {
    enum verdict_status status;
    unsigned must, should; /* violated; should is a violation where strictness is asked for */
    unsigned deviated, inconclusive, passed;
    unsigned noted;   /* rules of level INFO and DRAFT that have something to show */
    unsigned skipped; /* a probe could not try them */
    unsigned known;   /* violated as in the baseline, and not otherwise */
    /* Of level MUST or SHOULD: selected rules that a capture can show, and those of them that were
       judged: kept, violated, known deviations or known from the baseline. */
    unsigned applicable, judged;
    enum rule_level strictest; /* of the selected ones; RULE_INFO: none that can be violated */
};

struct verdict;

/* selection NULL: all rules. It must outlive the verdict. */
struct verdict *verdict_new(const struct selection *selection);
void verdict_free(struct verdict *v);

/* A frame was looked at; ipoib: there was something of IPoIB in it. */
void verdict_frame(struct verdict *v, bool ipoib);
uint64_t verdict_frames(const struct verdict *v);
uint64_t verdict_ipoib_frames(const struct verdict *v);

/*
 * A finding, in frame number frame (0: in none). Rules of level MAY are freedoms: what is found of
 * them is dropped. What fails a rule of level INFO or DRAFT is noted.
 */
void verdict_add(struct verdict *v, uint32_t frame, const struct finding *f);

/* A probe's finding. Unlike a capture's, what passed is kept too. */
void verdict_add_evidence(struct verdict *v, const struct finding *f,
                          const struct verdict_evidence *e);
/* A probe could not try the rule. */
void verdict_skip(struct verdict *v, enum rule_number rule, const char *why,
                  const struct verdict_evidence *e);

/*
 * What another program's verdict had, read from its report: how often, and what, which the verdict
 * then owns (NULL where none was kept; from g_new0, its texts too). And its numbers of frames.
 */
void verdict_restore(struct verdict *v, enum rule_number rule, enum outcome outcome, uint64_t count,
                     struct verdict_result *r);
void verdict_restore_frames(struct verdict *v, uint64_t frames, uint64_t ipoib_frames);

/*
 * How often; and what, NULL where that is never (and for a capture's OUTCOME_PASS, of which only
 * the count is kept). outcome: VERDICT_SKIPPED too.
 */
uint64_t verdict_count(const struct verdict *v, enum rule_number rule, enum outcome outcome);
const struct verdict_result *verdict_result(const struct verdict *v, enum rule_number rule,
                                            enum outcome outcome);

/*
 * The worst outcome of a rule: failure, known from the baseline, deviation, noted, passed,
 * inconclusive, skipped, so that what any finding decides is not inconclusive. -1: nothing was
 * found of it.
 */
int verdict_worst(const struct verdict *v, enum rule_number rule);
/* In that order; anything is worse than -1. */
bool outcome_is_worse(int one, int other);

/* Is the rule among the selected ones? */
bool verdict_selected(const struct verdict *v, enum rule_number rule);

/* strict: a violated SHOULD makes the whole violated. */
struct verdict_summary verdict_summarize(const struct verdict *v, bool strict);
/*
 * The same for a capture, which is conformant only if a selected MUST was judged. Where no MUST is
 * selected, the strictest selected level takes its place.
 */
struct verdict_summary verdict_summarize_capture(const struct verdict *v, bool strict);

/* Was the rule judged: kept, or not kept in any way? What is inconclusive was not judged. */
bool verdict_judged(const struct verdict *v, enum rule_number rule);
/* A rule of level MUST or SHOULD that a capture can show. */
bool verdict_applicable(enum rule_number rule);

/* Would a breach of the rule count? MUST always, SHOULD if strict, INFO, DRAFT and MAY never. */
bool verdict_counts(enum rule_number rule, bool strict);

/*
 * Adds what the selector names. False: no rule has such an identifier, or such a beginning of it.
 */
bool selection_add(struct selection *s, const char *selector);
/* How many of the selected rules a capture can show. */
unsigned selection_in_capture(const struct selection *s);

#endif

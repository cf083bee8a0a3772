/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collects the findings of one capture (or of one probed target) by rule, and derives the verdict.
 *
 * Memory is bounded: for each rule and outcome at most VERDICT_CASES different cases are kept, each
 * with its first VERDICT_FRAMES frames and VERDICT_SENDERS senders, and with texts of at most
 * VERDICT_TEXT bytes (VERDICT_REASON the reason); further cases are only counted.
 *
 * Findings of a capture have frames. Findings of a probe have evidence instead: the check, what it
 * sent, what it received.
 */
#ifndef IPOIB_REPORT_VERDICT_H
#define IPOIB_REPORT_VERDICT_H

#include <glib.h>

#include "model/undone.h"
#include "model/unseen.h"
#include "rules/check.h"

enum { VERDICT_FRAMES = 10, VERDICT_CASES = 10, VERDICT_SENDERS = 5, VERDICT_TEXT = 300 };
/* Bytes of a reason, which may come from a user's list of deviations. */
enum { VERDICT_REASON = 4096 };

/* The first frames of a case or result: those of the packets at fault. */
struct verdict_frames {
    uint32_t first[VERDICT_FRAMES];
    unsigned n; /* used elements of first */
    bool more;  /* there are others that are not in first */
};

/* The first senders of the packets of a case. */
struct verdict_senders {
    char *first[VERDICT_SENDERS];
    unsigned n; /* used elements of first */
    bool more;  /* there are others that are not in first */
};

/*
 * Outcomes that no check reports. VERDICT_SKIPPED: a probe could not try the rule. VERDICT_KNOWN: a
 * violation that is in the baseline (report/baseline.h).
 */
enum { VERDICT_SKIPPED = OUTCOMES, VERDICT_KNOWN, VERDICT_OUTCOMES };

/* A probe's evidence for a finding. "" if a text is absent. */
struct verdict_evidence {
    const char *check; /* name of the check */
    const char *sent;
    const char *received;
};

/* Findings of a rule and outcome with the same texts. */
struct verdict_case {
    /* valid UTF-8 without control characters; "" if absent */
    char *entity, *expected, *actual, *reason;
    uint32_t other_frame;          /* OUTCOME_SUSPECTED: of the first finding (struct finding) */
    bool by_flow;                  /* the same */
    uint32_t proved_frame;         /* that proved the first finding; 0: its own frame did */
    bool has_value;                /* it is about a number */
    char *cause;                   /* finding_cause(); NULL: it has none */
    uint64_t value;                /* the observed number */
    char *check, *sent, *received; /* evidence of the first finding; "" if absent */
    uint64_t count;
    struct verdict_frames frames;
    struct verdict_senders senders;
};

/* Findings of a rule with the same outcome; cases in the order of their first finding. */
struct verdict_result {
    int outcome; /* enum outcome, VERDICT_SKIPPED or VERDICT_KNOWN */
    uint64_t count;
    struct verdict_frames frames;
    struct verdict_case cases[VERDICT_CASES];
    unsigned n_cases;
    uint64_t uncased; /* findings beyond VERDICT_CASES cases, only counted */
};

/* The selected rules, all or those of the selectors (rule_selected()). */
struct rule_selection {
    bool rule[RULE_COUNT];
};

enum verdict_status {
    VERDICT_CONFORMANT,
    VERDICT_VIOLATED,
    /*
     * no IPoIB in the capture, or all of it corrupt, or no rule that could be violated was decided,
     * or a table was full
     */
    VERDICT_UNJUDGED,
};

/* Number of rules by their worst outcome. */
struct verdict_summary {
    enum verdict_status status;
    unsigned must, should; /* violated; should counts as a violation only if strict */
    unsigned deviated, passed;
    unsigned suspected;
    unsigned inconclusive; /* including those of OUTCOME_UNPROVED */
    unsigned noted;        /* rules of level INFO and DRAFT with an observation */
    unsigned skipped;      /* a probe could not try them */
    unsigned known;        /* violated, but only as in the baseline */
    /*
     * Rules of level MUST or SHOULD. applicable: selected rules that a capture can show; judged:
     * those of them that were decided: passed, violated, known deviation, or known from the
     * baseline.
     */
    unsigned applicable, judged;
    const char *undone;        /* undone_verdict(): a table was full; NULL: none */
    bool unseen;               /* unseen_withholds(): packets are missing or were not judged */
    bool all_corrupt;          /* every datagram is corrupt */
    enum rule_level strictest; /* of the selected rules; RULE_INFO: none of them can be violated */
};

struct verdict;

/* selection NULL: all rules. The selection must outlive the verdict. */
struct verdict *verdict_new(const struct rule_selection *selection);
void verdict_free(struct verdict *v);

/* Counts a checked frame. ipoib: it contains IPoIB. */
void verdict_frame(struct verdict *v, bool ipoib);
uint64_t verdict_frames(const struct verdict *v);
uint64_t verdict_ipoib_frames(const struct verdict *v);

/* What was left undone (model/undone.h), once the frames are checked. */
void verdict_set_undone(struct verdict *v, const struct undone *u);
const struct undone *verdict_undone(const struct verdict *v);

/* What was not seen (model/unseen.h), once the frames are checked. */
void verdict_set_unseen(struct verdict *v, const struct unseen *u);
const struct unseen *verdict_unseen(const struct verdict *v);

/*
 * Adds a finding in frame number frame (0: no frame). Findings of level MAY are dropped, because a
 * permission cannot be violated, and what is held or suspected and does not stand (yet). A failure
 * of a rule of level INFO or DRAFT is added as noted.
 */
void verdict_add(struct verdict *v, uint32_t frame, const struct finding *f);

/* The counters of passes by rule, for checker_count_passes(). */
uint64_t *verdict_passes(struct verdict *v);

/* Adds a probe's finding. Unlike those of a capture, passes are kept too. */
void verdict_add_evidence(struct verdict *v, const struct finding *f,
                          const struct verdict_evidence *e);
/* Records that a probe could not try the rule. */
void verdict_skip(struct verdict *v, enum rule_number rule, const char *why,
                  const struct verdict_evidence *e);

/*
 * Set the counts, the results and the numbers of frames from a report (report/merge_restore.h). The
 * verdict takes ownership of r (NULL if no cases were kept; allocated with g_new0(), and its texts
 * with GLib).
 */
void verdict_restore(struct verdict *v, enum rule_number rule, enum outcome outcome, uint64_t count,
                     struct verdict_result *r);
void verdict_restore_frames(struct verdict *v, uint64_t frames, uint64_t ipoib_frames);

/*
 * Number of findings, and their cases; NULL if there are none, and for OUTCOME_PASS of a capture,
 * which is only counted. outcome: also VERDICT_SKIPPED and VERDICT_KNOWN.
 */
uint64_t verdict_count(const struct verdict *v, enum rule_number rule, enum outcome outcome);
const struct verdict_result *verdict_result(const struct verdict *v, enum rule_number rule,
                                            enum outcome outcome);

/*
 * The worst outcome of a rule, in this order: failure, unproved failure, suspected, known from the
 * baseline, deviation, noted, passed, inconclusive, skipped. So any finding that decides takes
 * precedence over inconclusive ones, but not over a failure that may only lack its proof, nor over
 * a suspicion. -1: no finding.
 */
int verdict_worst(const struct verdict *v, enum rule_number rule);
/* Compares in the order above; anything is worse than -1. */
bool outcome_is_worse(int one, int other);

/* Is the rule selected? */
bool verdict_selected(const struct verdict *v, enum rule_number rule);

/* Derives the summary. strict: a violated SHOULD makes the verdict "violated". */
struct verdict_summary verdict_summarize(const struct verdict *v, bool strict);
/*
 * The same for a capture. It is conformant only if a selected MUST was decided, and no table was
 * full. If no MUST is selected, this applies to the strictest selected level.
 */
struct verdict_summary verdict_summarize_capture(const struct verdict *v, bool strict);

/* Was the rule decided: passed or violated in any way? Inconclusive and skipped are not decided. */
bool verdict_judged(const struct verdict *v, enum rule_number rule);
/* Is it a rule of level MUST or SHOULD that a capture can show? */
bool verdict_applicable(enum rule_number rule);

/*
 * Does a violation of the rule count? MUST: always; SHOULD: if strict; INFO, DRAFT and MAY: never.
 */
bool verdict_counts(enum rule_number rule, bool strict);

/* Selects the rules that match the selector. Returns false if there are none. */
bool selection_add(struct rule_selection *s, const char *selector);
/* Number of selected rules that a capture can show. */
unsigned selection_in_capture(const struct rule_selection *s);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Contents of a report, independent of its format: the verdicts on one or more captures or targets.
 * doc/reports.md shows the formats.
 */
#ifndef IPOIB_REPORT_REPORT_H
#define IPOIB_REPORT_REPORT_H

#include "report/verdict.h"

struct event_table; /* analysis/event_table.h */
struct swept;       /* report/swept.h */

/*
 * The results of a capture or target, or the reason why there are none. Texts are plain
 * (cli/plain.h).
 */
struct checked {
    char *name;
    struct verdict *verdict;
    char *trouble;     /* why it was not checked, or not completely; NULL: it was */
    double seconds;    /* time that the check took */
    GPtrArray *stages; /* struct stage, from the probe's diagnosis of a fabric; NULL: none */
    struct event_table *events; /* what happened on the link; NULL: not analysed */
    GPtrArray *undone;          /* struct undone_stage: stages without a result; NULL: none */
    /*
     * a prefix of a sweep: its hosts have results of their own, so it is not counted as conformant
     * itself
     */
    bool sweep;
    struct swept *swept; /* of a prefix: its hosts; NULL: none */
    bool listed; /* a host of a prefix, which lists it: the text report shows only its problems */
    const char *state; /* a word about a probe's target, "reachable"; NULL: none */
    /* the stage that says why the target is silent; NULL: unknown. For programs: inconclusive. */
    const char *cause;
    bool brief;   /* one of many targets: the text report shows only failures */
    char *remark; /* a text for the line with the verdict; NULL: none */
    /* the requests of a probe to this target */
    struct checked_requests {
        bool counted;
        unsigned sent, first_try, late, never; /* sent: the sum of the others */
        unsigned packets, lost; /* tries of those requests of which any was answered */
    } requests;
    /* response times, in microseconds, of the peer by the mode of the request, and of the SA */
    struct checked_times {
        uint64_t n; /* 0: there is none */
        int64_t least, median, p99;
    } over_ud, over_rc, sa_times;
    uint64_t sa_unanswered, sa_busy;
    const char *lead; /* the stage that follows the first line of the text report; NULL: none */
    bool closed;      /* verdict and stages are freed; sum has what the summary needs */
    struct {
        struct verdict_summary summary;
        uint64_t frames, ipoib_frames;
    } sum;
};

/*
 * A step of the diagnosis of a fabric, in bottom-up order. It belongs to no rule; it is a
 * precondition of the rules.
 */
struct stage {
    char *id;     /* "fabric.port-state" */
    int outcome;  /* enum outcome, or VERDICT_SKIPPED */
    char *text;   /* the observation */
    char *advice; /* next step for the user, "" for none */
};
/*
 * A stage that was left undone. "conformant" and exit status 0 are claims: any such entry withholds
 * them (checked_summary()).
 */
struct undone_stage {
    const char *code; /* "no-result", "not-run": stable, as in JSON (doc/probe.md) */
    char *stage, *text;
};
/* An inconclusive stage counts as undone. */
void checked_add_stage(struct checked *j, const char *id, int outcome, const char *text,
                       const char *advice);
/* Adds a stage that did not run because the stage cause has failed, or had no result. */
void checked_add_stage_not_run(struct checked *j, const char *id, const struct stage *cause);
/* Adds a stage that did not run because something is missing: it counts as undone. */
void checked_add_stage_without(struct checked *j, const char *id, const char *missing);
/* Something of the last stage was not done: appends the text. Unless it failed, it is inconclusive.
 */
void checked_withhold_stage(struct checked *j, const char *text);
/* If that stage failed, it is inconclusive after all: appends the reason. */
void checked_doubt_stage(struct checked *j, const char *id, const char *reason);
/*
 * If that stage failed, and the other one failed or is inconclusive, it is a consequence of that,
 * and counts as skipped.
 */
void checked_follow_stage(struct checked *j, const char *id, const char *cause);
/* If that stage failed: another one has shown what to do. */
void checked_advise_stage(struct checked *j, const char *id, const char *advice);
/* Removes the stages that keep() does not want, and that they were left undone. */
typedef bool checked_keep(const struct stage *s, const void *user);
void checked_keep_stages(struct checked *j, checked_keep *keep, const void *user);
void checked_clear(struct checked *j);

struct report {
    const char *tool, *version;
    /* the node that the captures come from, used when reports are merged; NULL: not given */
    const char *node;
    const char *deviations;  /* name of the list of known deviations */
    const char *const *only; /* selectors, NULL-terminated; NULL: all rules */
    const char *baseline;    /* name of the baseline report; NULL: none */
    bool strict;
    /* the text report lists all events and, of a probe's target, all stages and rules */
    bool verbose;
    /* by ipoib-probe: the "captures" are targets, and findings have evidence instead of frames */
    bool probed;
    /* what a probe advises if the rule is violated; NULL: it advises nothing */
    const char *(*advice)(enum rule_number rule);
    bool causes_only; /* the text report of a probe: what failed or is undone, nothing else */
    struct checked *captures;
    unsigned n;
    bool fail_on_suspected; /* a suspicion gives exit status 1 */
    unsigned min_judged;    /* rules that each capture must judge; 0: none */
    const GArray *required; /* struct required (report/required.h); NULL: no rule is required */
};

enum { EXIT_CONFORMANT = 0, EXIT_VIOLATED = 1, EXIT_UNJUDGED = 2 };
int exit_status_of(enum verdict_status status);

/*
 * The summary of one capture. If it was not checked completely, it may be violated, but not
 * conformant.
 */
struct verdict_summary checked_summary(const struct report *r, const struct checked *j);

/* Number of failed stages of a fabric or sweep; 0 after checked_close(). */
unsigned checked_failed_stages(const struct checked *j);

/* Call when all results have been output: frees everything except what the summary needs. */
void checked_close(const struct report *r, struct checked *j);
uint64_t checked_frames(const struct checked *j);
uint64_t checked_ipoib_frames(const struct checked *j);

/*
 * The overall status: violated if any is violated; else unjudged if any is unjudged or judged fewer
 * rules than required, or a required rule was not decided; else conformant.
 */
enum verdict_status report_status(const struct report *r);
int report_exit_status(const struct report *r);

/*
 * Does the rule fail the capture, with this worst outcome (-1: none)? A violation does, and a
 * suspicion with fail_on_suspected.
 */
bool report_fails(const struct report *r, enum rule_number rule, int worst);
/* Does the capture fail because of suspicions? */
bool checked_fails_on_suspected(const struct report *r, const struct checked *j);

/* Did the capture judge fewer rules than min_judged? */
bool checked_judges_too_few(const struct report *r, const struct checked *j);

/* Number of captures with the status. */
unsigned report_count(const struct report *r, enum verdict_status status);

/* Is it conformant, but only as far as it was judged (verdict_is_partial())? Not for a probe. */
bool checked_is_partial(const struct report *r, const struct checked *j);
/* Number of such captures; they are among the conformant ones. */
unsigned report_partial(const struct report *r);

/* Why there is no verdict: the trouble, what was left undone, or that no rule could be decided. */
const char *checked_why_not(const struct report *r, const struct checked *j);

/*
 * The inconclusive result of a rule whose worst outcome is another one, or NULL: some packets
 * decide the rule, and others do not.
 */
const struct verdict_result *checked_undecided(const struct checked *j, enum rule_number rule);

/*
 * Is the rule a test case of the capture, in formats with test cases? For a capture with IPoIB: the
 * selected rules of level MUST and SHOULD that a capture can show, whether they applied or not; for
 * a capture without IPoIB: none. For a probe's target: the rules that a check tried or skipped.
 */
bool checked_tests(const struct report *r, const struct checked *j, enum rule_number rule);

/* Was the capture checked completely, with a verdict? */
bool checked_wholly(const struct report *r, const struct checked *j);

/* ---- writers: a whole report as UTF-8 text */

GString *report_text(const struct report *r, bool colours);

/* Number of captures and tests in the parts written so far. */
struct written_so_far {
    unsigned captures, tests;
};

/*
 * A report written in parts, for callers with too many targets to keep all results: one part for
 * each target as soon as it is done, then the head and the tail. The head needs the totals, so it
 * is written last (all targets closed), although it comes first in the report.
 */
struct report_parts {
    GString *(*head)(const struct report *r, const struct written_so_far *written);
    GString *(*part)(const struct report *r, const struct checked *j,
                     struct written_so_far *written);
    GString *(*tail)(const struct report *r);
};
extern const struct report_parts report_parts_text, report_parts_json, report_parts_junit,
    report_parts_tap, report_parts_jsonl;

/* The whole report from its parts; no capture may be closed. */
GString *report_whole(const struct report_parts *parts, const struct report *r);

/* The part of one target in a probe's text report. */
void report_text_probed(GString *out, const struct report *r, const struct checked *j,
                        bool colours);

/*
 * The last line of report_text(), if there are several captures or targets; and the required rules
 * that were not decided.
 */
void report_text_total(GString *out, const struct report *r);

/* The line with the verdict: "a.pcap: CONFORMANT: ...", after an empty line unless brief. */
void report_text_verdict(GString *out, const struct report *r, const struct checked *j,
                         bool colours);

/* The part of one capture in report_text(). */
void report_text_of(GString *out, const struct report *r, const struct checked *j, bool colours);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a report tells, whatever its format: the verdicts on one or many captures. doc/reports.md
 * shows the formats.
 */
#ifndef IPOIB_REPORT_REPORT_H
#define IPOIB_REPORT_REPORT_H

#include "report/verdict.h"

/* A capture that was judged, or could not be. Texts are plain (cli/plain.h). */
struct judged {
    char *name;
    struct verdict *verdict;
    char *trouble;     /* why it was not judged, or not to its end; NULL: it was */
    double seconds;    /* that judging took */
    GPtrArray *stages; /* struct stage, of a probe's look at a fabric; NULL: none */
    bool sweep;  /* stands for a prefix, whose hosts have results of their own: it is not counted as
                    conformant itself */
    bool brief;  /* one of many targets: the text shows what failed alone */
    bool closed; /* verdict and stages are gone; what the summary needs is in sum */
    struct {
        struct verdict_summary summary;
        uint64_t frames, ipoib_frames;
    } sum;
};

/*
 * A step of the diagnosis of a fabric, from the bottom up: no rule's, but what must hold before any
 * rule matters.
 */
struct stage {
    char *id;     /* "fabric.port-state" */
    int outcome;  /* enum outcome, or VERDICT_SKIPPED */
    char *text;   /* what was found */
    char *advice; /* what to do next, "" for nothing */
};
void judged_add_stage(struct judged *j, const char *id, int outcome, const char *text,
                      const char *advice);
void judged_clear(struct judged *j);

struct report {
    const char *tool, *version;
    const char *node;        /* whose captures they are, for who merges reports; NULL: not given */
    const char *deviations;  /* the name of the list */
    const char *const *only; /* selectors, NULL at the end; NULL: all rules */
    const char *baseline;    /* the report whose violations are known; NULL: none */
    bool strict;
    bool probed; /* by a probe: the "captures" are targets that were asked, and findings have
                    evidence, not frames */
    struct judged *captures;
    unsigned n;
    const GArray *required; /* struct required (report/required.h); NULL: no rule is */
};

enum { EXIT_CONFORMANT = 0, EXIT_VIOLATED = 1, EXIT_UNJUDGED = 2 };
int exit_status_of(enum verdict_status status);

/*
 * Of one capture: what could not be judged to its end is conformant to nobody's knowledge, but may
 * be violated.
 */
struct verdict_summary judged_summary(const struct report *r, const struct judged *j);

/* Stages of a fabric, or of a sweep, that failed; 0 once it is closed. */
unsigned judged_failed_stages(const struct judged *j);

/* All of its results have been told: gives back the memory but for what the summary needs. */
void judged_close(const struct report *r, struct judged *j);
uint64_t judged_frames(const struct judged *j);
uint64_t judged_ipoib_frames(const struct judged *j);

/*
 * Of all: violated if any is, else not judged if any is or a required rule was not, else
 * conformant.
 */
enum verdict_status report_status(const struct report *r);
int report_exit_status(const struct report *r);

/* How many captures have the status. */
unsigned report_count(const struct report *r, enum verdict_status status);

/* Why nothing was judged: the trouble, or that there was nothing to judge. */
const char *judged_why_not(const struct report *r, const struct judged *j);

/*
 * Is the rule a test of the capture's, in the formats that have tests? The selected rules of level
 * MUST and SHOULD that a capture can show are, whether they had an occasion or not; of a capture
 * without IPoIB none. Of a probe's target: those that a check tried, or had to skip.
 */
bool judged_tests(const struct report *r, const struct judged *j, enum rule_number rule);

/* Was all of the capture judged? */
bool judged_wholly(const struct report *r, const struct judged *j);

/* ---- the writers: a whole report as text in UTF-8 */

GString *report_text(const struct report *r, bool colours);

/* How many captures and tests the parts before this one told of. */
struct told_so_far {
    unsigned captures, tests;
};

/*
 * The same in parts, for who has too many targets to keep the results of all: a part for each, when
 * it is ready, then the head, when all are known (and closed), which stands before them, and the
 * tail.
 */
struct report_parts {
    GString *(*head)(const struct report *r, const struct told_so_far *told);
    GString *(*part)(const struct report *r, const struct judged *j, struct told_so_far *told);
    GString *(*tail)(const struct report *r);
};
extern const struct report_parts report_parts_text, report_parts_json, report_parts_junit,
    report_parts_tap;

/* All of them at once, of what is not closed. */
GString *report_whole(const struct report_parts *parts, const struct report *r);

/* One target's part of a probe's report: a line for each rule. */
void report_text_probed(GString *out, const struct report *r, const struct judged *j, bool colours);

/* The last line of report_text, where there are several captures or targets. */
void report_text_total(GString *out, const struct report *r);

/* The line of the verdict: "a.pcap: CONFORMANT: ...", behind an empty one if not brief. */
void report_text_verdict(GString *out, const struct report *r, const struct judged *j,
                         bool colours);

/* One capture's part of report_text. */
void report_text_of(GString *out, const struct report *r, const struct judged *j, bool colours);

#endif

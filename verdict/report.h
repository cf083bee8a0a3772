/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a report tells, whatever its format: the verdicts on one or many captures. doc/reports.md shows the formats. */
#ifndef IPOIB_VERDICT_REPORT_H
#define IPOIB_VERDICT_REPORT_H

#include "verdict/verdict.h"

/* A capture that was judged, or could not be. Texts are plain (verdict/plain.h). */
struct judged {
    char *name;
    struct verdict *verdict;
    char *trouble; /* why it was not judged, or not to its end; NULL: it was */
    double seconds; /* that judging took */
};

struct report {
    const char *tool, *version;
    const char *deviations;   /* the name of the list */
    const char *const *only;  /* selectors, NULL at the end; NULL: all rules */
    bool strict;
    struct judged *captures;
    unsigned n;
};

enum { EXIT_CONFORMANT = 0, EXIT_VIOLATED = 1, EXIT_UNJUDGED = 2 };

/* Of one capture: what could not be judged to its end is conformant to nobody's knowledge, but may be violated. */
struct verdict_summary judged_summary(const struct report *r, const struct judged *j);

/* Of all: violated if any is, else not judged if any is, else conformant. */
enum verdict_status report_status(const struct report *r);
int report_exit_status(const struct report *r);

/* How many captures have the status. */
unsigned report_count(const struct report *r, enum verdict_status status);

/* Why nothing was judged: the trouble, or that there was nothing to judge. */
const char *judged_why_not(const struct judged *j);

/*
 * Is the rule a test of the capture's, in the formats that have tests? The selected rules of level MUST and SHOULD that a
 * capture can show are, whether they had an occasion or not; of a capture without IPoIB none.
 */
bool judged_tests(const struct judged *j, enum rule_number rule);

/* Was all of the capture judged? */
bool judged_wholly(const struct report *r, const struct judged *j);

/* ---- the writers: a whole report as text in UTF-8 */

GString *report_text(const struct report *r, bool colours);
GString *report_json(const struct report *r);
GString *report_junit(const struct report *r);
GString *report_tap(const struct report *r);

/* One capture's part of report_text. */
void report_text_of(GString *out, const struct report *r, const struct judged *j, bool colours);

#endif

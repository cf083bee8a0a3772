/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the text report. Private to report/. */
#ifndef IPOIB_REPORT_REPORT_TEXT_H
#define IPOIB_REPORT_REPORT_TEXT_H

#include "report/report.h"

/* ECMA-48 SGR colours; nothing is written without colours */
enum colour { RED, YELLOW, GREEN, BOLD, PLAIN };

struct text {
    GString *out;
    const struct report *report;
    const struct checked *checked;
    bool colours;
    /* a fabric diagnosis: its verdict is OK or FAULT instead of CONFORMANT or VIOLATED */
    bool of_fabric;
};

/* Starts the colour; PLAIN ends it (report_text_parts.c). */
void text_put_colour(const struct text *t, enum colour colour);
void text_put_coloured(const struct text *t, enum colour colour, const char *words);

/* The section Events, and ", 3 events" for the verdict (report_events.c). */
void text_put_events(const struct text *t);
void text_put_events_count(const struct text *t);
/* ", but 3 events (path_cut, trap)"; of changes that may be intended, ", with ..." */
void text_put_events_names(const struct text *t);

/* A line with the command that prints the rule's page (report_text_parts.c). */
void text_put_help(const struct text *t, enum rule_number rule, const char *indent);
/* The outcome of a stage or rule of a probe's target, in its colour (report_text_parts.c). */
void text_put_outcome(const struct text *t, int outcome);
/* The same of a stage: that of the cause why the target is silent is "cause". */
void text_put_stage_outcome(const struct text *t, const struct stage *s);
bool text_is_cause(const struct text *t, const struct stage *s);
/*
 * Is it in the text report? One of many targets: failures; of a fabric, what has no result and what
 * notes advise too.
 */
bool text_shows_stage(const struct text *t, const struct stage *s);

/* A probe's target on one screen: problems, what was noted, counts, verdict (report_screen.c). */
void text_put_screen(const struct text *t);
/* One of many targets: its verdict, failures and what its notes advise (report_screen.c). */
void text_put_brief(const struct text *t);
/* "10.0.0.2: reachable, 2 problems" */
void text_put_headline(const struct text *t);

/* The last line: the verdict and what it counts (report_text_verdict.c). */
void text_put_verdict(const struct text *t);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts for findings, shared by the report formats. */
#ifndef IPOIB_REPORT_WORDS_H
#define IPOIB_REPORT_WORDS_H

#include "report/verdict.h"

/* "fail", "pass", ... */
const char *outcome_name(enum outcome outcome);
/* The outcome with that name; false: there is none. */
bool outcome_read(enum outcome *outcome, const char *name);
/* The order of a rule's results in a JSON report: the most important first. */
extern const int outcomes_in_order[VERDICT_OUTCOMES];
/*
 * Why a rule with this worst outcome (-1: none) is a skipped test. Not for rules that passed, or
 * that failed and count.
 */
const char *why_skipped(int worst);
/* "conformant", "violated", "unjudged" */
const char *status_name(enum verdict_status status);

/* Why a capture with this summary, whose status is unjudged, has no verdict. */
const char *verdict_why_not(const struct verdict_summary *s, uint64_t ipoib_frames);

/*
 * What the verdict rests on, before it: "45 of 73 rules judged, no violation". strict: as of the
 * report.
 */
void words_add_judged(GString *out, const struct verdict_summary *s, bool strict);
/*
 * Is there no violation, but not all rules that applied were judged? Then the verdict is not
 * plainly "conformant" in words, although it is in reports for programs.
 */
bool verdict_is_partial(const struct verdict_summary *s);
/* The verdict in words for people: "conformant", "no violation proved", "violated", ... */
const char *verdict_words(const struct verdict_summary *s);

/*
 * What was not seen, on one line: "40 packets lost by the system (isb_osdrop), 2 REQs without a
 * response". all: with the first frame of each, and also what does not withhold "conformant".
 */
void words_add_unseen(GString *out, const struct unseen *u, bool all);

/*
 * "2 violated, 1 not judged, 3 no violation proved, 4 conformant", by enum verdict_status. partial:
 * those of the conformant ones of which no violation is proved; if there are none, they are not
 * named.
 */
void words_add_statuses(GString *out, const unsigned by_status[3], unsigned partial);

/* What was left undone: indented lines, with what the user can do; nothing if it is nothing. */
void words_add_undone(GString *out, const struct undone *u);

/* "1 time", "2 times" */
void words_add_times(GString *out, uint64_t n);

/* "frame 7", "frames 1, 2, 3 and others"; nothing if there is no frame. */
void words_add_frames(GString *out, const struct verdict_frames *f);

/* "IP 10.0.0.1, GID fe80::1, LID 3 and others": senders, separated by semicolons. */
void words_add_senders(GString *out, const struct verdict_senders *s);

/* "ipoib-check --explain rfc4391.6.type": the command that prints the rule's page. */
void words_add_help(GString *out, bool probed, enum rule_number rule);

/*
 * "; the other value is in frame 7", or its flow's first frame; "; proved in frame 9"; nothing if
 * the case has neither.
 */
void words_add_other_frames(GString *out, const struct verdict_case *c);

/* "group ff12:...: expected 0x0000, found 0xbeef"; with why also " (reason)". */
void words_add_case(GString *out, const struct verdict_case *c, bool why);

/*
 * The cases of a result, each with its entities and senders. Every line begins with the indent. A
 * reason that several cases share is printed once.
 */
void words_add_cases(GString *out, const struct verdict_result *r, const char *indent);

/* Number of different reasons (or findings) of the result's cases, whatever their entities. */
unsigned words_reasons(const struct verdict_result *r);

/* "RFC 4391, section 6" */
void words_add_place(GString *out, const struct rule *rule);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings in words, as the reports for people have them and those for machines repeat them. */
#ifndef IPOIB_REPORT_WORDS_H
#define IPOIB_REPORT_WORDS_H

#include "report/verdict.h"

/* "fail", "pass", ... */
const char *outcome_name(enum outcome outcome);
/* The outcome of that name; false: none has it. */
bool outcome_read(enum outcome *outcome, const char *name);
/* In which the JSON reports tell those of a rule: what people look for first. */
extern const int outcomes_in_order[VERDICT_OUTCOMES];
/*
 * Why a rule whose worst outcome is this (-1: none) is a skipped test: not for what passed, or
 * failed and counts.
 */
const char *why_skipped(int worst);
/* "conformant", "violated", "unjudged" */
const char *status_name(enum verdict_status status);

/* Why a capture with this summary, which is unjudged, has no verdict. */
const char *verdict_why_not(const struct verdict_summary *s, uint64_t ipoib_frames);

/* "1 time", "2 times" */
void add_times(GString *out, uint64_t n);

/* "frame 7", "frames 1, 2, 3 and others"; nothing where there is none. */
void add_frames(GString *out, const struct verdict_frames *f);

/* "IP 10.0.0.1, GID fe80::1, LID 3 and others": senders, separated by semicolons. */
void add_senders(GString *out, const struct verdict_senders *s);

/* "ipoib-check --explain rfc4391.6.type": the command that prints the rule's page. */
void add_help(GString *out, bool probed, enum rule_number rule);

/* "group ff12:...: expected 0x0000, found 0xbeef", and " (reason)" with why. */
void add_case(GString *out, const struct verdict_case *c, bool why);

/*
 * The cases of a result, one or two lines each, every line behind the indent; a reason that several
 * share once.
 */
void add_cases(GString *out, const struct verdict_result *r, const char *indent);

/* "RFC 4391, section 6" */
void add_place(GString *out, const struct rule *rule);

#endif

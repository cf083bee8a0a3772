/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which facts does a check read, and does its result cite them? The linker wraps the model's
 * lookups (tests/CMakeLists.txt): each records what it reads. report_result() is wrapped too: it
 * ends the program if the check has read a fact since it began, and the result neither cites nor
 * drops it. A check that calls another one is not responsible for what that one reads.
 */
#ifndef IPOIB_TESTS_FACT_READS_H
#define IPOIB_TESTS_FACT_READS_H

#include "rules/result.h"

/* The kinds of fact that results of each rule have cited so far: a set of enum rests_on. */
extern unsigned facts_cited[RULE_COUNT];
/* Is a finding reported now the one of a result, or of a claim? */
bool fact_reads_has_result(void);
/* Forgets what was read. */
void fact_reads_clear(void);

#endif

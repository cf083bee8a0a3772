/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report as JSON Lines: an object a line, each complete without the others, for programs that
 * collect logs. doc/reports.md describes them.
 */
#ifndef IPOIB_REPORT_REPORT_JSONL_H
#define IPOIB_REPORT_REPORT_JSONL_H

#include <jansson.h>

#include "report/report.h"

/*
 * Appends a line: TYPE, the time if a probe reports, the tool, the node, then the MEMBERS, which
 * are freed.
 */
void report_jsonl_line(GString *out, const struct report *r, const char *type, json_t *members);

#endif

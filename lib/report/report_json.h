/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a JSON report; doc/reports.md describes their members. */
#ifndef IPOIB_REPORT_REPORT_JSON_H
#define IPOIB_REPORT_REPORT_JSON_H

#include <jansson.h>

#include "report/report.h"

/* The results of a capture or target, in the order of the report. */
json_t *report_json_results(const struct report *r, const struct checked *j);
/* Its entry in the summary. */
json_t *report_json_capture(const struct report *r, const struct checked *j);
/* The summary without these entries. */
json_t *report_json_totals(const struct report *r);

#endif

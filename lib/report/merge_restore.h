/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Restores the results of a capture or target from its JSON report, so that every report writer can
 * output them.
 */
#ifndef IPOIB_REPORT_MERGE_RESTORE_H
#define IPOIB_REPORT_MERGE_RESTORE_H

#include "report/merge_read.h"
#include "report/report.h"

/* Must not be moved: it has pointers into itself. */
struct restored {
    struct report report;   /* with the settings of the original run */
    struct checked checked; /* its name has the node's name as prefix */
    struct rule_selection selection;
    GPtrArray *only;
};

/*
 * Returns false and sets ERROR if something is missing or unknown, or if the findings do not give
 * the verdict in the report. Call restored_clear() in either case.
 */
bool restore(struct restored *out, const struct merge_entry *e, const char *version,
             GError **error);
/* The same without the comparison of the verdict: another version may have given another one. */
bool restore_findings(struct restored *out, const struct merge_entry *e, const char *version,
                      GError **error);
void restored_clear(struct restored *r);

/* A placeholder for a report that could not be read. */
void restore_nothing(struct restored *out, const char *node, const char *file, const char *version,
                     const char *why);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what a JSON report says of a capture or target back to what was judged, so that every writer
 * of reports can have it.
 */
#ifndef IPOIB_REPORT_MERGE_RESTORE_H
#define IPOIB_REPORT_MERGE_RESTORE_H

#include "report/merge_read.h"
#include "report/report.h"

/* Must not be moved: its parts point to each other. */
struct restored {
    struct report report; /* the settings that it was judged with */
    struct judged judged; /* its name begins with the node's */
    struct selection selection;
    GPtrArray *only;
};

/*
 * False: something is missing, unknown, or the findings do not come to the verdict that the report
 * gives; *why says so (g_free). To be cleared either way.
 */
bool restore(struct restored *out, const struct merge_entry *e, const char *version, char **why);
/* The same whatever the verdict: another version may have concluded otherwise. */
bool restore_findings(struct restored *out, const struct merge_entry *e, const char *version,
                      char **why);
void restored_clear(struct restored *r);

/* What stands for a report that could not be read. */
void restore_nothing(struct restored *out, const char *node, const char *file, const char *version,
                     const char *why);

#endif

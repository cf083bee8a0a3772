/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a JSON report of ipoib-check or ipoib-probe back, completely or not at all. doc/reports.md
 * describes its members.
 */
#ifndef IPOIB_REPORT_MERGE_READ_H
#define IPOIB_REPORT_MERGE_READ_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#include "cli/access.h"

/* A capture or target of the report. */
struct merge_entry {
    json_t *given; /* its entry in the summary */
    /* the object with its "strict", "deviations", "only" and "min_judged": given itself, or the
     * summary */
    json_t *settings;
    GPtrArray *results; /* json_t; the results that belong to this entry */
    GHashTable *has;    /* set of strings: identifier and outcome of each of them */
    const char *name, *node, *file, *tool;
    bool probed;
};

/* A rule that the run required (report/required.h). */
struct merge_required {
    const char *selector, *node, *file;
    const char *why; /* why it was not judged; NULL: it was */
};

struct merge_report {
    json_t *whole;
    /* default for entries without a node: from the report, or from the file's name */
    char *node;
    char *file;       /* plain text */
    unsigned reports; /* number of reports in it: 1, or more in a merged one */
    GArray *entries;  /* struct merge_entry */
    GArray *required; /* struct merge_required */
    bool opened;      /* READERS is valid */
    struct access_readers readers;
};

/*
 * Reads the report. path "-": stdin. Returns false and sets ERROR, whose message does not name the
 * file, if it cannot be read or is incomplete. All members that are kept have the right types and
 * are plain text (cli/plain.h). Call merge_report_clear() in either case.
 */
bool merge_report_open(struct merge_report *r, const char *path, GError **error);
void merge_report_clear(struct merge_report *r);

/* Like fail_with(), for texts of a report: the message is short and plain text. */
bool merge_fail(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The string member; NULL if it is absent or not a string. */
const char *merge_string(const json_t *object, const char *key);

/* The node's name derived from a file name: without the folder and ".json". Free with g_free(). */
char *merge_node_of(const char *path);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ipoib-check --merge: merges many reports into one. */
#ifndef IPOIB_CHECK_MERGE_H
#define IPOIB_CHECK_MERGE_H

#include <stdio.h>

#include "cli/access.h"
#include "report/merge_tally.h"
#include "check/options.h"

/* State of the merge: the report is written to the spool file, the totals are in the tally. */
struct report_merge {
    const char *tool, *version;
    enum format format;
    FILE *spool;
    struct merge_tally *tally;
    struct written_so_far written; /* for JUnit and TAP */
    const volatile int *stop;      /* number of the signal that interrupts the merge */
    bool colours;
    struct access_limit limit; /* of the reports' contents */
    /* used by merge_json.c: */
    bool begun;
    unsigned n_results;
    FILE *entries[2]; /* summary entries of captures, and of targets */
    unsigned n_entries[2];
};

/*
 * Writer of a format. part: writes a capture or target of a report; e NULL: the file could not be
 * read. end: writes the summary, after all parts.
 */
struct merge_writer {
    void (*part)(struct report_merge *m, const struct restored *r, const struct merge_entry *e,
                 const char *node, const char *file);
    void (*end)(struct report_merge *m);
};
extern const struct merge_writer merge_writer_text, merge_writer_json, merge_writer_jsonl;

/*
 * Sets up M, whose tool, version, format, stop and colours are set; all else is 0. Returns false
 * and sets ERROR if there is no temporary file. Call merge_end() in either case.
 */
bool merge_begin(struct report_merge *m, GError **error);
/*
 * Adds the report at PATH ("-": stdin). Returns false and sets ERROR, which names the file, if it
 * cannot be read; the merged report says so too, unless a signal interrupted the reading.
 */
bool merge_add(struct report_merge *m, const char *path, GError **error);
/* Writes the merged report to PATH (NULL or "-": stdout). Returns false and sets ERROR on failure.
 */
bool merge_deliver(struct report_merge *m, const char *path, GError **error);
void merge_end(struct report_merge *m);

#endif

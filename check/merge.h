/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ipoib-check --merge: many reports, one. */
#ifndef IPOIB_CHECK_MERGE_H
#define IPOIB_CHECK_MERGE_H

#include <stdio.h>

#include "report/merge_tally.h"
#include "check/options.h"

/* The report while it grows: it goes into a file, what is known of all of them into the tally. */
struct merge {
    const char *tool, *version;
    FILE *spool;
    struct tally *tally;
    struct told_so_far told;  /* JUnit's and TAP's */
    const volatile int *stop; /* the number of the signal that interrupts it */
    bool colours;
    /* merge_json.c: */
    bool begun;
    unsigned n_results;
    FILE *entries[2]; /* what the summary says of captures, and of targets */
    unsigned n_entries[2];
};

/*
 * A capture or target of a report; e NULL: the file could not be read. And the end, when all were
 * told.
 */
struct merge_writer {
    void (*part)(struct merge *m, const struct restored *r, const struct merge_entry *e,
                 const char *node, const char *file);
    void (*end)(struct merge *m);
};
extern const struct merge_writer merge_writer_text, merge_writer_json;

/* The exit status. *stop: the number of the signal that interrupts it. */
int merge(const struct options *o, const char *tool, const char *version, const volatile int *stop);

#endif

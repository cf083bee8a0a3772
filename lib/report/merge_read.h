/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A JSON report of ipoib-check or ipoib-probe, read again: whole, or an error. doc/reports.md
 * describes its members.
 */
#ifndef IPOIB_REPORT_MERGE_READ_H
#define IPOIB_REPORT_MERGE_READ_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

/* A capture or target of the report. */
struct merge_entry {
    json_t *given;      /* what the summary says of it */
    json_t *settings;   /* what has "strict", "deviations" and "only" for it: given itself, or the
                           whole summary */
    GPtrArray *results; /* json_t, those of the report that are its own */
    GHashTable *has;    /* identifier and outcome of each of them */
    const char *name, *node, *file, *tool;
    bool probed;
};

struct merge_report {
    json_t *whole;
    char *node;       /* of who has none of its own: the report's member, or from the file's name */
    char *file;       /* plain */
    unsigned reports; /* that it is made of: 1, or more of a merged one */
    GArray *entries;  /* struct merge_entry */
};

/*
 * path "-": stdin. False: no report that could be read, or not whole; *why says so (g_free). What
 * is there has the right types and is plain text (cli/plain.h). To be cleared either way.
 */
bool merge_report_open(struct merge_report *r, const char *path, char **why);
void merge_report_clear(struct merge_report *r);

/* *why (g_free) says so; always false. */
bool merge_fail(char **why, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The member, NULL where it is absent or no string. */
const char *merge_string(const json_t *object, const char *key);

/* The node that a file of this name tells of: the name without its folder and ".json". g_free */
char *merge_node_of(const char *path);

#endif

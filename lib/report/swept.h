/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hosts that a sweep of a prefix has found, in the order of their addresses; those with a
 * problem by cause and switch; and what differs from an earlier report.
 */
#ifndef IPOIB_REPORT_SWEPT_H
#define IPOIB_REPORT_SWEPT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "report/verdict.h"

/* Texts are plain (cli/plain.h). */
struct swept_host {
    uint8_t ip[16];
    char *address, *gid;
    char *name;          /* NodeDescription of its port; NULL: unknown */
    unsigned lid;        /* 0: unknown */
    unsigned switch_lid; /* of the switch at its port; 0: unknown, or no problem */
    int64_t median_us;   /* of its response times; 0: unknown */
    enum verdict_status status;
    char *cause; /* rule or stage that failed; or why it is not judged; NULL: none */
};
void swept_host_clear(struct swept_host *h);

enum swept_kind { SWEPT_NEW, SWEPT_GONE, SWEPT_CHANGED, SWEPT_KINDS };
/* "new", "gone", "changed": stable names. */
const char *swept_kind_name(enum swept_kind kind);

struct swept_change {
    enum swept_kind kind;
    char *address, *name; /* name NULL: unknown */
    char *what;   /* "LID 7, was 4"; of one that is gone, the cause; NULL: it is new, or unknown */
    char *advice; /* what to do about the cause; NULL: nothing */
};

struct swept {
    GArray *hosts;   /* struct swept_host */
    char *baseline;  /* name of the earlier report; NULL: none */
    GArray *changes; /* struct swept_change, by kind */
    bool incomplete; /* the sweep did not look for all hosts: what is gone is not known */
};

struct swept *swept_new(void);
void swept_free(struct swept *s);
/* Puts the hosts in order. */
void swept_sort(struct swept *s);
/* Takes over the texts. */
void swept_add_change(struct swept *s, struct swept_change change);

/*
 * Appends the groups of hosts with a problem, the changes, and the table. wide: each group and kind
 * of change is one line, however long.
 */
void swept_text(GString *out, const struct swept *s, bool wide);

#endif

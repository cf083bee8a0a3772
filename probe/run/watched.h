/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a watched peer (--count, --interval) has shown so far, for reports during the run. */
#ifndef IPOIB_PROBE_WATCHED_H
#define IPOIB_PROBE_WATCHED_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/* Changes of the peer or of this host's port. */
enum watch_change {
    CHANGE_SILENT, /* the peer no longer replies, or never did */
    CHANGE_REPLIES_AGAIN,
    CHANGE_MOVED,
    CHANGE_SECOND_PORT, /* another port has the address too */
    CHANGE_OWN_PORT,
    CHANGE_OWN_INTERFACE,
    CHANGE_COUNTERS,
    WATCH_CHANGES
};

/* Its stable name: "moved". */
const char *watch_change_name(enum watch_change change);

/*
 * The bounds of the response times, in microseconds, as those of smokeping_prober: 50, and the
 * double of the one before.
 */
enum { WATCH_BUCKETS = 20 };
gint64 watch_bound(unsigned i);

struct watched {
    const char *target;
    unsigned sent, answered;
    unsigned changes[WATCH_CHANGES];
    bool replies;                   /* to the last request */
    gint64 microseconds;            /* the sum of the response times */
    uint64_t within[WATCH_BUCKETS]; /* replies within watch_bound(): each counts in one of them */
};

/* Counts a reply, and a request without one. */
void watched_reply(struct watched *w, double ms);
void watched_no_reply(struct watched *w);

enum watch_kind { WATCH_REPLY, WATCH_NO_REPLY, WATCH_CHANGE };

/* A request that has ended, or a change. */
struct watch_line {
    const struct watched *watched;
    enum watch_kind kind;
    enum watch_change change; /* WATCH_CHANGE */
    double ms;                /* WATCH_REPLY */
    const char *text;         /* as in the text report */
};

#endif

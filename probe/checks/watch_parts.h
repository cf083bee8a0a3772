/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of --count and --interval (watch.h): what a watched peer has shown. */
#ifndef IPOIB_PROBE_WATCH_PARTS_H
#define IPOIB_PROBE_WATCH_PARTS_H

#include "probe/link/counters.h"
#include "probe/link/transport.h"
#include "probe/run/options.h"
#include "probe/run/target.h"

/* A single request may be lost: only SILENT_AFTER of them in a row are a change of state. */
enum { SILENT_AFTER = 3, KEPT_EVENTS = 4, EVENT_SIZE = 400 };

enum interface_state { INTERFACE_GONE, INTERFACE_DOWN, INTERFACE_UP };

/* This host, when it was looked at last. */
struct own_host {
    struct port_facts port;
    struct port_counters counters;
    char interface[32]; /* "": none, or the user named a port that needs none */
    enum interface_state state;
};

struct peer_watch {
    struct target *t;
    struct watched w;
    struct own_host own;
    struct options options; /* of the requests: they wait until the next one */
    unsigned given_ms;      /* the user's timeout */
    gint64 planned;         /* monotonic microseconds: when the next request is to be sent */
    unsigned missing;       /* requests without a reply since the last one with a reply */
    unsigned outages; /* requests without a reply in silences that have ended: no loss on links */
    unsigned unsent;  /* requests that could not be sent; those among missing */
    unsigned missing_unsent;
    bool last_unsent;
    gint64 late_us; /* how long after its time the last request was sent */
    unsigned late;  /* requests that were sent late, and the longest delay */
    gint64 latest_us;
    gint64 last_reply;                    /* monotonic microseconds; 0: none yet */
    gint64 silent_us;                     /* total of the silences that have ended */
    char recent[KEPT_EVENTS][EVENT_SIZE]; /* the last events, in a ring */
    unsigned kept;                        /* that were put into it */
    enum watch_change last_kept;
};

/* ---- watch_lines.c */

void watch_say(const struct peer_watch *w, const struct watch_line *l);
/* Counts the change and says it. */
void watch_say_change(struct peer_watch *w, enum watch_change change, const char *text);
/* The same, and the summary has it. Frees the text. */
void watch_note_event(struct peer_watch *w, enum watch_change change, char *text);
/* The events that the summary counts. */
unsigned watch_events(const struct peer_watch *w);

/* ---- watch_own.c: the changes of this host */

void watch_own_begin(struct peer_watch *w);
void watch_own_look(struct peer_watch *w);
void watch_own_look_at_counters(struct peer_watch *w);

/* ---- watch_end.c */

/* The summary. at: the number of stages before the watch. */
void watch_end(struct peer_watch *w, unsigned at);

#endif

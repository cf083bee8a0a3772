/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events: what happened on the link, for people who look for the cause of a problem. An event is a
 * note: it changes no verdict and no exit status.
 */
#ifndef IPOIB_ANALYSIS_EVENT_H
#define IPOIB_ANALYSIS_EVENT_H

#include "rules/sender.h"

enum event_kind {
#define EVENT(symbol, name, title) EVENT_##symbol,
#include "analysis/events.def"
#undef EVENT
    EVENT_KINDS
};

/* An event with all its repetitions, which only raise its count. */
struct link_event {
    enum event_kind kind;
    uint32_t frame;       /* in which it was seen first; the plugin shows it there */
    uint32_t last_frame;  /* of its last repetition */
    uint32_t cause_frame; /* the earlier frame that explains it; 0: none */
    int64_t ns;           /* time of the frame, ns since 1970 */
    uint64_t count;       /* how often it was seen, from 1 */
    uint32_t psn;         /* of the packet with the last repetition */
    bool decisive;        /* it explains others, although events of its kind need not */
    bool taken_back;      /* a later packet shows that it may not have happened */
    struct sender who;    /* the port or host that it happened to */
    char *what;           /* a sentence without its end */
};

const char *event_name(enum event_kind kind); /* "join_refused" */
/* The event with this name; EVENT_KINDS: there is none. */
enum event_kind event_find(const char *name);
const char *event_title(enum event_kind kind); /* "The SA refused a join" */
/*
 * What a report lists first: events about the whole file, those that explain others, causes,
 * changes that may be intended, and what mostly follows.
 */
enum event_rank { RANK_FILE, RANK_ROOT, RANK_CAUSE, RANK_CHANGE, RANK_CONSEQUENCE, EVENT_RANKS };
enum event_rank event_rank(const struct link_event *e);
/*
 * The event as the comment of a packet: "event: join_refused: LID 2: the SA refuses its join ...;
 * see: ipoib-check --explain join_refused". The caller frees it with g_free().
 */
char *event_comment(const struct link_event *e);

#endif

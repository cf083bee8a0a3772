/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What sweep.c (hosts that answer) and sweep_ask.c (addresses that are asked for) share. */
#ifndef IPOIB_PROBE_SWEEP_PARTS_H
#define IPOIB_PROBE_SWEEP_PARTS_H

#include "probe/sweep.h"
#include "probe/task.h"

/* An address that was asked for. */
struct flight {
    uint8_t ip[16];
    bool ipv6, found;
    unsigned target;
    const char *unusable; /* why a host would drop what answered; NULL: nothing did */
    gint64 next;          /* when it is asked again, or given up */
    bool joined;          /* the group that the question goes to, for this */
    struct mc_group group;
};

/* What became of a target's addresses. */
struct tally {
    uint32_t asked, answered, unasked; /* the latter: the SA did not tell of their groups */
    GString *own;                      /* "10.0.0.1 (ib0)": silent, for this host has them */
    GString *absent;                   /* "10.0.0.3, 10.0.0.9-10.0.0.20": as far as it is told */
    unsigned ranges;                   /* also those that are not told any more */
    uint8_t first[16], last[16];       /* of the last range */
    GHashTable *places;                /* who answered, and for how many; NULL: nobody did */
};

struct sweep {
    struct run *run;
    struct probe_link *link;
    struct target *rest; /* the log and results of what belongs to no host */
    const struct sweep_job *job;
    bool brief;        /* there are many */
    GPtrArray *active; /* struct host, with a task */
    GPtrArray *idle;   /* struct task */
    GQueue *queue;     /* struct host: answered, and waits for a task */

    unsigned target; /* that is asked for next, and its address */
    uint32_t number, all, done;
    GQueue
        tries[TRIES]; /* struct flight, the first to be due first; by how often they were asked */
    GHashTable *own;  /* names of interfaces by struct flight: this host's addresses */
    GHashTable *flights; /* by address: those that have not answered */
    struct tally *tallies;
    gint64 shown;         /* when progress was told */
    enum sa_result hears; /* what is sent to all IPv6 nodes: SA_TOLD */
};

/* ---- sweep.c */
void sweep_found(struct sweep *s, const struct flight *f, const struct answer *a,
                 const struct ud_from *from);

/* ---- sweep_proxy.c */
/* An address answered so. */
void sweep_note_place(struct tally *t, const struct answer *a);
/* Stages of who answered for many addresses. */
void sweep_tell_proxies(const struct tally *t, struct judged *j);

/* ---- sweep_ask.c */
/* The group of an address that is done with, if it was joined for that. */
void sweep_leave(struct sweep *s, bool joined, const struct mc_group *g);
void sweep_begin(struct sweep *s);
void sweep_end(struct sweep *s);
bool sweep_asked_all(const struct sweep *s);
/*
 * Sends the next question if the rate allows it; gives up who was silent, unless something else is
 * to be done first.
 */
bool sweep_ask(struct sweep *s, bool busy);
/* When there is something to ask or to give up next; at the latest that. */
gint64 sweep_next_question(struct sweep *s, gint64 latest);
/* Is it the answer of an address that was asked for? */
bool sweep_answered(struct sweep *s, bool ipv6, const uint8_t *ip, const struct ud_from *from);
/* Progress, on a terminal. */
void sweep_show(struct sweep *s);

#endif

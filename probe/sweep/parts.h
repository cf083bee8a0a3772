/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of a sweep share: hosts that answer, and addresses that are asked for. */
#ifndef IPOIB_PROBE_SWEEP_PARTS_H
#define IPOIB_PROBE_SWEEP_PARTS_H

#include "hca/mcgroup.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/question.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "probe/sweep/sweep.h"
#include "probe/sweep/task.h"

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

struct host {
    struct target target; /* the first member: see sweep_await() */
    struct peer peer;
    struct results results;
    struct judged judged;
    struct answer first;
    struct task *task;
    packet_match *match; /* that it waits for */
    void *match_user;
    gint64 deadline;
    bool waits, matched;
    gint64 begin;
    bool joined; /* its solicited-node group */
    struct mc_group group;
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

/* ---- hosts.c */

/* The first answer of an address: the host waits in the queue until a task is free. */
void sweep_found(struct sweep *s, const struct flight *f, const struct answer *a,
                 const struct ud_from *from);
bool start_host(struct sweep *s);
/* Goes on with a host until it waits again, or is done. */
void resume(struct sweep *s, struct host *h);
/* Goes on with a host whose time is over. False: there is none. */
bool expire_host(struct sweep *s);
gint64 next_deadline(const struct sweep *s, gint64 least);
/* Ends all hosts, when the run was stopped or broken. */
void end_hosts(struct sweep *s);
/* Leaves the group of an address that is done with, if it was joined for that. */
void sweep_leave(struct sweep *s, bool joined, const struct mc_group *g);

/* ---- proxy.c */

/* An address answered so. */
void sweep_note_place(struct tally *t, const struct answer *a);
/* Adds stages of who answered for many addresses. */
void sweep_tell_proxies(const struct tally *t, struct judged *j);

/* ---- tell.c */

/* An address did not answer. own: the interface of this host that has it, or NULL. */
void note_silent(struct tally *t, const struct flight *f, const char *own);
void tell_named(struct sweep *s, const struct target_option *t, const char *trouble);
void tell_prefix(struct sweep *s, const struct target_option *t, struct tally *tally);

/* ---- ask.c */

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

#endif

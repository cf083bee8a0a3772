/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the files of a sweep: hosts that have responded, and addresses with a pending request.
 */
#ifndef IPOIB_PROBE_SWEEP_PARTS_H
#define IPOIB_PROBE_SWEEP_PARTS_H

#include "hca/mcgroup.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/request.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "probe/sweep/sweep.h"
#include "probe/sweep/task.h"
#include "report/swept.h"

/* An address with a pending request. */
struct flight {
    uint8_t ip[16];
    bool ipv6, found;
    unsigned target;
    const char *unusable; /* why a host would drop the response; NULL: no such response */
    gint64 next;          /* time of the next try, or of giving up */
    bool joined;          /* this request joined the group that it is sent to */
    struct mc_group group;
};

/* Statistics of a target's addresses. */
struct sweep_tally {
    uint32_t requested, responded,
        not_requested; /* not_requested: the SA did not return their groups */
    GString *own;      /* "10.0.0.1 (ib0)": no response, because this host has the address */
    GString *absent;   /* "10.0.0.3, 10.0.0.9-10.0.0.20": as far as reported */
    unsigned ranges;   /* including ranges that are no longer listed */
    uint8_t first[16], last[16]; /* the last range */
    struct swept *swept;         /* its hosts; NULL: none yet */
    unsigned pinged, not_pinged; /* hosts that were, or were too many */
    unsigned silent;             /* hosts that do not answer this host's ping */
    bool none_answers;           /* no host of several does */
    GHashTable *places; /* stations that responded, with their number of addresses; NULL: none */
};

enum sweep_ping_result { PING_NOT_SENT, PING_ANSWERED, PING_SILENT };

struct host {
    struct target target; /* must be the first member: see sweep_await() */
    struct peer peer;
    struct results results;
    struct checked checked;
    struct response first;
    struct task *task;
    packet_match *match; /* the match function that the host waits for */
    void *match_user;
    gint64 deadline;
    bool waits, matched;
    gint64 begin;
    unsigned of;           /* number of the target of the command line */
    struct swept_host row; /* of a host of a prefix */
    bool joined;           /* the solicited-node group was joined for this host */
    struct mc_group group;
    struct sweep *sweep;
    enum sweep_ping_result ping, ping_large; /* the answer to this host's echo requests */
};

struct sweep {
    struct run *run;
    struct probe_link *link;
    struct target *rest; /* log and results of packets that belong to no host */
    const struct sweep_job *job;
    bool brief;        /* many addresses: short reports */
    GPtrArray *active; /* struct host that have a task */
    GQueue *idle;      /* struct task */
    GQueue *queue;     /* struct host that have responded and wait for a task */

    char *interface;     /* through which this host pings the hosts; NULL: it does not */
    uint32_t mtu;        /* of that */
    bool any_ping;       /* some host answered it */
    GPtrArray *withheld; /* struct host that did not, while no other one did */

    unsigned target; /* the next target to request, and the next address in it */
    uint32_t number, all, done;
    GQueue tries[TRIES]; /* struct flight, ordered by time, per number of tries */
    GHashTable *own;     /* this host's addresses: interface names by struct flight */
    GHashTable *flights; /* pending requests by address */
    struct sweep_tally *tallies;
    gint64 shown;         /* when progress was last shown */
    enum sa_result hears; /* SA_SUCCESS: packets to all IPv6 nodes are received */
    char no_group[160];   /* why the SA did not return the last such group, or all nodes' */
};

/* ---- hosts.c */

/* First response of an address: queues the host until a task is free. */
void sweep_found(struct sweep *s, const struct flight *f, const struct response *a,
                 const struct ud_from *from);
bool sweep_start_host(struct sweep *s);
/* Continues a host until it waits again or is finished. */
void sweep_resume_host(struct sweep *s, struct host *h);
/* Continues a host whose wait has timed out. Returns false if there is none. */
bool sweep_expire_host(struct sweep *s);
gint64 sweep_next_deadline(const struct sweep *s, gint64 least);
/* Ends all hosts after the run was stopped or has failed. */
void sweep_end_hosts(struct sweep *s);
/* Leaves the group of a finished address if it was joined for that address. */
void sweep_leave(struct sweep *s, bool joined, const struct mc_group *g);

/* ---- describe.c */

/* Fills the row of a host that was tested, but for its result. */
void sweep_describe(struct host *h);
/* Its result, once all is known. */
void sweep_describe_result(struct host *h);

/* ---- ping.c */

void sweep_ping_begin(struct sweep *s);
void sweep_ping_end(struct sweep *s);
/* Sends the host echo requests of this host's kernel, in its task. */
void sweep_ping(struct host *h);
/* Adds the stages. by_this_host: no host answers, so it is not about this one. */
void sweep_ping_report(struct host *h, bool by_this_host);
/* Why the verdict of a prefix is withheld; NULL: it is not. Free with g_free(). */
char *sweep_ping_trouble(const struct sweep *s, const struct sweep_tally *t);

/* ---- gone.c */

/* Finds the causes of the first hosts of the baseline that are gone. Waits for each. */
void sweep_explain_gone(struct sweep *s, struct swept *swept);
/* Why they withhold the verdict of the prefix; NULL: none is gone. Free with g_free(). */
char *sweep_gone_trouble(const struct swept *swept);

/* ---- proxy.c */

/* Notes the station that responded for an address. */
void sweep_note_place(struct sweep_tally *t, const struct response *a);
/* Adds stages about stations that responded for many addresses. */
void sweep_report_proxies(const struct sweep_tally *t, struct checked *j);

/* ---- report.c */

/* Notes that an address did not respond. own: the interface of this host that has it, or NULL. */
void sweep_note_no_response(struct sweep_tally *t, const struct flight *f, const char *own);
void sweep_report_named(struct sweep *s, const struct target_option *t, const char *trouble);
void sweep_report_prefix(struct sweep *s, const struct target_option *t, struct sweep_tally *tally);

/* ---- resolve.c */

void sweep_begin(struct sweep *s);
void sweep_end(struct sweep *s);
bool sweep_requested_all(const struct sweep *s);
/*
 * Sends the next request if the rate allows it. If busy is false, first gives up an address that
 * did not respond.
 */
bool sweep_request(struct sweep *s, bool busy);
/* When the next request or timeout is due; at most latest. */
gint64 sweep_next_request(struct sweep *s, gint64 latest);
/* True if the packet is the response to a pending request. */
bool sweep_take_response(struct sweep *s, bool ipv6, const uint8_t *ip, const struct ud_from *from);

#endif

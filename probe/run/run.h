/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State shared by the targets of a run: the options, the rate limit, the stop signal, and the SA
 * cache.
 */
#ifndef IPOIB_PROBE_RUN_H
#define IPOIB_PROBE_RUN_H

#include <glib.h>

#include "probe/run/options.h"
#include "probe/run/times.h"
#include "probe/run/watched.h"

/* Result of an SA query. */
enum sa_result {
    SA_SUCCESS,     /* the SA returned records */
    SA_REJECTED,    /* it responded with another status */
    SA_NO_RESPONSE, /* it did not respond in time */
    SA_BUSY,        /* it responded with busy status to every try (IBA 13.4.7) */
    SA_ABSENT,      /* the port at the SM's LID responded, but has no SA */
    SA_MALFORMED,   /* the response does not fit the request (link/answer.h) */
    SA_ERROR        /* this side could not send the query or receive the response */
};

/* Cache of SA responses (link/sa.c). */
struct sa_cache {
    unsigned failures;      /* consecutive queries that no SA has dealt with */
    enum sa_result failure; /* result of the last of them: SA_NO_RESPONSE, SA_BUSY or SA_ABSENT */
    GPtrArray *responses;   /* responses shared by the hosts of a sweep */
    uint8_t method;         /* of the last query that was sent */
    uint16_t status;        /* of its response */
    unsigned limit_ms;      /* how long a query waits, without a second try; 0: no limit */
    bool given_up;          /* with a limit: a query had no answer, and no other one is sent */
    unsigned late_ms;       /* how long queries have waited for late answers */
    unsigned slow_ms;       /* how long an SA takes that is always slow; 0: it is not */
    struct latencies times; /* of the answers, busy ones too, each from its own try */
    uint64_t unanswered;    /* queries without an answer in time */
    uint64_t lost;          /* those without an SM_Key, for which it was waited long */
    uint64_t busy;          /* answers with status busy, to any try */
    char slow[120];         /* text about an SA that responds later than a query waits; "": none */
    bool slow_said;         /* that text was reported */
    char fault[240];        /* why the last response does not fit its request */
    char text[320];         /* for sa_failure_text() */
};

/* A subnet whose tables were fetched, by its prefix and the GUID of its master SM. */
struct seen_subnet {
    uint8_t prefix[8];
    uint64_t sm_guid;
    char target[80]; /* the target that has the results */
};

struct sweep_baseline; /* probe/sweep/baseline.h */

struct run {
    const struct options *options;
    volatile int *stop; /* the received signal; 0: none */
    gint64 next_slot;   /* monotonic microseconds: when the rate allows the next packet */
    gint64 last_sent;   /* monotonic microseconds: when the last packet was sent */
    uint16_t sequence;  /* number of the last echo request or SA query */
    /*
     * A sweep is running: SA queries count for the rate, and an SA that does not respond is no
     * longer queried.
     */
    bool sweeps;
    struct sa_cache sa;
    void (*say)(void *to, const char *line); /* prints a line of the text report; NULL: none */
    void *say_to;
    /* Takes each line of a watched peer, for the other formats; NULL: none. */
    void (*show)(void *to, const struct watch_line *line);
    const struct sweep_baseline *baseline; /* of a sweep; NULL: none */
    GArray *subnets;      /* struct seen_subnet; NULL: each target has all results itself */
    bool stopped, broken; /* stopped by a signal; broken by an error of the transport */
};

#endif

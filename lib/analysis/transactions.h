/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to the SA, and of subnet managers. Nearly all are answered at once, and then no event is
 * about them. So a request is only noted first. It becomes a question (analysis/question.h) if it
 * is sent again, if its answer is not there after a moment, or if somebody needs to know all
 * questions. The table is a cache. Private to analysis/.
 */
#ifndef IPOIB_ANALYSIS_TRANSACTIONS_H
#define IPOIB_ANALYSIS_TRANSACTIONS_H

#include "analysis/question.h"
#include "wire/nanoseconds.h"

/* A request has no answer if none of those about the same thing has one: those with its key. */
struct mad_transaction {
    struct port port; /* that requests; of an SMP: that is to answer, by its route or its LID */
    uint64_t tid;
    struct question_packet request; /* the last one; frame 0: none was captured */
    uint32_t requests;              /* that wait for the answer */
    uint32_t first_frame;           /* of several requests: the first */
    int64_t first_ns;               /* the same */
    uint32_t answered_frame;        /* 0: not answered */
    uint32_t number;                /* among all requests, if it waits; 0: it does not */
    int64_t answered_ns;            /* of an SMP */
    bool followed;                  /* it is or may become a question: the fields below are valid */
    uint8_t alike;                  /* the place of its number of those that wait */
    uint8_t method;
    uint8_t again;   /* how often it was sent again after its answer */
    bool has_record; /* the record was captured, else it is zero */
    uint16_t attribute;
    uint64_t mask;             /* of the valid components; of an SMP: the modifier */
    uint8_t record[PATH_SIZE]; /* of an SMP: how it is routed, as in the question's key */
};

enum { TRANSACTIONS = 1 << 12, ALIKE = 1 << 8, ASKED = 1 << 8 };

struct transactions {
    struct mad_transaction all[TRANSACTIONS];
    struct mad_transaction
        *ring[TRANSACTIONS];              /* the last requests that waited, by their numbers */
    uint32_t first, next;                 /* none with a lower number than first waits */
    uint32_t alike[ALIKE];                /* number of those that wait, and may have the same key */
    struct mad_transaction *asked[ASKED]; /* requests to the SA that are questions */
    unsigned n_asked;
};

static inline struct mad_transaction *transaction_at(const struct watch *w, unsigned place)
{
    return &w->transactions->all[place % TRANSACTIONS];
}

static inline bool transaction_is_smp(const struct mad_transaction *t)
{
    return port_kind(t->port) == PORT_NONE;
}

static inline bool transaction_is(const struct mad_transaction *t, struct port port, uint64_t tid)
{
    return port_same(t->port, port) && t->tid == tid;
}

/* Its last request has an answer, or is a question now. */
static inline void transaction_stops(const struct watch *w, struct mad_transaction *t)
{
    if (t->number)
        w->transactions->alike[t->alike]--;
    t->number = 0;
}

/* All that wait become questions. */
APART void transactions_ask(const struct watch *w);

/* Its request, the current packet, waits for the answer. After so long it becomes a question. */
static inline void transaction_waits(const struct watch *w, struct mad_transaction *t, int64_t ns)
{
    struct transactions *all = w->transactions;
    int64_t *due = question_due_ns(w), later = nanoseconds_later(w->p->at.ns, ns);
    all->ring[all->next % TRANSACTIONS] = t;
    t->number = ++all->next;
    all->alike[t->alike]++;
    if (later < *due) {
        *due = later;
        watch_wake(w, later);
    }
    if (all->next - all->first == TRANSACTIONS)
        transactions_ask(w);
}

/* Its first request that waits for the answer. */
static inline uint32_t transaction_first_frame(const struct mad_transaction *t)
{
    return t->requests > 1 ? t->first_frame : t->request.frame;
}

/* Is it a question, or will it be one? */
static inline bool transaction_is_open(const struct mad_transaction *t)
{
    return t->followed && !t->answered_frame;
}

/*
 * Its answer will not be recognised any more, unless by its key, as that of an SMP is. asks: what
 * the transaction in its place asks, which may be the same; NULL: nothing.
 */
APART void transaction_give_up(const struct watch *w, struct mad_transaction *t,
                               const struct question_key *asks);

/*
 * Its request has the same number as the current packet: is that a copy, as of a question
 * (question.c)? After the answer, a requester asks again with another PSN.
 */
bool transaction_has_copy(const struct watch *w, const struct mad_transaction *t, uint64_t last);

struct question_key transaction_key(const struct mad_transaction *t);
bool transaction_has_key(const struct mad_transaction *t, const struct question_key *key);

/* The others with its key are answered, too. */
APART void transaction_answer_alike(const struct watch *w, const struct mad_transaction *t);

/* Is nobody's request to the SA a question without an answer? */
static inline bool transactions_none_asked(const struct watch *w)
{
    const uint32_t *asked = w->questions->asked;
    return !(asked[QUESTION_JOIN] | asked[QUESTION_LEAVE] | asked[QUESTION_PATH] |
             asked[QUESTION_SA]);
}

/* The next after i of those that are questions, and have no answer; NULL: none. */
const struct mad_transaction *transactions_asked(const struct watch *w, unsigned *i);

/* May other requests to the SA be about the same thing, and have no answer? */
static inline bool transaction_may_have_others(const struct watch *w,
                                               const struct mad_transaction *t)
{
    return w->transactions->alike[t->alike] > (t->number > 0) || !transactions_none_asked(w);
}

/* It is answered, as all requests to the SA about the same thing. */
static inline void transaction_answer(const struct watch *w, struct mad_transaction *t)
{
    transaction_stops(w, t);
    if (transaction_may_have_others(w, t))
        transaction_answer_alike(w, t);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the requests to a peer, what became of them, and how many packets were lost. A packet is
 * lost if it has no response although the peer has responded to another one of the same form: a
 * form that the peer never responds to shows a violation or a firewall, not a loss.
 */
#ifndef IPOIB_PROBE_TALLY_H
#define IPOIB_PROBE_TALLY_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum tally_kind { TALLY_RESOLUTION, TALLY_ECHO, TALLY_CONNECTION };
enum { TALLY_FORMS = 64 };

/* The requests of one form. A request is sent as up to TRIES packets. */
struct tally_form {
    enum tally_kind kind;
    uint64_t key;
    unsigned first_try, late, never; /* requests answered at the first try, after a retry, never */
    unsigned packets, responses;     /* 0 if the packets of the form are not counted */
};

struct tally {
    struct tally_form forms[TALLY_FORMS];
    unsigned n;
    struct tally_form *now; /* of the pending or last request; NULL: it is not counted */
    unsigned pending;       /* its packets without a response */
};

/* Begins a request. */
void tally_begin(struct tally *t, enum tally_kind kind, uint64_t key);
/* Begins a request that is not counted: it must not be answered, or its address may not exist. */
void tally_begin_uncounted(struct tally *t);
/* Notes that a packet of the request was sent, or that a response arrived, even a late one. */
void tally_sent(struct tally *t);
void tally_response(struct tally *t);
/* The responses to that number of packets were not awaited: they do not count as lost. */
void tally_forget(struct tally *t, unsigned packets);
/* Ends a request, with the number of its tries; 0: it was not sent. */
void tally_end(struct tally *t, unsigned tries, bool answered);

/* All requests of that kind, or those answered. */
unsigned tally_requests(const struct tally *t, enum tally_kind kind);
unsigned tally_answered(const struct tally *t, enum tally_kind kind);
/*
 * True if at least that number of echo requests was sent, over UD and connections together, and
 * none was answered: a firewall or a missing route back lets none of them be answered.
 */
enum { ECHOES_OVER_UD = 4, ECHOES_IN_ALL = 6 };
bool tally_echoes_are_hopeless(const struct tally *t, unsigned tried);
/* Packets without a response, of forms that the peer responds to. */
unsigned tally_lost(const struct tally *t);
/* True if more than 20 % of the packets of forms other than the last request's were lost. */
bool tally_others_lose_most(const struct tally *t);
/* Sums of all forms; packets and responses: only of forms that the peer responds to. */
struct tally_form tally_sum(const struct tally *t);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests that wait for their answers. Those of one requester about one thing are one question,
 * whatever their transaction IDs. The table is a cache: a question that is overwritten by another
 * counts as not seen, and raises no event. Private to analysis/.
 */
#ifndef IPOIB_ANALYSIS_QUESTION_H
#define IPOIB_ANALYSIS_QUESTION_H

#include "analysis/watch.h"

enum question_kind {
    QUESTION_NONE, /* an unused slot */
    QUESTION_JOIN,
    QUESTION_LEAVE,
    QUESTION_PATH,
    QUESTION_REQ,
    QUESTION_DREQ,
    QUESTION_ARP,
    QUESTION_ND,
    QUESTION_ECHO,
    QUESTION_SA, /* another request to the SA */
    QUESTION_REPORT,
    QUESTION_SMP,
    QUESTION_REP,
    QUESTION_DHCP,
    QUESTION_LARGE /* an echo request that is larger than one that was answered */
};

/* Unused bytes are 0. requester: a LID, a QPN or a number; who, about: GIDs or IP addresses. */
struct question_key {
    uint32_t kind, subnet;
    uint64_t requester;
    uint8_t who[16], about[16];
};

struct question {
    struct question_key key;
    uint64_t last;        /* tells the last request from its copies: its PSN or the like */
    uint32_t asked;       /* requests since the last answer; 0: answered */
    uint32_t first_frame; /* of the first of them */
    uint32_t last_frame;  /* of the last of them */
    /* a response to its requester about the same thing, with a transaction ID of no request; 0:
     * none */
    uint32_t stray_frame;
    int64_t first_ms, last_ms; /* since 1970 */
    uint16_t lid, peer;        /* LIDs of requester and receiver */
    uint32_t smallest;         /* of echo requests: bytes of the smallest datagram */
};

/* A requester retries twice before the lack of an answer means anything. */
enum { QUESTION_ASKED = 3 };
/* Time that passes before: faster requests do not wait for an answer, as of a ping flood. */
enum { QUESTION_MS = 1000, QUESTION_SA_MS = 200 };

/* A port to which a packet was captured: the capture point sees what is sent to it. */
struct heard {
    int64_t ns;
    uint16_t subnet, lid; /* LID 0: unused */
};

/* What a request to the SA wants: valid components are in its mask. */
struct sa_wanted {
    uint64_t mask;
    int64_t ms;
    uint32_t frame;        /* 0: the request was not captured */
    uint16_t pkey;         /* of a path */
    uint8_t gid[GID_SIZE]; /* the MGID of a group, the DGID of a path */
};

/* An SA transaction. q NULL: its request was not captured. */
struct sa_transaction {
    uint64_t requester, tid;
    struct question *question;
    uint32_t answered_frame; /* 0: not answered */
    struct sa_wanted wanted;
};

/* Does the SA's answer fit what was wanted (sa_answers.c)? */
void watch_sa_answer(const struct watch *w, const struct sa_wanted *wanted);

/* Was the port at this LID Active in its last PortInfo? */
struct port_activity {
    uint16_t subnet, lid;
    bool active;
};

enum {
    QUESTIONS = 1 << 12,
    TRANSACTIONS = 1 << 10,
    HEARD = 1 << 12,
    PORTS = 1 << 12,
    OPEN_MAX = 32
};

struct questions {
    struct question all[QUESTIONS];
    struct sa_transaction transactions[TRANSACTIONS];
    struct heard heard[HEARD];
    struct port_activity ports[PORTS];
    struct question *open[OPEN_MAX]; /* those that wait for a packet that proves their event */
    unsigned n_open, n_open_echos;   /* n_open_echos: those about pings */
};

struct question_key question_key(const struct watch *w, enum question_kind kind, uint64_t requester,
                                 const uint8_t *who, const uint8_t *about);

/*
 * The current packet asks. last: tells it from its copies. Returns NULL for a copy. A request that
 * comes long after the one before it is a new question.
 */
struct question *question_ask(const struct watch *w, const struct question_key *key, uint64_t last);
/* The question, if it was asked and has no answer; or NULL. */
struct question *question_find(const struct watch *w, const struct question_key *key);
void question_answer(const struct watch *w, struct question *q);
/* The question has another key from now on. Returns it, or NULL if it cannot be kept. */
struct question *question_take(const struct watch *w, struct question *q,
                               const struct question_key *key);

/* How many requests certainly have no answer? The current packet may still be answered. */
unsigned question_lacks(const struct watch *w, const struct question *q);

/* The question waits for a proof; question_close() ends that. */
void question_open(const struct watch *w, struct question *q);
void question_close(const struct watch *w, const struct question *q);

/* Was a packet to the port at this LID captured within the last minute? */
bool question_is_heard(const struct watch *w, uint16_t lid);
/* Note to whom the current packet goes. */
void question_hear(const struct watch *w);
/* The same for a response to a directed route, which may have no LID as its destination. */
void question_hear_at(const struct watch *w, uint16_t lid);

/* Was it asked three times, over this time, while the requester was heard? */
bool question_is_unanswered(const struct watch *w, const struct question *q, int64_t ms);

#endif

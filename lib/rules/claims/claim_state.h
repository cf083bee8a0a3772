/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What claims.c, decide.c, explain.c and claim_report.c share. Private to rules/claims/. */
#ifndef IPOIB_RULES_CLAIM_STATE_H
#define IPOIB_RULES_CLAIM_STATE_H

#include "rules/claims/claim.h"
#include "wire/lladdr.h"
#include "wire/mgid.h"

/* Most claims that wait. A further one is refused, and its result stays inconclusive. */
enum { CLAIMS_MAX = 256, CLAIM_TEXT = RESULT_TEXT };

struct claim {
    enum certain_when when;     /* the packet that it waits for */
    const struct endport *port; /* the port whose packet decides it; NULL: unused */
    uint16_t lid;               /* the port's LID at the packet of the claim; 0: not known */
    /*
     * Frame since which every packet of the SA's GSI must have been captured; 0: it does not depend
     * on the SA's packets.
     */
    uint32_t since;
    bool port_is_complete;     /* no packet of the port's GSI is missing */
    bool sa_is_complete;       /* no packet of the SA's GSI is missing */
    bool lacks_copy;           /* a copy of its packet must come too */
    bool is_unproved;          /* reported as OUTCOME_UNPROVED */
    bool is_suspected;         /* a suspicion of it waits for the end of the capture */
    bool is_late;              /* its packet was captured again, later than two may be swapped */
    struct resolution request; /* FACT_AT_DATAGRAM: a datagram of this requester decides it */
    const struct group *group_of_member; /* FACT_AT_MEMBER: the port shows its parameters */
    enum rule_number rule;
    struct entity about; /* points to bytes and group below */
    uint8_t bytes[LLADDR_SIZE], group[MGID_SIZE];
    uint64_t value;
    bool has_number;  /* value is the observed number */
    const char *name; /* struct finding */
    uint32_t frame;
    uint32_t fault_frame; /* of the packet at fault: its own, or an earlier one */
    int64_t ns;
    uint32_t proved_frame; /* it is held since this frame; 0: it is not */
    int64_t proved_ns;
    struct sender sender;
    struct port to; /* destination of the packet, with its QP */
    uint32_t qpn;
    uint16_t pkey; /* of the CM message's connection; of other packets, their own */
    char expected[CLAIM_TEXT], actual[CLAIM_TEXT];
};

struct claims {
    struct claim *all;      /* array of CLAIMS_MAX; NULL: not used so far */
    unsigned next, waiting; /* waiting: those that are held too */
    unsigned held;
    bool holds;
    struct undone *undone;
};

/* The next claim that waits and is not held, the oldest first; NULL: no further one. at: 0 at
 * first. */
struct claim *claims_next(struct claims *c, unsigned *at);

/* Frees its place. */
static inline void claim_free(struct claims *c, struct claim *f)
{
    c->held -= f->proved_frame != 0;
    c->waiting--;
    f->port = NULL;
    f->proved_frame = 0;
}

/*
 * Do the SA's packets decide it without one of the port? A request that the SA has not answered has
 * changed nothing. A port may subscribe to traps later, so its own packet is awaited.
 */
static inline bool claim_is_decided_by_sa(const struct claim *f)
{
    return f->when == FACT_AT_RESPONSE && !f->lacks_copy && f->rule != R_RFC4391_10_SUBSCRIBE_TRAPS;
}

/* ---- claims that are held (held.c) */

#define CLAIM_OF_TWO_CLOCKS "the capture is in the order of two clocks or capture points"

/*
 * Was the claim's packet captured again now, later than two packets may be swapped? Where MADs have
 * copies too, both capture points see all, and the next frames may be long in coming.
 */
bool claim_is_late_copy(const struct check_context *s, const struct claim *f);
/* Makes room: the claim that was held first stands. False: none is held. */
bool claims_end_first_held(const struct check_context *s);

/* ---- */

/* Does a packet since the claim's explain what the claim says? */
bool claim_is_explained(const struct check_context *s, const struct claim *f);
/* Does the current request or SMP explain it, if it was sent before the claim's packet? */
bool claim_is_explained_by_request(const struct check_context *s, const struct claim *f);

/* Reports a claim that nothing has decided, once, unless a suspicion of it waits. ending: why. */
void claim_report_undecided(const struct check_context *s, struct claim *f, const char *ending);
/* Returns false if it was reported before. held: it may be withdrawn. */
bool claim_report_proved(const struct check_context *s, const struct claim *f, bool held);
void claim_report_standing(const struct check_context *s, const struct claim *f);
void claim_withdraw(const struct check_context *s, const struct claim *f, const char *why);

#endif

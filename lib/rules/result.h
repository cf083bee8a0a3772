/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A failure of a rule that needs the model, with the facts it rests on. report_result() asks the
 * function of each fact (rules/fact.h) whether a frame that was not captured could explain the
 * failure, and then reports it, claims it or drops it. Private to rules/.
 */
#ifndef IPOIB_RULES_RESULT_H
#define IPOIB_RULES_RESULT_H

#include "rules/fact.h"

enum { RESULT_FACTS = 3, RESULT_TEXT = 96 };

struct result;
/*
 * Writes the two texts of a result. expected, actual: buffers of RESULT_TEXT bytes. It is called
 * only if the result is reported as a failure or claimed.
 */
typedef void describe(const struct check_context *s, const struct result *r, char *expected,
                      char *actual);

/*
 * How often a failure is reported if all its facts are certain now. A claim is always reported
 * as with REPORT_ONCE.
 */
enum result_often {
    REPORT_ONCE,   /* once for the entity, and again when the value changes or after a pass */
    REPORT_EACH,   /* every time */
    REPORT_PACKET, /* every time, as a failure of the packet without an entity */
};

/*
 * Sets of what checks read in the model. Only tests record the reads (tests/judge/fact_reads.c): a
 * check may not read what its result neither cites as a fact nor lists in its member `dropped`.
 */
enum read {
    READ_PORT = 1 << 0,      /* a port by its GID or LID */
    READ_PKEYS = 1 << 1,     /* a port's P_Key table */
    READ_UD_QPNS = 1 << 2,   /* the QPNs that a port's addresses announced */
    READ_GIDS = 1 << 3,      /* the GIDs of the sender's port */
    READ_GROUP = 1 << 4,     /* a group, or the broadcast groups of a partition */
    READ_MEMBER = 1 << 5,    /* a membership */
    READ_NEIGHBOUR = 1 << 6, /* the owner of an IP address */
    READ_QP = 1 << 7,        /* a QP that sent IPoIB datagrams */
    READ_REQUEST = 1 << 8,   /* requests of address resolution */
};

/*
 * about: the entity. wanted: the value that the rule requires, for describe(). value: the value
 * that was observed. at: the offending bytes; p NULL: they are in another packet.
 */
struct result {
    enum rule_number rule;
    struct entity about;
    uint64_t wanted, value;
    struct {
        const uint8_t *p;
        uint32_t n;
    } at;
    const uint8_t *unknown_at; /* start of the bytes if the result is inconclusive; or NULL */
    enum result_often often;
    bool is_code;     /* the value only distinguishes results: it is not the number of the text */
    const char *name; /* of the value, for describe() */
    /* constant texts, or the function that writes them */
    const char *expected, *actual;
    describe *describe;
    struct fact facts[RESULT_FACTS]; /* FACT_NONE: no further one */
    unsigned dropped;                /* READ_*: what the check read that cannot change the result */
};

/*
 * Reports a failure if all facts are certain. If one is uncertain, the result is inconclusive, with
 * the missing evidence of the first such fact; and suspected if the packet contradicts a captured
 * value. If later packets show whether a fact is certain, the failure is a claim
 * (rules/claims/claim.h). Returns false for an inconclusive result.
 */
bool report_result(const struct check_context *s, const struct result *r);

/* Reports a pass of the entity, or the failure. */
static inline void settle_result(const struct check_context *s, const struct result *r, bool holds)
{
    if (holds)
        report_pass_about(s->r, r->rule, &r->about);
    else
        report_result(s, r);
}

/* What is_new() compares: the value, or the constant text of a result without one. */
static inline uint64_t result_value(const struct result *r)
{
    bool is_text = !r->value && !r->describe && !r->is_code;
    return is_text ? (uintptr_t)r->actual : r->value;
}

/* Both values as hexadecimal numbers of at.n bytes; or as QPNs. */
describe describe_hex, describe_qpn;

#endif

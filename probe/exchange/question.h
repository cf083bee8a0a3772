/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asking for a link-layer address so that the peer does not remember who asked: an ARP request with
 * sender 0.0.0.0 (RFC 5227 §2.1.1), a Neighbour Solicitation from the unspecified address (RFC 4862
 * §5.4.2). The answer to the latter goes to all nodes.
 */
#ifndef IPOIB_PROBE_QUESTION_H
#define IPOIB_PROBE_QUESTION_H

#include "probe/link/transport.h"
#include "probe/run/target.h"

struct question {
    bool
        multicast; /* to the broadcast or the solicited-node group; else to the peer's queue pair */
    bool grh;      /* unicast alone: multicast always has one */
    uint16_t reserved;
    uint8_t
        flags; /* of the probe's link-layer address: of IPv4, and of IPv6 with a source address */
    uint32_t qkey;      /* 0: the link's */
    const uint8_t *ip;  /* whose address is asked for; NULL: the target's */
    uint8_t ip_version; /* of ip: 4 or 6 */
    bool any;           /* take an answer of anybody, not of the peer alone */
    /*
     * IPv6: from the probe's own address, with the option that has its link-layer address; the
     * answer is unicast
     */
    bool named;
    uint16_t padding; /* of that option */
    bool aside;       /* unicast alone: sent from the second queue pair, in the name of the first */
    bool stranger;    /* the same from the queue pair of another partition, once there is one */
    bool alone;       /* its answer is evidence: a second's silence goes before it */
};

struct answer {
    uint8_t lladdr[LLADDR_SIZE];
    uint32_t qpn, to_qpn;
    uint16_t lid;
    uint8_t sl;
    bool grh;
    double ms;
    uint32_t n;
    uint8_t octets[UD_SIZE]; /* from the encapsulation header on */
};

enum { TRIES = 3 };

/* A question that was asked: about which address, when, and where its answer goes. */
struct asked {
    const struct question *q;
    bool ipv6;
    const uint8_t *ip;
    struct answer *a;
    gint64 sent;
};
/* Is it the answer? (packet_match; user: struct asked) */
bool take_answer(struct target *t, const struct ud_from *from, void *user);
uint32_t make_question(const struct target *t, const struct asked *x, const uint8_t *lladdr,
                       uint8_t *out);

/* What is asked, in words. */
void question_text(const struct target *t, const struct question *q, char *out, size_t size);
/* The answer, in words. */
void answer_text(const struct answer *a, char *out, size_t size);
/* Is an IPv6 address asked for? */
bool asks_ipv6(const struct target *t, const struct question *q);

#endif

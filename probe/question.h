/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions of address resolution. */
#ifndef IPOIB_PROBE_QUESTION_H
#define IPOIB_PROBE_QUESTION_H

#include "probe/peer.h"

struct question {
    bool
        multicast; /* to the broadcast or the solicited-node group; else to the peer's queue pair */
    bool grh;      /* unicast alone: multicast always has one */
    uint16_t reserved;
    uint8_t
        flags; /* of the probe's link-layer address: of IPv4, and of IPv6 with a source address */
    uint32_t qkey;      /* 0: the link's */
    const uint8_t *ip;  /* whose address is asked for; NULL: the peer's */
    uint8_t ip_version; /* of ip: 4 or 6; 0: that of the probe's own address */
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
/*
 * The group that the question goes to. Not SA_TOLD: it cannot be sent to; *there false: for there
 * is no such group.
 */
enum sa_result question_group(struct target *t, const struct asked *x, struct mc_group *g,
                              bool *there);
/* SA_TOLD: this port hears what is sent to all IPv6 nodes. */
enum sa_result hear_all_nodes(struct target *t);

/*
 * What came of a question. NOT_ASKED says nothing of the peer: results_came tells what kept it from
 * being sent.
 */
enum came { CAME_ANSWER, CAME_NOTHING, NOT_ASKED };
/* Asks up to so many times. CAME_ANSWER: it is in a. */
enum came ask_peer(struct target *t, const struct question *q, unsigned tries, struct answer *a);
/* What is asked, in words. */
void question_text(const struct target *t, const struct question *q, char *out, size_t size);
void lladdr_text(const uint8_t *lladdr, char out[64]);
void ip_text(bool ipv6, const uint8_t *ip, char out[48]);
/* The answer, in words. */
void answer_text(const struct answer *a, char *out, size_t size);

#endif

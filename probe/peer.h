/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of the station that has the target's address. */
#ifndef IPOIB_PROBE_PEER_H
#define IPOIB_PROBE_PEER_H

#include "probe/target.h"

/* Which Service-ID the peer accepts connections by. */
enum service_form { FORM_UNKNOWN, FORM_RFC, FORM_LINUX, FORM_NONE };

/* How long the peer's answers to address resolution take (probe/patience.c). Times are monotonic
 * microseconds. */
struct patience {
    gint64 first_sent, last_sent; /* the tries of the last question; 0: nothing was asked yet */
    gint64 last_answer;
    gint64 longest; /* from a question to an answer */
    bool answered;
    bool strays;   /* there were answers to earlier questions, or duplicate ones */
    bool listened; /* for late and duplicate answers, once */
    bool ipv6;
    uint8_t ip[16]; /* the address that was asked for */
};

/* Who announces an IP address, and from where; lid 0: the transport does not show it. */
struct owner {
    uint8_t lladdr[LLADDR_SIZE];
    uint16_t lid;
    uint8_t sl;
    uint32_t qpn;
    bool weak;    /* its NAs have no Override flag (RFC 4861 §7.2.7, §7.2.8) */
    gint64 heard; /* first; 0: never */
};

/* Addresses that nobody should have, and, a bit each, who answers for them. */
enum { NOBODIES = 3 };
struct nobody {
    unsigned n;
    uint8_t ip[NOBODIES][16];
    unsigned by_peer, by_rival;
};

struct answer;

struct peer {
    bool known; /* it answered: the following is what it announced and what the packet showed */
    uint8_t lladdr[LLADDR_SIZE];
    uint16_t lid;
    uint8_t sl;
    uint32_t qpn;              /* that it sends from */
    bool needs_grh;            /* it takes unicast only with a GRH */
    struct answer *by_unicast; /* what it answered when it was found; NULL: nothing */
    /* probe/owner.c */
    gint64 heard;        /* when a packet of its own came last */
    bool weak;           /* as that of struct owner */
    bool several;        /* before it was known: several ports sent in its name */
    bool gone;           /* it did not answer when it was looked for */
    bool has_rival;      /* another one announces its address too */
    bool both;           /* the peer answered a request that was sent after that */
    struct owner rival;  /* the first other one */
    struct owner latest; /* the last other one */
    struct nobody nobody;
    enum service_form form;
    bool cm_silent; /* it answered no REQ: it is not asked again */
    struct patience patience;
};

#endif

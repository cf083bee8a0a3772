/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of the station that has the target's address. */
#ifndef IPOIB_PROBE_PEER_H
#define IPOIB_PROBE_PEER_H

#include "probe/link/transport.h"
#include "probe/run/target.h"

/* Which Service-ID the peer accepts connections by. */
enum service_form { FORM_UNKNOWN, FORM_RFC, FORM_LINUX, FORM_NONE };

/* How long the peer's answers to address resolution take (patience.c). Times are monotonic
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
    /* peer.c */
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

/* The peer is where this answer came from. */
void owner_take(struct target *t, const struct answer *a);
/*
 * Two send with one link-layer address, and the one that was taken for the peer is not reached
 * there: takes the other. False: there is none.
 */
bool owner_swap(struct target *t);
/* By unicast the peer answered so: who else sent with its link-layer address is another. */
void owner_settle(struct target *t, const struct answer *a);

/*
 * Does it come from the peer? By LID and QPN; through a network interface, which shows neither, by
 * the link-layer address that it announces.
 */
bool is_from_peer(const struct target *t, const struct ud_from *from);
/* The same; and, as long as the peer is not found, whatever names its IP address. */
bool is_of_peer(const struct target *t, const struct ud_from *from);
/* Does it name the peer's IP address as its sender's, though its lengths may be wrong? */
bool names_peer(const struct target *t, const struct ud_from *from);

/* A packet came: notes who else has the address, and who answers for addresses that nobody has. */
void owner_hear(struct target *t, const struct ud_from *from);
/* The peer answered a request that went out at that time. */
void owner_answered(struct target *t, gint64 sent);

/* To the peer as it answered; grh: with a Global Route Header. */
struct ud_to to_peer(const struct target *t, bool grh);

/* ---- for the findings about the owner (checks/owner.c) */

struct owner peer_as_owner(const struct target *t);
void place_at(struct peer *peer, const struct owner *w);
bool is_same(const struct owner *a, const struct owner *b);
/* Is it a LID, or a QPN, that the peer has shown? */
bool is_peers_lid(const struct target *t, uint16_t lid);
bool is_peers_qpn(const struct target *t, uint32_t qpn);

/*
 * All 20 octets, and in the form that people use: QPN, GID and LID; also who sends, where that is
 * another queue pair than the announced one.
 */
enum { OWNER_TEXT = 256 };
void owner_text(const struct owner *w, char *out, size_t size);

#endif

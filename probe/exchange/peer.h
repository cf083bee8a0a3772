/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known about the port that has the target's address. */
#ifndef IPOIB_PROBE_PEER_H
#define IPOIB_PROBE_PEER_H

#include "probe/exchange/tally.h"
#include "probe/link/transport.h"
#include "probe/run/target.h"
#include "probe/run/times.h"

/* The form of Service-ID by which the peer accepts connections. */
enum service_form { FORM_UNKNOWN, FORM_RFC, FORM_LINUX, FORM_NONE };

/*
 * Response times of the peer in address resolution (response_times.c). Times are monotonic
 * microseconds.
 */
struct response_times {
    gint64 first_sent, last_sent; /* tries of the last request; 0: none yet */
    gint64 last_response;
    gint64 longest; /* from a request to its response */
    bool answered;
    unsigned strays; /* responses to earlier requests, and duplicates */
    bool listened;   /* has waited once for late and duplicate responses */
    bool ipv6;
    uint8_t ip[16]; /* the requested address */
};

/*
 * A port that announces an IP address: its link-layer address, and the LID and QPN that it sends
 * from. lid 0: the transport does not show it.
 */
struct owner {
    uint8_t lladdr[LLADDR_SIZE];
    uint16_t lid;
    uint8_t sl;
    uint32_t qpn;
    bool no_override;   /* its NAs have no Override flag (RFC 4861 §7.2.7, §7.2.8) */
    gint64 received_at; /* time of the first packet; 0: none */
};

/*
 * Addresses that should be unused. by_peer, by_competing: a bit for each that the peer, or the
 * competing owner, responds for.
 */
enum { UNUSED_ADDRESSES = 3 };
struct unused_addresses {
    unsigned n;
    uint8_t ip[UNUSED_ADDRESSES][16];
    unsigned by_peer, by_competing;
};

/* An address of this host, which was requested; taken: another owner announced it. */
struct own_request {
    bool sent, taken;
    uint8_t ip[16];
    struct owner by; /* the last one */
};

struct response;

struct peer {
    bool known; /* it has responded; the next fields are from its response */
    uint8_t lladdr[LLADDR_SIZE];
    uint16_t lid;
    uint8_t sl;
    uint32_t qpn;                /* QPN that it sends from */
    bool needs_grh;              /* it accepts unicast only with a GRH */
    bool deaf;                   /* no unicast reaches its queue pair (checks/reachable.c) */
    bool cut_off;                /* nor its communication manager */
    struct response *by_unicast; /* its first response to a unicast request; NULL: none */
    /* set by peer.c and checks/owner.c */
    gint64 received_at;     /* time of its last packet */
    bool no_override;       /* as in struct owner */
    bool several_senders;   /* before it was known: several ports sent under its IP address */
    bool gone;              /* it did not respond when searched for */
    bool has_competing;     /* another owner announces its address too */
    bool responds_too;      /* the peer responded to a request sent after that */
    struct owner competing; /* the first other owner */
    struct owner latest;    /* the last other owner */
    struct unused_addresses unused;
    struct own_request own;
    enum service_form form;
    bool cm_unanswered;  /* it did not respond to REQs: no more are sent */
    bool rdma_cm_failed; /* rdma_cm got no answer from it, or did not get that far */
    bool not_at_gid; /* the SA's path to the GID that it announces leads elsewhere, or there is none
                      */
    bool cm_unresolved;      /* it failed because the kernel resolved no address or route */
    bool loses_most;         /* checks were not run for that reason */
    bool pings_lost;         /* pings of this host's kernel, at a port that counts errors */
    char no_connection[300]; /* why the last REQ got no REP and no REJ; "": it got one */
    unsigned messages_acknowledged, messages_lost; /* sent over RC */
    struct tally tally;
    struct response_times response_times;
    const char *unusable_echo;         /* what is wrong with its echo replies; NULL: nothing seen */
    bool asked;                        /* it requested the probe's own address */
    bool announced;                    /* that address was announced to it by unicast */
    bool fragments;                    /* a fragment of an echo reply over UD has arrived */
    struct latencies over_ud, over_rc; /* round-trip times of requests, by how the request went */
};

/* Counts a message that was sent over the connection, or not acknowledged. */
void peer_count_message(struct peer *peer, const struct cm_connection *c, bool acknowledged);
/*
 * True if at least two messages were sent over RC, and none was acknowledged. The adapter sends
 * each up to eight times.
 */
bool peer_loses_messages(const struct peer *peer);
/* Makes the sender of this response the peer. */
void peer_set(struct target *t, const struct response *a);
/*
 * If two ports send with one link-layer address and the assumed peer is not reachable there, makes
 * the other one the peer. Returns false if there is no other one.
 */
bool peer_swap(struct target *t);
/*
 * Uses the peer's unicast response to identify it. Another sender with its link-layer address is a
 * competing owner.
 */
void peer_settle(struct target *t, const struct response *a);

/*
 * True if the packet comes from the peer, by LID and QPN. A network interface shows neither; there
 * the announced link-layer address counts.
 */
bool peer_is_sender(const struct target *t, const struct ud_from *from);
/*
 * The same. Until the peer is found, also true for every packet that names its IP address as the
 * sender's.
 */
bool peer_may_be_sender(const struct target *t, const struct ud_from *from);
/*
 * True if the packet names the peer's IP address as its sender's, even if its length fields are
 * wrong.
 */
bool peer_is_named(const struct target *t, const struct ud_from *from);

/*
 * Processes a received packet: notes other owners of the peer's address, and owners that respond
 * for unused addresses.
 */
void peer_observe(struct target *t, const struct ud_from *from);
/* Notes that the peer responded to a request that was sent at that time. */
void peer_responded(struct target *t, gint64 sent);

/* Destination for the peer's announced address; grh: with a Global Route Header. */
struct ud_to peer_destination(const struct target *t, bool grh);

/* ---- for the findings about the owner (checks/owner.c) */

struct owner peer_as_owner(const struct target *t);
void peer_set_location(struct peer *peer, const struct owner *w);
bool owner_is_same(const struct owner *a, const struct owner *b);
/* True if the peer has used or announced that LID (apart from the LMC bits), or that QPN. */
bool peer_has_lid(const struct target *t, uint16_t lid);
bool peer_has_qpn(const struct target *t, uint32_t qpn);

/*
 * All 20 bytes, then QPN, GID and LID. Adds the sending QPN if it differs from the announced one.
 */
enum { OWNER_TEXT = 256 };
void owner_text(const struct owner *w, char *out, size_t size);

#endif

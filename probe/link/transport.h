/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The small interface between what the probe asks and what carries it: one InfiniBand port, one UD
 * queue pair on it, and the subnet administrator behind it. verbs.c is the one for hardware;
 * the unit tests have one in memory.
 */
#ifndef IPOIB_PROBE_TRANSPORT_H
#define IPOIB_PROBE_TRANSPORT_H

#include <glib.h>

#include "hca/client.h"
#include "wire/cm.h"
#include "wire/lladdr.h"

/* octets of the largest UD message (IBA 9.8.3: the largest path MTU) */
enum { UD_SIZE = 4096 };
/* of a P_Key table's entries that are looked at; the largest known has 128 */
enum { TRANSPORT_PKEYS = 128 };

/*
 * What is known of the port that the probe stands on. Numbers are the IBA's codes where not told
 * otherwise.
 */
struct port_facts {
    char device[64];
    unsigned port;
    uint8_t gid[16];
    uint16_t lid, sm_lid;
    uint8_t sm_sl, lmc;
    uint8_t state;                   /* PORT_DOWN ... PORT_ACTIVE of wire/smp.h */
    uint8_t mtu;                     /* the active one */
    uint32_t rate_100mbps;           /* 0: not known */
    bool infiniband;                 /* the link layer; false: Ethernet (RoCE) */
    uint16_t pkeys[TRANSPORT_PKEYS]; /* with 0 where an entry is empty */
    unsigned n_pkeys;
};

/* Where a UD packet goes. */
struct ud_to {
    uint16_t lid;
    uint8_t sl, hop_limit, tclass;
    uint32_t flow_label;
    uint32_t qpn, qkey;
    bool grh;
    uint8_t gid[16]; /* with GRH */
    bool aside;      /* from the second queue pair */
    bool stranger;   /* from the one of another partition */
};

struct call;

/*
 * A UD packet that came, or a message over a connection. octets lives until the next use of the
 * transport.
 */
struct ud_from {
    struct view octets;    /* from the encapsulation header on */
    const uint8_t *grh;    /* 40 octets; NULL: it came without */
    struct call *call;     /* the connection that it came over; NULL: UD */
    uint32_t qpn;          /* of the sender */
    uint32_t to_qpn;       /* the queue pair that it came to; 0: the only one */
    uint16_t lid;          /* of the sender */
    uint8_t sl, path_bits; /* path_bits: of our own LID, which it was sent to */
};

/*
 * A connection asked for by CM REQ, and what came of it. What goes over it is a message of at most
 * CALL_MESSAGE octets: what IP allows (65535), and the encapsulation header.
 */
enum {
    CALL_MESSAGE = 65535 + 4,
    CALL_PRIVATE = 196,
    CALL_PRIVATE_SENT = 92
}; /* IBA 12.6.5 and 12.6.8: of REP and REQ */
struct call_question {
    uint8_t gid[16];
    uint16_t pkey;
    uint64_t service_id;
    bool uc; /* else RC */
    uint8_t private_data[CALL_PRIVATE_SENT], private_size;
};

enum call_result {
    CALL_UP,
    CALL_REFUSED,    /* REJ */
    CALL_SILENT,     /* no answer in time; why tells more where the kernel gave up first */
    CALL_IMPOSSIBLE, /* there was no way to ask: why tells what is missing */
};

struct call {
    struct call_question asked;
    enum call_result result;
    uint16_t reason; /* of the REJ */
    uint8_t private_data[CALL_PRIVATE];
    uint32_t private_size; /* of the REP or REJ, with the zeros behind what the peer put in */
    int64_t asked_ns;      /* when the REQ was sent, since 1970 */
    uint32_t qpn, peer_qpn, psn,
        peer_psn; /* psn: of the next packet of each side, as far as it is known */
    uint16_t peer_lid;
    uint8_t sl, path_mtu, ack_timeout, retry_count; /* codes of the IBA */
    bool dead; /* nothing goes over it any more: it was ended, or a message was not acknowledged */
    bool ended_by_peer; /* by a DREQ */
    uint32_t number;    /* in the log */
    char why[240];
};

enum transport_result {
    TRANSPORT_OK,
    TRANSPORT_NOTHING,   /* nothing came in time */
    TRANSPORT_ERROR,     /* the transport's error says what */
    TRANSPORT_STOPPED,   /* a signal */
    TRANSPORT_TOO_LARGE, /* an answer of the SA's came, and was dropped; error says how large */
};

static inline enum transport_result transport_of(enum sa_heard heard)
{
    static const enum transport_result results[] = {[SA_HEARD] = TRANSPORT_OK,
                                                    [SA_NOTHING] = TRANSPORT_NOTHING,
                                                    [SA_TOO_LARGE] = TRANSPORT_TOO_LARGE,
                                                    [SA_FAILED] = TRANSPORT_ERROR,
                                                    [SA_INTERRUPTED] = TRANSPORT_STOPPED};
    return results[heard];
}

struct transport;

/* What a transport can do. Checks and stages name what they need, and no transport by its kind. */
enum {
    CAN_ASK_SA = 1,   /* the SA answers */
    HAS_OWN_QP = 2,   /* a queue pair of the probe's own, with a P_Key, a Q_Key and memberships */
    SHOWS_SENDER = 4, /* the InfiniBand headers of what came: QPN, LID and GRH */
    HAS_CONNECTIONS = 8, /* connected mode (RFC 4755): call, send_call and hang_up */
    CAN_ALL = CAN_ASK_SA | HAS_OWN_QP | SHOWS_SENDER | HAS_CONNECTIONS,
};

struct transport_ops {
    unsigned capabilities;
    const char *lacks; /* what the user can do for the others; NULL: it has all that it needs */
    /* Makes the queue pair ready, on the P_Key of that index and with that Q_Key. */
    enum transport_result (*open_qp)(struct transport *t, unsigned pkey_index, uint32_t qkey);
    /* Makes one more, once, in the partition of that index, which is another one. It only sends. */
    enum transport_result (*open_stranger)(struct transport *t, unsigned pkey_index);
    enum transport_result (*send)(struct transport *t, const struct ud_to *to,
                                  const uint8_t *octets, uint32_t n);
    /* The next packet within so many milliseconds. */
    enum transport_result (*receive)(struct transport *t, int ms, struct ud_from *from);
    /* Asks, again if there is no answer or a busy one, within so many milliseconds in all. */
    enum transport_result (*ask)(struct transport *t, const struct sa_question *q, int ms,
                                 struct sa_answer *a);
    /* What is sent to the group from now on is received too; the port's membership is the SA's. */
    enum transport_result (*attach)(struct transport *t, const uint8_t *mgid, uint16_t mlid);
    void (*close)(struct transport *t);
    /*
     * Reports of the SA come to this program from now on (the subscription itself is an SA
     * question). TRANSPORT_NOTHING: another program of this host has them.
     */
    enum transport_result (*watch)(struct transport *t);
    /* The next Report within so many milliseconds; it is answered. */
    enum transport_result (*next_notice)(struct transport *t, int ms, uint8_t notice[NOTICE_SIZE]);

    /* Connections (RFC 4755), of a transport that has them. */
    /* Can connections be made on this port? False: no_calls says why. */
    bool (*can_call)(struct transport *t);
    /*
     * Asks within so many milliseconds; *c is the caller's until it hangs up, whatever came of it.
     * OK or STOPPED.
     */
    enum transport_result (*call)(struct transport *t, const struct call_question *q, int ms,
                                  struct call **c);
    /* A message over it. NOTHING: it cannot go, the call is dead. */
    enum transport_result (*send_call)(struct transport *t, struct call *c, const uint8_t *octets,
                                       uint32_t n);
    /* Ends it and frees it; where it was up with a DREQ, *answered: the DREP came in time. */
    void (*hang_up)(struct transport *t, struct call *c, int ms, bool *answered);
};

/* The link of a network interface, which the kernel has opened. */
struct interface_link {
    char name[32];
    uint8_t lladdr[LLADDR_SIZE], broadcast_mgid[16];
    uint16_t pkey;
    bool connected; /* in connected mode: an answer may have come over a connection */
};

struct transport {
    const struct transport_ops *ops;
    struct port_facts facts;
    uint32_t qpn; /* once the queue pair is ready */
    /* Of a transport without a queue pair of the probe's own: what it sends through. */
    const struct interface_link *interface;
    /*
     * Of a second one, that is in no group: a packet sent from it shows whether the answer goes to
     * the QPN that was announced.
     */
    uint32_t aside_qpn;    /* 0: there is none */
    uint32_t stranger_qpn; /* of the one in another partition; 0: there is none yet */
    uint16_t stranger_pkey;
    bool denied; /* an error was that of a missing privilege */
    bool ending; /* what was done is being undone: signals no longer stop it */
    char error[256];
    char no_calls[160]; /* why there are no connections; "": there are, as far as is known */
};

static inline bool transport_can(const struct transport *t, unsigned capabilities)
{
    return (t->ops->capabilities & capabilities) == capabilities;
}

/*
 * The device (NULL: the first with an InfiniBand port) and its port (0: the first active one, else
 * the first).
 */
enum opening { OPENED, OPEN_NO_DEVICE, OPEN_NO_PRIVILEGE };
enum opening verbs_open(struct transport **t, const char *device, unsigned port,
                        const volatile int *stop, char *why, size_t size);
/* The subnet administrator alone: no queue pair, no peer. */
enum opening sa_only_open(struct transport **t, const char *device, unsigned port,
                          const volatile int *stop);
/* Through a network interface of IPoIB. */
enum opening packet_open(struct transport **t, const char *name, const volatile int *stop,
                         char *why, size_t size);
bool packet_is_interface(const char *name);
/* Any; NULL: there is none. g_free. */
char *packet_first_interface(void);

#endif

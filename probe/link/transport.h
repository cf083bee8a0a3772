/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interface between the checks and what carries their packets: one InfiniBand port, one UD queue
 * pair on it, and the SA. verbs.c implements it for hardware; the unit tests implement it in
 * memory.
 */
#ifndef IPOIB_PROBE_TRANSPORT_H
#define IPOIB_PROBE_TRANSPORT_H

#include <glib.h>

#include "hca/agent.h"
#include "hca/smp_query.h"
#include "hca/client.h"
#include "wire/cm.h"
#include "wire/lladdr.h"

/* bytes of the largest UD message (IBA 9.8.3: the largest path MTU) */
enum { UD_SIZE = 4096 };
/* P_Key table entries that are read; the largest known table has 128 */
enum { TRANSPORT_PKEYS = 128 };

/* Attributes of the probe's port. Numbers are the IBA's codes unless noted. */
struct port_facts {
    char device[64];
    unsigned port;
    uint8_t gid[16];
    uint16_t lid, sm_lid;
    uint8_t sm_sl, lmc;
    uint8_t state;                   /* PORT_DOWN ... PORT_ACTIVE from wire/smp.h */
    uint8_t mtu;                     /* active MTU */
    uint32_t rate_100mbps;           /* 0: unknown */
    bool infiniband;                 /* link layer; false: Ethernet (RoCE) */
    uint16_t pkeys[TRANSPORT_PKEYS]; /* 0 for an empty entry */
    unsigned n_pkeys;
    uint32_t pkey_violations, qkey_violations; /* packets that the port dropped (IBA 14.2.5.6) */
};

/* Destination of a UD packet. */
struct ud_to {
    uint16_t lid;
    uint8_t sl, hop_limit, tclass;
    uint32_t flow_label;
    uint32_t qpn, qkey;
    bool grh;
    uint8_t gid[16];      /* only with GRH */
    bool second_qp;       /* send from the second queue pair */
    bool other_partition; /* send from the queue pair in another partition */
};

struct cm_connection;

/*
 * A received UD packet, or a message received over a connection. bytes is valid until the next use
 * of the transport.
 */
struct ud_from {
    struct view bytes;                /* starting at the encapsulation header */
    const uint8_t *grh;               /* 40 bytes; NULL: no GRH */
    struct cm_connection *connection; /* the connection; NULL: UD */
    uint32_t qpn;                     /* the sender's */
    uint32_t to_qpn;                  /* the receiving queue pair; 0: the only one */
    uint16_t lid;                     /* the sender's */
    uint8_t sl, path_bits;            /* path_bits: of our LID that the packet was sent to */
};

/*
 * A connection requested by CM REQ, and its result. A message has at most CONNECTED_MESSAGE_SIZE
 * bytes: the IP maximum (65535) plus the encapsulation header.
 */
enum {
    CONNECTED_MESSAGE_SIZE = 65535 + 4,
    REP_PRIVATE_SIZE = 196,
    REQ_PRIVATE_SIZE = 92
}; /* IBA 12.6.8 (REP) and 12.6.5 (REQ) */
struct connect_request {
    uint8_t gid[16];
    uint16_t pkey;
    uint64_t service_id;
    bool uc; /* otherwise RC */
    uint8_t private_data[REQ_PRIVATE_SIZE], private_size;
};

enum connect_result {
    CONNECT_ACCEPTED,
    CONNECT_REJECTED,    /* REJ */
    CONNECT_NO_RESPONSE, /* no response in time; why has details if the kernel gave up first */
    CONNECT_NOT_SENT,    /* the request could not be sent: why has the reason */
};

struct cm_connection {
    struct connect_request req;
    enum connect_result result;
    uint16_t reason; /* of the REJ */
    uint8_t private_data[REP_PRIVATE_SIZE];
    uint32_t private_size;                 /* of the REP or REJ, including the zero padding */
    int64_t req_ns;                        /* time of the REQ, nanoseconds since 1970 */
    uint32_t qpn, peer_qpn, psn, peer_psn; /* psn: next packet of each side, if known */
    uint16_t peer_lid;
    uint8_t sl, path_mtu, ack_timeout, retry_count; /* IBA codes */
    bool dead;          /* unusable: ended, or a message was not acknowledged */
    bool lost;          /* it, or its acknowledgement: the peer refused nothing */
    bool ended_by_peer; /* by a DREQ */
    uint32_t number;    /* number in the log */
    char why[240];
};

/*
 * An attempt to connect as applications do: by the peer's IP address, with this host's interfaces,
 * routes and neighbour table (rdma_cm), to a Service-ID at which nobody should listen.
 */
enum cm_trial_step { TRIAL_START, TRIAL_ADDRESS, TRIAL_ROUTE, TRIAL_CONNECT, TRIAL_ANSWERED };
struct cm_trial {
    bool ipv6;
    uint8_t ip[16];
    const char *interface;   /* of a link-local address */
    enum cm_trial_step step; /* the one that failed, or TRIAL_ANSWERED */
    int error;               /* errno of the step that failed */
    bool accepted;           /* somebody listens there */
    uint16_t reason;         /* of the REJ */
    char device[64];         /* to which the address resolves; "": it does not */
    unsigned port;
};

enum transport_result {
    TRANSPORT_OK,
    TRANSPORT_NOTHING,   /* nothing arrived in time */
    TRANSPORT_ERROR,     /* the transport's error has the text */
    TRANSPORT_STOPPED,   /* stopped by a signal */
    TRANSPORT_TOO_LARGE, /* an SA response was too large and was dropped; error has its size */
};

static inline enum transport_result transport_of(enum sa_outcome outcome)
{
    static const enum transport_result results[] = {[SA_OK] = TRANSPORT_OK,
                                                    [SA_NOTHING] = TRANSPORT_NOTHING,
                                                    [SA_TOO_LARGE] = TRANSPORT_TOO_LARGE,
                                                    [SA_FAILED] = TRANSPORT_ERROR,
                                                    [SA_INTERRUPTED] = TRANSPORT_STOPPED};
    return results[outcome];
}

struct transport;

/*
 * Capabilities of a transport. Checks and stages declare the capabilities that they need instead of
 * naming a transport.
 */
enum {
    CAN_QUERY_SA = 1,    /* the SA can be queried */
    HAS_OWN_QP = 2,      /* the probe has its own queue pair, with P_Key, Q_Key and memberships */
    SHOWS_SENDER = 4,    /* shows the InfiniBand headers of received packets: QPN, LID and GRH */
    HAS_CONNECTIONS = 8, /* connected mode (RFC 4755): connect, send_connected and disconnect */
    CAN_SEND = 16,       /* packets can be sent and received */
    CAN_ALL = CAN_QUERY_SA | HAS_OWN_QP | SHOWS_SENDER | HAS_CONNECTIONS | CAN_SEND,
};

struct transport_ops {
    unsigned capabilities;
    const char *lacks; /* how the user can get the missing capabilities; NULL: nothing is missing */
    /* Opens the queue pair with the P_Key at that index and with that Q_Key. */
    enum transport_result (*open_qp)(struct transport *t, unsigned pkey_index, uint32_t qkey);
    /*
     * Opens one more queue pair, once, with the P_Key of another partition at that index. It only
     * sends.
     */
    enum transport_result (*open_other_partition)(struct transport *t, unsigned pkey_index);
    enum transport_result (*send)(struct transport *t, const struct ud_to *to, const uint8_t *bytes,
                                  uint32_t n);
    /* Waits up to ms milliseconds for the next packet. */
    enum transport_result (*receive)(struct transport *t, int ms, struct ud_from *from);
    /*
     * Queries the SA. Retries if there is no response or a busy status, for up to ms milliseconds
     * in total.
     */
    enum transport_result (*query)(struct transport *t, const struct sa_query *q, int ms,
                                   struct sa_response *a);
    /*
     * Attaches the queue pair to the group so that its packets are received. The caller must have
     * joined the port at the SA.
     */
    enum transport_result (*attach)(struct transport *t, const uint8_t *mgid, uint16_t mlid);
    void (*close)(struct transport *t);
    /*
     * Reads the port's attributes again. Returns false if they are not available; NULL: they never
     * are.
     */
    bool (*read_port)(struct transport *t, struct port_facts *now);
    /* Asks the agent of a port. Waits up to ms milliseconds. NULL: not available. */
    enum agent_answer (*ask_agent)(struct transport *t, struct agent_request *q, int ms);
    /* Asks a switch on the way, by a directed route; the same. */
    enum agent_answer (*ask_smp)(struct transport *t, struct smp_request *q, int ms);
    /*
     * Registers this program for the SA's Reports (the subscription itself is an SA query).
     * TRANSPORT_NOTHING: another program of this host is registered.
     */
    enum transport_result (*watch)(struct transport *t);
    /* Waits up to ms milliseconds for the next Report and sends the response to it. */
    enum transport_result (*next_notice)(struct transport *t, int ms, uint8_t notice[NOTICE_SIZE]);

    /* Connections (RFC 4755), if the transport has them. */
    /* True if connections can be made on this port. False: no_connections has the reason. */
    bool (*can_connect)(struct transport *t);
    /*
     * Connects within ms milliseconds. The caller owns *c until disconnect, whatever the result.
     * Returns OK or STOPPED.
     */
    enum transport_result (*connect)(struct transport *t, const struct connect_request *q, int ms,
                                     struct cm_connection **c);
    /* Tries to connect within ms milliseconds. Returns OK or STOPPED. NULL: not available. */
    enum transport_result (*try_rdma_cm)(struct transport *t, struct cm_trial *trial, int ms);
    /* Sends a message. TRANSPORT_NOTHING: not possible, the connection is unusable. */
    enum transport_result (*send_connected)(struct transport *t, struct cm_connection *c,
                                            const uint8_t *bytes, uint32_t n);
    /*
     * Disconnects and frees the connection; if it was up, sends a DREQ. *answered: the DREP arrived
     * in time.
     */
    void (*disconnect)(struct transport *t, struct cm_connection *c, int ms, bool *answered);
};

/* The link of a network interface; the kernel has opened it. */
struct interface_link {
    char name[32];
    uint8_t lladdr[LLADDR_SIZE], broadcast_mgid[16];
    uint16_t pkey;
    bool connected; /* in connected mode: a response may have arrived over a connection */
};

struct transport {
    const struct transport_ops *ops;
    struct port_facts facts;
    uint32_t qpn; /* valid once the queue pair is open */
    /* For a transport without its own queue pair: the interface that it uses. */
    const struct interface_link *interface;
    /*
     * A second queue pair that is in no group. A request sent from it shows whether the response
     * goes to the announced QPN.
     */
    uint32_t second_qpn;          /* 0: none */
    uint32_t other_partition_qpn; /* the queue pair in another partition; 0: not open */
    uint16_t other_pkey;
    bool denied; /* an error was caused by a missing privilege */
    bool ending; /* cleanup is running: signals do not stop it */
    char error[256];
    char no_connections[160]; /* why connections are not possible; "": they are, as far as known */
};

static inline bool transport_can(const struct transport *t, unsigned capabilities)
{
    return (t->ops->capabilities & capabilities) == capabilities;
}

/*
 * Opens device (NULL: the first with an InfiniBand port) and port (0: the first active one,
 * otherwise the first). Sets ERROR if the result is not OPENED.
 */
enum opening { OPENED, OPEN_NO_DEVICE, OPEN_NO_PORT, OPEN_NO_PRIVILEGE };
enum opening verbs_open(struct transport **t, const char *device, unsigned port,
                        const volatile int *stop, GError **error);
/* Opens the SA only: no queue pair, no peer. */
enum opening sa_only_open(struct transport **t, const char *device, unsigned port,
                          const volatile int *stop);
/* Opens a transport over an IPoIB network interface. Sets ERROR if the result is not OPENED. */
enum opening packet_open(struct transport **t, const char *name, const volatile int *stop,
                         GError **error);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Communication management (CM): message layouts (IBA 12.6 and 12.11, tables 99 to 117), the
 * Service-IDs that identify the protocol of a connection, and IPoIB's private data in the messages
 * (RFC 4755 section 6).
 */
#ifndef IPOIB_WIRE_CM_H
#define IPOIB_WIRE_CM_H

#include "wire/ib.h"
#include "wire/mad.h"

enum cm_message {
    CM_REQ = 0x10,
    CM_MRA = 0x11,
    CM_REJ = 0x12,
    CM_REP = 0x13,
    CM_RTU = 0x14,
    CM_DREQ = 0x15,
    CM_DREP = 0x16,
    CM_SIDR_REQ = 0x17,
    CM_SIDR_REP = 0x18,
    CM_LAP = 0x19,
    CM_APR = 0x1a,
};

/* Does the message begin a transaction? A REP does not: it responds to the REQ, although an RTU
 * responds to it. */
static inline bool cm_is_request(uint16_t message)
{
    return message == CM_REQ || message == CM_DREQ || message == CM_LAP || message == CM_SIDR_REQ;
}

/* Offsets are in bytes from the start of the MAD. */
enum { CM_LOCAL_COMM_ID = MAD_DATA + 0, CM_REMOTE_COMM_ID = MAD_DATA + 4 };

enum {
    REQ_SERVICE_ID = MAD_DATA + 8,
    REQ_CA_GUID = MAD_DATA + 16,
    REQ_QKEY = MAD_DATA + 28,
    REQ_QPN = MAD_DATA + 32,
    /* remote CM response timeout (5), transport service type (2), flow control (1) */
    REQ_TRANSPORT = MAD_DATA + 43,
    REQ_PSN = MAD_DATA + 44,
    REQ_RETRY = MAD_DATA + 47, /* local CM response timeout (5), retry count (3) */
    REQ_PKEY = MAD_DATA + 48,
    REQ_PATH_MTU = MAD_DATA + 50, /* path MTU (4), RDC exists (1), RNR retry count (3) */
    REQ_PRIMARY_LOCAL_LID = MAD_DATA + 52,
    REQ_PRIMARY_REMOTE_LID = MAD_DATA + 54,
    REQ_PRIMARY_LOCAL_GID = MAD_DATA + 56,
    REQ_PRIMARY_REMOTE_GID = MAD_DATA + 72,
    REQ_PRIMARY_ACK_TIMEOUT = MAD_DATA + 95, /* local ACK timeout (5), reserved (3) */
    REQ_ALTERNATE_LOCAL_LID = MAD_DATA + 96,
    REQ_ALTERNATE_REMOTE_LID = MAD_DATA + 98,
    REQ_PRIVATE = MAD_DATA + 140,
};
/* The message that an MRA answers (IBA 12.6.6); 2: a LAP */
enum { CM_MRA_REQ = 0, CM_MRA_REP = 1 };
enum { MRA_WHICH = MAD_DATA + 8, MRA_TIMEOUT = MAD_DATA + 9, MRA_PRIVATE = MAD_DATA + 10 };
enum {
    REJ_WHICH = MAD_DATA + 8,
    REJ_REASON = MAD_DATA + 10,
    REJ_ARI = MAD_DATA + 12,
    REJ_PRIVATE = MAD_DATA + 84
};
enum {
    REP_QKEY = MAD_DATA + 8,
    REP_QPN = MAD_DATA + 12,
    REP_PSN = MAD_DATA + 20,
    REP_CA_GUID = MAD_DATA + 28,
    REP_PRIVATE = MAD_DATA + 36,
};
enum { RTU_PRIVATE = MAD_DATA + 8 };
enum { DREQ_REMOTE_QPN = MAD_DATA + 8, DREQ_PRIVATE = MAD_DATA + 12 };
enum { DREP_PRIVATE = MAD_DATA + 8 };
enum {
    LAP_REMOTE_QPN = MAD_DATA + 12,
    LAP_ALTERNATE_LOCAL_LID = MAD_DATA + 20,
    LAP_ALTERNATE_REMOTE_LID = MAD_DATA + 22,
    LAP_PRIVATE = MAD_DATA + 64,
};
enum { APR_STATUS = MAD_DATA + 9, APR_PRIVATE = MAD_DATA + 84 };
enum {
    SIDR_REQ_PKEY = MAD_DATA + 4,
    SIDR_REQ_SERVICE_ID = MAD_DATA + 8,
    SIDR_REQ_PRIVATE = MAD_DATA + 16
};
enum {
    SIDR_REP_STATUS = MAD_DATA + 4,
    SIDR_REP_QPN = MAD_DATA + 8,
    SIDR_REP_SERVICE_ID = MAD_DATA + 12,
    SIDR_REP_QKEY = MAD_DATA + 20,
    SIDR_REP_PRIVATE = MAD_DATA + 96,
};

/*
 * REJ reasons (IBA 12.6.7.2): nothing listens on the Service-ID of the REQ; the responder still has
 * an older connection with this QP of the requester; the consumer rejects the connection; the
 * responder still has an older connection with this communication ID of the requester
 */
enum {
    CM_REJ_SERVICE_ID = 8,
    CM_REJ_STALE = 10,
    CM_REJ_CONSUMER = 28,
    CM_REJ_DUPLICATE_COMM_ID = 30
};

/* REQ: transport service type (IBA 12.6.5, table 99) */
enum { CM_TRANSPORT_RC = 0, CM_TRANSPORT_UC = 1, CM_TRANSPORT_RD = 2, CM_TRANSPORT_EXTENDED = 3 };

/* The IPoIB private data (RFC 4755 section 6): Reserved (8 bits), UD QPN (24), Receive MTU (32). */
enum {
    CM_PRIVATE_RESERVED = 0,
    CM_PRIVATE_UD_QPN = 1,
    CM_PRIVATE_RECV_MTU = 4,
    CM_PRIVATE_SIZE = 8
};

struct cm_private {
    uint8_t reserved;
    uint32_t ud_qpn;
    uint32_t recv_mtu; /* bytes, including the encapsulation header */
};

/* Protocol of a connection: by its Service-ID, for SRP by the private data. */
enum cm_service {
    SERVICE_UNKNOWN,
    SERVICE_IPOIB_RFC,   /* 0x01, Type 0, Reserved 0, QPN (RFC 4755 section 3.5) */
    SERVICE_IPOIB_LINUX, /* 0x10, then as above: the form that Linux sends and accepts */
    SERVICE_IETF_OTHER,  /* 0x01 with another Type or Reserved not 0 */
    SERVICE_SDP,
    SERVICE_RDMA_IP_TCP, /* RDMA IP CM service (IBA annex A11), by IP protocol */
    SERVICE_RDMA_IP_UDP,
    SERVICE_RDMA_IP_IB,
    SERVICE_RDMA_IP_OTHER,
    SERVICE_RDMA_IPOIB, /* librdmacm's RDMA_PS_IPOIB */
    SERVICE_LOCAL_OS,
    SERVICE_SRP,
};
extern const struct name cm_service_names[];

/*
 * Does the Service-ID begin with 0x01 (RFC 4755) or 0x10 (Linux), but with non-zero bytes between
 * this byte and the QPN?
 */
static inline bool cm_service_is_near_ipoib(uint64_t id)
{
    return (id >> 56 == 0x01 || id >> 56 == 0x10) && (id >> 24 & 0xffffffffu);
}

/* Is it IPoIB's in little-endian byte order, the QPN before four zero bytes and 0x01 or 0x10? */
static inline bool cm_service_is_reversed(uint64_t id)
{
    uint64_t end = id & 0xffffffffffu;
    return (end == 0x01 || end == 0x10) && id >> 40;
}

static inline uint32_t cm_service_qpn(uint64_t id)
{
    bool reversed = cm_service_is_reversed(id);
    return reversed ? (uint32_t)(id >> 56 | (id >> 40 & 0xff00) | (id >> 24 & 0xff0000))
                    : (uint32_t)(id & QPN_MASK);
}

/* Has it a QPN beside four zero bytes, as IPoIB's, whatever the remaining byte is? */
static inline bool cm_service_has_qpn(uint64_t id)
{
    return (!(id >> 24 & 0xffffffffu) || cm_service_is_reversed(id)) &&
           cm_service_qpn(id) > QPN_GSI;
}

static inline bool cm_service_is_ipoib(enum cm_service s)
{
    return s == SERVICE_IPOIB_RFC || s == SERVICE_IPOIB_LINUX;
}

/* By the Service-ID only. */
enum cm_service cm_service_of(uint64_t service_id);

/* Fields of a CM message; those that its type does not have are 0. */
struct cm {
    struct mad mad;
    enum cm_message message;
    uint32_t local_comm_id, remote_comm_id; /* SIDR: the request ID in local_comm_id */
    uint64_t service_id;                    /* REQ, SIDR_REQ, SIDR_REP */
    enum cm_service service;
    uint32_t qpn;      /* REQ, REP: QPN of the sender; DREQ, LAP: QPN of the receiver; SIDR_REP */
    uint32_t psn;      /* REQ, REP: starting PSN */
    uint8_t transport; /* REQ: CM_TRANSPORT_* */
    uint16_t pkey;     /* REQ, SIDR_REQ */
    uint8_t response_timeout;  /* REQ, of the remote CM: exponent n of 4.096 us * 2^n */
    uint8_t path_mtu;          /* REQ: IBA code */
    uint8_t local_ack_timeout; /* REQ, primary path: exponent n of 4.096 us * 2^n, 0: no timeout */
    uint8_t retry_count;       /* REQ: 0 to 7 */
    uint16_t local_lid, remote_lid, alternate_local_lid,
        alternate_remote_lid;              /* REQ; LAP: alternate */
    const uint8_t *local_gid, *remote_gid; /* REQ: primary path */
    /* MRA, REJ: type of the answered message (cm_delayed_names, cm_rejected_names) */
    uint8_t which;
    uint16_t reason;                    /* REJ */
    uint8_t status;                     /* APR, SIDR_REP */
    uint32_t private_off, private_size; /* bytes from the start of the MAD */
};

extern const struct name cm_message_names[];
extern const struct name cm_delayed_names[];
extern const struct name cm_rejected_names[];
extern const struct name cm_reject_names[];
extern const struct name cm_transport_names[];

/*
 * v starts at the MAD. WIRE_OK: every fixed field was captured. WIRE_TRUNCATED with *have_ids:
 * message type and communication IDs were captured. WIRE_FOREIGN: not the CM class, or the
 * attribute is not a CM message.
 */
enum wire_result cm_decode(struct view v, struct cm *cm, bool *have_ids);

/*
 * The IPoIB private data of a message. The caller must know that the connection is an IPoIB
 * connection.
 */
enum wire_result cm_private_decode(struct view v, const struct cm *cm, struct cm_private *p);

/* Has the REQ the private data of RFC 4755 section 6, with all values, and nothing else? */
bool cm_private_is_ipoib(struct view v, const struct cm *cm);

/* Is a REQ's private data an SRP login request (SRP, T10 1415-D section 6.2)? */
bool cm_private_is_srp(struct view v, const struct cm *cm);

/*
 * The IPoIB MTU of a connection: the smaller Receive MTU minus the encapsulation header (RFC 4755
 * section 5.1), in bytes.
 */
uint32_t cm_connection_mtu(uint32_t a, uint32_t b);

#endif

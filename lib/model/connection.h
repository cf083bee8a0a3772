/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections as their CM messages show them (IBA 12.9; RFC 4755 section 3): requester, responder,
 * service, QPNs, UD QPNs and Receive MTUs of both sides; and the data flows of each connection.
 *
 * A message is matched by its receiver's port and the communication ID that the receiver assigned.
 * This pair is unique. Transaction IDs are not. Communication IDs are reused, so the messages that
 * set up a connection must also carry the transaction ID of its REQ.
 */
#ifndef IPOIB_MODEL_CONNECTION_H
#define IPOIB_MODEL_CONNECTION_H

#include "model/clocks.h"
#include "model/endport.h"
#include "model/port.h"
#include "model/sequence.h"
#include "model/stream.h"
#include "wire/payload.h"

struct connection;

/* Data that one connected QP receives. */
struct flow {
    struct port_number id;         /* must be first: the key; receiving port and QPN */
    struct connection *connection; /* NULL: no handshake was seen */
    struct stream stream;
    /*
     * first frame with IPoIB data before the REP: before a handshake of this QP, or during it; to
     * the requester, also before both the RTU and the requester's data; 0: none
     */
    uint32_t early_frame;
    struct sequence sequence; /* of the SEND packets */
    uint32_t to_requester : 1;
    /* a message that started here looked like IPoIB, without a known connection or after its end */
    uint32_t looked_ipoib : 1;
    uint32_t heap : 1; /* allocated on its own, not embedded in a connection */
    /* since the set-up or the last message that looked like IPoIB, no packet is missing */
    uint32_t whole : 1;
    /* messages that looked like IPoIB, with consecutive PSNs; up to FLOW_RECOGNISED */
    uint32_t consecutive : 2;
    uint32_t several : 1;      /* FLOW_LIKELY of these came before the end of the connection */
    uint32_t acknowledged : 1; /* the packet with the highest PSN was, with all before it */
};

/*
 * So many such messages show that the flow is that of an IPoIB connection, although its set-up was
 * not captured, or it has ended. Its next packets are IPoIB's, whatever they contain, until a PSN
 * or an opcode shows that another connection has the queue pair.
 */
enum { FLOW_RECOGNISED = 3 };
/* Two are no damage of a single packet: enough to ask for the set-up. */
enum { FLOW_LIKELY = 2 };

/*
 * Did the REQ of a connection cross a REQ of the other side? MAY_*: the responder may have had no
 * outstanding REQ of its own when it received this one.
 */
enum crossing {
    CROSSING_NONE,
    CROSSED,
    MAY_HAVE_CROSSED, /* a response may not have been captured */
    /* repeated after the response to the other REQ: its first copy may have been lost */
    MAY_HAVE_ARRIVED_LATE,
    /* not crossed: the responder sent an MRA for it before it sent its own REQ */
    RECEIVED_BEFORE
};

struct connection_side {
    /*
     * data that this side receives; flow.id: the port that sends and receives its CM messages, and
     * its QPN
     */
    struct flow flow;
    uint32_t comm_id;          /* key, together with the port */
    uint32_t ud_qpn, recv_mtu; /* from the private data, if has_private */
    uint8_t reserved;
    /* the requester's, from the REQ: exponent n of 4.096 us * 2^n (0: no limit), and number */
    uint8_t ack_timeout : 5, retry_count : 3;
    bool known : 1, has_private : 1; /* known: its REQ or REP was seen */
    bool is_requester : 1;           /* this side is the requester */
    bool left : 1;                   /* its interface left the broadcast group */
    bool returned : 1;               /* and asked to join it again at once */
    bool refused : 1;                /* the requester: it responded to the REP with a REJ */
    /* the requester: data of both sides before the first ACK or NAK (unseen_packet.c) */
    uint8_t unacknowledged : 3;
    uint8_t sent_after_end : 3; /* points, up to CONNECTION_GOES_ON */
};

struct connection {
    struct connection_side requester, responder;
    struct connection *older[2]; /* previous connections of endport[0] and endport[1]; NULL: none */
    /* requester's and responder's, by the GIDs in the REQ; NULL: table full */
    struct endport *endport[2];
    uint64_t service_id;
    uint64_t tid;                   /* transaction ID of its REQ */
    uint32_t number : 29;           /* from 1, in capture order */
    uint32_t used : 1;              /* data came while no other connection could have its QPs */
    uint32_t dreq_by_requester : 1; /* it has sent a DREQ */
    uint32_t dreq_by_responder : 1;
    uint32_t req_frame, rep_frame, rtu_frame, rej_frame, dreq_frame, drep_frame; /* 0: not seen */
    uint16_t pkey;
    uint8_t transport : 2;        /* CM_TRANSPORT_* */
    uint8_t response_timeout : 5; /* from the REQ: exponent n of 4.096 us * 2^n */
    bool torn_down : 1;           /* already checked whether it ended with its interface */
    uint8_t service : 4;          /* enum cm_service */
    uint8_t crossing : 3;         /* enum crossing */
    bool rep_before_req : 1;      /* a REP for it may have come right before its REQ */
    /*
     * Capture interface, and ms since 1970: when an interface left the broadcast group, if one did
     * (side.left); else time of the last REQ, DREQ or DREP, or of data that certainly belongs to it
     * (connection_has_qps()). One member for both saves memory.
     */
    uint64_t interface : 16;
    int64_t ms : 48;
};

/* Number of a port's connections that are searched; a real port has few open ones. */
enum { CONNECTIONS_SEARCHED = 64 };

struct connections;

/*
 * The connection's IPoIB MTU in octets (RFC 4755 section 5.1); 0 until the Receive MTU of both
 * sides is known.
 */
uint32_t connection_mtu(const struct connection *c);

static inline bool connection_is_ipoib(const struct connection *c)
{
    return cm_service_is_ipoib((enum cm_service)c->service);
}

/* Was a response to its REQ seen? */
static inline bool connection_has_response(const struct connection *c)
{
    return c->rep_frame || c->rej_frame || c->rtu_frame;
}

/* Rejected or disconnected: another connection may use its QPs now. */
static inline bool connection_is_over(const struct connection *c)
{
    return c->rej_frame || c->dreq_frame || c->drep_frame;
}

/* Did this end send a DREQ? */
static inline bool connection_is_ended_by(const struct connection *c, bool requester)
{
    return requester ? c->dreq_by_requester : c->dreq_by_responder;
}

/*
 * This end sent a message after its DREQ and the response, or after its DREP and the TimeWait of
 * its QP. Messages with new PSNs, each some time after the one before (lifecycle.c), are neither
 * sent again nor left in a send queue: after three, it goes on, and after two if all before each of
 * them was acknowledged, so that nothing held them back.
 */
enum { CONNECTION_GOES_ON = 6 };
void connection_sent_after_end(struct connection *c, bool requester, bool acknowledged,
                               const struct clocks *clocks);

static inline bool connection_goes_on(const struct connection *c, bool requester)
{
    return (requester ? &c->requester : &c->responder)->sent_after_end >= CONNECTION_GOES_ON;
}

/* Established, and not yet disconnected. */
static inline bool connection_is_open(const struct connection *c)
{
    return c->rep_frame && !connection_is_over(c);
}

/* Did an interface of the connection leave the broadcast group? */
static inline bool connection_has_left(const struct connection *c)
{
    return c->requester.left || c->responder.left;
}

/* The newest REQ of the responder to the requester that this one crossed; NULL: none. */
const struct connection *connection_crossed(const struct connection *c);

/*
 * Is the TimeWait of both ends over since the last DREQ or DREP (lifecycle.c)? Never if the ACK
 * timeout in the REQ has no limit.
 */
bool connection_is_quiet(const struct connection *c, const struct clocks *clocks);

/*
 * Has it stayed for longer than its teardown takes, since its interface left, with no packet of its
 * ends that shows whether a DREQ was missed (lifecycle.c)?
 */
bool connection_stayed(const struct connection *c, const struct clocks *clocks);

/*
 * Does the connection certainly have its QPs at this time (lifecycle.c)? The TimeWait keeps them
 * from a later connection, whose set-up may not have been captured (IBA 12.9.8). After a pause of
 * that length, nothing on the connection shows it any more.
 */
bool connection_has_qps(const struct connection *c, const struct clocks *clocks);

/*
 * May the requester have repeated its REQ since the last one that was captured (lifecycle.c)? It
 * does so after the response timeout, of which half is taken, because it may round the value down.
 */
bool connection_may_be_repeated(const struct connection *c, const struct clocks *clocks);

/*
 * Does the capture show that a later connection may have its QPs? Both ends send a REQ or a REP for
 * it, so a packet of the GSI of both is missing.
 */
bool connection_may_be_replaced(const struct connection *c);

/*
 * Did the requester send the CM message? The communication IDs decide if neither end is known to
 * have the LID: the capture may not show the LMC of the port.
 */
static inline bool connection_is_by_requester(const struct connection *c, const struct cm *cm,
                                              struct port src)
{
    bool requester = port_same(src, c->requester.flow.id.port);
    if (requester || port_same(src, c->responder.flow.id.port))
        return requester;
    return cm->local_comm_id == c->requester.comm_id && cm->remote_comm_id != c->requester.comm_id;
}

/* The previous connection of the endport. */
static inline struct connection *connection_older(const struct connection *c,
                                                  const struct endport *of)
{
    return c->older[c->endport[0] == of ? 0 : 1];
}

/*
 * Do the REQ's Service-ID and the responder's private data have this QPN? Then the requester knows
 * it from an announcement of the responder.
 */
static inline bool connection_agrees(const struct connection *c, uint32_t qpn)
{
    return c->responder.has_private && c->responder.ud_qpn == qpn &&
           cm_service_qpn(c->service_id) == qpn;
}

/* All connections, in the order of their REQs. */
const struct connection *connections_at(const struct connections *c, unsigned index);
unsigned connections_count(const struct connections *c);
/* Number of IPoIB messages of several packets of which some were not captured (so far). */
uint64_t connections_incomplete_messages(const struct connections *c);

#endif

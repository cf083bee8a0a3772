/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model of a fabric, learnt from packets, and the classification of packets with it. It
 * processes every InfiniBand packet of a capture once, in capture order. The Wireshark plugin feeds
 * it in the first pass, the tools as they read.
 */
#ifndef IPOIB_MODEL_FABRIC_H
#define IPOIB_MODEL_FABRIC_H

#include "model/connection.h"
#include "model/group.h"
#include "model/integrity.h"
#include "model/interfaces.h"
#include "model/neighbour.h"
#include "model/order.h"
#include "model/psn_gaps.h"
#include "model/qpns.h"
#include "model/resolution.h"
#include "model/stale.h"
#include "model/subnet.h"
#include "model/undone.h"
#include "model/unseen.h"
#include "wire/link_frame.h"
#include "wire/payload.h"

/*
 * Two capture interfaces that were joined and then turned out to see different subnets; frame 0:
 * none.
 */
struct contradiction {
    uint32_t frame;
    struct capture_interface interface[2];
};

enum { CONTRADICTION_TEXT = 64 };
/*
 * Writes "interfaces 0 and 1" or "ERF ports 0 and 1 of interface 0" to out, which has
 * CONTRADICTION_TEXT bytes.
 */
void contradiction_interfaces(const struct contradiction *c, char *out);

/*
 * Limit of interface merges in a capture: each takes time proportional to the table sizes.
 * Interfaces that are joined later do not share what was learnt before.
 */
enum { FABRIC_MERGES_MAX = 64 };

/* Data kept under interface number `from` is kept under `to` now. */
struct interface_merge {
    uint16_t from, to;
};

struct fabric;

/* Read-only view of the model. */
struct fabric_facts {
    const struct endports *endports;
    const struct groups *groups;
    const struct subnet *subnet;
    const struct connections *connections;
    const struct neighbours *neighbours;
    const struct resolutions *resolutions;
    const struct stale_uses *stale;
    const struct qpns *qpns;
    const struct psn_gaps *psn_gaps;
    const struct interfaces *interfaces;
    /*
     * The caller queries the SA itself and is an end of each connection, as the probe is, so group
     * records are current, and so are the connections of a QP. In a capture, they may have changed
     * in a frame that was not captured.
     */
    bool records_are_current;
    struct order order;
    struct contradiction contradiction;
    struct interface_merge merges[FABRIC_MERGES_MAX];
    unsigned merged; /* entries used in merges */
    const struct undone *undone;
    /* of the packet, if it is an SMP on a directed route (model/psn_gaps.h); id 0: not computed */
    struct port end_of_route;
    /* of the packet, if it is of the SA's class: place of its requester and transaction ID */
    unsigned transaction;
};

/*
 * Table limits. They bound the memory for a hostile capture; a fabric of 50,000 ports stays below
 * them. FABRIC_MEMORY_MAX is the memory in bytes with all tables full at once.
 * tests/unit/test_memory.c checks the bytes per entry, which include those of the table:
 *
 *   entry                                       bytes  limit                       together
 *   a connection with its two flows               340  FABRIC_CONNECTIONS_MAX         45 MB
 *   a flow whose handshake was not seen            96  4 per connection               50 MB
 *   a flow's incomplete messages                  320  STREAMS_MAX                    84 MB
 *   a run of packets after a gap in a message      40  STREAM_RUNS_MAX                42 MB
 *   a neighbour                                   160  FABRIC_NEIGHBOURS_MAX          42 MB
 *   a known QP                                     92  FABRIC_QPNS_MAX                24 MB
 *   a group with one member                       200  FABRIC_GROUPS_MAX              13 MB
 *   a membership                                   80  4 per group                    21 MB
 *   a link, of a broadcast group                  100  1 per group                     7 MB
 *   an endport with its P_Key table               276  FABRIC_ENDPORTS_MAX            72 MB
 *   a route of subnet management                  160  FABRIC_ROUTES_MAX              21 MB
 *   a source of ICRCs                              48  FABRIC_SOURCES_MAX,
 *                                                     and 1 per interface             9 MB
 *   a use of a previous address                   100  FABRIC_STALE_USES_MAX           7 MB
 *   a response that waits for its request          48  REVERSALS_WAITING               3 MB
 */
#define FABRIC_MEMORY_MAX 442000000
enum {
    FABRIC_CONNECTIONS_MAX = 1 << 17,
    FABRIC_NEIGHBOURS_MAX = 1 << 18,
    FABRIC_QPNS_MAX = 1 << 18,
    FABRIC_GROUPS_MAX = 1 << 16,
    FABRIC_ENDPORTS_MAX = 1 << 18,
    FABRIC_SOURCES_MAX = 1 << 17,
    FABRIC_ROUTES_MAX = 1 << 17,
    FABRIC_STALE_USES_MAX = 1 << 16,
};

/* less_streams: STREAMS_MAX and STREAM_RUNS_MAX are divided by 2 to the power of it. */
struct fabric_limits {
    unsigned connections, neighbours, qpns, groups, endports, sources, routes, stale_uses,
        interfaces, less_streams;
};
#define FABRIC_LIMITS                                                                              \
    {                                                                                              \
        .connections = FABRIC_CONNECTIONS_MAX, .neighbours = FABRIC_NEIGHBOURS_MAX,                \
        .qpns = FABRIC_QPNS_MAX, .groups = FABRIC_GROUPS_MAX, .endports = FABRIC_ENDPORTS_MAX,     \
        .sources = FABRIC_SOURCES_MAX, .routes = FABRIC_ROUTES_MAX,                                \
        .stale_uses = FABRIC_STALE_USES_MAX, .interfaces = INTERFACES_MAX,                         \
    }

struct fabric *fabric_new(void);
/* With other limits: for tests. */
struct fabric *fabric_new_limited(const struct fabric_limits *limits);
void fabric_free(struct fabric *f);
const struct fabric_facts *fabric_facts(const struct fabric *f);
/* For the tables of the checker and the plugin: they report refused entries here. */
struct undone *fabric_undone(struct fabric *f);
/* For what is not seen of a packet before it is decoded: the callers count it here. */
struct unseen *fabric_count_unseen(struct fabric *f);
/* What was not seen, as if the capture ended now (unseen_packet.c). */
struct unseen fabric_unseen(const struct fabric *f);
/*
 * Set how interfaces are grouped into subnets; before the first packet. Default: INTERFACES_AUTO.
 */
void fabric_take_interfaces(struct fabric *f, enum interfaces_mode mode);
/* Set records_are_current. */
void fabric_take_records_as_current(struct fabric *f);
/* Get the model's number for the interface of a packet. INTERFACE_NONE: too many interfaces. */
uint16_t fabric_enter_interface(struct fabric *f, struct capture_interface captured);

enum payload_class {
    PAYLOAD_NONE,  /* no payload, or incomplete headers */
    PAYLOAD_OTHER, /* not known to be IPoIB */
    PAYLOAD_MAD,
    PAYLOAD_IPOIB,    /* one datagram with its encapsulation header */
    PAYLOAD_FRAGMENT, /* a fragment of an IPoIB message on a connection */
    PAYLOAD_FOREIGN,  /* data of a connection of another protocol */
};

/* Classification of a packet. */
struct classification {
    enum payload_class class;
    bool by_context;               /* classified by earlier packets, not by its own contents */
    struct connection *connection; /* the connection of the data or CM message; NULL: not known */
    bool to_requester;
    /* its PSN is not one of the connection that was set up for the queue pair */
    bool is_released;
    bool is_recognised; /* no set-up was captured, but its flow looks like IPoIB's from now on */
    /*
     * its contents are not IPoIB's, but its flow is (FLOW_RECOGNISED): the first frame of the flow
     * that looked like IPoIB, or the REQ of its connection; 0: otherwise
     */
    uint32_t flow_frame;
    struct stream_result fragment; /* PAYLOAD_FRAGMENT */
};

/* Position of a packet in the capture. */
struct capture_position {
    uint32_t frame; /* from 1 */
    /* interface number from interfaces_enter(); after classification, the subnet's number */
    uint16_t interface;
    int64_t ns; /* since 1970 */
};

struct packet {
    struct capture_position at;
    struct view bytes;
    struct ib_packet ib;
    enum wire_result result; /* of ib_decode() */
    /*
     * Decoded payload, selected by ib: of a MAD; else of a Send Only, First or UD packet as IPoIB.
     */
    union {
        struct mad_payload mad;
        struct datagram datagram;
    };
    /* destination GID of a frame without InfiniBand headers; NULL: unknown */
    const uint8_t *pseudo_dgid;
    struct port src, dst;
    bool is_marked;               /* the capture marks it as received with errors */
    uint16_t captured_on;         /* the interface's own number, before interfaces are joined */
    struct crcs_count crcs_count; /* model/integrity.h */
    struct integrity_memo {
        bool known;
        enum integrity is;
    } integrity; /* only for packet_integrity() */
    struct classification classification;
    uint64_t digest;  /* model/copies.h */
    uint32_t copy_of; /* the frame that has the same packet: the model learns nothing; 0: none */
    bool may_be_sent_again; /* a copy, of a connection, that does not come at once (copies.h) */
};

/*
 * Decode the packet in v and classify it by its own contents. outer_src, outer_dst: addresses of
 * the outer IP packet (RoCE v2); else id 0.
 */
void packet_read(struct packet *p, const struct capture_position *at, struct view v,
                 enum ib_start start, const struct port *outer_src, const struct port *outer_dst);

/* As packet_read(), for a frame without InfiniBand headers (LINK_FRAME_IPOIB, LINK_FRAME_COOKED).
 */
void packet_read_without_ib(struct packet *p, const struct capture_position *at,
                            const struct link_frame *c);

/* Decode a frame of either kind, but not of LINK_FRAME_NONE. */
void packet_read_frame(struct packet *p, const struct capture_position *at,
                       const struct link_frame *c);

/* Is the packet IPoIB without InfiniBand headers? */
static inline bool packet_lacks_ib(const struct packet *p)
{
    return p->classification.class == PAYLOAD_IPOIB && !p->ib.has_bth;
}

/*
 * Did the group's parameters stay the same, as far as requests show? The response to a join before
 * the first record may have had others, if it was not captured. If they stayed the same, ports that
 * joined before the capture received the same ones.
 */
bool fabric_knows_history(const struct fabric_facts *f, const struct group *group);

/* The doubt of the group's subnet. */
struct doubt fabric_doubt(const struct fabric_facts *f, const struct group *group);

/*
 * Integrity of a packet; the result is constant after fabric_observe(). The first call computes the
 * CRCs that count over the whole packet, so call it only before learning from the packet or
 * reporting a violation.
 */
enum integrity packet_find_integrity(const struct packet *p);
static inline enum integrity packet_integrity(const struct packet *p)
{
    return p->integrity.known ? p->integrity.is : packet_find_integrity(p);
}

/* The model learns nothing from a corrupt packet, and no violation is reported for it. */
static inline bool packet_is_corrupt(const struct packet *p)
{
    return packet_integrity(p) == INTEGRITY_CORRUPT;
}

/* Was it found to be corrupt? Computes no CRC. */
static inline bool packet_is_known_corrupt(const struct packet *p)
{
    return p->integrity.known && p->integrity.is == INTEGRITY_CORRUPT;
}

/*
 * The packet that was observed last turned out to be corrupt: the next one with its digest is no
 * copy (model/copies.h).
 */
void fabric_forget_packet(struct fabric *f, const struct packet *p);

/* The packet's CM message; NULL: it has none, or a fixed field of the message was not captured. */
static inline const struct cm *packet_cm(const struct packet *p)
{
    bool whole = p->classification.class == PAYLOAD_MAD && p->mad.kind == MAD_KIND_CM &&
                 p->mad.result == WIRE_OK;
    return whole ? &p->mad.cm : NULL;
}

/*
 * For a connected-mode message: is this its only or its First packet, which has the encapsulation
 * header?
 */
static inline bool packet_begins_message(const struct packet *p)
{
    const struct stream_result *part = &p->classification.fragment;
    return p->classification.class == PAYLOAD_IPOIB ||
           (part->index == 0 && part->state != STREAM_ORPHAN && part->state != STREAM_REPEATED);
}

/*
 * On a connection that is not known: an IP datagram in the place of IPoIB's, after a header with
 * one wrong field.
 */
bool packet_has_wrong_field(const struct packet *p);

/* Key of the link that the packet is on. */
static inline uint32_t packet_link_key(const struct packet *p)
{
    return link_key(p->at.interface, p->ib.pkey);
}

/*
 * Is this a CM message of an IPoIB connection? Decided by the connection if known, else by the
 * message's Service-ID.
 */
static inline bool packet_cm_is_ipoib(const struct packet *p, const struct cm *cm)
{
    return p->classification.connection ? connection_is_ipoib(p->classification.connection)
                                        : cm_service_is_ipoib(cm->service);
}

#endif

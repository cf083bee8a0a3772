/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was seen of a fabric so far, and what a packet is in the light of it. Fed with every
 * InfiniBand packet of a capture once, in its order; by Wireshark's plugin in the first pass, by
 * the tools as they read.
 */
#ifndef IPOIB_MODEL_FABRIC_H
#define IPOIB_MODEL_FABRIC_H

#include "model/connection.h"
#include "model/evidence.h"
#include "model/group.h"
#include "model/integrity.h"
#include "model/interfaces.h"
#include "model/neighbour.h"
#include "model/order.h"
#include "model/qpns.h"
#include "model/resolution.h"
#include "model/subnet.h"
#include "wire/carrier.h"
#include "wire/payload.h"

/* Two interfaces of the capture that were taken for one subnet's, and are not; frame 0: none. */
struct contradiction {
    uint32_t frame, interface[2];
};

/*
 * As often what is known of two interfaces is merged, which takes time as the tables are long. Of
 * interfaces that are joined later nothing is known that was learnt before.
 */
enum { FABRIC_MERGES_MAX = 64 };

/* What was known under one number is known under the other. */
struct merge {
    uint16_t from, to;
};

struct fabric {
    struct endports *endports;
    struct groups *groups;
    struct subnet *subnet;
    struct connections *connections;
    struct neighbours *neighbours;
    struct resolutions *resolutions;
    struct qpns *qpns;
    struct sources *sources;
    /*
     * Who feeds this asks the SA itself, as the probe does: a group's record is what the SA says
     * now. In a capture it may have changed in a frame that was not captured.
     */
    bool records_are_current;
    struct order order;
    /*
     * The SA may have told a port other parameters than those that are known: a request of its GSI
     * is missing (the SA's own aside, which serves ports elsewhere), it sent requests before the
     * capture began, or the request of a record was not seen. The first and the last frame that
     * shows such a thing; 0: none. The last one may also be that in which the SM asked a port to
     * join again.
     */
    uint32_t first_doubt_frame, doubt_frame;
    struct interfaces *interfaces;
    struct evidence *evidence;
    struct contradiction contradiction;
    struct merge merges[FABRIC_MERGES_MAX];
    unsigned merged; /* how many of them there are */
};

/*
 * All is bounded: a hostile capture does not eat the memory, a fabric of 50,000 ports stays below.
 * FABRIC_MEMORY_MAX octets are what it takes when all is full at once, by the octets that
 * tests/unit/test_memory.c holds for one of each, tables included:
 *
 *   a connection with its two flows               300  FABRIC_CONNECTIONS_MAX         39 MB
 *   a flow whose handshake was not seen            80  4 for each of these            42 MB
 *   a flow's open messages                        320  STREAMS_MAX                    84 MB
 *   what comes behind a gap in a message           40  STREAM_RUNS_MAX                42 MB
 *   a neighbour                                   160  FABRIC_NEIGHBOURS_MAX          42 MB
 *   a known QP                                     80  FABRIC_QPNS_MAX                21 MB
 *   a group with one member                       200  FABRIC_GROUPS_MAX              13 MB
 *   a membership                                   80  4 for each of these            21 MB
 *   a link, of a broadcast group                  100  one for each of these           7 MB
 *   an endport with its P_Key table               270  FABRIC_ENDPORTS_MAX            71 MB
 *   a route of subnet management                  160  2^17                           21 MB
 *   a source of ICRCs                              48  FABRIC_SOURCES_MAX              6 MB
 */
#define FABRIC_MEMORY_MAX 410000000
enum {
    FABRIC_CONNECTIONS_MAX = 1 << 17,
    FABRIC_NEIGHBOURS_MAX = 1 << 18,
    FABRIC_QPNS_MAX = 1 << 18,
    FABRIC_GROUPS_MAX = 1 << 16,
    FABRIC_ENDPORTS_MAX = 1 << 18,
    FABRIC_SOURCES_MAX = 1 << 17,
};
struct fabric *fabric_new(void);
void fabric_free(struct fabric *f);
/* How interfaces are taken, by the user's word; before the first packet. INTERFACES_AUTO else. */
void fabric_take_interfaces(struct fabric *f, enum interfaces_mode mode);

enum payload_class {
    PAYLOAD_NONE,  /* none, or headers not whole */
    PAYLOAD_OTHER, /* not IPoIB's, as far as can be told */
    PAYLOAD_MAD,
    PAYLOAD_IPOIB,   /* one datagram with its encapsulation header */
    PAYLOAD_PART,    /* a part of a message of a connection that is IPoIB's */
    PAYLOAD_FOREIGN, /* data of a connection that is known to be another protocol's */
};

/* What a packet is. */
struct ruling {
    enum payload_class class;
    bool by_context;               /* decided by what came before, not by the packet alone */
    struct connection *connection; /* whose data, or CM message, it is; NULL: none is known */
    bool to_requester;
    struct stream_result part; /* PAYLOAD_PART */
};

/* Where in the capture a packet stands. */
struct moment {
    uint32_t frame;     /* from 1 */
    uint16_t interface; /* its number by interfaces_enter(); once it is classified, its subnet's */
    int64_t ns;         /* since 1970 */
};

struct packet {
    struct moment at;
    struct view octets;
    struct ib_packet ib;
    enum wire_result result; /* of ib_decode() */
    /* By ib: what a MAD says; else what the payload of a Send Only, First or UD packet says as
     * IPoIB's. */
    union {
        struct mad_payload mad;
        struct datagram datagram;
    };
    const uint8_t *bare_dgid; /* without InfiniBand headers: the destination's GID; NULL: unknown */
    struct port src, dst;
    uint16_t captured_on;         /* its interface's number, as long as it is on its own */
    struct crcs_count crcs_count; /* model/integrity.h */
    struct integrity_memo {
        bool known;
        enum integrity is;
    } integrity; /* for packet_integrity() alone */
    struct ruling verdict;
};

/*
 * Decode the packet in v, and say what it is as far as it tells itself. outer: of the IP packet
 * (RoCE v2), else nobody.
 */
void packet_read(struct packet *p, const struct moment *at, struct view v, enum ib_start start,
                 const struct port *outer_src, const struct port *outer_dst);

/* The same for a frame without InfiniBand headers (CARRIER_IPOIB, CARRIER_COOKED). */
void packet_read_bare(struct packet *p, const struct moment *at, const struct carrier *c);

/* Is it IPoIB without InfiniBand headers? */
static inline bool packet_is_bare(const struct packet *p)
{
    return p->verdict.class == PAYLOAD_IPOIB && !p->ib.has_bth;
}

/*
 * Decide the rest by what is known of the fabric, and learn which QPs and connections are IPoIB's,
 * and of which ports the CRCs count.
 * Once for each packet, in the order of the capture.
 */
void fabric_classify(struct fabric *f, struct packet *p);

/* The SA may have told somebody other parameters before this frame. */
void fabric_doubt(struct fabric *f, uint32_t frame);

/*
 * Has the group had no other parameters than it has, as far as requests show it? Who joined before
 * the capture began was told the same then.
 */
bool fabric_knows_history(const struct fabric *f, const struct group *group);

/* For who decodes the packet once more: its interface's subnet, as it is known by now. */
void fabric_place(const struct fabric *f, struct packet *p);

/*
 * The same whoever asks and whenever, after fabric_classify. Computes the CRCs of all of the packet
 * where they count, once: only for what is to be learnt from it, or is wrong in it.
 */
enum integrity packet_integrity(const struct packet *p);

/* Nothing is learnt from it, and nobody is at fault for it. */
static inline bool packet_is_corrupt(const struct packet *p)
{
    return packet_integrity(p) == INTEGRITY_CORRUPT;
}

/* Its CM message with every fixed field; NULL: it is none, or was not captured so far. */
static inline const struct cm *packet_cm(const struct packet *p)
{
    bool whole = p->verdict.class == PAYLOAD_MAD && p->mad.kind == MAD_KIND_CM &&
                 p->mad.result == WIRE_OK;
    return whole ? &p->mad.cm : NULL;
}

/* Of a connected message: is it its only packet or its First, which has the encapsulation header?
 */
static inline bool packet_begins_message(const struct packet *p)
{
    const struct stream_result *part = &p->verdict.part;
    return p->verdict.class == PAYLOAD_IPOIB ||
           (part->index == 0 && part->verdict != STREAM_ORPHAN && part->verdict != STREAM_REPEATED);
}

/* Is it a CM message of an IPoIB connection? By its connection, else by its own Service-ID. */
static inline bool packet_cm_is_ipoib(const struct packet *p, const struct cm *cm)
{
    return p->verdict.connection ? connection_is_ipoib(p->verdict.connection)
                                 : cm_service_is_ipoib(cm->service);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of subnet administration and subnet management: groups and members, endports, paths,
 * subscriptions, subnet managers. The model learns from each message first and then reports its
 * events.
 */
#ifndef IPOIB_MODEL_SUBNET_H
#define IPOIB_MODEL_SUBNET_H

#include "model/group.h"
#include "model/port.h"
#include "wire/payload.h"

/* A request to the SA that waits for its response. */
struct sa_request {
    struct port requester;
    uint64_t tid, mask;
    struct group *group;     /* entity of the request; NULL: none */
    struct endport *endport; /* endport of the membership */
    uint32_t frame;
    uint16_t attribute;
    uint8_t method, join_state;
    uint8_t mtu_selector, mtu; /* if the component mask has them */
    uint8_t rate_selector, life_selector;
    struct mc_member wanted; /* of a Set or Get: its components, without the GIDs */
    uint8_t traps;           /* SUBSCRIBED_* of an InformInfo that subscribes */
    uint8_t sent, responses; /* how often it was captured, and responses to it; up to 255 */
};

enum subnet_event_kind {
    SUBNET_GROUP_ASKED, /* not an event; used in the request record only */
    SUBNET_JOIN_ASKED,
    SUBNET_JOINED,
    SUBNET_JOIN_REFUSED,
    SUBNET_LEAVE_ASKED,
    SUBNET_LEFT,
    SUBNET_LEAVE_REFUSED,
    SUBNET_GROUP_RECORD,  /* a record in a response or in a table */
    SUBNET_GROUP_MISSING, /* the SA has no record of the group */
    SUBNET_GROUP_CREATED, /* trap 66 */
    SUBNET_GROUP_DELETED, /* trap 67 */
    SUBNET_SUBSCRIBED,    /* InformInfo, accepted */
    SUBNET_PATH,
    SUBNET_SA_MOVED,         /* the SA responds from another LID than before */
    SUBNET_PORT_INITIALISED, /* the SM sets a port to Armed or Active: initialised */
    SUBNET_PORT_INFO,
    SUBNET_PKEYS,
    SUBNET_SM_SEEN,    /* SMInfo of a master SM */
    SUBNET_SM_SECOND,  /* SMInfo of another master SM than before */
    SUBNET_SM_CONTROL, /* Set(SMInfo): handover and the like */
    SUBNET_STAYED,     /* a member that long ago left the link, or listens no more, has not left */
    SUBNET_TEARDOWN,   /* it is known now whether a connection ended with its interface */
};

/*
 * A record of a GetTable response that begins in the RMPP segment before this packet (IBA 13.6.2.1,
 * 15.2.1.1). Only its end is in the packet. Valid until the next packet is observed.
 */
struct split_record {
    const uint8_t *copy;  /* the whole record; NULL: it lies in the packet */
    uint32_t size, begun; /* bytes of the record, and those of them in the segment before */
    const uint8_t *rest;  /* in the packet: the size - begun bytes after them */
};

struct subnet_event {
    enum subnet_event_kind kind;
    uint16_t interface;
    /* NULL: none, table full, or a split record that is older than what is known of its group */
    const struct group *group;
    /* endport of the membership, table or subscription; NULL: not known */
    const struct endport *endport;
    const struct member *member; /* membership after the event; NULL: not known */
    uint8_t join_state_before;   /* JoinState before the event, as far as known */
    bool left_before;            /* the port had left the group before */
    bool pending_before;         /* JOIN_ASKED: another request had no response before */
    /*
     * MCMemberRecord, PathRecord, InformInfo or Notice: in the packet, or split.copy; NULL: none
     */
    const uint8_t *record;
    struct split_record split;
    struct mc_member member_record;
    /*
     * For JOINED, JOIN_REFUSED, GROUP_RECORD and GROUP_CREATED of an IPoIB group: copies of its
     * parameters, and of those of its link's broadcast group (broadcast NULL: not known), at this
     * event. Later events may change the originals.
     */
    struct group group_facts, broadcast_facts;
    const struct group *broadcast;
    const struct connection *connection; /* TEARDOWN */
    const struct sa_request *request; /* this request, or that of this response; NULL: not seen */
    /* SA_MOVED: previous LID of the SA; PORT_INFO, PORT_INITIALISED: LID of the port; SM_*: 0 */
    uint16_t lid;
    uint8_t control; /* SM_CONTROL: SM_HANDOVER or another control value */
    uint8_t mtu;     /* PATH: IBA code */
};

/*
 * May the port that received this record of a group have had other parameters of the
 * broadcast group b than those of the event? True if its request was not captured: then other
 * frames before it may be missing too, such as those that changed these parameters. A request that
 * already has its response may be an older one with the same transaction ID.
 */
bool event_may_have_other_parameters(const struct groups *g, const struct subnet_event *e,
                                     const struct group *b);

struct subnet;
/*
 * The LID from which the SA last responded; 0: not seen. Requests of the port there do not appear
 * on the wire.
 */
uint16_t subnet_sa_lid(const struct subnet *s, uint16_t interface);

/*
 * The packets that the SA's GSI sent from that LID, as far as they were captured. Its PSNs increase
 * by one for all destinations together (IBA 9.8.2.2).
 */
struct sa_sequence {
    struct sequence gsi;    /* a truncated packet is a gap */
    uint32_t packets, gaps; /* packets: at least 1 */
    uint16_t to;            /* LID to which it sent first; 0: none */
    bool to_several;        /* it sent to several ports */
    bool from_start;        /* its first packet since the start of its node was captured */
    /*
     * Its port has sent IPoIB datagrams: the SA's responses to the port's own requests are never on
     * the wire, but have PSNs.
     */
    bool has_interface;
};

/*
 * Does the capture point see all packets of the SA? A host that does not run the SM sees only those
 * to its own port, and then many are missing. A capture point that sees those to several ports is
 * at the SA, or at a switch: a packet that is missing there was sent and not captured, however many
 * are missing. This does not apply if the SA's own port has an interface. One packet shows nothing.
 */
static inline bool sa_sequence_is_shown(const struct sa_sequence *q)
{
    bool sees_all = q->to_several && !q->has_interface;
    return q->packets > 1 && (sees_all || q->gaps <= 1 + q->packets / 8);
}

/*
 * Were all packets captured that the SA sent after this frame? The sequence begins with the packet
 * that shows which port is the SA; nobody knows what it lacks before that, unless that was the
 * first packet of its node.
 */
static inline bool sa_sequence_is_whole_since(const struct sa_sequence *q, uint32_t frame)
{
    bool begins = q->from_start || q->gsi.first_frame <= frame;
    return begins && sequence_is_whole_since(&q->gsi, frame);
}

/* Was every packet of the SA captured since its node started? Then all memberships are known. */
static inline bool sa_sequence_is_whole(const struct sa_sequence *q)
{
    return q->from_start && !q->gsi.gap_frame && !q->has_interface;
}

/*
 * The frames that show that the SA of a subnet may have sent a port other group parameters than the
 * known ones. Such a frame shows that a request of the port's GSI is missing (except the SA's own
 * port, which also serves other ports), that the GSI sent requests before the capture, or that the
 * request of a record was not seen. 0: none.
 */
struct doubt {
    uint32_t first_frame;
    uint32_t last_frame; /* may also be a frame in which the SM asked a port to reregister */
};

struct doubt subnet_doubt(const struct subnet *s, uint16_t interface);

/* NULL: no response of the SA was captured. */
const struct sa_sequence *subnet_sa_sequence(const struct subnet *s, uint16_t interface);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Multicast groups as subnet administration reports them: MGID, MLID, Q_Key and other parameters
 * (IBA 15.2.5.17), members with their JoinState, and the IPoIB links that the broadcast-GIDs define
 * (RFC 4391 section 5).
 */
#ifndef IPOIB_MODEL_GROUP_H
#define IPOIB_MODEL_GROUP_H

#include "model/endport.h"
#include "wire/mgid.h"
#include "wire/sa.h"

enum group_state {
    GROUP_UNCONFIRMED, /* mentioned by a port or a trap; no record seen */
    GROUP_PRESENT,     /* present: the SA sent a record */
    GROUP_MISSING,     /* the SA answered that it has no such group */
    GROUP_DELETED,     /* the SA reported its deletion (trap 67) */
};

struct group {
    uint8_t mgid[MGID_SIZE]; /* must be first: the key, with interface */
    uint16_t interface;
    uint16_t mlid, pkey;
    uint16_t waits : 1;              /* the last join request has no response yet */
    uint16_t first_unanswered : 1;   /* neither has the first one before any record */
    uint16_t creator_may_differ : 1; /* event_may_have_other_parameters() of its first record */
    uint16_t first_tid : 13;         /* low bits of the first join request's transaction ID */
    uint32_t qkey, flow_label;
    uint8_t mtu, rate, life; /* IBA codes */
    uint8_t tclass, sl, hop_limit;
    uint8_t state;   /* enum group_state */
    uint8_t records; /* number of changes of its parameters, up to 255 */
    uint32_t frame;  /* last message of the SA about it */
    /* last frame in which the SA changed a parameter other than the MLID; 0: never */
    uint32_t changed_frame;
    uint32_t since_frame;     /* first record with the current parameters */
    uint32_t members;         /* known members that keep the group (join_keeps_group()) */
    struct endport *informed; /* last port that received the current parameters; NULL: not known */
    uint32_t deleted_frame;   /* last Report of a deletion; 0: never */
    uint32_t last_left_frame; /* the SA ended the last of their memberships; 0: never */
    uint32_t record_frame;    /* last record; 0: none */
    uint32_t join_request_frame; /* last join request that was not refused; 0: none */
    struct group *next;          /* next broadcast group of the same partition */
    struct group *merged; /* merged into this group, which has the data now; NULL: not merged */
};

/* Largest join_mask. A component mask with higher bits, which no component has, is stored as this.
 */
enum { JOIN_MASK_MAX = 0xfffff };

/* A port's membership of a group. */
struct member {
    struct group *group; /* first two members: the key */
    struct endport *endport;
    uint32_t frame;       /* last response of the SA about it */
    uint16_t mlid;        /* MLID that the SA gave to this port */
    uint16_t mlid_before; /* MLID of its previous join; 0: none */
    uint16_t request;     /* low bits of the transaction ID of its newest join or leave request */
    uint16_t reported_on; /* capture interface of its first IGMP or MLD report, for its clock */
    uint32_t join_mask : 20;     /* component mask of its join request; 0: not captured */
    uint32_t reported_ended : 3; /* endport->ended at that report */
    bool sees_none : 1;          /* the SA told the port that the group does not exist */
    uint8_t join_state : 4;      /* JOIN_*; 0: not a member */
    bool refused : 1;            /* the SA refused the last join */
    bool pending : 1;            /* its newest join or leave request has no response yet */
    bool unanswered : 1;         /* a request since the last granted one has no response */
    bool queried : 1;            /* the port requested the group's record */
    /* time of that report, or when the port left the broadcast group, ns since 1970; 0: none */
    int64_t reported_ns;
    /*
     * the port reported in this frame that it listens no more, which is the time in reported_ns; 0:
     * it listens, or nothing is known. Of the broadcast group: last frame in which it asked to
     * leave
     */
    uint32_t stopped_frame;
    /*
     * of that first report, by this QPN, if the host says to stop by a report only (IGMPv3, MLDv2,
     * from all sources); 0: it may not
     */
    uint32_t reported_frame, reported_qpn;
};

static inline uint32_t link_key(uint16_t interface, uint16_t pkey)
{
    return (uint32_t)interface << 16 | (pkey & 0x7fffu);
}

static inline uint16_t link_interface(uint32_t link)
{
    return (uint16_t)(link >> 16);
}

/* The same partition on another interface. */
static inline uint32_t link_on(uint32_t link, uint16_t interface)
{
    return (uint32_t)interface << 16 | (link & 0xffffu);
}

/* The SA deletes a group when its last member with one of these leaves (IBA 15.2.5.17). */
static inline bool join_keeps_group(uint8_t join_state)
{
    return join_state & (JOIN_FULL | JOIN_SEND_ONLY_FULL);
}

struct groups;

/* NULL: not known. */
const struct group *groups_find(const struct groups *g, uint16_t interface, const uint8_t *mgid);
/* NULL too if the port has not asked the SA about the group, and only listens to it. */
const struct member *groups_member(const struct groups *g, const struct group *group,
                                   const struct endport *port);
/*
 * The first of the partition's known broadcast groups (struct group, next); NULL: none is known.
 * One scope may have several: their MGIDs differ in the flags, or in the P_Key's full-membership
 * bit.
 */
const struct group *groups_broadcasts(const struct groups *g, uint16_t interface, uint16_t pkey);

/*
 * The broadcast group of the link that a group with this P_Key and scope belongs to; the newest if
 * there are several. NULL: the SA sent no record of one.
 */
const struct group *groups_broadcast(const struct groups *g, uint16_t interface, uint16_t pkey,
                                     uint8_t scope);
/* The partition's only broadcast group. NULL: none, or several are present or may be. */
const struct group *groups_only_broadcast(const struct groups *g, uint16_t interface,
                                          uint16_t pkey);

static inline const struct group *group_of(const struct group *g)
{
    while (g && g->merged)
        g = g->merged;
    return g;
}

/* Has the port asked the SA about the group, or the SA answered? */
static inline bool member_has_asked(const struct member *m)
{
    return m->frame || m->pending || m->queried;
}

/*
 * Is the last response of the SA about this membership still valid, unless a packet of the port's
 * GSI is missing?
 */
static inline bool member_seems_known(const struct member *m)
{
    const struct endport *p = m->endport;
    return m->frame > MAX(p->initialised_frame, p->reregister_frame) && !m->pending;
}

/* Is it still valid, as far as the capture shows? */
static inline bool member_is_known(const struct member *m)
{
    return m->frame > m->endport->gsi.gap_frame && member_seems_known(m);
}

static inline uint8_t group_scope(const struct group *g)
{
    return g->mgid[MGID_FLAGS_SCOPE] & 0x0f;
}

bool group_is_broadcast(const struct group *g);

/*
 * May the port have received other parameters of the broadcast group b than those in the SA's last
 * record of it? True if since that record a request of the port was lost, or the port was
 * initialised or asked to register again, or if it has a join pending. Also true if the port sent
 * packets before the first one that was captured, and has not joined the group since.
 */
bool groups_port_may_differ(const struct groups *g, const struct group *b,
                            const struct endport *port);

/* Did the SA say anything about the group, or did a port ask it to join? */
static inline bool group_was_mentioned(const struct group *g)
{
    return g->frame || g->join_request_frame;
}

/*
 * The SA answered that the group does not exist or reported its deletion, and no port has requested
 * to create it since.
 */
static inline bool group_is_absent(const struct group *g)
{
    return (g->state == GROUP_MISSING || g->state == GROUP_DELETED) &&
           g->join_request_frame < g->frame;
}

/*
 * May the group exist although the SA reports its deletion? The SA repeats an unacknowledged
 * Report, and the Report does not contain the time of the deletion (IBA 13.4.9): it may be about an
 * earlier one. The Report shows nothing if a membership is known, or if a join request or a record
 * was captured after the last membership ended.
 */
static inline bool group_may_exist(const struct group *g)
{
    return g->members || MAX(g->record_frame, g->join_request_frame) > g->last_left_frame;
}

/* All groups, in the order of their first frames. */
const struct group *groups_at(const struct groups *g, unsigned index);
unsigned groups_count(const struct groups *g);

#endif

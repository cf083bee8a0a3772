/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Multicast groups as subnet administration tells of them: MGID, MLID, Q_Key and the rest
 * (IBA 15.2.5.17), who is a member in which way, and the links of IPoIB that the broadcast-GIDs
 * make (RFC 4391 §5).
 */
#ifndef IPOIB_MODEL_GROUP_H
#define IPOIB_MODEL_GROUP_H

#include "model/endport.h"
#include "wire/mgid.h"
#include "wire/sa.h"

enum group_state {
    GROUP_HEARD_OF, /* somebody spoke of it; whether it is there was not seen */
    GROUP_THERE,    /* the SA told its attributes */
    GROUP_MISSING,  /* the SA said that there is none */
    GROUP_GONE,     /* the SA told that it was deleted */
};

struct group {
    uint8_t mgid[MGID_SIZE]; /* first: it is the key, with the interface */
    uint16_t interface;
    uint16_t mlid, pkey;
    uint32_t qkey, flow_label;
    uint8_t mtu, rate, life; /* codes of the IBA */
    uint8_t tclass, sl, hop_limit;
    uint8_t state;          /* enum group_state */
    uint8_t records;        /* how often its attributes changed, up to 255 */
    uint32_t frame;         /* of the SA's last word */
    uint32_t changed_frame; /* when the SA told another parameter than before, the MLID aside; 0:
                               never */
    uint32_t since_frame;   /* of the first record with the parameters that it has */
    struct endport *told;   /* the last port that received these parameters; NULL: not known */
    uint32_t gone_frame;    /* when it was last deleted: older memberships are void; 0: never */
    uint32_t asked_frame;   /* a join was last asked, and not refused so far; 0: never */
    uint32_t members;       /* ports that are members in any way, of those seen */
    struct group *next;     /* of the link: another broadcast group of the partition */
    struct group *merged;   /* what was known here is known there now; NULL: it is not */
};

/* A port's membership of a group. */
struct member {
    struct group *group; /* first two: they are the key */
    struct endport *endport;
    uint32_t frame;       /* of the SA's last word */
    uint16_t mlid;        /* that the SA told this port */
    uint16_t mlid_before; /* when it joined the time before; 0: never */
    uint8_t join_state;   /* JOIN_*; 0: it left */
    bool refused;         /* the last join was refused */
    bool pending;         /* it asked to join or to leave, and the answer was not seen so far */
    bool asked;           /* it asked the SA for the group's record */
    uint32_t
        reported; /* it said by IGMP or MLD that it listens: s since 1970, low 32 bits; 0: never */
};

/*
 * A partition on an interface, with the broadcast groups that are known of it. Of a scope there may
 * be several: their MGIDs differ in their flags, or in the P_Key's bit of full membership.
 */
struct link {
    uint32_t key; /* first */
    struct group *broadcast;
};

static inline uint32_t link_key(uint16_t interface, uint16_t pkey)
{
    return (uint32_t)interface << 16 | (pkey & 0x7fffu);
}

struct groups;

/* limit: how many groups, and four times as many memberships, are kept. */
struct groups *groups_new(unsigned limit);
void groups_free(struct groups *g);

/* NULL: not known (create not set), or too many. */
struct group *groups_find(struct groups *g, uint16_t interface, const uint8_t *mgid, bool create);
struct member *groups_member(struct groups *g, struct group *group, struct endport *port,
                             bool create);
const struct link *groups_link(struct groups *g, uint16_t interface, uint16_t pkey);

/*
 * The broadcast group of the link that a group with this P_Key and scope belongs to, of several the
 * newest; NULL: the SA told of none.
 */
struct group *groups_broadcast(struct groups *g, uint16_t interface, uint16_t pkey, uint8_t scope);
/* The partition's only one; NULL: none, or several that are there or may be. */
struct group *groups_only_broadcast(struct groups *g, uint16_t interface, uint16_t pkey);

/* Two interfaces turned out to see one subnet; after endports_merge(). */
void groups_merge(struct groups *g, uint16_t from, uint16_t to);

static inline struct group *group_of(struct group *g)
{
    while (g && g->merged)
        g = g->merged;
    return g;
}

/* The SA sent a record of the group to the port; NULL: the port is not known. */
void group_told(struct group *group, const struct mc_member *record, struct endport *to,
                uint32_t frame);

/* Is the SA's last word on the membership still true, as far as the capture tells? */
static inline bool member_is_known(const struct member *m)
{
    const struct endport *p = m->endport;
    return m->frame && m->frame > p->gap_frame && m->frame > p->born_frame &&
           m->frame > p->reregister_frame && !m->pending;
}

static inline uint8_t group_scope(const struct group *g)
{
    return g->mgid[MGID_FLAGS_SCOPE] & 0x0f;
}

bool group_is_broadcast(const struct group *g);

/*
 * The SA said that there is none, or that it was deleted, and nobody has asked to create it since.
 */
static inline bool group_is_absent(const struct group *g)
{
    return (g->state == GROUP_MISSING || g->state == GROUP_GONE) && g->asked_frame < g->frame;
}

/* All, in the order in which they were heard of. */
const struct group *groups_at(const struct groups *g, unsigned index);
unsigned groups_count(const struct groups *g);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Endports (IBA 3.5.10): a port of a channel adapter with its GID and LIDs, as subnet management
 * and administration tell of it. One that the subnet manager brought up in this capture is born:
 * since then all that it joined, subscribed to and left was seen; of others nobody knows what they
 * did before.
 */
#ifndef IPOIB_MODEL_ENDPORT_H
#define IPOIB_MODEL_ENDPORT_H

#include <glib.h>

#include "wire/ib.h"

struct connection;

enum { SUBSCRIBED_CREATED = 1, SUBSCRIBED_DELETED = 2 }; /* traps 66 and 67 */
enum { ENDPORT_PKEYS = 32 };                             /* one block of the P_Key table */

/* As many interfaces of one port are told apart; a port with more is not judged by its UD QPs. */
enum { ENDPORT_UD_QPS = 4 };

struct endport {
    uint8_t gid[GID_SIZE]; /* first: it is the key, with the interface; zero: not known */
    uint16_t interface;
    uint16_t lid;                  /* the last one seen; 0: none */
    uint8_t lmc;                   /* 2^lmc LIDs from there (IBA 4.1.3) */
    uint8_t neighbor_mtu, mtu_cap; /* codes of the IBA; 0: not known */
    uint8_t subscribed;            /* SUBSCRIBED_* */
    uint8_t subscribing;           /* so: asked, and the answer was not seen so far */
    uint32_t born_frame;           /* 0: before the capture began */
    uint32_t new_frame; /* given a LID, having had none, as after a start: nothing that it joined is
                           older; 0: not seen */
    uint32_t
        gap_frame; /* the last at which something that its GSI had sent was missing; 0: never */
    uint32_t reregister_frame; /* the SM last asked it to join and to subscribe again; 0: never */
    uint32_t gsi_psn;     /* of the last packet that its GSI (QP1) sent, with bits of endport.c */
    uint32_t smi_psn;     /* of the last packet that its SMI (QP0) sent, likewise */
    uint32_t smi_seconds; /* when it sent that: s since 1970, low 32 bits */
    struct {
        uint32_t qpn;
        uint16_t pkey;              /* 15 bits */
        bool before;                /* named before an interface of the partition joined again */
    } ud[ENDPORT_UD_QPS];           /* UD QPs that its link-layer addresses named; qpn 0: unused */
    uint16_t *pkeys;                /* the first block of its P_Key table; NULL: not seen */
    struct connection *connections; /* the newest of IPoIB's */
    struct endport *merged;         /* what was known here is known there now; NULL: it is not */
};

struct endports;

/* limit: how many are kept. */
struct endports *endports_new(unsigned limit);
void endports_free(struct endports *e);

/* By GID or LID; made if there is none and create is set. NULL: not known, or too many. */
struct endport *endports_by_gid(struct endports *e, uint16_t interface, const uint8_t *gid,
                                bool create);
struct endport *endports_by_lid(struct endports *e, uint16_t interface, uint16_t lid, bool create);

/*
 * The LID is one of the port with this GID: so a record or a packet says, or PortInfo, by which the
 * subnet manager assigns it. Only the latter takes it from another port that has it: several GIDs
 * may share a LID, those of virtual functions (IBA 4.1.1), and who asks for the LID is its first.
 * Returns the port; NULL: too many.
 */
struct endport *endports_learn(struct endports *e, uint16_t interface, uint16_t lid,
                               const uint8_t *gid);
struct endport *endports_assign(struct endports *e, uint16_t interface, uint16_t lid,
                                const uint8_t *gid);

/*
 * Two interfaces turned out to see one subnet: what is known of ports on the one is known on the
 * other. An endport that is known on both is merged, and who points to it asks endport_of(). P_Key
 * tables are forgotten: the one may be older than what the other interface has seen of the port's
 * route, before it knew whose that is.
 */
void endports_merge(struct endports *e, uint16_t from, uint16_t to);

static inline struct endport *endport_of(struct endport *p)
{
    while (p && p->merged)
        p = p->merged;
    return p;
}

static inline bool endport_has_gid(const struct endport *p)
{
    static const uint8_t zero[GID_SIZE];
    return memcmp(p->gid, zero, GID_SIZE) != 0;
}

/* The subnet manager brought the port up: what it did before does not matter. */
void endport_born(struct endport *p, uint32_t frame);

/* The subnet manager gave the port a LID; it had none before. */
void endport_started(struct endport *p, uint32_t frame);

/*
 * The port's GSI sent a packet with this PSN. They count up one by one (IBA 9.8.2.2), whoever it
 * sends to: what was not captured shows, and what was known of the port may be out of date since.
 * True: nothing that it sent since its last packet, or since the port was brought up, is missing.
 */
bool endport_gsi_sent(struct endport *p, uint32_t psn, uint32_t frame);

/*
 * A port's SMI sent a packet with this PSN, after the last one: it is the next one, or one between
 * them is missing. An SMI that does not count shows neither.
 */
enum smi_sent { SMI_UNKNOWN, SMI_NEXT, SMI_MISSING };
enum smi_sent endport_smi_sent(uint32_t *last, uint32_t psn);

/* Was it born in this capture, and all that it asked the SA since captured? */
static inline bool endport_is_followed(const struct endport *p)
{
    return p->born_frame > p->gap_frame;
}

/*
 * Is everything captured that it asked the SA since its start? One that is only brought up again
 * keeps the memberships that it had.
 */
static inline bool endport_is_whole(const struct endport *p)
{
    return p->new_frame > p->gap_frame;
}

/* A link-layer address of the port on this partition named the UD QP. */
void endport_announces(struct endport *p, uint16_t pkey, uint32_t qpn);
/* An interface of the partition joins the broadcast group: it may have another UD QP by now. */
void endport_joins(struct endport *p, uint16_t pkey);
/*
 * Is the QPN one that the port announced on this partition? Unknown: it announced none since an
 * interface joined, or more than are kept.
 */
enum announced { ANNOUNCED, ANNOUNCED_ANOTHER, ANNOUNCED_UNKNOWN };
enum announced endport_announced(const struct endport *p, uint16_t pkey, uint32_t qpn);

/* Is the LID one of the port's? */
static inline bool endport_has_lid(const struct endport *p, uint16_t lid)
{
    return p->lid && lid >= p->lid && lid < p->lid + (1u << p->lmc);
}

/* Is the P_Key (15 bits of it) in the port's table? A table whose first block is full may go on. */
enum pkey_known { PKEY_IS_THERE, PKEY_IS_NOT_THERE, PKEY_NOT_KNOWN };
enum pkey_known endport_has_pkey(const struct endport *p, uint16_t pkey);

#endif

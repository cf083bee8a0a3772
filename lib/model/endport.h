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

/* By GID or LID; NULL: not known. */
const struct endport *endports_by_gid(const struct endports *e, uint16_t interface,
                                      const uint8_t *gid);
const struct endport *endports_by_lid(const struct endports *e, uint16_t interface, uint16_t lid);

/* Where what was known of the endport is known now (endports_merge() of model/write.h). */
static inline const struct endport *endport_of(const struct endport *p)
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

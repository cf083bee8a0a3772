/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of a fabric; only for the files of model/. */
#ifndef IPOIB_MODEL_FABRIC_STATE_H
#define IPOIB_MODEL_FABRIC_STATE_H

#include "model/copies.h"
#include "model/evidence.h"
#include "model/fabric.h"
#include "model/psn_gaps.h"
#include "model/reversal.h"
#include "model/transfers.h"
#include "model/waiting.h"
#include "model/delivered.h"
#include "model/write.h"

/* How many packets of a kind have a digest, and how many of these are copies (model/copies.h). */
struct copied {
    uint64_t packets, copies;
};

/* To a group, to one port, of a connection. */
enum copied_kind { COPIED_TO_GROUP, COPIED_DATAGRAM, COPIED_CONNECTED, COPIED_KINDS };

/*
 * Members that reported by IGMP or MLD that they listen no more, and may not have left the group at
 * the SA; and the memberships with which a port left its link, and may not have left the others.
 */
enum { STOPPED_MAX = 64 };
struct stopped {
    unsigned n;                          /* places in use */
    struct member *members[STOPPED_MAX]; /* NULL: unused */
};

/* Members that reported that they listen, and had not joined as FullMember before. */
enum { LISTENING_MAX = 64 };
struct listening {
    unsigned n;
    struct member *members[LISTENING_MAX]; /* NULL: unused */
    /* of IGMP and MLD: last message after which a host may stop silently; 0: none */
    uint32_t silent_frame[2];
};

struct fabric {
    struct fabric_facts facts; /* read-only view of the tables below */
    struct endports *endports;
    struct groups *groups;
    struct subnet *subnet;
    struct connections *connections;
    struct neighbours *neighbours;
    struct resolutions *resolutions;
    struct stale_uses *stale;
    struct qpns *qpns;
    struct sources *sources;
    struct interfaces *interfaces;
    struct evidence *evidence;
    struct psn_gaps *psn_gaps;
    struct transfers *transfers;
    struct waiting *waiting, *waiting_smps; /* for the SA; for ports */
    struct stopped stopped;
    struct listening listening;
    struct reversals reversals;
    struct copies *copies;
    struct fabric_limits limits;
    struct undone undone;
    struct unseen unseen;
    struct copied copied[COPIED_KINDS];
    uint64_t n_to_ports;         /* packets to single ports */
    uint16_t one_slid, one_dlid; /* of all of these; 0: they have several */
    uint32_t first_copy;         /* its frame; 0: none */
    struct delivered delivered;
    int64_t copied_ns;       /* time of the packet of which the current one is a copy */
    uint64_t n_ip, n_opaque; /* IP datagrams; those of a protocol that nothing here looks into */
    uint64_t n_split;        /* datagrams in several packets of a connection */
    uint32_t first_opaque;   /* its frame */
    uint64_t n_shorter, n_longer; /* records, than their LRH says */
    uint32_t first_length;        /* frame of the first of them */
    bool has_management;          /* a packet of management, of ARP or of Neighbour Discovery */
};

/* Counts what was not seen or not judged in the packet (unseen_packet.c). */
void unseen_packet(struct fabric *f, const struct packet *p);

/*
 * Complete the packet's classification from what is known of the fabric. Learn which QPs and
 * connections carry IPoIB, and for which ports a wrong CRC counts. Call once for each packet, in
 * capture order.
 */
void fabric_classify(struct fabric *f, struct packet *p);

/* The same without the model, for packets that it does not learn from. */
void fabric_classify_alone(struct packet *p);

/* Set the packet's interface and ports to the number of its subnet. */
void fabric_place(const struct fabric *f, struct packet *p);

#endif

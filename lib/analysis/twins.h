/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses that two ports use: what the watchers of LIDs, GIDs (twins.c) and of duplicate address
 * detection (detection.c) remember. The tables are caches. Private to analysis/.
 */
#ifndef IPOIB_ANALYSIS_TWINS_H
#define IPOIB_ANALYSIS_TWINS_H

#include "analysis/watch.h"
#include "model/neighbour.h"

/*
 * The port that used an address last, and the one before it. For a LID with a QPN, value is the
 * GID; for a GID, it is the LID in the first bytes.
 */
struct address_use {
    uint8_t address[GID_SIZE], value[GID_SIZE], other[GID_SIZE];
    int64_t changed_ns;     /* when value took the place of other */
    uint32_t changed_frame; /* 0: there is no other */
    uint16_t subnet;
    uint8_t lmc; /* of a GID's port */
    bool used;
};

/* A port that looks whether another one has its address. */
struct detection {
    struct ip ip;
    uint32_t link, qpn;
    struct port port;
    uint8_t gid[GID_SIZE];
    uint32_t frame;          /* of its last solicitation */
    int64_t ns;              /* the same */
    uint32_t conflict_frame; /* another port answered it; 0: none did */
    int64_t conflict_ns;
    uint8_t other[GID_SIZE]; /* that port */
};

/* The port that sent last from a LID. While no address changes, its packets show nothing new. */
struct recent_sender {
    uint8_t gid[GID_SIZE];
    uint32_t qpn, changes; /* changes: of struct twins, plus 1; 0: unused */
    uint16_t subnet, lid;
};

enum { ADDRESS_USES = 1 << 12, DETECTIONS = 64, RECENT_SENDERS = 1 << 8 };

/* LIDs that two ports use: so many are those of two fabrics in one file. */
enum { SHARED_USES = 3 };
struct shared_use {
    uint16_t subnet, lid;
};

/* The GID prefixes of the subnet: those of ports that joined or have PortInfo. */
enum { PREFIXES = 8 };

/* The ports whose NodeInfo was captured, by their GUIDs: a cache. Virtual functions have none. */
enum { NODE_PORTS = 1 << 11 };

struct twins {
    struct {
        uint64_t prefix;
        uint16_t subnet;
    } prefixes[PREFIXES];
    unsigned n_prefixes;
    bool has_routed; /* a packet went from one prefix to another */
    struct address_use lids[ADDRESS_USES], gids[ADDRESS_USES];
    struct shared_use shared[SHARED_USES];
    unsigned n_shared;
    uint64_t node_ports[NODE_PORTS];
    struct detection detections[DETECTIONS];
    struct recent_sender recent[RECENT_SENDERS];
    uint32_t changes;   /* of all uses of addresses; and uses that were replaced by another */
    int64_t changed_ns; /* of the last change of any */
};

/*
 * Is it the GID of a port in another subnet? Its packets come from the LIDs of routers (IBA 8.3).
 * The prefix fe80::/64 never leaves its subnet.
 */
bool gid_is_foreign(const struct watch *w, const uint8_t *gid);

/* The port with this GID has this LID now: the subnet manager gave it on the route of the old one.
 */
void twins_moved(const struct watch *w, const uint8_t *gid, uint16_t lid);

/* A LID of the current packet's subnet has two ports: of so many, the file holds two fabrics. */
void watch_shared_use(const struct watch *w, uint16_t lid, uint32_t cause);

/* A port with this GUID answered by NodeInfo. */
void twins_note_port(const struct watch *w, uint64_t guid);

/*
 * The GID of the datagram's sender by its IP address, if it is no router: it announced this QPN.
 * NULL: not known.
 */
const uint8_t *twins_gid_by_ip(const struct watch *w);

/* The IP address of the datagram's source; false: it has none, or it was not captured. */
bool twins_source_ip(const struct watch *w, struct ip *ip);

#endif

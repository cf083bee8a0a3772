/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Endports (IBA 3.5.10): a port of a channel adapter with its GID and LIDs, as subnet management
 * and subnet administration report it. An endport is initialised if the capture shows the subnet
 * manager bring it up: its joins, leaves and subscriptions since then were captured. The earlier
 * actions of other endports are unknown.
 */
#ifndef IPOIB_MODEL_ENDPORT_H
#define IPOIB_MODEL_ENDPORT_H

#include <glib.h>

#include "model/port.h"
#include "model/sequence.h"
#include "wire/ib.h"

struct connection;

enum { ENDED_MAX = 7 };
enum { SUBSCRIBED_CREATED = 1, SUBSCRIBED_DELETED = 2 }; /* traps 66 and 67 */
enum { ENDPORT_PKEYS = 32 };                             /* one block of the P_Key table */
enum { ENDPORT_ALIASES = 7 };                            /* the first block of GUIDInfo */

/*
 * UD QPs kept per port, one for each IPoIB interface. Rules do not check the UD QPs of a port with
 * more.
 */
enum { ENDPORT_UD_QPS = 4 };

/*
 * A P_Key table (IBA 14.2.5.7). Most have one block in use; entries of other blocks are not kept,
 * only whether a block is empty.
 */
struct endport_pkeys {
    uint16_t entries[ENDPORT_PKEYS]; /* block 0 */
    uint32_t frame;                  /* in which it changed last, by an SMP */
    uint16_t capacity;               /* entries of the whole table, by NodeInfo; 0: not known */
    uint32_t empty_blocks;           /* bit n: block n was seen and is empty; n from 1 to 31 */
};

/*
 * What the SA's records said last of the port: what the SM knew then. SMPs that were not captured
 * may have changed it before and after.
 */
struct endport_said {
    uint32_t port_frame;           /* of its PortInfoRecord as an active port; 0: none */
    uint8_t neighbor_mtu, mtu_cap; /* IBA MTU codes, from that record */
    uint8_t blocks;                /* P_KeyTableRecords of the last response */
    uint32_t pkeys_frame;          /* of its whole P_Key table, in one response; 0: none */
    struct endport_pkeys pkeys;
    uint64_t aliases[ENDPORT_ALIASES]; /* alias GUIDs of its GUIDInfoRecord (IBA 4.1.1); 0: none */
};

struct endport {
    uint8_t gid[GID_SIZE]; /* must be first: the key, with interface; zero: not known */
    uint16_t interface;
    uint16_t lid;                  /* last one seen; 0: none */
    uint8_t lmc : 3;               /* the port has 2^lmc LIDs from lid on (IBA 4.1.3) */
    uint8_t subscribed_to_one : 2; /* SUBSCRIBED_*, but only of a single group, or of several */
    uint8_t neighbor_mtu : 4;      /* IBA MTU code (14.2.5.6); 0: not known */
    uint8_t mtu_cap : 4;           /* the same */
    uint8_t subscribed : 2;        /* SUBSCRIBED_* of all groups */
    uint8_t subscribing : 2;       /* SUBSCRIBED_* of requests that have no response yet */
    uint8_t subscribed_before : 2; /* SUBSCRIBED_* when it was initialised; the SA may keep them */
    /*
     * It may have several interfaces on one partition: it requested to join the broadcast group
     * although it was a FullMember, or another port GUID was seen at its LID (IBA 4.1.1).
     */
    uint8_t several_interfaces : 1;
    uint8_t moved : 1; /* it had another LID before, in this capture */
    /* it sent or received a CM message of a connection whose REQ was not captured */
    uint8_t has_unknown_connection : 1;
    /* how often an interface ended: it left its broadcast group, or was brought up again */
    uint8_t ended : 3;
    uint8_t node_type : 2;      /* from NodeInfo, with a PortInfo of the same route; 0: not known */
    uint32_t initialised_frame; /* frame in which it was initialised; 0: before the capture */
    /*
     * frame in which the SM set its LID and it had none before, as after a start: no membership is
     * older; 0: not seen
     */
    uint32_t new_frame;
    /* last frame in which the SM requested ClientReregister (join and subscribe again); 0: never */
    uint32_t reregister_frame;
    /*
     * frame in which it ended a subscription of all groups, or the SA refused one, which it did not
     * make again; 0: none
     */
    uint32_t unsubscribed_frame;
    /*
     * last frame in which its own GSI named its GID in a request to the SA; 0: never, or a port
     * with another LID has named it since
     */
    uint32_t named_frame;
    struct sequence gsi; /* of its GSI (QP1); a truncated packet is a gap */
    struct sequence smi; /* of its SMI (QP0) */
    uint32_t waiting;    /* connections whose REQ it sent and that have no response */
    /* UD QPs that its link-layer addresses announced; qpn 0: unused */
    struct {
        uint32_t qpn : 24;
        uint32_t before : 1; /* announced before an interface of the partition last joined */
    } ud[ENDPORT_UD_QPS];
    uint16_t ud_pkey[ENDPORT_UD_QPS];  /* their partitions, 15 bits; apart, which saves memory */
    uint32_t ud_frame[ENDPORT_UD_QPS]; /* frame that announced it last */
    /*
     * Service-ID of an IPoIB connection that it accepted; 0: not seen. Its IPoIB listens on this
     * form. Once the form of RFC 4755 was accepted, another does not replace it.
     */
    uint64_t service_id;
    struct endport_pkeys *pkeys;    /* its P_Key table, by SMPs; NULL: not seen */
    struct endport_said *said;      /* NULL: no record of the SA about it was captured */
    struct connection *connections; /* its newest IPoIB connection */
    /* merged into this endport, which has the data now; NULL: not merged */
    struct endport *merged;
};

struct endports;

/*
 * Find by GID or LID; NULL: not known. The LID is the one at which the port was seen last, or one
 * that it has by its LMC.
 */
const struct endport *endports_by_gid(const struct endports *e, uint16_t interface,
                                      const uint8_t *gid);
const struct endport *endports_by_lid(const struct endports *e, uint16_t interface, uint16_t lid);

/*
 * The port by its base LID. A port has one GSI and the same queue pairs at all its LIDs
 * (IBA 4.1.3), so their keys have the base LID.
 */
struct port endports_base(const struct endports *e, struct port port);

/*
 * Did its own GSI name the port's GID at its LID in this capture, with every request to the SA
 * captured since then? This needs no SMP. A port that shares its LID (a virtual function, IBA
 * 4.1.1) is named only if it was the first one seen at the LID, because gaps are counted for that
 * port only.
 */
bool endports_gid_is_confirmed(const struct endports *e, const struct endport *p);

/* Follow merges to the endport that has the data now (endports_merge() of model/write.h). */
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

/* Was it initialised in this capture, with every request to the SA captured since then? */
static inline bool endport_requests_are_complete(const struct endport *p)
{
    return p->initialised_frame > p->gsi.gap_frame;
}

/* Was every request to the SA captured since this frame, up to the last packet of its GSI? */
static inline bool endport_requests_are_complete_since(const struct endport *p, uint32_t frame)
{
    bool begins = (p->gsi.first_frame && p->gsi.first_frame <= frame) ||
                  (p->initialised_frame && p->initialised_frame <= frame);
    return begins && sequence_is_whole_since(&p->gsi, frame);
}

/*
 * Was every request to the SA captured since the port started (new_frame)? A port that is
 * initialised again without a new start keeps its memberships.
 */
static inline bool endport_requests_are_complete_since_start(const struct endport *p)
{
    return p->new_frame > p->gsi.gap_frame;
}

/* The frame since which every packet of its GSI was captured; 0: none was. */
static inline uint32_t endport_gsi_since(const struct endport *p)
{
    return MAX(p->gsi.first_frame, p->gsi.gap_frame);
}

/*
 * Did the port announce the QPN on this partition? Unknown: it announced no QPN since an interface
 * last joined, or more than ENDPORT_UD_QPS.
 */
enum announced { ANNOUNCED, ANNOUNCED_ANOTHER, ANNOUNCED_UNKNOWN };
enum announced endport_announced(const struct endport *p, uint16_t pkey, uint32_t qpn);

/*
 * The QPN that the port announced last on this partition since an interface of the partition last
 * joined, and the frame in which it did; 0: none.
 */
uint32_t endport_ud_qpn(const struct endport *p, uint16_t pkey, uint32_t *frame);

/*
 * Does the port have one interface on the partition, as far as the capture shows? An IP address can
 * move to another interface of the port.
 */
bool endport_has_one_interface(const struct endport *p, uint16_t pkey);

/*
 * Did the port announce the QPN of each interface that it had before on the partition? Peers may
 * still have its address in their caches (RFC 4391 section 9.4).
 */
bool endport_knows_old_qpns(const struct endport *p, uint16_t pkey);

/*
 * The MTU of the port's link as an IBA code: NeighborMTU by SMPs, else by the SA's record, which is
 * no larger than MTUCap (IBA 14.2.5.6). 0: not known.
 */
static inline uint8_t endport_link_mtu(const struct endport *p)
{
    const struct endport_said *said = p->said;
    if (p->neighbor_mtu || !said)
        return p->neighbor_mtu;
    return said->mtu_cap ? MIN(said->neighbor_mtu, said->mtu_cap) : said->neighbor_mtu;
}

/* The largest MTU that the port supports, in the same way. */
static inline uint8_t endport_mtu_cap(const struct endport *p)
{
    return p->mtu_cap || !p->said ? p->mtu_cap : p->said->mtu_cap;
}

/* Did the SA say that the GID is made of an alias GUID of the port? */
bool endport_has_alias(const struct endport *p, const uint8_t *gid);

/* Does the port own the LID? */
static inline bool endport_has_lid(const struct endport *p, uint16_t lid)
{
    return p->lid && lid >= p->lid && lid < p->lid + (1u << p->lmc);
}

/*
 * Is the P_Key (its lower 15 bits) in the port's table? It is not known if a block of the table was
 * not captured, or if the P_Key is not in block 0 and another block is not empty.
 */
enum pkey_known { PKEY_IS_THERE, PKEY_IS_NOT_THERE, PKEY_NOT_KNOWN };
enum pkey_known endport_has_pkey(const struct endport *p, uint16_t pkey);
/* The same by the SA's record of the table (struct endport_said). */
enum pkey_known endport_has_pkey_by_sa(const struct endport *p, uint16_t pkey);
/* The same for the whole P_Key, with its membership. */
enum pkey_known endport_has_entry(const struct endport *p, uint16_t pkey);

#endif

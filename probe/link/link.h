/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probe's attachment to an IPoIB link: port, partition, broadcast group, memberships. */
#ifndef IPOIB_PROBE_LINK_H
#define IPOIB_PROBE_LINK_H

#include "hca/mcgroup.h"
#include "probe/link/choice.h"
#include "probe/link/counters.h"
#include "probe/link/guard.h"
#include "probe/link/transport.h"
#include "probe/run/run.h"

/* The probe's own IP address, which exchange/responder.c answers for. */
struct own_address {
    bool given, usable;
    bool tentative; /* duplicate address detection is running (RFC 4862 §5.4) */
    bool ipv6;
    uint8_t ip[16];     /* for IPv4 the first 4 bytes */
    char defender[120]; /* text about another owner of the address; "": none */
};

enum { REPLIERS = 3 };

/* Not to be confused with struct link in lib/model, which is a link as seen in a capture. */
struct probe_link {
    const struct choice *choice; /* why this port; NULL: not chosen */
    struct transport *transport; /* port and queue pairs; NULL: no device was opened */
    uint16_t pkey;
    unsigned pkey_index;
    uint64_t sm_guid; /* of the port of the master SM; 0: unknown */
    uint64_t sm_key;  /* with which the SA discloses members; 0: none */
    /* The result of asking with it. SA_SUCCESS or SA_NO_RESPONSE and no sm_key: it is a wrong one.
     */
    enum sa_result sm_key_result;
    uint16_t sm_key_status;
    struct mc_group group;       /* the broadcast group */
    uint8_t lladdr[LLADDR_SIZE]; /* the probe's own link-layer address, flags 0 */
    struct own_address source;
    unsigned from_groups; /* packets to the broadcast group, of other ports */
    struct {
        unsigned n;
        uint8_t gids[REPLIERS][GID_SIZE];
    } repliers;                    /* ports that replied to ARP, which is by unicast */
    bool forwarded;                /* this port's switch forwards the broadcast group to it */
    unsigned memberless;           /* groups without a member, if they were counted */
    struct port_counters counters; /* when the target began */
    GArray *memberships;           /* struct joined: memberships to remove at the end */
    /* Leaves that failed and are not reported yet: their number, and text about the last one. */
    struct {
        unsigned n;
        char text[200];
    } not_left;
    const struct guard *guard; /* the process that removes them after a SIGKILL; NULL: none */
    GArray *attached;          /* struct mc_group: groups that the queue pair receives */
    bool outside;  /* before the probe joined, the SA did not list this port in the group */
    bool no_group; /* the SA says that the partition has no broadcast group */
    bool opened;   /* link_open() succeeded */
};

struct checked;
struct target;

/* The result of a search for a broadcast group. status: the SA's, for SA_REJECTED. */
struct group_search {
    enum sa_result result;
    uint16_t status;
    bool missing; /* the SA says that there is no such group; another status does not say so */
    struct mc_group group;
};
/* Searches for the broadcast group of a partition, from scope 2 upwards (RFC 4391 §4.1). */
struct group_search link_search_broadcast(struct target *t, uint16_t pkey);
/* The P_Key of another partition of this port that has a broadcast group; 0: none was found. */
uint16_t link_other_partition(struct target *t);
/*
 * Searches for the link's broadcast group, and stores it in the link's group. Sets ERROR if the
 * result is not SA_SUCCESS.
 */
struct group_search link_find_broadcast(struct target *t, GError **error);
/* Maximum bytes of an IP datagram on the link (RFC 4391 §7). 0: the group's MTU code is unknown. */
uint32_t link_mtu(const struct probe_link *l);
/* Finds the SM_Key with which the SA discloses members and stores it in the link's sm_key. */
void link_find_sm_key(struct target *t);
/*
 * Chooses the P_Key index, finds the broadcast group, creates the queue pair, joins and attaches.
 * Returns false and sets ERROR if that fails.
 */
bool link_open(struct target *t, GError **error);
/* Leaves the joined groups. */
void link_close(struct target *t);
/* If leaves failed that no stage has reported, adds the stage link.leave. */
void link_report_not_left(struct probe_link *l, struct checked *j);
/*
 * Finds the requested partition in the port's P_Key table. Returns false and sets ERROR if the port
 * is not in it.
 */
bool link_find_pkey(struct target *t, GError **error);

#endif

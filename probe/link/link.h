/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probe's own place on an IPoIB link: port, partition, broadcast group, memberships. */
#ifndef IPOIB_PROBE_LINK_H
#define IPOIB_PROBE_LINK_H

#include "hca/mcgroup.h"
#include "probe/link/guard.h"
#include "probe/link/transport.h"
#include "probe/run/run.h"

/* An address of the probe's own that the station answers for. */
struct source {
    bool given, usable;
    bool tentative; /* duplicate address detection is running (RFC 4862 §5.4) */
    bool ipv6;
    uint8_t ip[16];     /* the first 4 bytes of IPv4 */
    char defender[120]; /* who else claims it, in words; "": nobody */
};

/* lib/model has a struct link too: what a capture shows of one. */
struct probe_link {
    struct transport *transport; /* port and queue pairs; NULL: no device was opened */
    uint16_t pkey;
    unsigned pkey_index;
    uint64_t sm_key;             /* with which the SA tells of members; 0: it does not */
    struct mc_group group;       /* the broadcast group */
    uint8_t lladdr[LLADDR_SIZE]; /* the probe's own, flags 0 */
    struct source source;
    GArray *memberships;       /* struct joined: what is to be undone */
    const struct guard *guard; /* the process that undoes it after a SIGKILL; NULL: none */
    GArray *attached;          /* struct mc_group: those that are received */
    bool opened;               /* link_open() succeeded */
};

struct target;

/* Searches the broadcast group, from scope 2 outwards, into the link's group. */
enum sa_result link_find_broadcast(struct target *t, char *why, size_t size);
/*
 * The bytes of IP that a datagram on the link may have (RFC 4391 §7). 0: the group's MTU has an
 * unknown code.
 */
uint32_t link_mtu(const struct probe_link *l);
/* Finds the SM_Key with which the SA tells of members, into the link's sm_key. */
void link_find_sm_key(struct target *t);
/*
 * Chooses the P_Key's index, finds the broadcast group, makes the queue pair, joins and attaches.
 * False: why says what failed.
 */
bool link_open(struct target *t, char *why, size_t size);
/* Leaves what was joined. */
void link_close(struct target *t);
/* Finds the partition that was asked for in the port's table. False: it is not there (why). */
bool link_find_pkey(struct target *t, char *why, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that find causes: what is known, and the functions of the table. */
#ifndef IPOIB_PROBE_DIAGNOSIS_H
#define IPOIB_PROBE_DIAGNOSIS_H

#include <glib.h>

#include "probe/exchange/port_agent.h"
#include "probe/link/hostdirect.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/target.h"

enum { OTHERS = 3, OFTEN = 12 /* requests */ };

/* Where a port is reached by unicast. */
struct port_address {
    uint8_t lladdr[LLADDR_SIZE];
    uint16_t lid;
    uint8_t sl;
};

/* Another neighbour of this host (IPv4), and to what it replied. */
struct other_neighbour {
    uint8_t ip[4];
    struct port_address at;
    bool by_group, by_unicast_asked, by_unicast;
};

struct diagnosis {
    struct target *t;
    const char *link_error; /* NULL: the link is open */
    char *interface;        /* this host's interface there; NULL: none */
    char *evidence, *command;

    /* The peer's link-layer address, from the neighbour table or its IPv6 address. */
    bool known, knows_qpn;
    bool permanent; /* from a permanent entry of the neighbour table */
    char also[48];  /* another address that the neighbour table has for that port; "": none */
    struct port_address at; /* lid and sl: only with path, or from its last reply */
    char gid[48];

    uint16_t mlid;     /* of the group to which requests for it go; 0: unknown */
    bool asked;        /* the next fields are valid (questions.h) */
    bool path, other;  /* the SA has a path in this partition; in another one, pkey */
    bool unknown_port; /* the SA has no path at all */
    uint16_t pkey;
    bool member, member_known;       /* of the broadcast group */
    bool solicited, solicited_known; /* IPv6: a member of the solicited-node group */
    bool limited;   /* according to the SA or its agent, it is a limited member of the partition */
    bool has_agent; /* its subnet management agent answers, at its LID: agent */
    struct port_agent agent;
    bool by_unicast;            /* it replies to a request to its queue pair */
    bool asked_local, by_local; /* this host's ping of the port's link-local address: its reply */
    bool by_cm;                 /* its communication manager replies */
    bool few_replies;           /* of many requests at once it answers some, and none before */
    unsigned replies;           /* of the peer, to any request */
    gint64 first_reply, unicast_sent; /* monotonic microseconds; 0: never */
    struct other_neighbour others[OTHERS];
    unsigned n_others;
    bool no_member; /* the SA has that group, and no other port is a member of it */
    bool no_group;  /* the SA has no solicited-node group for the address, which nobody then has */
    bool by_ping;   /* it replies to this host's ping */
    bool by_group;  /* asked again, it replies to the group */
    bool asked_direct; /* the next field is valid */
    struct direct_reply direct;
    struct subnet_ports *ports; /* NULL: not asked (members.h) */
};

/* Sets evidence and command; returns true. */
bool diagnosis_holds(struct diagnosis *d, char *evidence, char *command);
/*
 * The same: the port with that LID replies to a request to its queue pair, and not to the group.
 * member: the SA says that it is one. The switch next to it may say why.
 */
bool diagnosis_not_delivered(struct diagnosis *d, const char *who, uint16_t lid, bool member);
/* Appends "; ipoib-probe --pkey ..." for each other partition of this host's port. */
void diagnosis_try_partitions(const struct diagnosis *d, GString *command);
/* Does the switch next to the port with that LID not forward the group to it, for sure? */
bool diagnosis_is_not_forwarded(struct diagnosis *d, uint16_t lid);
/* Queries the SA about the known address (peer_records.c). */
void peer_records_ask(struct diagnosis *d);

/* This host (own_side.c). */
bool why_interface_down(struct diagnosis *d);
bool why_no_interface(struct diagnosis *d);
bool why_not_member(struct diagnosis *d);
bool why_no_arp(struct diagnosis *d);
bool why_no_carrier(struct diagnosis *d);
bool why_port_down(struct diagnosis *d);
bool why_port_initialize(struct diagnosis *d);
bool why_pkey_missing(struct diagnosis *d);
bool why_sa_busy(struct diagnosis *d);
bool why_sa_slow(struct diagnosis *d);
bool why_sa_silent(struct diagnosis *d);
bool why_link_closed(struct diagnosis *d);
bool why_other_route(struct diagnosis *d);
bool why_dad_failed(struct diagnosis *d);
bool why_own_address(struct diagnosis *d);
bool why_wrong_keys(struct diagnosis *d);
bool why_other_network(struct diagnosis *d);
bool why_old_entry(struct diagnosis *d);
bool why_wrong_path(struct diagnosis *d);
bool why_not_forwarded(struct diagnosis *d);
/* A peer whose address is known (known_peer.c). */
bool why_both_limited(struct diagnosis *d);
bool why_other_partition(struct diagnosis *d);
bool why_hidden(struct diagnosis *d);
bool why_left_partition(struct diagnosis *d);
bool why_port_gone(struct diagnosis *d);
bool why_not_in_group(struct diagnosis *d);
bool why_not_solicited(struct diagnosis *d);
bool why_not_delivered(struct diagnosis *d);
bool why_no_group(struct diagnosis *d);
bool why_no_member(struct diagnosis *d);
bool why_queue_silent(struct diagnosis *d);
bool why_nothing_back(struct diagnosis *d);
/* The other hosts (other_hosts.c). */
/*
 * The GUIDs of the broadcast group's members, as keys. NULL: the SA does not disclose them. Free
 * with g_hash_table_unref().
 */
GHashTable *why_list_members(struct diagnosis *d);
bool why_nobody_replies(struct diagnosis *d);
bool why_group_to_nobody(struct diagnosis *d);
bool why_others_limited(struct diagnosis *d);
/* The same of another group. */
GHashTable *why_list_members_of(struct diagnosis *d, const uint8_t *mgid);
/* Another interface of this host (other_interface.c, other_rail.c). */
bool why_on_other_interface(struct diagnosis *d);
/*
 * One that is up on another port and, as far as the SA says, not on this link. NULL: none. Free
 * with g_free().
 */
char *why_other_rail(struct diagnosis *d);
/* A neighbour takes packets for the address (direct.c). */
bool why_behind_router(struct diagnosis *d);
bool why_unresolved(struct diagnosis *d);
/* The ports that may have the address (no_host.c). */
bool why_member_has_it(struct diagnosis *d);
bool why_groups_not_delivered(struct diagnosis *d);
bool why_sa_busy_now(struct diagnosis *d);
bool why_members_silent(struct diagnosis *d);
bool why_lost_group(struct diagnosis *d);
bool why_other_members(struct diagnosis *d);
bool why_ports_outside(struct diagnosis *d);
bool why_one_is_silent(struct diagnosis *d);
bool why_no_host(struct diagnosis *d);

#endif

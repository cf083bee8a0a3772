/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The other ports of the subnet that may have the address. */
#ifndef IPOIB_PROBE_MEMBERS_H
#define IPOIB_PROBE_MEMBERS_H

#include "probe/why/diagnosis.h"

enum { NAMED = 3 };

struct port_names {
    unsigned n;
    GString *names, *lids; /* of the first ones: "'n2 HCA-1' (LID 4), ...", "4, ..." */
    uint16_t lid[NAMED];
    uint8_t guid[NAMED][8];
};

/* Whether ports that have link-local addresses reply to this host's ping of them. */
struct port_replies {
    unsigned asked, silent;
    uint16_t silent_lid;  /* of one that does not */
    bool managers_asked;  /* the next two are valid: connections are possible here */
    bool managers_silent; /* none replies, and no connection manager of two of them does */
    bool manager_answers; /* that of the only one that does not reply */
};

struct subnet_ports {
    unsigned others;           /* than this port */
    struct port_names outside; /* those not in the broadcast group */
    unsigned in_other;         /* those named of them that are in the group of another partition */
    uint16_t other_pkey;       /* that one, of which this port is a member too, without interface */
    struct port_names nameless; /* members of which this host knows no IPv4 address */
    uint16_t lost_group; /* LID of a port outside whose interface is up in the partition; 0: none */
    uint16_t without_path;       /* LID of a nameless one to which the SA has no path; 0: none */
    struct port_replies replies; /* of the nameless ones */
    bool sa_busy;                /* it answered a PathRecord query with BUSY only */
    uint16_t owner;              /* LID of the nameless one that has the address; 0: none found */
};

/*
 * Asks the SA, the ports' kernels and their queue pairs, once. No ports if the SA does not disclose
 * the members. The result belongs to the diagnosis.
 */
const struct subnet_ports *members_find(struct diagnosis *d);
void members_free(struct subnet_ports *p);

#endif

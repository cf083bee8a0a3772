/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel shows of a port of this host and of the IPoIB interface on it, for the target
 * node. It is read from sysfs: nothing is sent.
 */
#ifndef IPOIB_PROBE_NODE_FACTS_H
#define IPOIB_PROBE_NODE_FACTS_H

#include "hca/mcgroup.h"
#include "probe/link/choice.h"
#include "probe/link/counters.h"
#include "wire/ib.h"

/* The partition in the port's P_Key table. */
enum node_pkey { NODE_PKEY_UNKNOWN, NODE_PKEY_ABSENT, NODE_PKEY_LIMITED, NODE_PKEY_FULL };

/* What the SA says about this port's membership of the interface's broadcast group. */
enum node_answer {
    NODE_NOT_ASKED,  /* the port's query of this run is about another interface */
    NODE_NOTHING,    /* there is nothing to ask about: no interface, no port, or not Active */
    NODE_MEMBER,     /* group has the record */
    NODE_NOT_MEMBER, /* the SA has no such record: no group, or this port is not in it */
    NODE_NO_RESPONSE,
    NODE_BUSY,
    NODE_NO_SA,   /* the port at the SM's LID has no SA */
    NODE_REFUSED, /* another status */
    NODE_NO_FIT,  /* the answer is not about that group and port */
    NODE_NO_PRIVILEGE,
    NODE_NO_UMAD, /* the SA cannot be asked */
};

/* An interface and its port, or a port without an interface. */
struct node_link {
    struct choice at;
    bool vanished;            /* it was listed, and was gone when it was read */
    bool has_port;            /* the kernel shows the port */
    uint8_t state;            /* PORT_DOWN ... PORT_ACTIVE from wire/smp.h; 0: unknown */
    unsigned lid, sm_lid;     /* 0: unknown */
    bool has_gid;             /* gid is valid */
    uint8_t gid[GID_SIZE];    /* of the port */
    double bits_per_second;   /* of the port; 0: unknown */
    enum node_pkey pkey;      /* of the interface, in the port's table */
    bool up, carrier;         /* of the interface: set up; joined the broadcast group */
    bool connected;           /* mode of the interface */
    unsigned mtu;             /* of the interface */
    bool has_mgid;            /* mgid is valid */
    uint8_t mgid[GID_SIZE];   /* its broadcast group */
    bool groups_known;        /* the kernel shows the interface's groups (debugfs) */
    unsigned joined, waiting; /* groups that it has joined; that it waits to join */
    struct port_counters counters;
    enum node_answer answer;
    uint16_t status;       /* of the SA's answer, if it is not 0 */
    struct mc_group group; /* NODE_MEMBER */
    double answer_seconds; /* time of the answer */
    char why[200];         /* NODE_NO_UMAD, NODE_NO_FIT */
};

/* Reads it. The answer is NODE_NOT_ASKED or NODE_NOTHING. */
void node_read(struct node_link *l, const struct choice *c);
/* True if both are on the same port. */
bool node_same_port(const struct node_link *a, const struct node_link *b);
/* "ib0 0xffff" or "mlx5_0 port 1". */
void node_name(const struct node_link *l, char *out, size_t size);
/* Counts the groups in the text of DEBUGFS/ipoib/NAME_mcg. Returns false if it is none. */
bool node_read_groups(const char *text, unsigned *joined, unsigned *waiting);

#endif

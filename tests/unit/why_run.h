/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A diagnosis of a peer (probe/why/why.h) on the host of played_host.h, with the SA and the peer of
 * probe_peer.h: prepare the run, then say which cause is to be found.
 */
#ifndef IPOIB_TESTS_WHY_RUN_H
#define IPOIB_TESTS_WHY_RUN_H

#include "played_host.h"
#include "probe_peer.h"

#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/why/diagnosis.h"
#include "probe/why/why.h"

#define PEER_GID "fe80::2:c903:0:1895"

/* A port of the subnet, of the SA's tables. Its GID is that of the peer with that last byte. */
struct listed_port {
    uint8_t gid;
    uint16_t lid;
    const char *name; /* of its node */
    bool is_switch;
    bool member, other_member; /* of the broadcast group; of that of partition 0x8001 */
    bool local;                /* of the group of its link-local address */
    bool target;               /* of the target's solicited-node group */
    uint16_t path_status;      /* of the answer about the path to it; 0: there is one */
};
enum { LISTED_PORTS = 6 };

struct why_run {
    struct options options;
    struct choice choice;
    struct probe_fixture fixture;
    struct target *t;
    struct fake fake;
    struct transport_ops ops; /* of the fake */
    struct checked checked;
    struct results results;
    const char *link_error;
    struct listed_port ports[LISTED_PORTS]; /* beside this one; none: the fake's tables */
    unsigned n_ports;
    bool cm, cm_answers; /* connections are possible; each manager answers */
    unsigned cm_asked;
    bool (*sa_refuses)(const struct sa_query *q); /* status 0x0200; NULL: nothing */
};

extern struct why_run run;

/* The link is open, through ib0. IPv4: 10.0.0.2, given as "n2"; else that IPv6 address. */
void why_run_begin(const char *ipv6);
void why_run_list(struct listed_port p);
/* Another link's partition, which the port has as its only one. */
void why_run_set_pkey(uint16_t pkey);
/* The peer has replied, so that its port is known. */
void why_run_know_peer(void);
/* Runs and clears it: this cause, with this advice, is the stage peer.no-reply. */
void why_run_finds(const char *text, const char *advice);
/* The same of why_own_side(); text NULL: this side is good. */
void why_run_finds_own(enum own_side side, const char *text, const char *advice);

#endif

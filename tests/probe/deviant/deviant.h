/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The deviant peer: an IPoIB station on its own UD queue pair, for the tests of ipoib-probe. It
 * conforms to RFC 4391, except for the one rule that its option names (faults.def).
 */
#ifndef IPOIB_TESTS_DEVIANT_H
#define IPOIB_TESTS_DEVIANT_H

#include "probe/link/link.h"
#include "probe/run/target.h"

enum fault_number {
#define FAULT(symbol, ...) FAULT_##symbol,
#include "tests/probe/deviant/faults.def"
#undef FAULT
    FAULT_COUNT
};

enum { CONTACTS = 8, DIES_AFTER = 12, DIES_SOON_AFTER = 2, SECOND_LATE_US = 300000 };

/* A neighbour, and the packet that waits until its address is known. */
struct contact {
    bool ipv6, known;
    uint8_t ip[16], lladdr[LLADDR_SIZE];
    uint16_t lid;
    uint8_t sl;
    uint32_t waiting_n, waiting_from; /* the requester's QPN */
    uint8_t waiting[UD_SIZE];
};

struct deviant {
    struct run run;
    struct probe_link link;  /* the port, the partition and the groups */
    struct target target;    /* not probed: used for its log and its link */
    struct transport *other; /* FAULT_QPN_OTHER: a second queue pair to send from */
    enum fault_number fault;
    uint8_t ip4[4], ip6[16], lladdr[LLADDR_SIZE];
    struct mc_group all_nodes;
    struct contact contact[CONTACTS];
    unsigned replies, requests; /* multicast requests for its address */
};

/* ---- station.c: sets the station up on the link */
bool station_open(struct deviant *d, GError **error);
/*
 * Joins the group of an IPv6 multicast address with the JoinState; creates it if it does not exist.
 */
bool join_ipv6(struct deviant *d, const uint8_t *ip, uint8_t join_state, struct mc_group *g);

/* ---- groups.c: the groups of the faults FAULT_GROUP_... */
bool make_groups(struct deviant *d, GError **error);

/* ---- filter.c: which packets it accepts; none after it has died */
bool takes(struct deviant *d, const struct ud_from *from);

/* ---- send.c: sends packets */
void send_to_port(struct deviant *d, uint16_t lid, uint8_t sl, uint32_t qpn, uint8_t *bytes,
                  uint32_t n);
void send_to_group(struct deviant *d, const struct mc_group *g, uint8_t *bytes, uint32_t n);
/*
 * Sends an IP packet to a neighbour; resolves its address first if it is unknown. from: the sender
 * of the request.
 */
void send_ip(struct deviant *d, const uint8_t *ip, const struct ud_from *from, uint8_t *bytes,
             uint32_t n);

/* ---- arp.c, nd.c: address resolution */
void take_arp(struct deviant *d, const struct ud_from *from, struct view v);
void take_nd(struct deviant *d, const struct ud_from *from, struct view ipv6, struct view icmpv6);
void request_arp(struct deviant *d, const uint8_t *ip);
void request_nd(struct deviant *d, const uint8_t *ip);
void learn(struct deviant *d, const uint8_t *ip, const uint8_t *lladdr, const struct ud_from *from);

/* ---- echo.c */
void take_ipv4(struct deviant *d, const struct ud_from *from, struct view v);
void take_ipv6(struct deviant *d, const struct ud_from *from, struct view v);

#endif

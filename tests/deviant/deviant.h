/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The deviant peer: an IPoIB station on a UD queue pair of its own, for the tests of ipoib-probe.
 * It keeps what RFC 4391 demands of a node, but for the one rule that its option names
 * (faults.def).
 */
#ifndef IPOIB_TESTS_DEVIANT_H
#define IPOIB_TESTS_DEVIANT_H

#include "probe/link/link.h"
#include "probe/run/target.h"

enum fault_number {
#define FAULT(symbol, ...) FAULT_##symbol,
#include "tests/deviant/faults.def"
#undef FAULT
    FAULT_COUNT
};

enum { CONTACTS = 8, DIES_AFTER = 12, DIES_SOON_AFTER = 2, RIVAL_LATE_US = 300000 };

/* Whom it sends to, and what waits until the address is known. */
struct contact {
    bool ipv6, known;
    uint8_t ip[16], lladdr[LLADDR_SIZE];
    uint16_t lid;
    uint8_t sl;
    uint32_t waiting_n, waiting_from; /* the QPN that what it answers came from */
    uint8_t waiting[UD_SIZE];
};

struct deviant {
    struct run run;
    struct probe_link link;  /* the port, the partition and the groups */
    struct target target;    /* nothing is probed: the log and the link */
    struct transport *other; /* FAULT_QPN_OTHER: a second queue pair, to send from */
    enum fault_number fault;
    uint8_t ip4[4], ip6[16], lladdr[LLADDR_SIZE];
    struct mc_group all_nodes;
    struct contact contact[CONTACTS];
    unsigned answers, heard; /* questions for its address by multicast */
};

/* ---- stand.c: on the link */
bool stand(struct deviant *d, char *why, size_t size);
/* The group of an IPv6 multicast address, joined as state tells; made if it is missing. */
bool join_ipv6(struct deviant *d, const uint8_t *ip, uint8_t join_state, struct mc_group *g);

/* ---- groups.c: the groups of the faults FAULT_GROUP_... */
bool make_groups(struct deviant *d, char *why, size_t size);

/* ---- filter.c: what it takes, and that it may have died */
bool takes(struct deviant *d, const struct ud_from *from);

/* ---- send.c: what it sends */
void send_to_port(struct deviant *d, uint16_t lid, uint8_t sl, uint32_t qpn, uint8_t *octets,
                  uint32_t n);
void send_to_group(struct deviant *d, const struct mc_group *g, uint8_t *octets, uint32_t n);
/* IP to a neighbour, whose address is asked for where it is not known. from: the QP that asked. */
void send_ip(struct deviant *d, const uint8_t *ip, const struct ud_from *from, uint8_t *octets,
             uint32_t n);

/* ---- arp.c, nd.c: address resolution */
void take_arp(struct deviant *d, const struct ud_from *from, struct view v);
void take_nd(struct deviant *d, const struct ud_from *from, struct view ipv6, struct view icmpv6);
void ask_arp(struct deviant *d, const uint8_t *ip);
void ask_nd(struct deviant *d, const uint8_t *ip);
void learn(struct deviant *d, const uint8_t *ip, const uint8_t *lladdr, const struct ud_from *from);

/* ---- echo.c */
void take_ipv4(struct deviant *d, const struct ud_from *from, struct view v);
void take_ipv6(struct deviant *d, const struct ud_from *from, struct view v);

#endif

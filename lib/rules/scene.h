/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks that need to know what came before: a packet on the scene of its fabric. For the files of
 * rules/ alone. Each is called once for each packet, in the order of the capture, after the model
 * has learnt what the packet is.
 */
#ifndef IPOIB_RULES_SCENE_H
#define IPOIB_RULES_SCENE_H

#include "model/events.h"
#include "model/fabric.h"
#include "rules/keys.h"
#include "rules/report.h"

struct scene {
    const struct reporter *r;
    struct fabric *f;
    const struct packet *p;
    const struct events *e;      /* what the model learnt from the packet */
    struct postponed *postponed; /* rules/postpone.h */
};

/*
 * May the SA have told the sender other parameters of the link's broadcast group than those that
 * are known? It keeps what it was told until it joins again; a join that was not captured tells it
 * others (check_link.c).
 */
bool may_be_told_others(const struct scene *s, struct group *broadcast);

/*
 * The packet does not use what the SA told its sender of the broadcast group, and
 * may_be_told_others() knows no excuse: reported once it is proved that no request of the sender is
 * missing. value: as in is_news(); p, n: the bytes to blame (check_link.c).
 */
struct departure {
    enum rule_number rule;
    struct subject about;
    uint64_t value;
    const uint8_t *p;
    uint32_t n;
    const char *expected, *actual;
};
void fail_told(const struct scene *s, struct group *broadcast, const struct departure *d);

/*
 * Did an interface of the port on this partition join the broadcast group since that frame? It was
 * restarted, maybe with another QPN (check_link.c).
 */
bool has_joined_since(const struct scene *s, struct endport *port, uint16_t pkey, uint32_t frame);

/* The SA's own port: what it asked and was told was not seen (check_link.c). */
bool is_sa(const struct scene *s);

/* Is the broadcast group of this scope missing, and no other of the partition known to be there? */
bool lacks_broadcast(const struct scene *s, uint16_t pkey, uint8_t scope);

/* An IPoIB datagram of the UD service: Q_Key, MTU, partition (check_link.c). */
void check_transmission(const struct scene *s);

/*
 * The port whose interface sends the datagram: a link-layer address of it names the QP. NULL: not
 * known (check_member.c).
 */
struct endport *sending_interface(const struct scene *s);

/*
 * Did the port that sends the datagram join the link's broadcast group as FullMember? scope: of the
 * link, 0 where it is not known (check_member.c).
 */
void check_interface_joined(const struct scene *s, struct endport *port, uint8_t scope);

/*
 * The scope of an IPoIB MGID that a port sends to or joins (check_group.c). false: it is none of
 * its link's.
 */
bool check_scope(const struct scene *s, const uint8_t *mgid, struct endport *port);

/*
 * ... to a group: is it there, has the sender joined, does it use what the SA told?
 * (check_multicast.c)
 */
void check_multicast(const struct scene *s);

/* ... to a multicast GID without IPoIB signature (check_signature.c). */
void check_signature(const struct scene *s);

/* ... to one port: to which QP, with which partition? (check_unicast.c) */
void check_unicast(const struct scene *s);

/*
 * ARP or ND: whose address is it, who announces it, who is answered? (check_announced.c)
 */
void check_arp_scene(const struct scene *s, const struct datagram *d);
void check_nd_scene(const struct scene *s, const struct datagram *d);

/* What subnet administration and management told (check_group.c, check_subnet.c). */
void check_group_event(const struct scene *s, const struct subnet_event *e);
void check_subnet_event(const struct scene *s, const struct subnet_event *e);

/* A CM message of an IPoIB connection, known or not (check_connection.c). */
void check_connection_message(const struct scene *s);
/* A connection that ended with its interface, or did not (SUBNET_TEARDOWN). */
void check_teardown(const struct scene *s, const struct connection *c);
/* Data on it, from the encapsulation header on: a message of one packet, or its First. */
void check_connection_data(const struct scene *s);

#endif

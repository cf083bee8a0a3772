/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks that need the state of the fabric. Private to rules/. Each is called once for each packet,
 * in the order of the capture, after the model was updated with the packet.
 */
#ifndef IPOIB_RULES_SCENE_H
#define IPOIB_RULES_SCENE_H

#include "model/events.h"
#include "model/fabric.h"
#include "rules/keys.h"
#include "rules/report.h"

struct scene {
    const struct reporter *r;
    const struct fabric_facts *f;
    const struct packet *p;
    const struct events *e;      /* what the model learnt from the packet */
    struct postponed *postponed; /* rules/postpone.h */
};

/*
 * May the sender still use other parameters of the link's broadcast group than the current ones? A
 * port keeps the parameters of its last join until it joins again, and a join that was not captured
 * may have given it others (check_link.c).
 */
bool may_be_told_others(const struct scene *s, const struct group *broadcast);

/*
 * A packet that does not use the broadcast group's parameters, where may_be_told_others() returns
 * false. value: as in is_news(); p, n: the offending bytes. fail_told() reports it only when later
 * packets prove that no request of the sender is missing (rules/postpone.h); at once if
 * records_are_current is set (check_link.c).
 */
struct departure {
    enum rule_number rule;
    struct subject about;
    uint64_t value;
    const uint8_t *p;
    uint32_t n;
    const char *expected, *actual;
};
void fail_told(const struct scene *s, const struct group *broadcast, const struct departure *d);

/*
 * Has an interface of the port on this partition joined the broadcast group, or asked to, since
 * that frame? Then it was restarted, and its QPN may have changed (check_link.c).
 */
bool has_joined_since(const struct scene *s, const struct endport *port, uint16_t pkey,
                      uint32_t frame);

/*
 * Does the SA's own port send the packet? Its requests to the SA are not captured (check_link.c).
 */
bool is_sa(const struct scene *s);

/*
 * Did the SA say that the broadcast group of this scope is missing or deleted, and is every other
 * known broadcast group of the partition absent too (check_link.c)?
 */
bool lacks_broadcast(const struct scene *s, uint16_t pkey, uint8_t scope);

/* A UD datagram: Q_Key, MTU, broadcast group of the partition (check_link.c). */
void check_transmission(const struct scene *s);

/*
 * The port whose IPoIB interface sends the datagram, if one of its announced link-layer addresses
 * contains the source QP; NULL: unknown (check_member.c).
 */
const struct endport *sending_interface(const struct scene *s);

/*
 * Did the port that sends the datagram join the link's broadcast group as FullMember? scope: of the
 * link, 0 if unknown (check_member.c).
 */
void check_interface_joined(const struct scene *s, const struct endport *port, uint8_t scope);

/*
 * The scope of an IPoIB MGID that a port sends to or joins (check_group.c). false: the port's link
 * has another scope.
 */
bool check_scope(const struct scene *s, const uint8_t *mgid, const struct endport *port);

/*
 * A datagram to an IPoIB group: does the group exist, has the sender joined, does the sender use
 * the group's parameters? (check_multicast.c)
 */
void check_multicast(const struct scene *s);

/* A datagram to a multicast GID without IPoIB signature (check_signature.c). */
void check_signature(const struct scene *s);

/* A datagram to one port: its QP, its partition (check_unicast.c). */
void check_unicast(const struct scene *s);

/*
 * ARP or ND: whose link-layer address is announced, from which port, and where the reply goes
 * (check_announced.c).
 */
void check_arp_scene(const struct scene *s, const struct datagram *d);
void check_nd_scene(const struct scene *s, const struct datagram *d);

/* Events of subnet administration and subnet management (check_group.c, check_subnet.c). */
void check_group_event(const struct scene *s, const struct subnet_event *e);
void check_subnet_event(const struct scene *s, const struct subnet_event *e);

/* A CM message of an IPoIB connection, known or not (check_connection.c). */
void check_connection_message(const struct scene *s);
/* A connection whose interface left the broadcast group: did it end? (SUBNET_TEARDOWN) */
void check_teardown(const struct scene *s, const struct connection *c);
/*
 * Data on a connection, from the encapsulation header on: a message of one packet, or the first
 * packet of a message.
 */
void check_connection_data(const struct scene *s);

#endif

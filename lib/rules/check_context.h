/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks that need the state of the fabric. Private to rules/. Each is called once for each packet,
 * in the order of the capture, after the model was updated with the packet.
 */
#ifndef IPOIB_RULES_CHECK_CONTEXT_H
#define IPOIB_RULES_CHECK_CONTEXT_H

#include "model/events.h"
#include "model/fabric.h"
#include "rules/keys.h"
#include "rules/report.h"
#include "rules/sender.h"

struct check_context {
    const struct reporter *r;
    const struct fabric_facts *f;
    const struct packet *p;
    const struct events *e;        /* what the model learnt from the packet */
    struct claims *claims;         /* rules/claims/claim.h */
    struct suspicions *suspicions; /* rules/suspicions/suspicions.h; NULL: none */
};

/* The first broadcast group of the partition on the packet's interface; NULL: none is known. */
static inline const struct group *broadcasts_of(const struct check_context *s, uint16_t pkey)
{
    return groups_broadcasts(s->f->groups, s->p->at.interface, pkey);
}

/*
 * The sender of a packet. An IP source address counts as the sender's only if ARP or ND confirmed
 * it, because the packet may come through a router (sender.c).
 */
struct sender sender_of(const struct fabric_facts *f, const struct packet *p);
/* A port as a sender: its GID and LID. NULL: not known. */
struct sender sender_of_port(const struct endport *port);

/*
 * The Service-ID that the sender of the packet uses for its IPoIB connections, which distinguishes
 * implementations (rules/deviation.h): "0x1000000000000023"; "": the packet belongs to no
 * connection; NULL: not known (sender.c).
 */
enum { SERVICE_ID_TEXT_SIZE = HEX_TEXT };
const char *sender_service_id(const struct packet *p, char text[SERVICE_ID_TEXT_SIZE]);

/*
 * The scope of the sender's link: from the destination group, or from the groups that the QP sent
 * to before; 0: unknown (check_context.c).
 */
uint8_t sending_scope(const struct check_context *s);

/* The scope of the last group to which the sending QP sent, which has not moved since; 0: none. */
uint8_t scope_before(const struct check_context *s);

/* The port that sends the packet, by its GID or LID; NULL: unknown (check_context.c). */
const struct endport *sending_port(const struct check_context *s);

/*
 * The port's QP with that QPN, if it has sent IPoIB datagrams; NULL: none were captured
 * (check_context.c).
 */
const struct qp *qp_of_port(const struct check_context *s, const struct endport *port,
                            uint32_t qpn);

/*
 * Were all datagrams of the sending QP captured that it sent after frame `since` and before this
 * one, and its Neighbour Advertisements and ARP messages as a whole?
 */
bool sender_is_followed(const struct check_context *s, uint32_t since);

/*
 * Has an interface of the port on this partition joined the broadcast group, or asked to, since
 * that frame? Then it was restarted, and its QPN may have changed (check_context.c).
 */
bool has_joined_since(const struct check_context *s, const struct endport *port, uint16_t pkey,
                      uint32_t frame);

/*
 * Does the SA's own port send the packet? Its requests to the SA are not captured
 * (check_context.c).
 */
bool is_sa(const struct check_context *s);
/* Is the port the SA's own (check_context.c)? */
bool is_sa_port(const struct check_context *s, const struct endport *port);

/*
 * Did the SA say that the broadcast group of this scope is missing or deleted, and is every other
 * known broadcast group of the partition absent too (check_context.c)? since: set to the frame in
 * which the SA last said so of one of them. deleted: set to whether it said of one that it was
 * deleted.
 */
bool lacks_broadcast(const struct check_context *s, uint16_t pkey, uint8_t scope, uint32_t *since,
                     bool *deleted);

/* Is the port a FullMember of the group (check_context.c)? port NULL: false. */
bool is_full_member(const struct check_context *s, const struct group *group,
                    const struct endport *port);

static inline struct entity entity_endport(const struct endport *p)
{
    return entity_port(endport_has_gid(p) ? p->gid : NULL, p->lid);
}

/* IBA MTU code: the smallest group MTU of an IPoIB MTU of 2044 (RFC 4391 section 7). */
enum { IB_MTU_2048 = 4 };

/*
 * A port that joins or uses a link, against what SMPs and the SA's records say of it
 * (check_port.c). at: the P_Key, or the MTU, in the packet.
 */
void check_port_pkey(const struct check_context *s, const struct endport *port, uint16_t pkey,
                     const uint8_t *at);
void check_pkey_of_sender(const struct check_context *s);
void check_port_mtu(const struct check_context *s, const struct endport *port,
                    const struct group *broadcast, const uint8_t *at);
/* Inconclusive if the port supports no IPoIB MTU of 2044. Returns true then. */
bool check_mtu_cap(const struct check_context *s, const struct endport *port);
/* An interface of the port, which is a FullMember of the broadcast group, sends on the link. */
void check_port_of_sender(const struct check_context *s, const struct endport *port,
                          const struct group *broadcast);

/* A UD datagram: Q_Key, MTU, broadcast group of the partition (check_link.c). */
void check_transmission(const struct check_context *s);

/*
 * The port whose IPoIB interface sends the datagram, if one of its announced link-layer addresses
 * contains the source QP; NULL: unknown (check_member.c).
 */
const struct endport *sending_interface(const struct check_context *s);

/*
 * Did the port that sends the datagram join the link's broadcast group as FullMember? scope: of the
 * link, 0 if unknown (check_member.c).
 */
void check_interface_joined(const struct check_context *s, const struct endport *port,
                            uint8_t scope);

/* The same for a datagram to one port, if its sender is an interface (check_member.c). */
void check_sending_interface(const struct check_context *s);

/*
 * The scope of an IPoIB MGID that a port sends to or joins (check_scope.c). false: the port's link
 * has another scope.
 */
bool check_scope(const struct check_context *s, const uint8_t *mgid, const struct endport *port);

/*
 * A datagram to an IPoIB group: does the group exist, has the sender joined, does the sender use
 * the group's parameters? (check_multicast.c)
 */
void check_multicast(const struct check_context *s);
/* A datagram: has its sender joined the groups that it listens to still (check_multicast.c)? */
void check_listeners(const struct check_context *s);

/*
 * A datagram to a multicast GID without IPoIB signature, or to the multicast QPN with a GID that is
 * not a multicast GID (check_signature.c). Returns true if the sender is an IPoIB interface; false:
 * the datagram may be another protocol's.
 */
bool check_other_group(const struct check_context *s);

/* A datagram to one port: its QP, its partition (check_unicast.c). */
void check_unicast(const struct check_context *s);
/* A datagram to a group: is its IP destination one interface's (check_unicast.c)? */
void check_ip_to_group(const struct check_context *s);

/*
 * ARP or ND: whose link-layer address is announced, from which port, and where the reply goes
 * (check_announced.c).
 */
void check_arp_in_fabric(const struct check_context *s, const struct datagram *d);
/* The UD QP of a datagram against that of its IP source's address (check_announced.c). */
void check_source_qp(const struct check_context *s);
void check_nd_in_fabric(const struct check_context *s, const struct datagram *d);

/* Events of subnet administration and subnet management (check_group.c, check_subnet.c). */
void check_group_event(const struct check_context *s, const struct subnet_event *e);
void check_subnet_event(const struct check_context *s, const struct subnet_event *e);
/* The SA refused a join of an IPoIB group (check_refused.c). */
void check_refused_join(const struct check_context *s, const struct subnet_event *e);

/* A CM message of an IPoIB connection, known or not (check_connection.c). */
void check_connection_message(const struct check_context *s);
/* A CM message of a connection that is not known to be IPoIB's. */
void check_other_service(const struct check_context *s, const struct cm *cm);
/* A connection whose interface left the broadcast group: did it end? (SUBNET_TEARDOWN) */
void check_teardown(const struct check_context *s, const struct connection *c);
/* The capture ends here: the connections that stayed, of which that is not known yet. */
void check_teardowns_at_end(const struct check_context *s);
/*
 * Data on a connection, from the encapsulation header on: a message of one packet, or the first
 * packet of a message.
 */
void check_connection_data(const struct check_context *s);
/* A later packet of a message on a connection: is the message too long? */
void check_connection_part(const struct check_context *s);

#endif

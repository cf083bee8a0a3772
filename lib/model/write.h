/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What writes the tables of the model; for the files of model/ only (script/check-includes). All of
 * it is called by fabric_observe() (model/observe.h); everyone else reads.
 */
#ifndef IPOIB_MODEL_WRITE_H
#define IPOIB_MODEL_WRITE_H

#include "model/connection.h"
#include "model/group.h"
#include "model/integrity.h"
#include "model/interfaces.h"
#include "model/neighbour.h"
#include "model/order.h"
#include "model/qpns.h"
#include "model/resolution.h"
#include "model/subnet.h"

/* ---- endports */

/* limit: how many are kept. */
struct endports *endports_new(unsigned limit);
void endports_free(struct endports *e);

/* By GID or LID; made if there is none and create is set. NULL: not known, or too many. */
struct endport *endports_get_by_gid(struct endports *e, uint16_t interface, const uint8_t *gid,
                                    bool create);
struct endport *endports_get_by_lid(struct endports *e, uint16_t interface, uint16_t lid,
                                    bool create);

/*
 * The LID is one of the port with this GID: so a record or a packet says, or PortInfo, by which the
 * subnet manager assigns it. Only the latter takes it from another port that has it: several GIDs
 * may share a LID, those of virtual functions (IBA 4.1.1), and who asks for the LID is its first.
 * Returns the port; NULL: too many.
 */
struct endport *endports_learn(struct endports *e, uint16_t interface, uint16_t lid,
                               const uint8_t *gid);
struct endport *endports_assign(struct endports *e, uint16_t interface, uint16_t lid,
                                const uint8_t *gid);

/*
 * Two interfaces turned out to see one subnet: what is known of ports on the one is known on the
 * other. An endport that is known on both is merged, and who points to it asks endport_now(). P_Key
 * tables are forgotten: the one may be older than what the other interface has seen of the port's
 * route, before it knew whose that is.
 */
void endports_merge(struct endports *e, uint16_t from, uint16_t to);

static inline struct endport *endport_now(struct endport *p)
{
    return (struct endport *)endport_of(p);
}

/* The subnet manager brought the port up: what it did before does not matter. */
void endport_born(struct endport *p, uint32_t frame);

/* The subnet manager gave the port a LID; it had none before. */
void endport_started(struct endport *p, uint32_t frame);

/*
 * The port's GSI sent a packet with this PSN. They count up one by one (IBA 9.8.2.2), whoever it
 * sends to: what was not captured shows, and what was known of the port may be out of date since.
 * True: nothing that it sent since its last packet, or since the port was brought up, is missing.
 */
bool endport_gsi_sent(struct endport *p, uint32_t psn, uint32_t frame);

/*
 * A port's SMI sent a packet with this PSN, after the last one: it is the next one, or one between
 * them is missing. An SMI that does not count shows neither.
 */
enum smi_sent { SMI_UNKNOWN, SMI_NEXT, SMI_MISSING };
enum smi_sent endport_smi_sent(uint32_t *last, uint32_t psn);

/* A link-layer address of the port on this partition named the UD QP. */
void endport_announces(struct endport *p, uint16_t pkey, uint32_t qpn);
/* An interface of the partition joins the broadcast group: it may have another UD QP by now. */
void endport_joins(struct endport *p, uint16_t pkey);

/* ---- groups */

/* limit: how many groups, and four times as many memberships, are kept. */
struct groups *groups_new(unsigned limit);
void groups_free(struct groups *g);

/* NULL: not known (create not set), or too many. */
struct group *groups_get(struct groups *g, uint16_t interface, const uint8_t *mgid, bool create);
struct member *groups_get_member(struct groups *g, struct group *group, struct endport *port,
                                 bool create);
/* Two interfaces turned out to see one subnet; after endports_merge(). */
void groups_merge(struct groups *g, uint16_t from, uint16_t to);

static inline struct group *group_now(struct group *g)
{
    return (struct group *)group_of(g);
}

/* The SA sent a record of the group to the port; NULL: the port is not known. */
void group_told(struct group *group, const struct mc_member *record, struct endport *to,
                uint32_t frame);

/* ---- connections */

/*
 * limit: how many connections and flows are kept; what comes after is not tracked. ports: to know
 * the GIDs by.
 */
struct connections *connections_new(unsigned limit, struct endports *ports);
void connections_free(struct connections *c);

/*
 * A whole CM message, from port src to port dst, in frame number frame (from 1).
 * Returns its connection, NULL where none is known (the capture began later, or the limit is
 * reached).
 */
struct connection *connections_message(struct connections *c, uint32_t frame,
                                       const struct mad_payload *m, const struct port *src,
                                       const struct port *dst);

/* The flow to a QP; made if there is none and create is set. */
struct flow *connections_flow(struct connections *c, const struct port *dst, uint32_t qpn,
                              bool create);

/* Two interfaces turned out to see one subnet; after endports_merge(). */
void connections_merge(struct connections *c, uint16_t from, uint16_t to);

/* What the capture's streams share. */
struct stream_store *connections_streams(struct connections *c);

/* ---- subnet administration and management */

/* Two interfaces turned out to see one subnet; after endports_merge() and groups_merge(). */
void subnet_merge(struct subnet *s, uint16_t from, uint16_t to);
typedef void subnet_observer(void *user, const struct subnet_event *e);

struct subnet *subnet_new(struct groups *groups, struct endports *endports);
void subnet_free(struct subnet *s);

/*
 * An SMP from the SMI (QP0) of src. Its PSNs count up one by one, so a packet that was not captured
 * shows: it may have acknowledged another P_Key table, and the one that is known of the port is
 * forgotten. Before subnet_mad of the same packet. Returns the port, NULL: not known. *whole: none
 * is missing since its last one.
 */
struct endport *subnet_smi_sent(struct subnet *s, const struct mad_payload *m,
                                const struct port *src, uint32_t psn, int64_t ns, bool *whole);

/*
 * A management datagram of the SA or SM class in frame number frame, from src to dst. Others are
 * ignored. observer: told of each event; NULL: nobody.
 */
void subnet_mad(struct subnet *s, uint32_t frame, const struct mad_payload *m,
                const struct port *src, const struct port *dst, subnet_observer *observer,
                void *user);

/* ---- neighbours */

/* limit: how many pairs are kept; later ones are forgotten at once. */
struct neighbours *neighbours_new(unsigned limit);
void neighbours_free(struct neighbours *n);

/*
 * ip was seen with lladdr on link (any number that tells partitions and interfaces apart): lladdr
 * has it from now on. Returns the neighbour of another port that had this IP on this link until
 * this frame (duplicate use, or the IP moved), NULL where there is none.
 */
const struct neighbour *neighbours_seen(struct neighbours *n, uint32_t link, const struct ip *ip,
                                        const uint8_t *lladdr, uint32_t frame, int64_t seconds);

/*
 * Two interfaces turned out to see one subnet: links, whose number's upper half is from, are those
 * with to there.
 */
void neighbours_merge(struct neighbours *n, uint16_t from, uint16_t to);

/* ---- questions of address resolution */

void resolution_asked(struct resolutions *r, const struct resolution *q);

/* Two interfaces turned out to see one subnet: the upper half of a link's number is from, or to. */
void resolutions_merge(struct resolutions *r, uint16_t from, uint16_t to);

/* As resolution_question() (model/resolution.h). */
struct resolution *resolution_get(struct resolutions *r, const struct resolution *like,
                                  unsigned of);

/* ---- QPs */

/* limit: how many are kept; later ones are not learnt. */
struct qpns *qpns_new(unsigned limit);
void qpns_free(struct qpns *s);
/* NULL: it is not known. */
struct qp *qpns_get(struct qpns *s, const struct port *port, uint32_t qpn);
/* The QP, from now on known; NULL: there are too many. */
struct qp *qpns_learn(struct qpns *s, const struct port *port, uint32_t qpn);
/* The QP sent a datagram with this PSN. */
void qp_sent(struct qp *qp, uint32_t psn, uint32_t frame);
/* Two interfaces turned out to see one subnet. */
void qpns_merge(struct qpns *s, uint16_t from, uint16_t to);

/* ---- interfaces */

struct interfaces *interfaces_new(enum interfaces_mode mode);
void interfaces_free(struct interfaces *i);
/* The number that the model gives the interface. false: there are too many. */
bool interfaces_enter(struct interfaces *i, struct capture_interface captured, uint16_t *number);
/*
 * Both see the same subnet. true: they were two so far; what is known under the number *from is to
 * be kept under *to. Two that were told apart before are never joined.
 */
bool interfaces_join(struct interfaces *i, uint16_t a, uint16_t b, uint16_t *from, uint16_t *to);

/*
 * They see two subnets. true: they were joined, which is undone. All that were joined with them get
 * new numbers, of which the model knows nothing.
 */
bool interfaces_part(struct interfaces *i, uint16_t a, uint16_t b);

/* ---- sources of ICRCs */

struct sources;

/* limit: how many are kept; the CRCs of later ones mean nothing. */
struct sources *sources_new(unsigned limit);
void sources_free(struct sources *s);

/*
 * Would a wrong CRC mean that this packet is corrupt? Of each packet whose headers are whole, once
 * and in the order of the capture.
 */
struct crcs_count sources_see(struct sources *s, uint16_t interface, struct view octets,
                              const struct ib_packet *ib);

#endif

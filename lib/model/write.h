/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that write the model's tables; only for the files of model/ (script/check-includes).
 * Except for the *_new() and *_free() functions and interfaces_enter(), they run within
 * fabric_observe() (model/observe.h). Other code only reads.
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
#include "model/stale.h"
#include "model/subnet.h"
#include "model/undone.h"

/*
 * Limits: a full table refuses entries, and counts them in `undone` (model/undone.h; NULL: not
 * counted).
 *
 * *_merge(): two interfaces turned out to see one subnet, and the data of interface `from` moves to
 * `to`. endports_merge() is called first, then groups_merge().
 */

/* ---- endports */

/* limit: number of endports kept. */
struct endports *endports_new(unsigned limit, struct undone *undone);
void endports_free(struct endports *e);

/* Find by GID or LID; create: add it if it is not known. NULL: not known, or table full. */
struct endport *endports_get_by_gid(struct endports *e, uint16_t interface, const uint8_t *gid,
                                    bool create);
struct endport *endports_get_by_lid(struct endports *e, uint16_t interface, uint16_t lid,
                                    bool create);

/*
 * Record that the port with this GID has the LID. endports_learn(): by a record or a packet.
 * endports_assign(): by a PortInfo, with which the SM sets the LID. Only endports_assign() takes
 * the LID from another port that has it: virtual functions have several GIDs at one LID (IBA
 * 4.1.1), and a lookup by LID returns the first of them. Returns the port; NULL: table full.
 */
struct endport *endports_learn(struct endports *e, uint16_t interface, uint16_t lid,
                               const uint8_t *gid);
struct endport *endports_assign(struct endports *e, uint16_t interface, uint16_t lid,
                                const uint8_t *gid);
/* The same for a port whose GUID is not known. */
struct endport *endports_assign_unnamed(struct endports *e, uint16_t interface, uint16_t lid);
/* The SM sets the port's LMC: the port takes these LIDs from all others. */
void endports_set_lmc(struct endports *e, struct endport *p, uint8_t lmc);

/*
 * An endport known on both interfaces is merged; holders of pointers to it call endport_now().
 * P_Key tables are discarded: one may be older than a table that the other interface showed on the
 * port's route before the port there was known.
 */
void endports_merge(struct endports *e, uint16_t from, uint16_t to);

static inline struct endport *endport_now(struct endport *p)
{
    return (struct endport *)endport_of(p);
}

/* The subnet manager initialised the port: forget its subscriptions. */
void endport_initialised(struct endport *p, uint32_t frame);

/* An interface of the port ended: the port left its broadcast group, or was brought up again. */
void endport_interface_ended(struct endport *p);

/* The subnet manager gave the port a LID, and it had none before. */
void endport_started(struct endport *p, uint32_t frame);

/* A link-layer address of the port on this partition announced the UD QP. */
void endport_announces(struct endport *p, uint16_t pkey, uint32_t qpn, uint32_t frame);
/* An interface of the partition joins the broadcast group: it may use another UD QP from now on. */
void endport_joins(struct endport *p, uint16_t pkey);

/* ---- groups */

/* limit: number of groups kept; four times as many memberships are kept. */
struct groups *groups_new(unsigned limit, struct undone *undone);
void groups_free(struct groups *g);

/* NULL: not known (create not set), or table full. */
struct group *groups_get(struct groups *g, uint16_t interface, const uint8_t *mgid, bool create);
struct member *groups_get_member(struct groups *g, struct group *group, struct endport *port,
                                 bool create);
void groups_merge(struct groups *g, uint16_t from, uint16_t to);

static inline struct group *group_now(struct group *g)
{
    return (struct group *)group_of(g);
}

/* The SA sent a record of the group to port `to`; NULL: the port is not known. */
void group_informed(struct group *group, const struct mc_member *record, struct endport *to,
                    uint32_t frame);

/* ---- connections */

/*
 * limit: number of connections kept, and of flows (4 times as many); later ones are not tracked.
 * ports: endports to find by GID.
 */
struct connections *connections_new(unsigned limit, struct endports *ports, struct qpns *qpns,
                                    struct undone *undone);
void connections_free(struct connections *c);

/*
 * Process a complete CM message, from port src to port dst, in frame number frame (from 1), with
 * the window of order that starts at frame number window (order_window()). Returns its connection;
 * NULL: not known (the capture started later, or the limit is reached).
 */
struct connection *connections_message(struct connections *c, uint32_t frame, uint32_t window,
                                       const struct mad_payload *m, const struct port *src,
                                       const struct port *dst);

/* The data flow to a QP; create: add it if it is not known. */
struct flow *connections_flow(struct connections *c, const struct port *dst, uint32_t qpn,
                              bool create);
/*
 * Is it the next PSN, and has no SEND packet been lost since the set-up or the last message that
 * looked like IPoIB?
 */
bool flow_is_next(const struct flow *f, uint32_t psn);
/* The same, after several messages that looked like IPoIB (FLOW_LIKELY). */
bool flow_goes_on(const struct flow *f, uint32_t psn);
/*
 * The QP receives a SEND packet. If its PSN is far from that of the packet before, the QP belongs
 * to another connection, whose set-up was not captured: the flow forgets its own. looks: the packet
 * starts a message that looks like IPoIB.
 */
void flow_sees(struct flow *f, uint32_t psn, bool looks, uint32_t frame);
/* The same for a corrupt one, which counts only as the next one. */
void flow_sees_corrupt(struct flow *f, uint32_t psn, uint32_t frame);
/* Was the packet with the highest PSN acknowledged? Only known if the set-up was captured. */
bool flow_is_acknowledged(const struct flow *f);
/* The QP receives an ACK with this PSN, of the data that it has sent on its connection. */
void flow_takes_ack(struct flow *f, uint32_t psn);

void connections_merge(struct connections *c, uint16_t from, uint16_t to);

/* The data that all streams of the capture share. */
struct stream_store *connections_streams(struct connections *c);

/* ---- subnet administration and management */

void subnet_merge(struct subnet *s, uint16_t from, uint16_t to);
typedef void subnet_observer(void *user, const struct subnet_event *e);

/* limit: number of routes by which the SM addresses ports. */
struct subnet *subnet_new(struct groups *groups, struct endports *endports, unsigned limit,
                          struct undone *undone);
void subnet_free(struct subnet *s);

/*
 * Process an SMP from the SMI (QP0) of src; call before subnet_mad() of the same packet. PSNs
 * increase by one, so a jump shows that a packet was not captured. The missing packet may have
 * acknowledged another P_Key table or another MTU, so the known ones are discarded. Returns the
 * port; NULL: not known. *whole: no packet is missing since the last one.
 */
struct endport *subnet_smi_sent(struct subnet *s, const struct mad_payload *m,
                                const struct port *src, uint32_t psn, uint32_t frame, bool *whole);

/*
 * The SA answers, maybe from another LID than before. Its port may have several (IBA 4.1.3), which
 * differ in the low bits: it answers from the one that was asked, and its GSI goes on counting.
 * Then it has not moved.
 */
void subnet_sa_answers(struct subnet *s, const struct port *src, uint32_t psn);
/*
 * A GSI sent a packet; call before subnet_mad() of the same packet, and after it if it returned
 * false: the packet may have shown which port is the SA. truncated: so early that its contents are
 * not known. true: it is the GSI of the SA.
 */
bool subnet_sa_sent(struct subnet *s, const struct port *src, const struct port *dst, uint32_t psn,
                    bool truncated, uint32_t frame);
/* The SA may have sent other group parameters to a port before this frame. */
void subnet_add_doubt(struct subnet *s, uint16_t interface, uint32_t frame);
/* The SM asked a port to reregister in this frame. */
void subnet_asks_to_reregister(struct subnet *s, uint16_t interface, uint32_t frame);
/* The doubt of `from` counts for `to` too. */
void subnet_merge_doubt(struct subnet *s, uint16_t from, uint16_t to);
/* The port sent an IPoIB datagram. */
void subnet_sent_ipoib(struct subnet *s, const struct port *src);

/*
 * Process a MAD of the SA or SM class in frame number frame, from src to dst; others are ignored.
 * observer: called for each event; may be NULL.
 */
void subnet_mad(struct subnet *s, uint32_t frame, const struct mad_payload *m,
                const struct port *src, const struct port *dst, subnet_observer *observer,
                void *user);

/* ---- neighbours */

/* limit: number of entries kept; later ones are not stored. */
struct neighbours *neighbours_new(unsigned limit, struct undone *undone);
void neighbours_free(struct neighbours *n);

/*
 * Record that ip was seen with lladdr on link (a number per partition and interface); lladdr owns
 * ip from now on. interface: the capture interface, whose clock shows ns. Returns the entry of
 * another port that owned ip on this link until this frame (duplicate use, or the address moved);
 * NULL: none.
 */
const struct neighbour *neighbours_seen(struct neighbours *n, uint32_t link, const struct ip *ip,
                                        const uint8_t *lladdr, uint32_t frame, int64_t ns,
                                        uint16_t interface);

/* Record the LID of the current owner of ip; nothing happens if there is none. */
void neighbours_sent_from(struct neighbours *n, uint32_t link, const struct ip *ip, uint16_t slid);
/* Its owner announced ip to all nodes of the link. */
void neighbours_told_all(struct neighbours *n, uint32_t link, const struct ip *ip, int64_t ns,
                         uint16_t interface);

void neighbours_merge(struct neighbours *n, uint16_t from, uint16_t to);

/* ---- requests of address resolution */

struct resolutions *resolutions_new(void);
void resolutions_free(struct resolutions *r); /* NULL does nothing */

/*
 * Store a request. It has a reply already if the reply was captured before it, within the window of
 * order.
 */
void resolution_requested(struct resolutions *r, const struct resolution *q,
                          const struct order *order);
/* A reply to this request was captured in q->frame. q->requester: at least the QPN. */
void resolution_replied(struct resolutions *r, const struct resolution *q);

void resolutions_merge(struct resolutions *r, uint16_t from, uint16_t to);

/* As resolution_request() (model/resolution.h). */
struct resolution *resolution_get(struct resolutions *r, const struct resolution *like,
                                  unsigned of);

/* ---- uses of earlier QPNs */

/* limit: number of uses kept; later ones are not stored. */
struct stale_uses *stale_new(unsigned limit, struct undone *undone);
void stale_free(struct stale_uses *s);

/* A datagram went to the earlier QPN; only the first one of a sender is stored. */
void stale_used(struct stale_uses *s, const struct stale_use *u);

void stale_merge(struct stale_uses *s, uint16_t from, uint16_t to);

/* ---- QPs */

/* limit: number of QPs kept; later ones are not stored. */
struct qpns *qpns_new(unsigned limit, struct undone *undone);
void qpns_free(struct qpns *s);
/* NULL: not known. */
struct qp *qpns_get(struct qpns *s, const struct port *port, uint32_t qpn);
/* Find or add the QP; NULL: table full. */
struct qp *qpns_learn(struct qpns *s, const struct port *port, uint32_t qpn);
/* A datagram to an IPoIB group has this P_Key and Q_Key. */
void qpns_learn_link_key(struct qpns *s, uint16_t interface, const struct ib_packet *ib);
/* The DHCP client of the QP requests its address; a server grants an address on the interface. */
void qpns_lease_requested(struct qpns *s, struct qp *qp, uint32_t xid);
void qpns_lease_granted(struct qpns *s, uint16_t interface, uint32_t xid, uint32_t address);
/* The QP sent a datagram with this PSN. SEEN_NONE: it is corrupt and does not count. */
enum sequence_seen qp_sent(struct qp *qp, uint32_t psn, bool corrupt, uint32_t frame, int64_t ns);
/* A datagram of the QP before this frame is missing, or this one may be a truncated one. */
void qp_has_gap(struct qp *qp, uint32_t frame, int64_t ns);
void qpns_merge(struct qpns *s, uint16_t from, uint16_t to);

/* ---- interfaces */

/* limit: of interface numbers, at most INTERFACES_MAX. */
struct interfaces *interfaces_new(enum interfaces_mode mode, unsigned limit, struct undone *undone);
void interfaces_free(struct interfaces *i);
/* Get the model's number for the interface. false: too many, so it is INTERFACE_NONE. */
bool interfaces_enter(struct interfaces *i, struct capture_interface captured, uint16_t *number);
/*
 * Both see the same subnet. true: they were two until now; the caller moves the data of number
 * *from to *to. Interfaces that were separated before are never joined.
 */
bool interfaces_join(struct interfaces *i, uint16_t a, uint16_t b, uint16_t *from, uint16_t *to);

/*
 * They see two subnets. true: they were joined, and the join is undone: all interfaces of that
 * subnet get new numbers, for which the model has no data.
 */
bool interfaces_part(struct interfaces *i, uint16_t a, uint16_t b);

/* ---- sources of ICRCs */

struct sources;

/* limit: number of sources kept; of later ones, each packet counts as the first. */
struct sources *sources_new(unsigned limit, struct undone *undone);
void sources_free(struct sources *s);

/* Number of whole packets that end before their ICRC; 0: other packets have ICRCs. */
uint64_t sources_packets_without(const struct sources *s);
/* Number of sources with an ICRC of which none was right. */
unsigned sources_without_right(const struct sources *s);
/* Number of LIDs of which no VCRC was right, while others on the same interface have right ones. */
unsigned sources_without_vcrc(const struct sources *s);
/*
 * Would a wrong CRC mean that this packet is corrupt? Call once for each packet with complete
 * headers, in capture order.
 */
struct crcs_count sources_see(struct sources *s, uint16_t interface, struct view bytes,
                              const struct ib_packet *ib);
/*
 * The packet's SGID is that of the port at its SLID: a right ICRC without a GRH counts for both.
 * Returns whether there was one.
 */
bool sources_share(struct sources *s, uint16_t interface, const struct ib_packet *ib);

/* ---- events: their readers get const pointers; the model writes what they point to */

static inline struct group *group_to_write(const struct subnet_event *e)
{
    return (struct group *)e->group;
}

static inline struct endport *endport_to_write(const struct subnet_event *e)
{
    return (struct endport *)e->endport;
}

static inline struct member *member_to_write(const struct subnet_event *e)
{
    return (struct member *)e->member;
}

#endif

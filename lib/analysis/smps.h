/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The port that an SMP is about; for smps.c and links.c. Private to analysis/. */
#ifndef IPOIB_ANALYSIS_SMPS_H
#define IPOIB_ANALYSIS_SMPS_H

#include "analysis/smp_order.h"
#include "analysis/transactions.h"

/* Places in the key's who. */
/* In the key's about, instead of the number of hops: a LID follows. */
enum { SMP_BY_LID = 0xff };
enum { SMP_KEY_ATTRIBUTE = 0, SMP_KEY_MODIFIER = 2, SMP_KEY_AGENT = 6, SMP_KEY_METHOD = 10 };

/*
 * The port that is to answer the current packet, or does: the end of a directed route, or a LID.
 * Id 0: it is no request or response, or its route is too long or was not captured.
 */
struct port smp_port(const struct watch *w);
/* The same of a request or response on a directed route. */
struct port smp_port_on_route(const struct watch *w);
/* The attribute of the current packet, its modifier, and this port. */
struct question_key smp_key(const struct watch *w, struct port port);
/* The same of an earlier request. */
struct question_key smp_key_of(const struct mad_transaction *t);
/* Its attribute, modifier and agent. */
struct question_key smp_key_without_route(struct port port, const struct mad *mad);
/* The current packet is an SMP: finds its route, before all others that look at it (routes.c). */
void watch_route(const struct watch *w);
/* The same if the route was seen before; false: it does nothing. */
bool watch_route_again(const struct watch *w);
/* It is a request, and not corrupt. */
void watch_request_on_route(const struct watch *w);
/* It has NodeInfo of the port at the end of the route, and is not corrupt. */
void watch_node_at_route(const struct watch *w);
/*
 * Is the port at the end of the current packet's route still the one whose NodeInfo was captured?
 * guid: its GUID; 0: none was captured, or the packet has no route.
 */
bool route_is_known(const struct watch *w, uint64_t *guid);
/*
 * The port at the end of the current packet's route is not Active any more, as its PortInfo without
 * a LID shows. Was this reported? Once.
 */
void route_is_down(const struct watch *w);
bool route_was_down(const struct watch *w);
/* A number of the current packet's route; 0: it has none. */
uint64_t route_number(const struct watch *w);
/* Its number of hops and their ports, GID_SIZE bytes; NULL: it has none, or more hops than these.
 */
const uint8_t *route_hops(const struct watch *w);

/* The current packet is a request to this port. */
APART void watch_smp_request(const struct watch *w, struct port port);
/* It is the port's response. */
APART void watch_smp_response(const struct watch *w, struct port port);
/* It is a response with a status. */
APART void watch_refused_smp(const struct watch *w, struct port port);
/* What the model learnt from the current packet's PortInfo; NULL: nothing about a port with a LID.
 */
static inline const struct subnet_event *port_info_event(const struct watch *w)
{
    for (unsigned i = 0; i < w->e->count; i++)
        if (w->e->list[i].kind == SUBNET_PORT_INFO)
            return &w->e->list[i];
    return NULL;
}
extern const struct name port_state_names[];
/* It is the PortInfo i (subnet.c). */
void watch_port_state(const struct watch *w, const struct subnet_event *e,
                      const struct port_info *i);
/* The current packet has the PortInfo i of this port (links.c). */
void watch_link(const struct watch *w, struct port port, const struct port_info *i);
/* The same (widths.c). */
void watch_width(const struct watch *w, struct port port, const struct port_info *i);
/* "the directed route 0,1,2" or "LID 3" */
void smp_append_target(GString *out, const struct question_key *key);
/* The sender fields of the port, if it has a LID. */
struct sender smp_target(const struct watch *w, const struct question_key *key);

/* The NodeInfo of the port at the end of the current route (guids.c). */
APART void watch_port_guid(const struct watch *w, const struct node_info *n, const uint8_t *hops);

#endif

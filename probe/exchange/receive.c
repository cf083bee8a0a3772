/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Receives packets: logs and checks them, and responds to requests for the probe's address. See
 * receive.h.
 */
#include "probe/exchange/receive.h"

#include <stdio.h>
#include <string.h>

#include "hca/mcgroup.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/responder.h"
#include "probe/exchange/usable.h"
#include "probe/link/link.h"
#include "probe/link/send.h"
#include "probe/link/transport.h"
#include "probe/link/wirelog.h"
#include "probe/run/results.h"
#include "probe/run/target.h"
#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/mgid.h"
#include "wire/nd.h"

static uint16_t mlid_of(const struct target *t, const struct ud_from *from)
{
    for (guint i = 0; from->grh && i < t->link->attached->len; i++) {
        const struct mc_group *g = &g_array_index(t->link->attached, struct mc_group, i);
        if (memcmp(g->mgid, from->grh + GRH_DGID, GID_SIZE) == 0)
            return g->mlid;
    }
    return from->grh && from->grh[GRH_DGID] == 0xff ? LID_MULTICAST_FIRST : 0;
}

const uint8_t *receive_announced_ip(struct view v, bool *ipv6)
{
    struct encap e;
    struct arp a;
    struct view icmpv6, body = view_from(v, ENCAP_SIZE);
    bool fixed;
    if (encap_decode(v, &e) != WIRE_OK)
        return NULL;
    *ipv6 = e.type == TYPE_IPV6;
    if (e.type == TYPE_ARP)
        return arp_decode(body, &a, &fixed) == WIRE_OK && a.pln == 4 ? body.p + a.spa : NULL;
    if (!*ipv6 || !nd_in_ipv6(body, &icmpv6) || icmpv6.cap < ND_TARGET + 16 || icmpv6.p[0] != ND_NA)
        return NULL;
    return icmpv6.p + ND_TARGET;
}

bool receive_is_usable(struct target *t, const struct ud_from *from, const char *wrong)
{
    const char *why = usable_drop_reason(view_from(from->bytes, ENCAP_SIZE));
    why = why ? why : wrong;
    t->unusable = why ? why : t->unusable;
    return !why;
}

void receive_no_response_text(const struct target *t, const char *none, char *out, size_t size)
{
    if (t->unusable)
        snprintf(out, size, "%s; a reply was received that has %s: a host drops it", none,
                 t->unusable);
    else
        snprintf(out, size, "%s", none);
}

/* The mode over which the packet arrived. */
static const char *mode_text(const struct ud_from *from)
{
    return !from->connection ? "UD" : from->connection->req.uc ? "UC" : "RC";
}

static void packet_text(const struct ud_from *from, char *out, size_t size)
{
    struct encap e = {0};
    encap_decode(from->bytes, &e);
    const char *what = e.type == TYPE_ARP    ? "an ARP message"
                       : e.type == TYPE_IPV4 ? "an IPv4 packet"
                       : e.type == TYPE_IPV6 ? "an IPv6 packet"
                                             : "a packet";
    if (from->lid)
        snprintf(out, size, "%s of %u bytes over %s from QPN 0x%06x, LID %u", what, from->bytes.len,
                 mode_text(from), from->qpn, from->lid);
    else
        snprintf(out, size, "%s of %u bytes", what, from->bytes.len);
}

/* RFC 4391 §6. */
static bool is_of_no_type(const struct ud_from *from)
{
    struct encap e;
    return encap_decode(from->bytes, &e) == WIRE_OK && e.type != TYPE_IPV4 && e.type != TYPE_ARP &&
           e.type != TYPE_RARP && e.type != TYPE_IPV6;
}

void receive_take(struct target *t, const struct ud_from *from, bool of_peer)
{
    char text[120];
    packet_text(from, text, sizeof text);
    if (of_peer)
        results_received(t->results, "%s", text);
    if (of_peer && is_of_no_type(from))
        t->unusable = "an encapsulation type that is none of RFC 4391's";
    verdict_frame(t->results->checked->verdict, of_peer);
    if (from->connection)
        wirelog_message(t->log, t->link->transport, from->connection, from->bytes, LOG_OF_TARGET);
    else {
        enum log_direction direction = of_peer                  ? LOG_OF_TARGET
                                       : peer_is_named(t, from) ? LOG_OF_IMPOSTOR
                                                                : LOG_RECEIVED;
        t->results->lid = from->lid;
        t->results->qpn = from->qpn;
        wirelog_ud_received(t->log, t->link->transport, t->link->pkey, t->link->group.qkey,
                            mlid_of(t, from), from, direction);
        t->results->lid = 0;
    }
    peer_observe(t, from);
    responder_take(t, from);
}

/*
 * To the broadcast group, whose packets address resolution needs; each group has a tree of its own.
 * Of another port: this one loops back what its host sends.
 */
static bool is_to_group(const struct target *t, const struct ud_from *from)
{
    return !from->connection && from->grh &&
           memcmp(from->grh + GRH_DGID, t->link->group.mgid, GID_SIZE) == 0 &&
           from->lid != t->link->transport->facts.lid;
}

bool receive_await(struct target *t, int ms, packet_match *match, void *user)
{
    if (t->yield)
        return t->yield(t, ms, match, user);
    gint64 end = g_get_monotonic_time() + (gint64)ms * 1000;
    struct ud_from from;
    while (!target_ended(t)) {
        gint64 left = (end - g_get_monotonic_time() + 999) / 1000;
        enum transport_result result = t->link->transport->ops->receive(t->link->transport,
                                                                        (int)MAX(left, 0), &from);
        if (result == TRANSPORT_NOTHING || send_note_result(t, result))
            return false;
        if (!from.connection && from.qpn == t->link->transport->qpn &&
            from.lid == t->link->transport->facts.lid)
            continue; /* the port loops back what it sends to its own groups */
        t->link->from_groups += is_to_group(t, &from);
        receive_take(t, &from, peer_may_be_sender(t, &from));
        if (match(t, &from, user))
            return true;
    }
    return false;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Responds to requests for the probe's own IP address while the probe uses it. Otherwise the peer's
 * replies would stop: the peer resolves the address before its first reply, and again some seconds
 * later.
 */
#include "probe/exchange/responder.h"

#include <stdio.h>
#include <string.h>

#include "hca/mcgroup.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/usable.h"
#include "probe/link/link.h"
#include "probe/link/message.h"
#include "probe/link/send.h"
#include "probe/link/transport.h"
#include "probe/run/target.h"
#include "probe/run/text.h"
#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/nd.h"

/* Over UD, even if the request arrived over a connection (RFC 4755 §7). */
static struct ud_to reply_destination(const struct target *t, const struct ud_from *from)
{
    if (from->connection)
        return peer_destination(t, t->peer->needs_grh);
    return (struct ud_to){
        .lid = from->lid, .sl = from->sl, .qpn = from->qpn, .qkey = t->link->group.qkey};
}

/* RFC 826. The reply goes to the QPN in the requester's link-layer address (RFC 4391 §9.1.1). */
static void respond_arp(struct target *t, const struct ud_from *from, struct view v)
{
    uint8_t out[UD_SIZE];
    struct arp a;
    bool fixed;
    if (arp_decode(v, &a, &fixed) != WIRE_OK || a.op != ARP_REQUEST || a.hln != LLADDR_SIZE ||
        a.pln != 4 || memcmp(v.p + a.tpa, t->link->source.ip, 4) != 0)
        return;
    struct arp_message m = {.op = ARP_REPLY,
                            .sha = t->link->lladdr,
                            .spa = t->link->source.ip,
                            .tha = v.p + a.sha,
                            .tpa = v.p + a.spa};
    struct ud_to to = reply_destination(t, from);
    t->peer->asked |= memcmp(v.p + a.spa, t->ip, 4) == 0;
    to.qpn = lladdr_read(v.p + a.sha).qpn;
    send_unicast(t, &to, out, message_arp(out, &m));
}

enum { IPV6_FROM = 8, IPV6_TO = 24, OVERRIDE = 0x20 };

static const uint8_t unspecified[16];

static bool has_option(struct view icmpv6, uint8_t type)
{
    struct nd_iter it;
    struct nd_option o;
    bool has = false;
    for (bool there = nd_options(icmpv6, &it); there && nd_next(&it, &o);)
        has |= o.type == type;
    return has;
}

/* Validates an NS from the unspecified address (RFC 4861 §7.1.1). */
static bool is_valid_dad(const struct target *t, struct view ipv6, struct view icmpv6)
{
    uint8_t group[16];
    message_solicited_node(group, t->link->source.ip);
    return memcmp(ipv6.p + IPV6_TO, group, 16) == 0 && !has_option(icmpv6, ND_OPT_SOURCE_LLADDR);
}

/*
 * The requester has no address yet, so the NA goes to all nodes without the Solicited flag. It has
 * the Override flag because it includes the option and the address is not anycast.
 */
static void respond_dad(struct target *t)
{
    uint8_t out[UD_SIZE], mgid[16];
    struct nd_message m = {.type = ND_NA,
                           .flags = OVERRIDE,
                           .from = t->link->source.ip,
                           .to = message_all_nodes,
                           .target = t->link->source.ip,
                           .lladdr = t->link->lladdr};
    message_ipv6_mgid(mgid, t->link->group.scope, t->link->pkey, message_all_nodes);
    for (guint i = 0; i < t->link->attached->len; i++) {
        const struct mc_group *g = &g_array_index(t->link->attached, struct mc_group, i);
        if (memcmp(g->mgid, mgid, 16) == 0) {
            send_group(t, g, out, message_nd(out, &m));
            return;
        }
    }
}

static void respond_ns(struct target *t, const struct ud_from *from, struct view ipv6)
{
    uint8_t out[UD_SIZE];
    struct nd_message m = {.type = ND_NA,
                           .flags = ND_NA_SOLICITED | OVERRIDE,
                           .from = t->link->source.ip,
                           .to = ipv6.p + IPV6_FROM,
                           .target = t->link->source.ip,
                           .lladdr = t->link->lladdr};
    struct ud_to to = reply_destination(t, from);
    t->peer->asked |= peer_may_be_sender(t, from);
    send_unicast(t, &to, out, message_nd(out, &m));
}

/* The port loops back packets that any of the probe's queue pairs sends to its own groups. */
static bool is_own_packet(const struct target *target, const struct ud_from *from)
{
    const struct transport *t = target->link->transport;
    return !from->connection && from->lid == t->facts.lid &&
           (from->qpn == t->qpn || from->qpn == t->second_qpn ||
            from->qpn == t->other_partition_qpn);
}

/* Ends the run: the peer may have confused the other node with the probe. */
static void give_up_source(struct target *t)
{
    char ip[48];
    struct own_address *s = &t->link->source;
    text_ip(true, s->ip, ip);
    s->usable = false;
    snprintf(t->link->transport->error, sizeof t->link->transport->error,
             "--source %s: %s has the address too: the probe no longer uses it, and ends", ip,
             s->defender);
    t->run->broken = true;
}

/* lladdr: the announced one; NULL: none. */
static void note_defender(struct target *t, const struct ud_from *from, const uint8_t *lladdr)
{
    struct own_address *s = &t->link->source;
    char who[64] = "a port";
    if (s->defender[0])
        return;
    if (lladdr)
        text_lladdr(lladdr, who);
    else if (from->grh) {
        g_strlcpy(who, "GID ", sizeof who);
        text_ip(true, from->grh + GRH_SGID, who + strlen(who));
    }
    snprintf(s->defender, sizeof s->defender, "%s (QPN 0x%06x, LID %u)", who, from->qpn, from->lid);
    if (s->usable)
        give_up_source(t);
}

static void take_ns(struct target *t, const struct ud_from *from, struct view ipv6,
                    struct view icmpv6)
{
    bool dad = memcmp(ipv6.p + IPV6_FROM, unspecified, 16) == 0;
    if (dad && !is_valid_dad(t, ipv6, icmpv6))
        return;
    /* Another node that performs DAD for a tentative address wants to use it (RFC 4862 §5.4.3). */
    if (t->link->source.tentative && dad)
        note_defender(t, from, NULL);
    else if (t->link->source.usable && dad)
        respond_dad(t);
    else if (t->link->source.usable)
        respond_ns(t, from, ipv6);
}

static void take_nd(struct target *t, const struct ud_from *from, struct view ipv6)
{
    struct view icmpv6;
    if (!nd_in_ipv6(ipv6, &icmpv6) || icmpv6.cap < ND_TARGET + 16 ||
        memcmp(icmpv6.p + ND_TARGET, t->link->source.ip, 16) != 0 || usable_drop_reason(ipv6) ||
        is_own_packet(t, from))
        return;
    const uint8_t *lladdr = icmpv6.p[0] == ND_NA ? nd_lladdr(icmpv6, ND_OPT_TARGET_LLADDR) : NULL;
    if (icmpv6.p[0] == ND_NS)
        take_ns(t, from, ipv6, icmpv6);
    else if (icmpv6.p[0] == ND_NA && !(lladdr && lladdr_same(lladdr, t->link->lladdr)))
        note_defender(t, from, lladdr);
}

void responder_take(struct target *t, const struct ud_from *from)
{
    struct encap e;
    const struct own_address *s = &t->link->source;
    if (!(s->usable || s->tentative) || encap_decode(from->bytes, &e) != WIRE_OK)
        return;
    struct view body = view_from(from->bytes, ENCAP_SIZE);
    if (e.type == TYPE_ARP && s->usable && !s->ipv6)
        respond_arp(t, from, body);
    else if (e.type == TYPE_IPV6 && s->ipv6)
        take_nd(t, from, body);
}

void responder_announce(struct target *t)
{
    uint8_t out[UD_SIZE], group[16];
    struct ud_to to = peer_destination(t, t->peer->needs_grh);
    struct arp_message arp = {
        .op = ARP_REQUEST, .sha = t->link->lladdr, .spa = t->link->source.ip, .tpa = t->ip};
    struct nd_message ns = {.type = ND_NS,
                            .from = t->link->source.ip,
                            .to = group,
                            .target = t->ip,
                            .lladdr = t->link->lladdr};
    if (!t->link->source.usable || t->link->source.ipv6 != t->ipv6)
        return;
    t->peer->announced = true;
    message_solicited_node(group, t->ip);
    send_unicast(t, &to, out, t->ipv6 ? message_nd(out, &ns) : message_arp(out, &arp));
}

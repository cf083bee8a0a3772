/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A truthful station: while the probe has an address of its own, it answers for it. Without that
 * the peer's replies stop, for it asks for the address before its first reply, and again some
 * seconds later.
 */
#include "probe/probe.h"

#include <stdio.h>
#include <string.h>

#include "probe/message.h"
#include "probe/usable.h"
#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/nd.h"

/* Over UD, even to what came over a connection (RFC 4755 §7). */
static struct ud_to back_to(const struct probe *p, const struct ud_from *from)
{
    if (from->call)
        return to_peer(p, p->peer.needs_grh);
    return (struct ud_to){.lid = from->lid, .sl = from->sl, .qpn = from->qpn, .qkey = p->link.qkey};
}

/* RFC 826. The answer goes to the QPN of the asker's link-layer address (RFC 4391 §9.1.1). */
static void answer_arp(struct probe *p, const struct ud_from *from, struct view v)
{
    uint8_t out[UD_SIZE];
    struct arp a;
    bool fixed;
    if (arp_decode(v, &a, &fixed) != WIRE_OK || a.op != ARP_REQUEST || a.hln != LLADDR_SIZE ||
        a.pln != 4 || memcmp(v.p + a.tpa, p->source.ip, 4) != 0)
        return;
    struct arp_message m = {.op = ARP_REPLY,
                            .sha = p->lladdr,
                            .spa = p->source.ip,
                            .tha = v.p + a.sha,
                            .tpa = v.p + a.spa};
    struct ud_to to = back_to(p, from);
    to.qpn = lladdr_read(v.p + a.sha).qpn;
    send_unicast(p, &to, out, make_arp(out, &m));
}

/* RFC 4861 §7.2.4. Duplicate address detection has no sender to answer to. */
static void answer_ns(struct probe *p, const struct ud_from *from, struct view ipv6)
{
    static const uint8_t unspecified[16];
    uint8_t out[UD_SIZE];
    struct view icmpv6;
    enum { IPV6_FROM = 8, OVERRIDE = 0x20 };
    if (!nd_in_ipv6(ipv6, &icmpv6) || icmpv6.cap < ND_TARGET + 16 || icmpv6.p[0] != ND_NS ||
        memcmp(icmpv6.p + ND_TARGET, p->source.ip, 16) != 0 ||
        memcmp(ipv6.p + IPV6_FROM, unspecified, 16) == 0 || why_host_drops(ipv6))
        return;
    struct nd_message m = {.type = ND_NA,
                           .flags = ND_NA_SOLICITED | OVERRIDE,
                           .from = p->source.ip,
                           .to = ipv6.p + IPV6_FROM,
                           .target = p->source.ip,
                           .lladdr = p->lladdr};
    struct ud_to to = back_to(p, from);
    send_unicast(p, &to, out, make_nd(out, &m));
}

void station_take(struct probe *p, const struct ud_from *from)
{
    struct encap e;
    if (!p->source.usable || encap_decode(from->octets, &e) != WIRE_OK)
        return;
    struct view body = view_from(from->octets, ENCAP_SIZE);
    if (e.type == TYPE_ARP && !p->source.ipv6)
        answer_arp(p, from, body);
    else if (e.type == TYPE_IPV6 && p->source.ipv6)
        answer_ns(p, from, body);
}

void station_introduce(struct probe *p)
{
    uint8_t out[UD_SIZE], group[16];
    struct ud_to to = to_peer(p, p->peer.needs_grh);
    struct arp_message arp = {
        .op = ARP_REQUEST, .sha = p->lladdr, .spa = p->source.ip, .tpa = p->peer.ip};
    struct nd_message ns = {.type = ND_NS,
                            .from = p->source.ip,
                            .to = group,
                            .target = p->peer.ip,
                            .lladdr = p->lladdr};
    if (!p->source.usable || p->source.ipv6 != p->peer.ipv6)
        return;
    solicited_node(group, p->peer.ip);
    send_unicast(p, &to, out, p->peer.ipv6 ? make_nd(out, &ns) : make_arp(out, &arp));
}

/* The peer asks for the probe's IPv6 address by its solicited-node group. */
static bool join_solicited_node(struct probe *p, char *why, size_t size)
{
    uint8_t group[16], mgid[16];
    struct mc_group g;
    uint16_t status = 0;
    solicited_node(group, p->source.ip);
    ipv6_mgid(mgid, p->link.scope, p->pkey, group);
    if (group_join(p, mgid, JOIN_FULL, true, &g, &status) != SA_TOLD) {
        snprintf(why, size, "its solicited-node group cannot be joined: %s",
                 status ? sa_status_name(status) : "no answer");
        return false;
    }
    if (group_attach(p, &g))
        return true;
    snprintf(why, size, "%s", p->t->error);
    return false;
}

bool station_open(struct probe *p, char *why, size_t size)
{
    struct question q = {.multicast = true, .ip = p->source.ip, .any = true};
    /*
     * What the adapter sends to its own groups need not come to the host's other queue pairs: it is
     * asked directly.
     */
    char *own = host_has_address(p->source.ipv6, p->source.ip);
    if (own) {
        snprintf(why, size, "the address is in use, by this host's %s", own);
        g_free(own);
        return false;
    }
    struct answer *a = g_new(struct answer, 1);
    char who[64];
    if (p->source.ipv6 && !join_solicited_node(p, why, size)) {
        g_free(a);
        return false;
    }
    enum came came = ask_peer(p, &q, TRIES, a);
    if (came == CAME_ANSWER) {
        lladdr_text(a->lladdr, who);
        snprintf(why, size, "the address is in use, by %s", who);
    } else if (came == NOT_ASKED)
        snprintf(why, size, "whether the address is in use was %s", p->results->came);
    g_free(a);
    p->source.usable = came == CAME_NOTHING && !p->stopped && !p->broken;
    return p->source.usable;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests for a link-layer address that leave no entry in the peer's neighbour cache. See
 * request.h.
 */
#include "probe/exchange/request.h"

#include <stdio.h>
#include <string.h>

#include "probe/exchange/peer.h"
#include "probe/exchange/receive.h"
#include "probe/link/hostif.h"
#include "probe/link/link.h"
#include "probe/link/message.h"
#include "probe/link/transport.h"
#include "probe/run/target.h"
#include "probe/run/text.h"
#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/nd.h"

bool request_is_ipv6(const struct target *t, const struct request *q)
{
    if (!q->ip)
        return t->ipv6;
    return q->ip_version == 6;
}

void request_text(const struct target *t, const struct request *q, char *out, size_t size)
{
    char ip[48];
    bool ipv6 = request_is_ipv6(t, q);
    text_ip(ipv6, q->ip ? q->ip : t->ip, ip);
    char sender[48];
    text_ip(true, t->link->source.ip, sender);
    int n = snprintf(out, size, "%s for %s, sender %s, %s", ipv6 ? "NS" : "ARP request", ip,
                     !ipv6      ? "0.0.0.0"
                     : q->named ? sender
                                : "::",
                     q->multicast ? "multicast"
                     : q->grh     ? "unicast with GRH"
                                  : "unicast without GRH");
    if (q->padding && (size_t)n < size)
        n += snprintf(out + n, size - (size_t)n, ", padding 0x%04x in the option", q->padding);
    if (q->second_qp && (size_t)n < size)
        n += snprintf(out + n, size - (size_t)n, ", from QPN 0x%06x in the name of 0x%06x",
                      t->link->transport->second_qpn, t->link->transport->qpn);
    if (q->reserved && (size_t)n < size)
        n += snprintf(out + n, size - (size_t)n, ", Reserved 0x%04x", q->reserved);
    if (q->flags && (size_t)n < size)
        n += snprintf(out + n, size - (size_t)n, ", address flags 0x%02x", q->flags);
    if (q->other_partition && (size_t)n < size)
        n += snprintf(out + n, size - (size_t)n, ", P_Key 0x%04x", t->link->transport->other_pkey);
    if (q->qkey && (size_t)n < size)
        snprintf(out + n, size - (size_t)n, ", Q_Key 0x%08x", q->qkey);
}

void response_text(const struct response *a, char *out, size_t size)
{
    char lladdr[64];
    text_lladdr(a->lladdr, lladdr);
    if (a->lid)
        snprintf(out, size, "it is at %s, announced by QPN 0x%06x, LID %u, %s GRH, after %.1f ms",
                 lladdr, a->qpn, a->lid, a->grh ? "with" : "without", a->ms);
    else
        snprintf(out, size, "it is at %s, received by the interface after %.1f ms", lladdr, a->ms);
}

/*
 * An ARP reply for the address, sent to this probe: by unicast, or with the probe's link-layer
 * address (with or without flags) as its target.
 */
static const uint8_t *lladdr_of_arp_reply(struct target *t, const struct pending_request *x,
                                          const struct ud_from *from, struct view v)
{
    struct arp a;
    bool fixed;
    if (arp_decode(v, &a, &fixed) != WIRE_OK || a.op != ARP_REPLY || a.hln != LLADDR_SIZE ||
        a.pln != 4)
        return NULL;
    bool multicast = from->grh && from->grh[GRH_DGID] == 0xff;
    bool ours = !multicast || lladdr_same(v.p + a.tha, t->link->lladdr);
    return ours && memcmp(v.p + a.spa, x->ip, 4) == 0 ? v.p + a.sha : NULL;
}

static const uint8_t *lladdr_of_na(const struct pending_request *x, struct view v)
{
    struct view icmpv6;
    if (!nd_in_ipv6(v, &icmpv6) || icmpv6.cap < ND_TARGET + 16 || icmpv6.p[0] != ND_NA ||
        memcmp(icmpv6.p + ND_TARGET, x->ip, 16) != 0)
        return NULL;
    return nd_lladdr(icmpv6, ND_OPT_TARGET_LLADDR);
}

void request_store_response(const struct target *t, struct pending_request *x,
                            const struct ud_from *from)
{
    struct response *a = x->a;
    x->received = g_get_monotonic_time();
    *a = (struct response){.qpn = from->qpn,
                           .to_qpn = from->to_qpn ? from->to_qpn : t->link->transport->qpn,
                           .lid = from->lid,
                           .sl = from->sl,
                           .grh = from->grh != NULL,
                           .ms = (double)(x->received - x->sent) / 1000,
                           .n = MIN(from->bytes.cap, UD_SIZE)}; /* a connection's may be larger */
    memcpy(a->bytes, from->bytes.p, a->n);
}

bool request_take_response(struct target *t, const struct ud_from *from, void *user)
{
    struct pending_request *x = user;
    struct encap e;
    if (from->connection || encap_decode(from->bytes, &e) != WIRE_OK ||
        e.type != (x->ipv6 ? TYPE_IPV6 : TYPE_ARP))
        return false; /* responses over connections do not count (RFC 4755 §7) */
    struct view body = view_from(from->bytes, ENCAP_SIZE);
    const uint8_t *lladdr = x->ipv6 ? lladdr_of_na(x, body) : lladdr_of_arp_reply(t, x, from, body);
    bool of_peer = t->peer->known && lladdr && lladdr_same(lladdr, t->peer->lladdr) &&
                   peer_is_sender(t, from);
    if (!lladdr || (t->peer->known && !x->q->any && !of_peer) ||
        (x->q->foreign && host_has_port(lladdr)) || (x->ipv6 && !receive_is_usable(t, from, NULL)))
        return false;
    request_store_response(t, x, from);
    memcpy(x->a->lladdr, lladdr, LLADDR_SIZE);
    return true;
}

static uint32_t make_message(const struct target *t, const struct pending_request *x,
                             const uint8_t *lladdr, uint8_t *out)
{
    uint8_t group[16];
    if (!x->ipv6) {
        struct arp_message m = {
            .reserved = x->q->reserved, .op = ARP_REQUEST, .sha = lladdr, .tpa = x->ip};
        return message_arp(out, &m);
    }
    message_solicited_node(group, x->ip);
    struct nd_message m = {.reserved = x->q->reserved, .type = ND_NS, .to = group, .target = x->ip};
    if (x->q->named) {
        m.from = t->link->source.ip;
        m.lladdr = lladdr;
        m.padding = x->q->padding;
    }
    return message_nd(out, &m);
}

uint32_t request_make(const struct target *t, const struct pending_request *x,
                      const uint8_t *lladdr, uint8_t *out)
{
    uint32_t n = make_message(t, x, lladdr, out), wanted = MIN(x->q->length + ENCAP_SIZE, UD_SIZE);
    if (!x->q->length || wanted <= n)
        return n;
    memset(out + n, 0, wanted - n);
    return wanted;
}

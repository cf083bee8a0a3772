/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asking for a link-layer address so that nobody remembers who asked: an ARP request with sender
 * 0.0.0.0 (RFC 5227 §2.1.1), a Neighbour Solicitation from the unspecified address (RFC 4862
 * §5.4.2). The answer to the latter goes to all nodes.
 */
#include "probe/question.h"
#include "probe/groups.h"
#include "probe/owner.h"
#include "probe/patience.h"
#include "probe/traffic.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "probe/message.h"
#include "probe/owner.h"
#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/nd.h"

static const uint8_t all_nodes[16] = {0xff, 0x02, [15] = 1};

/* ---- words */

void lladdr_text(const uint8_t *lladdr, char out[64])
{
    size_t n = 0;
    for (unsigned i = 0; i < LLADDR_SIZE; i++)
        n += (size_t)snprintf(out + n, 64 - n, "%s%02x", i ? ":" : "", lladdr[i]);
}

void ip_text(bool ipv6, const uint8_t *ip, char out[48])
{
    inet_ntop(ipv6 ? AF_INET6 : AF_INET, ip, out, 48);
}

static bool asks_ipv6(const struct target *t, const struct question *q)
{
    if (!q->ip)
        return t->ipv6;
    return q->ip_version ? q->ip_version == 6 : t->link->source.ipv6;
}

void question_text(const struct target *t, const struct question *q, char *out, size_t size)
{
    char ip[48];
    bool ipv6 = asks_ipv6(t, q);
    ip_text(ipv6, q->ip ? q->ip : t->ip, ip);
    char sender[48];
    ip_text(true, t->link->source.ip, sender);
    int n = snprintf(out, size, "%s for %s, sender %s, %s", ipv6 ? "NS" : "ARP request", ip,
                     !ipv6      ? "0.0.0.0"
                     : q->named ? sender
                                : "::",
                     q->multicast ? "multicast"
                     : q->grh     ? "unicast with GRH"
                                  : "unicast without GRH");
    if (q->padding && (size_t)n < size)
        n += snprintf(out + n, size - (size_t)n, ", padding 0x%04x in the option", q->padding);
    if (q->aside && (size_t)n < size)
        n += snprintf(out + n, size - (size_t)n, ", from QPN 0x%06x in the name of 0x%06x",
                      t->link->transport->aside_qpn, t->link->transport->qpn);
    if (q->reserved && (size_t)n < size)
        n += snprintf(out + n, size - (size_t)n, ", Reserved 0x%04x", q->reserved);
    if (q->flags && (size_t)n < size)
        n += snprintf(out + n, size - (size_t)n, ", address flags 0x%02x", q->flags);
    if (q->stranger && (size_t)n < size)
        n += snprintf(out + n, size - (size_t)n, ", P_Key 0x%04x",
                      t->link->transport->stranger_pkey);
    if (q->qkey && (size_t)n < size)
        snprintf(out + n, size - (size_t)n, ", Q_Key 0x%08x", q->qkey);
}

void answer_text(const struct answer *a, char *out, size_t size)
{
    char lladdr[64];
    lladdr_text(a->lladdr, lladdr);
    if (a->lid)
        snprintf(out, size, "it is at %s, told by QPN 0x%06x, LID %u, %s GRH, after %.1f ms",
                 lladdr, a->qpn, a->lid, a->grh ? "with" : "without", a->ms);
    else
        snprintf(out, size, "it is at %s, told to the interface after %.1f ms", lladdr, a->ms);
}

/* ---- the answer */

/*
 * A reply for the address to this probe: it came to its queue pair alone, or its target is the
 * asker's address, with flags or without.
 */
static const uint8_t *answered_by_arp(struct target *t, const struct asked *x,
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

static const uint8_t *answered_by_na(const struct asked *x, struct view v)
{
    struct view icmpv6;
    if (!nd_in_ipv6(v, &icmpv6) || icmpv6.cap < ND_TARGET + 16 || icmpv6.p[0] != ND_NA ||
        memcmp(icmpv6.p + ND_TARGET, x->ip, 16) != 0)
        return NULL;
    return nd_lladdr(icmpv6, ND_OPT_TARGET_LLADDR);
}

bool take_answer(struct target *t, const struct ud_from *from, void *user)
{
    struct asked *x = user;
    struct encap e;
    if (from->call || encap_decode(from->octets, &e) != WIRE_OK ||
        e.type != (x->ipv6 ? TYPE_IPV6 : TYPE_ARP))
        return false; /* answers over connections are no answers (RFC 4755 §7) */
    struct view body = view_from(from->octets, ENCAP_SIZE);
    const uint8_t *lladdr = x->ipv6 ? answered_by_na(x, body) : answered_by_arp(t, x, from, body);
    bool of_peer = t->peer->known && lladdr && lladdr_same(lladdr, t->peer->lladdr) &&
                   is_from_peer(t, from);
    if (!lladdr || (t->peer->known && !x->q->any && !of_peer) ||
        (x->ipv6 && !is_usable(t, from, NULL)))
        return false;
    struct answer *a = x->a;
    *a = (struct answer){.qpn = from->qpn,
                         .to_qpn = from->to_qpn ? from->to_qpn : t->link->transport->qpn,
                         .lid = from->lid,
                         .sl = from->sl,
                         .grh = from->grh != NULL,
                         .ms = (double)(g_get_monotonic_time() - x->sent) / 1000,
                         .n = from->octets.cap};
    memcpy(a->lladdr, lladdr, LLADDR_SIZE);
    memcpy(a->octets, from->octets.p, from->octets.cap);
    return true;
}

/* ---- the question */

uint32_t make_question(const struct target *t, const struct asked *x, const uint8_t *lladdr,
                       uint8_t *out)
{
    uint8_t group[16];
    if (!x->ipv6) {
        struct arp_message m = {
            .reserved = x->q->reserved, .op = ARP_REQUEST, .sha = lladdr, .tpa = x->ip};
        return make_arp(out, &m);
    }
    solicited_node(group, x->ip);
    struct nd_message m = {.reserved = x->q->reserved, .type = ND_NS, .to = group, .target = x->ip};
    if (x->q->named) {
        m.from = t->link->source.ip;
        m.lladdr = lladdr;
        m.padding = x->q->padding;
    }
    return make_nd(out, &m);
}

/*
 * IPv6 asks a group of its own, which has to be joined to be sent to. Whether it is there is asked
 * first: OpenSM notes each join of a group that is not as an error.
 */
enum sa_result question_group(struct target *t, const struct asked *x, struct mc_group *g,
                              bool *there)
{
    uint8_t group[16], mgid[16];
    uint16_t status;
    *g = t->link->group;
    *there = true;
    if (!x->ipv6)
        return SA_TOLD;
    solicited_node(group, x->ip);
    ipv6_mgid(mgid, t->link->group.scope, t->link->pkey, group);
    if (!transport_can(t->link->transport, HAS_OWN_QP)) { /* the kernel joins what it sends to */
        memcpy(g->mgid, mgid, 16);
        return SA_TOLD;
    }
    enum sa_result result = group_get(t, mgid, g, &status);
    *there = !group_is_missing(result, status);
    return result == SA_TOLD ? group_join(t, mgid, JOIN_SEND_ONLY_NON, false, g, &status) : result;
}

/* The answers to NS without a sender go to all nodes. */
enum sa_result hear_all_nodes(struct target *t)
{
    uint8_t mgid[16];
    struct mc_group g;
    uint16_t status;
    if (!transport_can(t->link->transport, HAS_OWN_QP))
        return SA_TOLD; /* the interface is in that group, as every IPv6 node */
    ipv6_mgid(mgid, t->link->group.scope, t->link->pkey, all_nodes);
    for (guint i = 0; i < t->link->attached->len; i++)
        if (memcmp(g_array_index(t->link->attached, struct mc_group, i).mgid, mgid, 16) == 0)
            return SA_TOLD;
    enum sa_result result = group_join(t, mgid, JOIN_FULL, false, &g, &status);
    return result == SA_TOLD && !group_attach(t, &g) ? SA_BROKEN : result;
}

static bool send_question(struct target *t, struct asked *x, const struct mc_group *g)
{
    uint8_t out[UD_SIZE], lladdr[LLADDR_SIZE];
    memcpy(lladdr, t->link->lladdr, LLADDR_SIZE);
    lladdr[LLADDR_FLAGS] = x->q->flags;
    uint32_t n = make_question(t, x, lladdr, out);
    bool sent;
    if (x->q->multicast)
        sent = send_group(t, g, out, n);
    else {
        struct ud_to to = to_peer(t, x->q->grh);
        to.qkey = x->q->qkey ? x->q->qkey : to.qkey;
        to.aside = x->q->aside;
        to.stranger = x->q->stranger;
        sent = send_unicast(t, &to, out, n);
    }
    x->sent = g_get_monotonic_time();
    return sent;
}

/*
 * The groups that the question and its answer go to. False, and results_came tells why: it cannot
 * be asked.
 */
static bool find_groups(struct target *t, const struct asked *x, struct mc_group *g)
{
    bool there = true;
    enum sa_result result = x->ipv6 ? hear_all_nodes(t) : SA_TOLD;
    if (result == SA_TOLD && x->q->multicast)
        result = question_group(t, x, g, &there);
    if (result == SA_REFUSED)
        results_came(t->results, "not asked: the %s",
                     !there
                         ? "solicited-node group does not exist: nobody has the address"
                         : "subnet administrator refuses that this port joins the groups of IPv6");
    else if (result != SA_TOLD)
        results_came(t->results, "not asked: %s", sa_silence_text(t, result));
    return result == SA_TOLD;
}

/* The last try is waited for as long as this peer's answers take. */
static bool ask_once(struct target *t, struct asked *x, const struct mc_group *g, bool again,
                     bool last, bool *sent)
{
    bool goes = send_question(t, x, g);
    if (!goes)
        return false;
    *sent = true;
    patience_asks(t, x->ipv6, x->ip, again);
    return await_packet(t, (int)(last ? patience_ms(t) : t->run->options->timeout_ms), take_answer,
                        x);
}

enum came ask_peer(struct target *t, const struct question *q, unsigned tries, struct answer *a)
{
    bool sent = false;
    struct asked x = {.q = q, .ipv6 = asks_ipv6(t, q), .ip = q->ip ? q->ip : t->ip, .a = a};
    struct mc_group g;
    char text[VERDICT_TEXT];
    bool settled = patience_settle(t, q->alone);
    question_text(t, q, text, sizeof text);
    results_sent(t->results, "%s", text);
    t->unusable = NULL;
    results_came(t->results, "%s",
                 settled ? "no answer" : "not asked: answers to earlier questions do not end");
    if (!settled || !find_groups(t, &x, &g))
        return NOT_ASKED;
    for (unsigned i = 0; i < tries && !target_ended(t); i++)
        if (ask_once(t, &x, &g, sent, i + 1 == tries, &sent)) {
            patience_hears(t);
            if (!q->any && !q->ip)
                owner_answered(t, t->peer->patience.first_sent);
            answer_text(a, text, sizeof text);
            results_came(t->results, "%s", text);
            return CAME_ANSWER;
        }
    if (t->unusable)
        tell_none_came(t, "no answer");
    return sent ? CAME_NOTHING : NOT_ASKED;
}

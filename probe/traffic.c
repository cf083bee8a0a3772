/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets out, at the rate that was asked for, and in; both are logged. See probe.h. */
#include "probe/sweep.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/owner.h"
#include "probe/usable.h"
#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/mgid.h"
#include "wire/nd.h"

static bool fails(struct probe *p, enum transport_result result)
{
    if (result == TRANSPORT_STOPPED)
        p->stopped = true;
    if (result == TRANSPORT_ERROR)
        p->broken = true;
    return p->stopped || p->broken;
}

/* What was missed by so much may be made up for: the rate holds on average. */
enum { BURST_US = 10000 };

gint64 rate_wait(struct probe *p)
{
    gint64 left = run_of(p)->next_slot - g_get_monotonic_time();
    return MAX(left, 0);
}

void rate_take(struct probe *p)
{
    struct probe *run = run_of(p);
    run->next_slot = MAX(run->next_slot, g_get_monotonic_time() - BURST_US) +
                     G_USEC_PER_SEC / p->options->rate;
}

static void keep_rate(struct probe *p)
{
    gint64 wait = rate_wait(p);
    if (wait)
        g_usleep((gulong)wait);
    rate_take(p);
}

static bool send_to(struct probe *p, const struct ud_to *to, const uint8_t *octets, uint32_t n)
{
    if (p->stopped || p->broken)
        return false;
    keep_rate(p);
    if (*p->stop) {
        p->stopped = true;
        return false;
    }
    wirelog_ud_sent(p->log, p->t, p->pkey, to, octets, n);
    return !fails(p, p->t->ops->send(p->t, to, octets, n));
}

bool send_unicast(struct probe *p, const struct ud_to *to, const uint8_t *octets, uint32_t n)
{
    return send_to(p, to, octets, n);
}

bool send_message(struct probe *p, struct call *c, const uint8_t *octets, uint32_t n)
{
    if (p->stopped || p->broken || c->dead)
        return false;
    keep_rate(p);
    wirelog_message(p->log, p->t, c, view_make(octets, n, n), LOG_SENT);
    enum transport_result result = p->t->ops->send_call(p->t, c, octets, n);
    return !fails(p, result) && result == TRANSPORT_OK;
}

bool send_group(struct probe *p, const struct mc_group *g, const uint8_t *octets, uint32_t n)
{
    struct ud_to to = {.lid = g->mlid,
                       .sl = g->sl,
                       .hop_limit = g->hop_limit,
                       .tclass = g->tclass,
                       .flow_label = g->flow_label,
                       .qpn = QPN_MULTICAST,
                       .qkey = p->link.qkey,
                       .grh = true};
    memcpy(to.gid, g->mgid, 16);
    return send_to(p, &to, octets, n);
}

struct ud_to to_peer(const struct probe *p, bool grh)
{
    struct ud_to to = {.lid = p->peer.lid,
                       .sl = p->peer.sl,
                       .hop_limit = 1,
                       .qpn = lladdr_read(p->peer.lladdr).qpn,
                       .qkey = p->link.qkey,
                       .grh = grh};
    memcpy(to.gid, p->peer.lladdr + LLADDR_GID, 16);
    return to;
}

/* ---- what comes */

static uint16_t mlid_of(const struct probe *p, const struct ud_from *from)
{
    for (guint i = 0; from->grh && i < p->attached->len; i++) {
        const struct mc_group *g = &g_array_index(p->attached, struct mc_group, i);
        if (memcmp(g->mgid, from->grh + GRH_DGID, GID_SIZE) == 0)
            return g->mlid;
    }
    return from->grh && from->grh[GRH_DGID] == 0xff ? LID_MULTICAST_FIRST : 0;
}

const uint8_t *announced(struct view v, bool *ipv6)
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

bool is_usable(struct probe *p, const struct ud_from *from, const char *wrong)
{
    const char *why = why_host_drops(view_from(from->octets, ENCAP_SIZE));
    why = why ? why : wrong;
    p->unusable = why ? why : p->unusable;
    return !why;
}

void tell_none_came(struct probe *p, const char *none)
{
    if (p->unusable)
        results_came(p->results, "%s; an answer came that has %s: a host drops it", none,
                     p->unusable);
    else
        results_came(p->results, "%s", none);
}

/* What it came over. */
static const char *mode_text(const struct ud_from *from)
{
    return !from->call ? "UD" : from->call->asked.uc ? "UC" : "RC";
}

static void packet_text(const struct ud_from *from, char *out, size_t size)
{
    struct encap e = {0};
    encap_decode(from->octets, &e);
    const char *what = e.type == TYPE_ARP    ? "an ARP message"
                       : e.type == TYPE_IPV4 ? "an IPv4 packet"
                       : e.type == TYPE_IPV6 ? "an IPv6 packet"
                                             : "a packet";
    if (from->lid)
        snprintf(out, size, "%s of %u octets over %s from QPN 0x%06x, LID %u", what,
                 from->octets.len, mode_text(from), from->qpn, from->lid);
    else
        snprintf(out, size, "%s of %u octets", what, from->octets.len);
}

void take_packet(struct probe *p, const struct ud_from *from, bool of_peer)
{
    char text[120];
    packet_text(from, text, sizeof text);
    if (of_peer)
        results_came(p->results, "%s", text);
    verdict_frame(p->results->judged->verdict, of_peer);
    if (from->call)
        wirelog_message(p->log, p->t, from->call, from->octets, LOG_OF_SUBJECT);
    else {
        enum log_way way = of_peer               ? LOG_OF_SUBJECT
                           : names_peer(p, from) ? LOG_OF_IMPOSTOR
                                                 : LOG_RECEIVED;
        p->results->lid = from->lid;
        p->results->qpn = from->qpn;
        wirelog_ud_received(p->log, p->t, p->pkey, p->link.qkey, mlid_of(p, from), from, way);
        p->results->lid = 0;
    }
    owner_hear(p, from);
    station_take(p, from);
}

bool await_packet(struct probe *p, int ms, packet_match *match, void *user)
{
    if (p->host)
        return sweep_await(p, ms, match, user);
    gint64 end = g_get_monotonic_time() + (gint64)ms * 1000;
    struct ud_from from;
    while (!p->stopped && !p->broken) {
        gint64 left = (end - g_get_monotonic_time() + 999) / 1000;
        enum transport_result result = p->t->ops->receive(p->t, (int)MAX(left, 0), &from);
        if (result == TRANSPORT_NOTHING || fails(p, result))
            return false;
        if (!from.call && from.qpn == p->t->qpn && from.lid == p->t->facts.lid)
            continue; /* the port gives back what it sends to its own groups */
        take_packet(p, &from, is_of_peer(p, &from));
        if (match(p, &from, user))
            return true;
    }
    return false;
}

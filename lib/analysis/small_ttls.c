/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Datagrams to another link that are sent with a TTL of 1, so that the first router discards each:
 * a host has a wrong default, or a router advertises it (RFC 4861 section 4.2, Cur Hop Limit).
 * Programs that trace a route send larger ones to the same address too.
 */
#include "analysis/ip.h"
#include "analysis/unanswered.h"
#include "rules/check_context.h"
#include "wire/nd.h"

enum { PAIRS = 1 << 6, TIMES = 8 };

/* A cache. */
struct small_ttls {
    struct small_ttl {
        struct ip from, to;
        uint32_t frame, times; /* since a larger one */
    } all[PAIRS];
    uint16_t router, subnet; /* LID of the router that advertises it last; 0: none */
    uint32_t frame;
};

NEW_HISTORY(small_ttls, small_ttls_new)

/* Of another pair, it is empty from now on. */
static struct small_ttl *pair_of(const struct watch *w, const struct ip_datagram *d)
{
    const struct ip from = ip_sender(d), to = ip_receiver(d);
    uint64_t hash = mix_gid(mix_gid(from.length, from.bytes), to.bytes);
    struct small_ttl *t = &w->small_ttls->all[hash >> 32 & (PAIRS - 1)];
    if (!ip_same(&t->from, &from) || !ip_same(&t->to, &to))
        *t = (struct small_ttl){.from = from, .to = to};
    return t;
}

APART static void report(const struct watch *w, const struct small_ttl *t)
{
    const struct small_ttls *all = w->small_ttls;
    struct sender who = sender_of(w->f, w->p);
    char source[SENDER_TEXT_SIZE], target[SENDER_TEXT_SIZE], why[80] = "";
    bool advertises = all->router && all->router == w->p->ib.slid &&
                      all->subnet == w->p->at.interface;
    const struct event_key key = event_key(w, EVENT_IP_UNREACHABLE, t->from.bytes, t->to.bytes,
                                           UINT64_C(2) << 32);
    if (advertises)
        g_snprintf(why, sizeof why, ", as this router advertises it in frame %u", all->frame);
    watch_event(w, &key, &who, advertises ? all->frame : t->frame,
                "it reports to %s that the TTL of its datagrams to %s has ended: all come with a "
                "TTL of 1, %u since frame %u%s",
                ip_text(source, &t->from), ip_text(target, &t->to), t->times, t->frame, why);
}

void watch_small_ttl(const struct watch *w, const struct ip_datagram *about)
{
    struct small_ttl *t = pair_of(w, about);
    watch_alert(w, ALERT_SMALL_TTLS);
    if (!t->times)
        t->frame = w->p->at.frame;
    if (++t->times >= TIMES)
        report(w, t);
}

void watch_larger_ttl(const struct watch *w, const struct ip_datagram *d)
{
    pair_of(w, d)->times = 0;
}

void watch_advertised_hop_limit(const struct watch *w)
{
    const struct view m = w->p->datagram.icmpv6;
    struct small_ttls *all = w->small_ttls;
    if (!m.p || m.p[0] != ND_RA || view_has(m, 0, ND_RA_HOP_LIMIT + 1) != WIRE_OK ||
        packet_is_corrupt(w->p))
        return;
    if (m.p[ND_RA_HOP_LIMIT] == 1) {
        all->router = w->p->ib.slid;
        all->subnet = w->p->at.interface;
        all->frame = w->p->at.frame;
    } else if (all->router == w->p->ib.slid && all->subnet == w->p->at.interface) {
        all->router = 0;
    }
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Redirects (RFC 792, RFC 4861 section 8): a router tells a host that a destination has a better
 * next hop, on the host's own link. A host that obeys sends there from then on. One that is told
 * the same for some seconds has a wrong prefix length or route, or ignores redirects.
 */
#include "analysis/unanswered.h"
#include "rules/check_context.h"
#include "wire/nd.h"

enum { PAIRS = 1 << 6, TIMES = 3, LASTS_MS = 1000, AGE_MS = 60000 };
enum { ICMP_REDIRECT = 5, REDIRECT_GATEWAY = 4, REDIRECT_DATAGRAM = 8, ND_REDIRECT_TO = 24 };

/* A cache. */
struct redirects {
    struct redirected {
        struct ip host, router, to; /* to: the destination */
        uint32_t frame, times;      /* of the first */
        int64_t first_ms, last_ms;
    } all[PAIRS];
};

NEW_HISTORY(redirects, redirects_new)

/* What a redirect says. */
struct redirect {
    struct ip host, router, to, next_hop;
};

/* Of another pair, it is empty from now on. */
static struct redirected *redirected_of(const struct watch *w, const struct redirect *r)
{
    uint64_t hash = mix_gid(mix_gid(mix_gid(r->host.length, r->host.bytes), r->router.bytes),
                            r->to.bytes);
    struct redirected *of = &w->redirects->all[hash >> 32 & (PAIRS - 1)];
    int64_t ms = watch_ms(w);
    if (!ip_same(&of->host, &r->host) || !ip_same(&of->router, &r->router) ||
        !ip_same(&of->to, &r->to) || ms - of->last_ms > AGE_MS)
        *of = (struct redirected){r->host, r->router, r->to, w->p->at.frame, 0, ms, ms};
    of->last_ms = ms;
    of->times++;
    return of;
}

APART static void report(const struct watch *w, const struct redirect *r,
                         const struct redirected *of)
{
    struct sender who = sender_with_ip(sender_of_lid(w, port_to_lid(w->p->dst)), &r->host);
    struct sender router = sender_with_ip(sender_of(w->f, w->p), &r->router);
    char by[SENDER_TEXT_SIZE], to[SENDER_TEXT_SIZE], next[SENDER_TEXT_SIZE],
        hop[SENDER_TEXT_SIZE + 16];
    const struct event_key key = event_key(w, EVENT_REDIRECTS, r->host.bytes, r->router.bytes, 0);
    if (ip_same(&r->to, &r->next_hop))
        g_snprintf(hop, sizeof hop, "is on its own link");
    else
        g_snprintf(hop, sizeof hop, "has the next hop %s", ip_text(next, &r->next_hop));
    watch_event(
        w, &key, &who, of->frame,
        "the router, %s, tells it that %s %s (redirect), %u times since frame %u, and gets "
        "its datagrams all the same: its prefix length or a route of it is wrong, or it ignores "
        "redirects",
        sender_text(by, &router), ip_text(to, &r->to), hop, of->times, of->frame);
}

static void redirected(const struct watch *w, const struct redirect *r)
{
    if (packet_is_corrupt(w->p))
        return;
    const struct redirected *of = redirected_of(w, r);
    if (of->times >= TIMES && of->last_ms - of->first_ms >= LASTS_MS)
        report(w, r, of);
}

void watch_icmp_redirect(const struct watch *w, struct view icmp)
{
    const uint8_t *ip = w->p->datagram.body.p;
    if (icmp.p[0] != ICMP_REDIRECT || w->p->datagram.encap.type != TYPE_IPV4 ||
        view_has(icmp, REDIRECT_DATAGRAM, IPV4_SIZE) != WIRE_OK)
        return;
    const struct redirect r = {
        .host = ip_read(ip + IPV4_DESTINATION, IPV4_ADDRESS_SIZE),
        .router = ip_read(ip + IPV4_SOURCE, IPV4_ADDRESS_SIZE),
        .to = ip_read(icmp.p + REDIRECT_DATAGRAM + IPV4_DESTINATION, IPV4_ADDRESS_SIZE),
        .next_hop = ip_read(icmp.p + REDIRECT_GATEWAY, IPV4_ADDRESS_SIZE)};
    redirected(w, &r);
}

void watch_nd_redirect(const struct watch *w)
{
    const struct view m = w->p->datagram.icmpv6, ip = w->p->datagram.body;
    if (view_has(m, 0, ND_REDIRECT_TO + IPV6_ADDRESS_SIZE) != WIRE_OK ||
        view_has(ip, 0, IPV6_SIZE) != WIRE_OK)
        return;
    const struct redirect r = {.host = ip_read(ip.p + IPV6_DESTINATION, IPV6_ADDRESS_SIZE),
                               .router = ip_read(ip.p + IPV6_SOURCE, IPV6_ADDRESS_SIZE),
                               .to = ip_read(m.p + ND_REDIRECT_TO, IPV6_ADDRESS_SIZE),
                               .next_hop = ip_read(m.p + ND_TARGET, IPV6_ADDRESS_SIZE)};
    redirected(w, &r);
}

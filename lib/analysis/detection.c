/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Duplicate address detection (RFC 4862 section 5.4): a port solicits the address that it wants
 * from the unspecified address. If another port advertises the address, the port must not use it.
 * What happens if it obeys: seekers.c.
 */
#include "analysis/twins.h"
#include "model/mix.h"
#include "wire/nd.h"

/* Times after the solicitation and after the answer to it. Packets on the way do not count. */
enum { BOTH_MS = 1000, ANSWER_MS = 5000, USE_MIN_MS = 500, USE_MAX_MS = 60000 };

static struct detection *slot_of(const struct watch *w, const struct ip *ip)
{
    return &w->twins->detections[mix_gid(0, ip->bytes) >> 32 & (DETECTIONS - 1)];
}

static bool is_of(const struct watch *w, const struct detection *d, const struct ip *ip)
{
    return d->port.id && d->link == packet_link_key(w->p) && ip_same(&d->ip, ip);
}

static bool is_by_port(const struct watch *w, const struct detection *d)
{
    return port_same(d->port, w->p->src) && d->qpn == w->p->ib.sqpn;
}

static bool is_between(const struct watch *w, int64_t since, int64_t min, int64_t max)
{
    int64_t ms = watch_ms(w) - since / 1000000;
    return ms >= min && ms <= max;
}

/*
 * Another port solicits the address in the same second: both must give it up (RFC 4862 section
 * 5.4.3). A port that solicits again, as for its retransmissions, has the same GID.
 */
static void both_solicit(const struct watch *w, const struct detection *d)
{
    struct sender who = {.lid = w->p->ib.slid, .known = SENDER_LID | SENDER_GID};
    struct event_key key = event_key(w, EVENT_DUPLICATE_IP, NULL, d->ip.bytes, d->link);
    char gid[GID_TEXT];
    memcpy(who.gid, w->p->ib.sgid, GID_SIZE);
    who = sender_with_ip(who, &d->ip);
    watch_event(w, &key, &who, d->frame,
                "it looks whether the address is free, as GID %s does in frame %u: both want it, "
                "and neither may use it",
                text_of_gid(gid, d->gid), d->frame);
}

APART static void solicited(const struct watch *w, const struct ip *target)
{
    struct detection *d = slot_of(w, target);
    const struct ib_packet *ib = &w->p->ib;
    if (!ib->sgid || !w->p->src.id)
        return;
    if (is_of(w, d, target) && !port_same(d->port, w->p->src) &&
        memcmp(d->gid, ib->sgid, GID_SIZE) != 0 && is_between(w, d->ns, 0, BOTH_MS))
        both_solicit(w, d);
    *d = (struct detection){.ip = *target,
                            .link = packet_link_key(w->p),
                            .qpn = ib->sqpn,
                            .port = w->p->src,
                            .frame = w->p->at.frame,
                            .ns = w->p->at.ns};
    memcpy(d->gid, ib->sgid, GID_SIZE);
}

/* The GRH, or the address in the option, shows another port than the one that solicits. */
static bool is_other_port(const struct detection *d, const struct packet *p, const uint8_t *lladdr)
{
    return !port_same(d->port, p->src) && lladdr &&
           memcmp(lladdr + LLADDR_GID, d->gid, GID_SIZE) != 0;
}

/* A port wants the address, or may have it. */
APART static void advertised_to(const struct watch *w, struct detection *d, const struct ip *target)
{
    const struct neighbour *n = neighbours_of_ip(w->f->neighbours, packet_link_key(w->p), target);
    const uint8_t *lladdr = n && n->last_frame == w->p->at.frame ? n->lladdr : NULL;
    if (lladdr)
        watch_held(w, target->bytes, target->length, lladdr);
    if (!is_of(w, d, target) || !is_between(w, d->ns, 0, ANSWER_MS) ||
        !is_other_port(d, w->p, lladdr))
        return;
    d->conflict_frame = w->p->at.frame;
    d->conflict_ns = w->p->at.ns;
    memcpy(d->other, lladdr + LLADDR_GID, GID_SIZE);
    watch_alert(w, ALERT_CONFLICT);
}

static inline void advertised(const struct watch *w, const struct ip *target)
{
    struct detection *d = slot_of(w, target);
    if (d->port.id || watch_has_seekers(w))
        advertised_to(w, d, target);
}

static void used(const struct watch *w, const struct detection *d)
{
    struct sender who = {.lid = w->p->ib.slid, .known = SENDER_LID | SENDER_GID};
    struct event_key key = event_key(w, EVENT_DUPLICATE_IP, NULL, d->ip.bytes, d->link);
    char gid[GID_TEXT];
    memcpy(who.gid, d->gid, GID_SIZE);
    who = sender_with_ip(who, &d->ip);
    watch_event(w, &key, &who, d->conflict_frame,
                "it uses the address, although GID %s advertised it in frame %u during its "
                "duplicate address detection",
                text_of_gid(gid, d->other), d->conflict_frame);
}

/* The source of an IPv6 packet, after an answer to a detection. */
static void watch_use(const struct watch *w)
{
    struct ip source;
    if (!twins_source_ip(w, &source) || source.length != IPV6_ADDRESS_SIZE)
        return;
    const struct detection *d = slot_of(w, &source);
    if (is_of(w, d, &source) && d->conflict_frame && is_by_port(w, d) &&
        is_between(w, d->conflict_ns, USE_MIN_MS, USE_MAX_MS))
        used(w, d);
}

void watch_detection(const struct watch *w)
{
    const struct datagram *d = &w->p->datagram;
    const uint8_t *m = d->icmpv6.p;
    if (!w->p->ib.has_lrh || w->p->ib.transport != IB_UD)
        return;
    if (watch_is_alert(w, ALERT_CONFLICT))
        watch_use(w);
    if (!m || view_has(d->icmpv6, 0, ND_TARGET + 16) != WIRE_OK || packet_is_corrupt(w->p))
        return;
    bool is_answer = m[0] == ND_NA && m[ND_NA_FLAGS] & ND_NA_OVERRIDE;
    if (!is_answer && (m[0] != ND_NS || !is_unspecified_ipv6(d->body.p + IPV6_SOURCE)))
        return;
    struct ip target = ip_read(m + ND_TARGET, IPV6_ADDRESS_SIZE);
    if (is_answer) {
        advertised(w, &target);
    } else {
        watch_wanted(w, &target);
        solicited(w, &target);
    }
}

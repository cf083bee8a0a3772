/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MTUs that do not fit the link: a path of the SA with a smaller MTU, to which larger packets are
 * sent, a router that advertises a larger one (RFC 4861 section 6.3.4: hosts ignore it), and IPv6
 * on a link whose MTU is too small for it. connections.c has those of the two ends of a connection.
 */
#include "analysis/watch.h"
#include "rules/check_context.h"
#include "wire/nd.h"

/* Paths with a smaller MTU than their link. A cache. */
enum { SMALL_PATHS = 1 << 8 };

struct small_path {
    uint16_t subnet, slid, dlid; /* SLID 0: unused */
    uint32_t mtu, frame;
};

struct small_paths {
    struct small_path all[SMALL_PATHS];
};

NEW_HISTORY(small_paths, small_paths_new)

/* ---- paths */

static struct small_path *slot_of(const struct watch *w, uint16_t slid, uint16_t dlid)
{
    return &w->small_paths->all[(slid * 31u + dlid) % SMALL_PATHS];
}

/* The packets of a path may be limited by the requester, who names an MTU. */
static bool is_of_sa(const struct subnet_event *e)
{
    return e->request && !(e->request->mask & PATH_HAS_MTU);
}

APART static void note_path(const struct watch *w, const struct subnet_event *e)
{
    const uint8_t *p = e->record;
    uint16_t slid = be16(p + PATH_SLID), dlid = be16(p + PATH_DLID);
    const struct group *link = groups_only_broadcast(w->f->groups, e->interface,
                                                     be16(p + PATH_PKEY));
    struct small_path *path = slot_of(w, slid, dlid);
    bool is_small = link && ib_mtu_bytes(e->mtu) && ib_mtu_bytes(e->mtu) < ib_mtu_bytes(link->mtu);
    if (is_small)
        *path = (struct small_path){e->interface, slid, dlid, ib_mtu_bytes(e->mtu), w->p->at.frame};
    else if (path->slid == slid && path->dlid == dlid)
        path->slid = 0;
    if (is_small)
        watch_alert(w, ALERT_SMALL_PATHS);
}

void watch_path_of_event(const struct watch *w, const struct subnet_event *e)
{
    if (is_of_sa(e))
        note_path(w, e);
}

APART static void above_path_mtu(const struct watch *w, const struct small_path *path)
{
    struct sender who = sender_of_lid(w, path->slid), to = sender_of_lid(w, path->dlid);
    char text[SENDER_TEXT_SIZE];
    const struct event_key key = event_key(w, EVENT_MTU_MISMATCH, NULL, NULL,
                                           (uint64_t)path->slid << 16 | path->dlid);
    watch_event(w, &key, &who, path->frame,
                "it sends a packet with %u bytes to %s, although the SA says that the MTU of the "
                "path is %u bytes",
                w->p->ib.payload.len, sender_text(text, &to), path->mtu);
}

void watch_path_mtu(const struct watch *w)
{
    const struct ib_packet *ib = &w->p->ib;
    if (!ib->has_lrh)
        return;
    const struct small_path *path = slot_of(w, ib->slid, ib->dlid);
    if (path->slid == ib->slid && path->dlid == ib->dlid && path->subnet == w->p->at.interface &&
        ib->payload.len > path->mtu)
        above_path_mtu(w, path);
}

/* ---- router advertisements (RFC 4861 sections 4.2, 4.6.4) */

enum { ND_OPT_MTU = 5, ND_OPT_MTU_VALUE = 4, ND_OPT_MTU_SIZE = 8 };

/* 0: it has none. */
static uint32_t advertised_mtu(struct view icmpv6)
{
    struct nd_iter it;
    struct nd_option o;
    bool found = nd_options(icmpv6, &it);
    while (found && nd_next(&it, &o))
        if (o.type == ND_OPT_MTU && o.size == ND_OPT_MTU_SIZE &&
            view_has(icmpv6, o.off, ND_OPT_MTU_SIZE) == WIRE_OK)
            return be32(icmpv6.p + o.off + ND_OPT_MTU_VALUE);
    return 0;
}

/* An interface in connected mode may have a larger MTU (RFC 4755 section 5). */
static bool is_connected(const struct watch *w)
{
    const struct endport *port = w->e->sender;
    return !port || port->connections;
}

void watch_advertised_mtu(const struct watch *w)
{
    struct view icmpv6 = w->p->datagram.icmpv6;
    if (!icmpv6.p || icmpv6.cap == 0 || icmpv6.p[0] != ND_RA || !w->p->ib.has_bth)
        return;
    const struct group *link = groups_only_broadcast(w->f->groups, w->p->at.interface,
                                                     w->p->ib.pkey);
    uint32_t mtu = advertised_mtu(icmpv6), most = link ? ib_mtu_bytes(link->mtu) : 0;
    if (!most || mtu <= most - ENCAP_SIZE || is_connected(w))
        return;
    struct sender who = sender_of(w->f, w->p);
    const struct event_key key = event_key(w, EVENT_MTU_MISMATCH, who.gid, NULL, mtu);
    watch_event(w, &key, &who, 0,
                "as a router it advertises the MTU %u, which is above the link's IPoIB MTU of %u "
                "bytes: hosts in datagram mode ignore it",
                mtu, most - (uint32_t)ENCAP_SIZE);
}

/* ---- IPv6 (RFC 8200 section 5) */

enum { IPV6_MTU_LEAST = 1280 };

static bool is_too_small(uint32_t mtu)
{
    return mtu && mtu - ENCAP_SIZE < IPV6_MTU_LEAST;
}

void watch_link_mtu(const struct watch *w, const struct group *link)
{
    if (is_too_small(ib_mtu_bytes(link->mtu)))
        watch_alert(w, ALERT_SMALL_LINKS);
}

void watch_ipv6_mtu(const struct watch *w)
{
    if (w->p->datagram.encap.type != TYPE_IPV6 || !w->p->ib.has_bth)
        return;
    const struct group *link = groups_only_broadcast(w->f->groups, w->p->at.interface,
                                                     w->p->ib.pkey);
    uint32_t mtu = link ? ib_mtu_bytes(link->mtu) : 0;
    if (!is_too_small(mtu) || is_connected(w))
        return;
    struct sender who = sender_of(w->f, w->p);
    const struct event_key key = event_key(w, EVENT_MTU_MISMATCH, NULL, NULL,
                                           UINT64_C(1) << 48 | w->p->ib.pkey);
    watch_no_copy(w, &key); /* two ports may have one PSN */
    watch_event(
        w, &key, &who, 0,
        "it sends IPv6, whose MTU is 1280 bytes at least, on a link with the IPoIB MTU of %u "
        "bytes",
        mtu - (uint32_t)ENCAP_SIZE);
}

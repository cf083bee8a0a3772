/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who sends datagrams to groups from an IP address. A port that takes an address over without an
 * announcement shows by them that it has it now; its datagrams to single hosts, which it resolves
 * first, announce it.
 */
#include "analysis/twins.h"
#include "analysis/unanswered.h"
#include "model/mix.h"

enum { SOURCES = 1 << 8 };

/* A cache. frame 0: unused. */
struct group_sources {
    struct group_source all[SOURCES];
};

NEW_HISTORY(group_sources, group_sources_new)

/* ip: 16 bytes; those after an IPv4 address are 0. */
static struct group_source *source_at(const struct watch *w, const uint8_t *ip, uint32_t link)
{
    return &w->group_sources->all[mix_gid(link, ip) >> 32 & (SOURCES - 1)];
}

static inline void note(const struct watch *w, const uint8_t *ip, uint8_t length)
{
    uint32_t link = packet_link_key(w->p);
    struct group_source *s = source_at(w, ip, link);
    if (is_unspecified_ipv6(ip))
        return;
    s->ip.length = length;
    memcpy(s->ip.bytes, ip, sizeof s->ip.bytes);
    s->link = link;
    s->frame = w->p->at.frame;
    s->lid = w->p->ib.slid;
    memcpy(s->gid, w->p->ib.sgid, GID_SIZE);
}

void watch_group_source(const struct watch *w)
{
    const struct datagram *d = &w->p->datagram;
    uint8_t ipv4[IPV6_ADDRESS_SIZE] = {0};
    if (d->encap.type == TYPE_IPV4 && d->body.cap >= IPV4_SIZE) {
        memcpy(ipv4, d->body.p + IPV4_SOURCE, IPV4_ADDRESS_SIZE);
        note(w, ipv4, IPV4_ADDRESS_SIZE);
    } else if (d->encap.type == TYPE_IPV6 && d->body.cap >= IPV6_SIZE) {
        note(w, d->body.p + IPV6_SOURCE, IPV6_ADDRESS_SIZE);
    }
}

const struct group_source *group_source_of(const struct watch *w, const struct ip *ip,
                                           uint32_t link)
{
    const struct group_source *s = source_at(w, ip->bytes, link);
    return s->frame && s->link == link && ip_same(&s->ip, ip) ? s : NULL;
}

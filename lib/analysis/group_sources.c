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

struct group_sources *group_sources_new(void)
{
    return g_new0(struct group_sources, 1);
}

static struct group_source *source_at(const struct watch *w, const struct ip *ip, uint32_t link)
{
    return &w->group_sources->all[mix_gid(link, ip->bytes) >> 32 & (SOURCES - 1)];
}

void watch_group_source(const struct watch *w)
{
    const struct ib_packet *ib = &w->p->ib;
    struct ip ip;
    if (!ib->sgid || !twins_source_ip(w, &ip) || ip_is_unspecified(&ip))
        return;
    uint32_t link = packet_link_key(w->p);
    struct group_source *s = source_at(w, &ip, link);
    s->ip = ip;
    s->link = link;
    s->frame = w->p->at.frame;
    s->lid = ib->slid;
    memcpy(s->gid, ib->sgid, GID_SIZE);
}

const struct group_source *group_source_of(const struct watch *w, const struct ip *ip,
                                           uint32_t link)
{
    const struct group_source *s = source_at(w, ip, link);
    return s->frame && s->link == link && ip_same(&s->ip, ip) ? s : NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Members of a group that do not hear it any more: a host pings the group, a member that answered
 * does not answer any longer, others still do, and the member sends other packets. It has not left
 * the group as far as the SA's answers were captured.
 */
#include "analysis/echo.h"
#include "analysis/forwarding.h"
#include "analysis/unanswered.h"
#include "model/mix.h"
#include "rules/check_context.h"

/* Caches. A host limits its replies, or is busy: so many in a row are no matter of that. */
enum { GROUP_PINGS = 16, MEMBERS = 8, ANSWERED = 3, MISSED = 5, INITIAL_TTLS = 3 };

struct group_pings {
    struct group_ping {
        uint64_t hash; /* of subnet, requester and identifier; 0: unused */
        uint8_t mgid[GID_SIZE];
        struct pinged {
            struct ip ip; /* length 0: unused */
            uint16_t lid;
            uint32_t replies; /* to requests, without a pause of MISSED requests */
            uint32_t last;    /* number of the request that it answered */
            uint32_t frame;   /* of that reply */
            uint32_t since;   /* the first request that it did not answer */
        } members[MEMBERS];
        uint32_t requests, frame; /* number of requests; frame of the last one */
        uint64_t number, before;  /* of the last request, and of the one before it */
    } all[GROUP_PINGS];
    bool any;
};

NEW_HISTORY(group_pings, group_pings_new)

static struct group_ping *place_of(const struct watch *w, uint64_t hash)
{
    return &w->group_pings->all[hash >> 32 & (GROUP_PINGS - 1)];
}

static uint64_t hash_of(const struct watch *w, const struct ip *requester, const struct echo *e)
{
    enum { SEQUENCE_BITS = 16 };
    uint64_t hash = mix_gid(w->p->at.interface, requester->bytes);
    return mix_two(hash, e->number >> SEQUENCE_BITS, packet_link_key(w->p)) | 1;
}

/* ---- the event */

static bool is_member(const struct watch *w, const struct group_ping *g, const struct pinged *m)
{
    const struct endport *port = endports_by_lid(w->f->endports, w->p->at.interface, m->lid);
    const struct group *group = groups_find(w->f->groups, w->p->at.interface, g->mgid);
    const struct member *member = port && group ? groups_member(w->f->groups, group, port) : NULL;
    return !member || member->join_state & JOIN_FULL;
}

/* Has it sent other packets since, without a gap that may be the reply? */
static bool is_heard_of(const struct watch *w, const struct pinged *m)
{
    struct port port = port_lid(w->p->at.interface, m->lid);
    return question_answer_of(w, port, PSN_DATA, m->frame, m->since) == ANSWER_NOT_SENT;
}

APART static void unheard(const struct watch *w, const struct echo *e, const struct group_ping *g,
                          const struct pinged *m)
{
    struct sender who = sender_at(w, m->lid, &m->ip);
    const struct event_key key = event_key(w, EVENT_GROUP_UNHEARD, who.gid, g->mgid, m->lid);
    char gid[GID_TEXT], requester[SENDER_TEXT_SIZE];
    watch_event(w, &key, &who, m->frame,
                "it no longer answers the pings of %s to the group %s, %u since frame %u; before, "
                "it answered %u, and others still do: the group's packets do not reach it, or it "
                "has left",
                ip_text(requester, &e->from), text_of_gid(gid, g->mgid), g->requests - m->last,
                m->since, m->replies);
    watch_cut_group(w, groups_find(w->f->groups, w->p->at.interface, g->mgid),
                    endports_by_lid(w->f->endports, w->p->at.interface, m->lid));
}

static bool is_any_heard(const struct group_ping *g, const struct pinged *but)
{
    for (unsigned i = 0; i < MEMBERS; i++)
        if (&g->members[i] != but && g->members[i].last == g->requests && g->requests)
            return true;
    return false;
}

/* Before the next request: who has not answered those so far? */
static void look_for_silent(const struct watch *w, const struct echo *e, struct group_ping *g)
{
    for (unsigned i = 0; i < MEMBERS; i++) {
        struct pinged *m = &g->members[i];
        if (!m->ip.length || m->last == g->requests)
            continue;
        if (g->requests - m->last == 1)
            m->since = g->frame;
        if (m->replies >= ANSWERED && g->requests - m->last >= MISSED && is_any_heard(g, m) &&
            is_member(w, g, m) && is_heard_of(w, m))
            unheard(w, e, g, m);
    }
}

/* ---- requests and replies */

void watch_group_request(const struct watch *w, const struct echo *e)
{
    uint64_t hash = hash_of(w, &e->from, e);
    struct group_ping *g = place_of(w, hash);
    if (g->hash != hash || memcmp(g->mgid, w->p->ib.dgid, GID_SIZE) != 0) {
        *g = (struct group_ping){.hash = hash};
        memcpy(g->mgid, w->p->ib.dgid, GID_SIZE);
    }
    look_for_silent(w, e, g);
    g->requests++;
    g->before = g->number;
    g->number = e->number;
    g->frame = w->p->at.frame;
    w->group_pings->any = true;
}

static struct pinged *member_of(struct group_ping *g, const struct echo *e)
{
    struct pinged *unused = NULL;
    for (unsigned i = 0; i < MEMBERS; i++) {
        struct pinged *m = &g->members[i];
        if (m->ip.length && ip_same(&m->ip, &e->from))
            return m;
        if (!m->ip.length && !unused)
            unused = m;
    }
    if (unused)
        unused->ip = e->from;
    return unused;
}

/* Through a router, a host that is gone would seem to be the router's port. */
static bool is_on_link(const struct echo *e)
{
    static const uint8_t initial[INITIAL_TTLS] = {64, 128, 255};
    return memchr(initial, e->ttl, INITIAL_TTLS) != NULL;
}

void watch_group_reply(const struct watch *w, const struct echo *e)
{
    if (!w->group_pings->any)
        return;
    uint64_t hash = hash_of(w, &e->to, e);
    struct group_ping *g = place_of(w, hash);
    bool is_one = g->hash == hash && (e->number == g->number || e->number == g->before);
    struct pinged *m = is_one && is_on_link(e) ? member_of(g, e) : NULL;
    if (!m)
        return;
    if (g->requests - m->last >= MISSED || m->lid != w->p->ib.slid)
        m->replies = 0;
    m->replies += m->last != g->requests;
    m->last = g->requests;
    m->lid = w->p->ib.slid;
    m->frame = w->p->at.frame;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Datagrams that go round between switches: packets of InfiniBand have no hop count, so the same
 * packet passes the capture point again and again, and never arrives. A mirror has a packet once or
 * twice, one to a group once for each port, and all at once: then it has each packet to the MLID
 * that often, unless a port joins. All members of a link's groups have joined its broadcast group
 * (RFC 4391 section 5), and those of its IPv6 groups ff02::1: a mirror has no packet to a group
 * more often than one to these. Packets of connections may be sent again.
 */
#include "analysis/watch.h"
#include "rules/check_context.h"
#include "wire/mgid.h"

/*
 * Caches. A packet to a group comes for a time that no mirror takes, or MORE times as often as any
 * of the USUAL packets before it, or of more, since a port joined: to this group, or to one that
 * all members of the link have joined.
 */
enum { PACKETS = 1 << 6, TIMES = 5, GROUP_NS = 1000000, MLIDS = 1 << 6, USUAL = 3, MORE = 4 };

struct copies_again {
    struct again {
        uint32_t first_frame, times; /* frame 0: unused */
        uint16_t captured_on;
        bool told;
        int64_t ns; /* of the first copy */
    } all[PACKETS];
    struct group_copies {
        uint8_t mgid[MGID_SIZE]; /* of the first packet or record */
        uint16_t mlid, subnet;   /* mlid 0: unused */
        uint16_t times;          /* the last packet came so often; 0: none, or it goes round */
        uint16_t most, packets;  /* no packet before came more often; number of these */
        uint32_t frame;          /* of the last packet */
    } groups[MLIDS];
};

NEW_HISTORY(copies_again, copies_again_new)

APART static void goes_round(const struct watch *w, const struct again *a)
{
    const struct ib_packet *ib = &w->p->ib;
    struct sender who = sender_of(w->f, w->p);
    const struct event_key key = event_key(w, EVENT_SWITCHING_LOOP, NULL, NULL, ib->dlid);
    watch_no_copy(w, &key);
    watch_event(w, &key, &who, a->first_frame,
                "its packet to the LID %u was captured %u times on one interface: it goes round "
                "between switches, and may never arrive",
                ib->dlid, a->times + 1);
}

/* ---- packets to groups */

static struct group_copies *copies_to(const struct watch *w, uint16_t mlid, const uint8_t *mgid)
{
    struct group_copies *g = &w->copies_again->groups[mlid % MLIDS];
    if (g->mlid == mlid && g->subnet == w->p->at.interface)
        return g;
    *g = (struct group_copies){.mlid = mlid, .subnet = w->p->at.interface};
    if (mgid)
        memcpy(g->mgid, mgid, MGID_SIZE);
    return g;
}

void watch_group_packet(const struct watch *w)
{
    struct group_copies *g = copies_to(w, w->p->ib.dlid, w->p->ib.dgid);
    if (g->times > g->most)
        g->most = g->times;
    if (g->times && g->packets < USUAL)
        g->packets++;
    g->times = 1;
    g->frame = w->p->at.frame;
}

/* The mirrored port of a new member has a copy of each packet from now on. */
void watch_more_copies(const struct watch *w, const struct group *group)
{
    if (!group->mlid)
        return;
    struct group_copies *g = copies_to(w, group->mlid, group->mgid);
    g->times = g->most = g->packets = 0;
}

static bool is_more_than(const struct group_copies *g, const struct again *a)
{
    return g->packets >= USUAL && a->times + 1 >= MAX(TIMES, MORE * (unsigned)g->most);
}

/* Than packets to this group. */
static bool is_more_than_to(const struct watch *w, const struct again *a, const uint8_t *mgid)
{
    for (unsigned i = 0; i < MLIDS; i++) {
        const struct group_copies *g = &w->copies_again->groups[i];
        if (g->mlid && g->subnet == w->p->at.interface && memcmp(g->mgid, mgid, MGID_SIZE) == 0)
            return is_more_than(g, a);
    }
    return false;
}

APART static bool is_more_than_on_link(const struct watch *w, const struct again *a)
{
    static const uint8_t broadcast[] = {255, 255, 255, 255};
    static const uint8_t all_nodes[] = {0xff, 0x02, [15] = 1};
    const uint8_t *dgid = w->p->ib.dgid;
    uint8_t mgid[MGID_SIZE];
    if (!dgid || !mgid_is_ipoib(dgid))
        return false;
    mgid_of_group(mgid, dgid, broadcast, sizeof broadcast);
    mgid[MGID_GROUP_IPV4] = 0xff; /* the broadcast-GID has all 32 bits */
    if (is_more_than_to(w, a, mgid))
        return true;
    mgid_of_group(mgid, dgid, all_nodes, sizeof all_nodes);
    return be16(dgid + MGID_SIGNATURE) == MGID_SIGNATURE_IPV6 && is_more_than_to(w, a, mgid);
}

static bool is_more_than_usual(const struct watch *w, const struct again *a)
{
    struct group_copies *g = copies_to(w, w->p->ib.dlid, w->p->ib.dgid);
    if (g->frame == w->p->copy_of && g->times)
        g->times = (uint16_t)MIN(a->times + 1, UINT16_MAX);
    bool more = is_more_than(g, a) || (a->times + 1 >= TIMES && is_more_than_on_link(w, a));
    if (more)
        g->times = 0;
    return more;
}

/* ---- copies */

/* A mirror of many ports has a packet to a group once for each, at once. */
static bool is_loop(const struct watch *w, const struct again *a)
{
    bool to_group = w->p->ib.dlid >= LID_MULTICAST_FIRST;
    if (!w->p->ib.has_lrh || !w->p->ib.has_deth || a->told)
        return false;
    bool more = !to_group || is_more_than_usual(w, a);
    return a->times + 1 >= TIMES && (more || w->p->at.ns - a->ns >= GROUP_NS);
}

void watch_loop(const struct watch *w)
{
    const struct packet *p = w->p;
    struct again *a = &w->copies_again->all[p->copy_of % PACKETS];
    if (a->first_frame != p->copy_of || a->captured_on != p->captured_on)
        *a = (struct again){
            .first_frame = p->copy_of, .captured_on = p->captured_on, .ns = p->at.ns};
    a->times++;
    if (!is_loop(w, a))
        return;
    a->told = true;
    goes_round(w, a);
}

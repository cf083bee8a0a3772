/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Links, by the PortInfo at both ends: a port of a switch that goes down, and a port that does not
 * follow the subnet manager's Set of its state. subnet.c has the states of ports with LIDs.
 */
#include "analysis/smps.h"

#include "wire/put.h"

enum { LINKS = 1 << 12, TRIES = 3 };

/* A cache: a port that is overwritten by another counts as not seen before. */
struct smp_link {
    uint64_t id;  /* of the port that answers, and the port of the switch; 0: unused */
    uint64_t tid; /* of the last Set of its state; 0: none */
    uint32_t first_frame;
    uint64_t guid; /* of the node at the end of the route; 0: not known */
    struct smp_order order;
    uint8_t wanted, tries; /* the state; Sets after which it was not reached */
    bool active;
};

struct smp_links {
    struct smp_link all[LINKS];
};

NEW_HISTORY(smp_links, links_new)

static struct smp_link *link_of(const struct watch *w, struct port at, uint8_t port)
{
    uint64_t id = mix_two(0, at.id, port);
    struct smp_link *l = &w->links->all[id >> 32 & (LINKS - 1)];
    if (l->id != id)
        *l = (struct smp_link){.id = id};
    return l;
}

/* The GID of the node at the end of the route is the prefix and its port's GUID. */
static struct sender sender_of_link(const struct watch *w, const struct smp_link *l,
                                    const struct question_key *target)
{
    struct sender who = smp_target(w, target);
    struct port_info i;
    uint8_t gid[GID_SIZE];
    if (who.known || !l->guid || smp_port_info(&w->p->mad.smp, &i) != WIRE_OK)
        return who;
    put64(gid, i.gid_prefix ? i.gid_prefix : UINT64_C(0xfe80) << 48);
    put64(gid + sizeof(uint64_t), l->guid);
    return sender_of_endport(endports_by_gid(w->f->endports, w->p->at.interface, gid));
}

static void report(const struct watch *w, const struct smp_link *l, uint32_t cause,
                   const char *what)
{
    const struct question_key target = smp_key(w, smp_port(w));
    struct sender who = sender_of_link(w, l, &target);
    uint8_t port = (uint8_t)w->p->mad.smp.mad.modifier;
    /* without the agent: a program beside the subnet manager sees the same port */
    const struct event_key key = event_key(w, EVENT_PORT_STATE, NULL, target.about,
                                           UINT64_C(1) << 32 | (cause != 0) << 8 | port);
    GString *text = g_string_new(NULL);
    smp_append_target(text, &target);
    watch_event(w, &key, &who, cause, "the port %u at %s %s", port, text->str, what);
    g_string_free(text, TRUE);
}

static void went_down(const struct watch *w, const struct smp_link *l, uint8_t state)
{
    char what[64];
    g_snprintf(what, sizeof what, "was Active and is in the state %s now",
               names_find(port_state_names, state));
    report(w, l, 0, what);
}

/* A link may come up after the second Set: only the third counts. */
static void follows(const struct watch *w, struct smp_link *l, uint8_t state)
{
    char what[120];
    l->tid = 0;
    l->tries = state >= l->wanted ? 0 : (uint8_t)(l->tries + 1);
    if (l->tries < TRIES)
        return;
    g_snprintf(what, sizeof what,
               "does not get up: %u times since frame %u the subnet manager set its state, and it "
               "answers %s",
               l->tries, l->first_frame, names_find(port_state_names, state));
    l->tries = 0;
    report(w, l, l->first_frame, what);
}

static void set(const struct watch *w, struct smp_link *l, uint8_t state)
{
    if (state != PORT_ARMED && state != PORT_ACTIVE)
        return;
    if (!l->tries)
        l->first_frame = w->p->at.frame;
    l->wanted = state;
    l->tid = w->p->mad.mad.tid;
}

/* Another node may be at the end of the route now. false: it is not known. */
static bool is_at_route(const struct watch *w, struct smp_link *l)
{
    uint64_t guid;
    bool is_known = route_is_known(w, &guid);
    if (!is_known || l->guid != guid)
        *l = (struct smp_link){.id = l->id, .guid = guid};
    return is_known;
}

static void responded(const struct watch *w, struct smp_link *l, uint8_t state)
{
    if (state == PORT_NO_CHANGE || state > PORT_ACTIVE || !is_at_route(w, l) ||
        smp_is_old(w, &l->order))
        return;
    if (l->tid && l->tid == w->p->mad.mad.tid)
        follows(w, l, state);
    if (l->active && state < PORT_ACTIVE && !port_info_event(w)) { /* else subnet.c */
        went_down(w, l, state);
        route_is_down(w);
    }
    l->active = state == PORT_ACTIVE;
}

void watch_link(const struct watch *w, struct port port, const struct port_info *i)
{
    const struct mad *mad = &w->p->mad.mad;
    if (packet_is_corrupt(w->p))
        return;
    if (mad->method == SMP_GET_RESP && !mad->status)
        responded(w, link_of(w, port, i->port), i->state);
    else if (mad->method == SMP_SET)
        set(w, link_of(w, port, i->port), i->state);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups that only senders have joined: nobody receives their packets, and each holds a multicast
 * LID, of which a fabric has few.
 *
 * Memberships from before the capture are not known. So a group counts only if the capture has all
 * packets of the SA since its start, or since it showed that the group did not exist. The joins of
 * the SA's own host are not on the wire: an event is taken back if this host turns out to have an
 * interface.
 */
#include "analysis/watch.h"

enum { SETTLED_MS = 1000, NO_RESOURCES = 0x0100 };

enum { REPORTED_MAX = 64 };

struct receivers {
    const struct link_event *reported[REPORTED_MAX]; /* those that may be taken back */
    unsigned n_reported;
    GHashTable *of_group; /* struct group -> struct receivers_of */
    unsigned count;       /* of its entries */
    unsigned without;     /* entries that have members, but none that receives */
};

struct receivers_of {
    const struct endport *sender; /* that joined last */
    uint32_t members, receivers;
    uint32_t empty_frame; /* in which the capture showed that it had no members; 0: never */
    int64_t ms;           /* of the last change */
    bool reported;
};

struct receivers *receivers_new(void)
{
    struct receivers *r = g_new0(struct receivers, 1);
    r->of_group = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    return r;
}

void receivers_free(struct receivers *r)
{
    g_hash_table_destroy(r->of_group);
    g_free(r);
}

void receivers_forget_events(struct receivers *r)
{
    r->n_reported = 0;
}

static struct receivers_of *receivers_of(const struct watch *w, const struct group *group)
{
    return g_hash_table_lookup(w->receivers->of_group, group_of(group));
}

static struct receivers_of *receivers_get(const struct watch *w, const struct group *group)
{
    struct receivers_of *r = receivers_of(w, group);
    if (r)
        return r;
    r = g_new0(struct receivers_of, 1);
    g_hash_table_insert(w->receivers->of_group, (gpointer)group_of(group), r);
    w->receivers->count++;
    return r;
}

static bool lacks_receivers(const struct receivers_of *r)
{
    return r->members && !r->receivers;
}

/* Does the capture have all answers of the SA about the group's members? */
static bool is_certain(const struct watch *w, const struct receivers_of *r)
{
    const struct sa_sequence *s = subnet_sa_sequence(w->f->subnet, w->p->at.interface);
    return s && !s->has_interface &&
           (sa_sequence_is_whole(s) || (r->empty_frame && sa_sequence_is_shown(s) &&
                                        sa_sequence_is_whole_since(s, r->empty_frame)));
}

/* ---- the event */

static void report(const struct watch *w, const struct group *g, struct receivers_of *r)
{
    char mgid[GID_TEXT];
    uint16_t pkey = be16(g->mgid + MGID_PKEY) & 0x7fff;
    struct sender who = sender_of_endport(r->sender);
    const struct event_key key = event_key(w, EVENT_GROUPS_WITHOUT_MEMBERS, NULL, NULL, pkey);
    if (r->reported || packet_is_corrupt(w->p))
        return;
    r->reported = true;
    watch_no_copy(w, &key);
    watch_event(
        w, &key, &who, g->since_frame,
        "it has joined the group %s as a sender, and no port as a receiver: nobody receives "
        "its packets, and the group holds the LID 0x%04x",
        text_of_gid(mgid, g->mgid), g->mlid);
    if (w->sink->last && w->sink->last->count == 1 && w->receivers->n_reported < REPORTED_MAX) {
        w->receivers->reported[w->receivers->n_reported++] = w->sink->last;
        watch_alert(w, ALERT_NO_RECEIVERS);
    }
}

/*
 * The SA's host has an interface: its joins are never on the wire, so it may be the receiver of any
 * group.
 */
APART static void take_back_all(const struct watch *w)
{
    struct receivers *all = w->receivers;
    while (all->n_reported)
        watch_take_back(w, all->reported[--all->n_reported], 0);
}

static bool is_by_sa_host(const struct watch *w)
{
    const struct sa_sequence *s = subnet_sa_sequence(w->f->subnet, w->p->at.interface);
    return s && s->has_interface;
}

void watch_sa_host(const struct watch *w)
{
    if (w->receivers->n_reported && is_by_sa_host(w))
        take_back_all(w);
}

/* The SA has no resources for a further group: these groups hold some. */
APART static void report_all(const struct watch *w)
{
    for (unsigned i = 0; i < groups_count(w->f->groups); i++) {
        const struct group *g = groups_at(w->f->groups, i);
        struct receivers_of *r = receivers_of(w, g);
        if (r && !g->merged && g->interface == w->p->at.interface && mgid_is_ipoib(g->mgid) &&
            lacks_receivers(r) && is_certain(w, r))
            report(w, g, r);
    }
}

/* ---- members */

/* Else each group may have members from before the capture, or from a gap. */
static inline bool is_whole(const struct watch *w)
{
    const struct sa_sequence *s = subnet_sa_sequence(w->f->subnet, w->p->at.interface);
    return s && sa_sequence_is_whole(s);
}

APART static void member_changed(const struct watch *w, const struct subnet_event *e)
{
    uint8_t before = e->join_state_before, now = e->member->join_state;
    struct receivers_of *r = is_whole(w) ? receivers_get(w, e->group) : receivers_of(w, e->group);
    if (!r || (before && !r->members) || (before & JOIN_FULL && !r->receivers))
        return; /* it joined before the group was followed */
    bool lacked = lacks_receivers(r);
    r->members += (now != 0) - (before != 0);
    r->receivers += (now & JOIN_FULL) - (before & JOIN_FULL);
    r->ms = watch_ms(w);
    if (now && !(now & JOIN_FULL))
        r->sender = e->endport;
    w->receivers->without += lacks_receivers(r) - lacked;
}

/* Did it become a member or a receiver, or does it leave? */
static bool has_changed(uint8_t before, uint8_t now)
{
    return !before != !now || (before ^ now) & JOIN_FULL;
}

void watch_join_state(const struct watch *w, const struct subnet_event *e)
{
    if (has_changed(e->join_state_before, e->member->join_state) &&
        (w->receivers->count || is_whole(w)))
        member_changed(w, e);
}

void watch_empty_group(const struct watch *w, const struct subnet_event *e)
{
    struct receivers_of *r = e->group ? receivers_get(w, e->group) : NULL;
    if (r && !r->members && !e->group->members)
        r->empty_frame = w->p->at.frame;
}

void watch_refused_join(const struct watch *w, const struct subnet_event *e)
{
    if (w->p->mad.mad.status == NO_RESOURCES)
        report_all(w);
    else
        watch_members(w, e);
}

/* ---- packets */

/* A link without a multicast router has nobody who receives these. */
static bool is_for_routers(const uint8_t *mgid)
{
    static const uint8_t v4[][4] = {{224, 0, 0, 2}, {224, 0, 0, 22}};
    static const uint8_t v6[] = {0x02, 0x16, 0x6a}; /* ff02::2, ff02::16, ff02::6a */
    struct mgid m = mgid_read(mgid);
    bool found = false;
    for (unsigned i = 0; i < G_N_ELEMENTS(v4) && m.signature == MGID_SIGNATURE_IPV4; i++)
        found |= memcmp(m.ipv4, v4[i], sizeof m.ipv4) == 0;
    for (unsigned i = 0; i < G_N_ELEMENTS(v6) && m.signature != MGID_SIGNATURE_IPV4; i++)
        found |= be64(m.ipv6 + 8) == v6[i];
    return found;
}

APART static void watch_group_without(const struct watch *w)
{
    const struct ib_packet *ib = &w->p->ib;
    if (!mgid_is_ipoib(ib->dgid))
        return;
    const struct group *g = groups_find(w->f->groups, w->p->at.interface, ib->dgid);
    struct receivers_of *r = g ? receivers_of(w, g) : NULL;
    if (r && lacks_receivers(r) && watch_ms(w) - r->ms >= SETTLED_MS && is_certain(w, r) &&
        !is_for_routers(ib->dgid))
        report(w, group_of(g), r);
}

void watch_receivers(const struct watch *w)
{
    if (w->receivers->without)
        watch_group_without(w);
}

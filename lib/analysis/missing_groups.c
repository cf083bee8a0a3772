/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Broadcast groups of which the SA has no record although hosts ask for it: without it there is no
 * IPoIB link (RFC 4391 section 5). A host that creates the group asks before that it does not
 * exist, and another one may ask at the same time.
 */
#include "analysis/watch.h"

enum { GROUPS = 16, TIMES = 3, LEAST_MS = 1000, AGAIN_MS = 60000 };

/* A cache: a group that is overwritten by another counts as not asked for. */
struct missing_group {
    const struct group *group; /* NULL: unused */
    int64_t first_ms, last_ms;
    uint32_t first_frame, times; /* answers without a record, since the last one with it */
};

struct missing_groups {
    struct missing_group all[GROUPS];
};

struct missing_groups *missing_groups_new(void)
{
    return g_new0(struct missing_groups, 1);
}

static void report(const struct watch *w, const struct subnet_event *e,
                   const struct missing_group *m)
{
    struct sender who = sender_of_lid(w, port_to_lid(w->p->dst));
    uint16_t status = w->p->mad.mad.status;
    char group[GID_TEXT];
    const struct event_key key = event_key(w, EVENT_SA_REFUSED, who.gid, m->group->mgid,
                                           (uint64_t)who.lid << 16 | status);
    watch_event(w, &key, &who, m->first_frame,
                "the SA has no record of the broadcast group %s, for which it asks: status 0x%04x, "
                "%s; without this group there is no IPoIB link of the P_Key 0x%04x",
                text_of_gid(group, e->group->mgid), status, sa_status_name(status),
                be16(m->group->mgid + MGID_PKEY));
}

static void missing(const struct watch *w, const struct subnet_event *e, struct missing_group *m)
{
    const struct group *group = group_of(e->group);
    int64_t ms = watch_ms(w);
    if (m->group != group || ms - m->last_ms > AGAIN_MS)
        *m = (struct missing_group){.group = group, .first_ms = ms, .first_frame = w->p->at.frame};
    m->last_ms = ms;
    if (++m->times >= TIMES && ms - m->first_ms >= LEAST_MS)
        report(w, e, m);
}

void watch_missing_group(const struct watch *w, const struct subnet_event *e)
{
    if (!e->group || !group_is_broadcast(e->group))
        return;
    struct missing_group *m = &w->missing_groups->all[e->group->mgid[MGID_PKEY + 1] % GROUPS];
    bool no_record = (w->p->mad.mad.status & SA_STATUS_MASK) == SA_STATUS_NO_RECORDS;
    if (e->kind == SUBNET_GROUP_MISSING && no_record)
        missing(w, e, m);
    else if (m->group == group_of(e->group) &&
             (e->kind == SUBNET_JOINED || e->kind == SUBNET_GROUP_RECORD))
        m->group = NULL;
}

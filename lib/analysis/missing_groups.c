/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Broadcast groups of which the SA has no record although hosts ask for it: without it there is no
 * IPoIB link (RFC 4391 section 5). A host that creates the group asks before that it does not
 * exist, and another one may ask at the same time.
 */
#include "analysis/sa_requests.h"
#include "wire/pkey.h"

enum { GROUPS = 16, TIMES = 3, LEAST_MS = 1000, AGAIN_MS = 60000 };

/* A cache: a group that is overwritten by another counts as not asked for. */
struct missing_group {
    uint8_t mgid[GID_SIZE];
    uint16_t subnet;
    int64_t first_ms, last_ms;
    uint32_t first_frame, times; /* answers without a record, since the last one with it */
};

struct missing_groups {
    struct missing_group all[GROUPS];
};

NEW_HISTORY(missing_groups, missing_groups_new)

static bool is_broadcast(const uint8_t *mgid)
{
    return mgid_is_ipoib(mgid) && mgid_is_broadcast(mgid);
}

/* The group's entry, which is empty if it is that of another. */
static struct missing_group *entry_of(const struct watch *w, const uint8_t *mgid)
{
    struct missing_group *m = &w->missing_groups->all[mgid[MGID_PKEY + 1] % GROUPS];
    if (m->subnet != w->p->at.interface || memcmp(m->mgid, mgid, GID_SIZE) != 0) {
        *m = (struct missing_group){.subnet = w->p->at.interface};
        memcpy(m->mgid, mgid, GID_SIZE);
    }
    return m;
}

static void report(const struct watch *w, const struct missing_group *m)
{
    struct sender who = sender_of_lid(w, port_to_lid(w->p->dst));
    uint16_t status = w->p->mad.mad.status;
    char group[GID_TEXT];
    const struct event_key key = event_key(w, EVENT_SA_REFUSED, who.gid, m->mgid,
                                           (uint64_t)who.lid << 16 | status);
    watch_event(w, &key, &who, m->first_frame,
                "the SA has no record of the broadcast group %s, for which it asks: status 0x%04x, "
                "%s; without this group there is no IPoIB link of the P_Key 0x%04x",
                text_of_gid(group, m->mgid), status, sa_status_name(status),
                be16(m->mgid + MGID_PKEY));
}

/* A request with further components may be for more than the group. Its P_Key is in its MGID. */
static bool wants_group(const struct mad_transaction *t)
{
    bool only_group = (t->mask & ~(uint64_t)MCM_HAS_PKEY) == MCM_HAS_MGID;
    const uint8_t *mgid = t->record + MCM_MGID;
    return only_group && is_broadcast(mgid) &&
           (!(t->mask & MCM_HAS_PKEY) ||
            same_partition(be16(t->record + MCM_PKEY), be16(mgid + MGID_PKEY)));
}

void watch_missing_group(const struct watch *w, const struct mad_transaction *t)
{
    if (!wants_group(t))
        return;
    struct missing_group *m = entry_of(w, t->record + MCM_MGID);
    int64_t ms = watch_ms(w);
    if (ms - m->last_ms > AGAIN_MS)
        m->times = 0;
    if (!m->times++) {
        m->first_ms = ms;
        m->first_frame = w->p->at.frame;
    }
    m->last_ms = ms;
    if (m->times >= TIMES && ms - m->first_ms >= LEAST_MS)
        report(w, m);
}

void watch_group_record(const struct watch *w, const struct subnet_event *e)
{
    entry_of(w, e->group->mgid)->times = 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A port GUID at two ports of one switch. The NodeInfo of channel adapters is looked at: several
 * cables may lead to a switch, one to a port of an adapter. A subnet manager that finds the GUID at
 * both places within a second, twice, has not seen a cable that was moved.
 */
#include <inttypes.h>

#include "analysis/event_table.h"
#include "analysis/smps.h"
#include "analysis/twins.h"
#include "wire/put.h"

enum { GUIDS = 1 << 10, HOPS = GID_SIZE, SOON_MS = 1000, TIMES = 2 };

/* A cache: where the GUID was seen last. guid 0: unused. */
struct guids_seen {
    struct guid_seen {
        uint64_t guid;
        uint8_t hops[HOPS]; /* their number, and their ports */
        uint32_t agent, frame;
        uint16_t subnet;
        int64_t ms, found_ms;
        unsigned times; /* it was found at two places, the last time at found_ms */
    } all[GUIDS];
};

NEW_HISTORY(guids_seen, guids_seen_new)

/* Do the routes lead to two ports of one switch? */
static bool are_siblings(const struct guid_seen *a, const struct guid_seen *b)
{
    unsigned n = a->hops[0];
    return a->agent == b->agent && n >= 2 && memcmp(a->hops, b->hops, n) == 0 &&
           a->hops[n] != b->hops[n];
}

static bool is_reported_with(const struct watch *w, uint64_t prefix, uint64_t guid)
{
    uint8_t gid[GID_SIZE];
    put32(gid, (uint32_t)(prefix >> 32));
    put32(gid + 4, (uint32_t)prefix);
    put32(gid + 8, (uint32_t)(guid >> 32));
    put32(gid + 12, (uint32_t)guid);
    const struct event_key key = event_key(w, EVENT_DUPLICATE_GID, gid, NULL, 0);
    return event_table_find(w->sink->events, &key) != NULL;
}

/* By their LIDs, which the ports have too (lids.c, twins.c). */
static bool is_reported(const struct watch *w, uint64_t guid)
{
    const struct twins *t = w->twins;
    for (unsigned i = 0; i < t->n_prefixes; i++)
        if (t->prefixes[i].subnet == w->p->at.interface &&
            is_reported_with(w, t->prefixes[i].prefix, guid))
            return true;
    return false;
}

static void report(const struct watch *w, const struct guid_seen *before,
                   const struct guid_seen *now)
{
    const struct sender nobody = {.known = 0};
    const struct event_key key = event_key(w, EVENT_DUPLICATE_GID, NULL, NULL, now->guid);
    unsigned n = now->hops[0];
    watch_event(w, &key, &nobody, before->frame,
                "two ports have the port GUID 0x%016" PRIx64 ": the subnet manager finds it at the "
                "ports %u and %u of one switch, %u times within a second (NodeInfo)",
                now->guid, before->hops[n], now->hops[n], now->times);
}

/* The GUID was a moment ago at another port of the switch: that counts once for each sweep. */
static bool is_at_two(const struct guid_seen *before, struct guid_seen *now)
{
    if (before->guid != now->guid || before->subnet != now->subnet)
        return false;
    now->times = before->times;
    now->found_ms = before->found_ms;
    if (!are_siblings(before, now) || now->ms < before->ms || now->ms - before->ms > SOON_MS)
        return false;
    if (!now->times || now->ms - now->found_ms >= SOON_MS) {
        now->times++;
        now->found_ms = now->ms;
    }
    return true;
}

void watch_port_guid(const struct watch *w, const struct node_info *n, const uint8_t *hops)
{
    struct guid_seen *last = &w->guids->all[mix_two(0, n->port_guid, 0) >> 32 & (GUIDS - 1)];
    struct guid_seen now = {.guid = n->port_guid,
                            .agent = (uint32_t)(w->p->mad.smp.mad.tid >> 32),
                            .frame = w->p->at.frame,
                            .subnet = w->p->at.interface,
                            .ms = watch_ms(w)};
    if (n->type != NODE_TYPE_CA || !n->port_guid || !hops)
        return;
    memcpy(now.hops, hops, sizeof now.hops);
    const struct guid_seen before = *last;
    bool is_found = is_at_two(&before, &now);
    *last = now;
    if (is_found && now.times >= TIMES && !is_reported(w, now.guid))
        report(w, &before, &now);
}

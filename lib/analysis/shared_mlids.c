/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Broadcast groups of two partitions with one MLID. Groups may share an MLID (IBA 15.2.5.17), but
 * then each port gets the packets of both: those of the other partition are dropped for their
 * P_Key, by the port, or by a switch that enforces partitions.
 */
#include "analysis/watch.h"
#include "wire/mgid.h"
#include "wire/pkey.h"

enum { LINKS = 16 };

/* A cache: a link that is overwritten by another counts as unknown. */
struct shared_mlids {
    struct link_mlid {
        uint16_t subnet, pkey, mlid; /* mlid 0: unused */
        uint32_t frame;              /* of the record */
    } all[LINKS];
};

NEW_HISTORY(shared_mlids, shared_mlids_new)

static void report(const struct watch *w, const struct link_mlid *one, const struct link_mlid *two)
{
    const struct event_key key = event_key(w, EVENT_SHARED_MLID, NULL, NULL, two->mlid);
    struct sender who = sender_of_lid(w, w->p->ib.slid);
    watch_event(
        w, &key, &who, one->frame,
        "the SA has one MLID, 0x%04x, for the broadcast groups of the P_Keys 0x%04x and "
        "0x%04x: each port gets the other partition's broadcasts, too, and they are dropped",
        two->mlid, one->pkey, two->pkey);
}

void watch_shared_mlid(const struct watch *w, const struct subnet_event *e)
{
    const struct group *g = e->group;
    if (!g->mlid)
        return;
    struct link_mlid *all = w->shared_mlids->all,
                     own = {w->p->at.interface, be16(g->mgid + MGID_PKEY), g->mlid, w->p->at.frame};
    for (unsigned i = 0; i < LINKS; i++)
        if (all[i].mlid == own.mlid && all[i].subnet == own.subnet &&
            !same_partition(all[i].pkey, own.pkey))
            report(w, &all[i], &own);
    struct link_mlid *mine = &all[own.pkey % LINKS];
    if (mine->mlid != own.mlid || mine->pkey != own.pkey || mine->subnet != own.subnet)
        *mine = own;
}

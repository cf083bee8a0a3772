/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/managers.h"

struct manager *managers_find(const GPtrArray *all, uint16_t interface)
{
    return interface < all->len ? g_ptr_array_index(all, interface) : NULL;
}

/* Interfaces are numbered from 0, so the array is at most as long as that of the interfaces. */
static struct manager **manager_at(GPtrArray *all, uint16_t interface)
{
    if (interface >= all->len)
        g_ptr_array_set_size(all, interface + 1);
    return (struct manager **)&g_ptr_array_index(all, interface);
}

struct manager *managers_get(GPtrArray *all, uint16_t interface)
{
    struct manager **m = manager_at(all, interface);
    if (!*m)
        *m = g_new0(struct manager, 1);
    return *m;
}

void managers_merge_doubt(GPtrArray *all, uint16_t from, uint16_t to)
{
    const struct manager *m = managers_find(all, from);
    struct doubt *to_doubt = m ? &managers_get(all, to)->doubt : NULL;
    if (!to_doubt)
        return;
    uint32_t first = m->doubt.first_frame;
    if (first && (!to_doubt->first_frame || first < to_doubt->first_frame))
        to_doubt->first_frame = first;
    to_doubt->last_frame = MAX(m->doubt.last_frame, to_doubt->last_frame);
}

void managers_merge(GPtrArray *all, uint16_t from, uint16_t to)
{
    managers_merge_doubt(all, from, to);
    struct manager *m = managers_find(all, from), *same = managers_find(all, to);
    if (!m)
        return;
    *manager_at(all, from) = NULL;
    if (!same->master_guid)
        same->master_guid = m->master_guid;
    if (!same->sa_lid) {
        same->sa_lid = m->sa_lid;
        same->sa_sequence = m->sa_sequence;
    }
    same->sa_sequence.has_interface |= m->sa_sequence.has_interface;
    same->sa_sequence.to_several |= m->sa_sequence.to_several;
    same->sa_sequence.from_start &= m->sa_sequence.from_start;
    sequence_merge(&same->sa_sequence.gsi, &m->sa_sequence.gsi);
    g_free(m);
}

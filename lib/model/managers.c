/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/managers.h"

struct managers {
    GPtrArray *by_interface; /* struct manager; NULL: none is known */
};

struct managers *managers_new(void)
{
    struct managers *all = g_new0(struct managers, 1);
    all->by_interface = g_ptr_array_new_with_free_func(g_free);
    return all;
}

void managers_free(struct managers *all)
{
    if (!all)
        return;
    g_ptr_array_unref(all->by_interface);
    g_free(all);
}

static struct manager *find_manager(const struct managers *all, uint16_t interface)
{
    return interface < all->by_interface->len ? g_ptr_array_index(all->by_interface, interface)
                                              : NULL;
}

/* Interfaces are numbered from 0, so the array is at most as long as that of the interfaces. */
static struct manager **manager_at(struct managers *all, uint16_t interface)
{
    if (interface >= all->by_interface->len)
        g_ptr_array_set_size(all->by_interface, interface + 1);
    return (struct manager **)&g_ptr_array_index(all->by_interface, interface);
}

const struct manager *managers_find(const struct managers *all, uint16_t interface)
{
    return find_manager(all, interface);
}

struct manager *managers_get(struct managers *all, uint16_t interface)
{
    struct manager **m = manager_at(all, interface);
    if (!*m)
        *m = g_new0(struct manager, 1);
    return *m;
}

void managers_merge_doubt(struct managers *all, uint16_t from, uint16_t to)
{
    const struct manager *m = find_manager(all, from);
    struct doubt *to_doubt = m ? &managers_get(all, to)->doubt : NULL;
    if (!to_doubt)
        return;
    uint32_t first = m->doubt.first_frame;
    if (first && (!to_doubt->first_frame || first < to_doubt->first_frame))
        to_doubt->first_frame = first;
    to_doubt->last_frame = MAX(m->doubt.last_frame, to_doubt->last_frame);
}

void managers_merge(struct managers *all, uint16_t from, uint16_t to)
{
    managers_merge_doubt(all, from, to);
    struct manager *m = find_manager(all, from), *same = find_manager(all, to);
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

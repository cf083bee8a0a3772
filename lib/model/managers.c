/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/managers.h"

#include "model/hash.h"

struct managers {
    GHashTable *by_interface; /* interface -> struct manager */
};

struct managers *managers_new(void)
{
    struct managers *all = g_new0(struct managers, 1);
    all->by_interface = g_hash_table_new_full(hash_number, NULL, NULL, g_free);
    return all;
}

void managers_free(struct managers *all)
{
    if (!all)
        return;
    g_hash_table_destroy(all->by_interface);
    g_free(all);
}

const struct manager *managers_find(const struct managers *all, uint16_t interface)
{
    return g_hash_table_lookup(all->by_interface, GUINT_TO_POINTER(interface));
}

struct manager *managers_get(struct managers *all, uint16_t interface)
{
    struct manager *m = g_hash_table_lookup(all->by_interface, GUINT_TO_POINTER(interface));
    if (!m) {
        m = g_new0(struct manager, 1);
        g_hash_table_insert(all->by_interface, GUINT_TO_POINTER(interface), m);
    }
    return m;
}

void managers_merge(struct managers *all, uint16_t from, uint16_t to)
{
    struct manager *m = g_hash_table_lookup(all->by_interface, GUINT_TO_POINTER(from)),
                   *same = g_hash_table_lookup(all->by_interface, GUINT_TO_POINTER(to));
    if (!m)
        return;
    g_hash_table_steal(all->by_interface, GUINT_TO_POINTER(from));
    if (!same) {
        g_hash_table_insert(all->by_interface, GUINT_TO_POINTER(to), m);
        return;
    }
    if (!same->master_guid)
        same->master_guid = m->master_guid;
    if (!same->sa_lid) {
        same->sa_lid = m->sa_lid;
        same->sa_sequence = m->sa_sequence;
    }
    same->sa_sequence.has_interface |= m->sa_sequence.has_interface;
    same->sa_sequence.gap_frame = MAX(same->sa_sequence.gap_frame, m->sa_sequence.gap_frame);
    g_free(m);
}

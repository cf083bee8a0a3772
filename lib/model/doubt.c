/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/doubt.h"

#include <glib.h>

#include "model/write.h"

struct doubts {
    GArray *by_interface; /* struct doubt */
};

struct doubts *doubts_new(void)
{
    struct doubts *all = g_new0(struct doubts, 1);
    all->by_interface = g_array_new(FALSE, TRUE, sizeof(struct doubt));
    return all;
}

void doubts_free(struct doubts *all)
{
    if (!all)
        return;
    g_array_unref(all->by_interface);
    g_free(all);
}

struct doubt doubts_find(const struct doubts *all, uint16_t interface)
{
    static const struct doubt none;
    return interface < all->by_interface->len
               ? g_array_index(all->by_interface, struct doubt, interface)
               : none;
}

/* Interfaces are numbered from 0, so the array is at most as long as that of the interfaces. */
static struct doubt *doubt_at(struct doubts *all, uint16_t interface)
{
    if (interface >= all->by_interface->len)
        g_array_set_size(all->by_interface, interface + 1u);
    return &g_array_index(all->by_interface, struct doubt, interface);
}

void doubts_add(struct doubts *all, uint16_t interface, uint32_t frame)
{
    struct doubt *d = doubt_at(all, interface);
    d->last_frame = frame;
    if (!d->first_frame)
        d->first_frame = frame;
}

void doubts_add_reregister(struct doubts *all, uint16_t interface, uint32_t frame)
{
    doubt_at(all, interface)->last_frame = frame;
}

void doubts_merge(struct doubts *all, uint16_t from, uint16_t to)
{
    struct doubt a = doubts_find(all, from), *b = doubt_at(all, to);
    if (a.first_frame && (!b->first_frame || a.first_frame < b->first_frame))
        b->first_frame = a.first_frame;
    b->last_frame = MAX(a.last_frame, b->last_frame);
}

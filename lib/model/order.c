/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/order.h"

#include <glib.h>
#include <string.h>

#include "wire/nanoseconds.h"

enum { NS_OF_MS = 1000000 };

static unsigned slot(uint16_t subnet)
{
    return subnet < ORDER_SUBNETS ? subnet : ORDER_SUBNETS - 1;
}

void order_note(struct order *o, uint32_t frame, uint16_t subnet, uint16_t interface, int64_t ns)
{
    struct order_entry *entries = o->subnets[o->now = slot(subnet)].entries;
    clocks_note(&o->clocks, interface, ns);
    memmove(entries + 1, entries, ORDER_FRAMES * sizeof *entries);
    entries[0] = (struct order_entry){ns, frame, interface};
}

void order_copy(struct order *o, uint32_t frame, uint16_t subnet, uint16_t interface, int64_t ns)
{
    struct order_entry *entries = o->subnets[slot(subnet)].entries;
    for (unsigned i = 0; i <= ORDER_FRAMES; i++)
        if (entries[i].frame == frame)
            entries[i] = (struct order_entry){ns, frame, interface};
}

/* Both lists have the newest frame first. */
static void merge_entries(struct order_entry *to, const struct order_entry *from)
{
    struct order_entry old[ORDER_FRAMES + 1];
    const struct order_entry *other = old;
    memcpy(old, to, sizeof old);
    for (unsigned i = 0; i <= ORDER_FRAMES; i++)
        to[i] = other->frame > from->frame ? *other++ : *from++;
}

void order_merge(struct order *o, uint16_t from, uint16_t to)
{
    struct order_subnet *a = &o->subnets[slot(from)], *b = &o->subnets[slot(to)];
    if (a == b)
        return;
    merge_entries(b->entries, a->entries);
    if (a->reversed) {
        b->reversed_ns = b->reversed ? MAX(a->reversed_ns, b->reversed_ns) : a->reversed_ns;
        b->reversed = true;
    }
    b->copied |= a->copied;
    if (slot(from) < ORDER_SUBNETS - 1) /* the last slot may have other subnets too */
        *a = (struct order_subnet){0};
    if (o->now == slot(from))
        o->now = slot(to);
}

static void reverse(struct order *o, struct order_subnet *s)
{
    s->reversed = true;
    s->reversed_ns = o->clocks.ns;
}

void order_reversed(struct order *o)
{
    reverse(o, &o->subnets[o->now]);
}

void order_of_two_clocks(struct order *o, uint16_t subnet)
{
    reverse(o, &o->subnets[slot(subnet)]);
}

void order_copied(struct order *o, uint16_t subnet)
{
    o->subnets[slot(subnet)].copied = true;
}

static bool is_reversed(const struct order *o, const struct order_subnet *s)
{
    int64_t range = (int64_t)CLOCKS_SECONDS * NANOSECONDS, ns;
    if (!s->reversed || __builtin_sub_overflow(o->clocks.ns, s->reversed_ns, &ns))
        return s->reversed;
    return ns <= range && ns >= -range;
}

bool order_is_reversed(const struct order *o)
{
    return is_reversed(o, &o->subnets[o->now]);
}

bool order_is_reversed_on(const struct order *o, uint16_t subnet)
{
    return is_reversed(o, &o->subnets[slot(subnet)]);
}

/* Was the last frame captured at most so long after this one, as far as the clocks show? */
static bool is_near(const struct order *o, const struct order_entry *then, int64_t ms)
{
    return clocks_at_least(&o->clocks, then->interface, then->ns) <= ms * NS_OF_MS;
}

static bool is_uncertain_in(const struct order *o, const struct order_subnet *s, uint32_t frame)
{
    for (unsigned i = 0; i <= ORDER_FRAMES; i++)
        if (s->entries[i].frame == frame)
            return is_near(o, &s->entries[i], i <= 1 ? ADJACENT_MS : ORDER_MS);
    return false;
}

bool order_is_uncertain(const struct order *o, uint32_t frame)
{
    /* two interfaces that are not known to see the same subnet may do so (model/reversal.h) */
    for (unsigned i = 0; frame && i < ORDER_SUBNETS; i++)
        if (is_uncertain_in(o, &o->subnets[i], frame))
            return true;
    return false;
}

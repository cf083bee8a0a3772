/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/order.h"

#include <string.h>

#include "wire/nanoseconds.h"

enum { NS_OF_MS = 1000000 };

void order_note(struct order *o, uint32_t frame, uint16_t interface, int64_t ns)
{
    clocks_note(&o->clocks, interface, ns);
    memmove(o->entries + 1, o->entries, ORDER_FRAMES * sizeof *o->entries);
    o->entries[0] = (struct order_entry){ns, frame, interface};
}

void order_reversed(struct order *o)
{
    o->reversed = true;
    o->reversed_ns = o->clocks.ns;
}

bool order_is_reversed(const struct order *o)
{
    int64_t range = (int64_t)CLOCKS_SECONDS * NANOSECONDS, ns;
    if (!o->reversed || __builtin_sub_overflow(o->clocks.ns, o->reversed_ns, &ns))
        return o->reversed;
    return ns <= range && ns >= -range;
}

/* Was the last frame captured at most ORDER_MS after this one, as far as the clocks show? */
static bool is_near(const struct order *o, const struct order_entry *then)
{
    int64_t age = clocks_at_least(&o->clocks, then->interface, then->ns);
    return age <= (int64_t)ORDER_MS * NS_OF_MS;
}

bool order_is_uncertain(const struct order *o, uint32_t frame)
{
    if (frame == 0)
        return false;
    for (unsigned i = 0; i <= ORDER_FRAMES; i++)
        if (o->entries[i].frame == frame)
            return i <= 1 || is_near(o, &o->entries[i]);
    return false;
}

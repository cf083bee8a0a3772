/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/clocks.h"

#include <stddef.h>

#include "wire/nanoseconds.h"

/* Sum and difference, limited to the range of int64_t. */
static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static int64_t minus(int64_t a, int64_t b)
{
    int64_t difference;
    return __builtin_sub_overflow(a, b, &difference) ? (a < 0 ? INT64_MIN : INT64_MAX) : difference;
}

static void limit(struct clocks_limit *l, int64_t earlier, int64_t later)
{
    int64_t ns = minus(later, earlier);
    bool is_old = minus(later, l->at) > (int64_t)CLOCKS_SECONDS * NANOSECONDS;
    if (!l->known || ns < l->ns || is_old)
        *l = (struct clocks_limit){.ns = ns, .at = later, .known = true};
}

void clocks_note(struct clocks *c, uint16_t interface, int64_t ns)
{
    bool two = c->any && c->interface != interface;
    if (two && c->interface < CLOCKS_INTERFACES && interface < CLOCKS_INTERFACES)
        limit(&c->limits[c->interface][interface], c->ns, ns);
    c->interface = interface;
    c->ns = ns;
    c->any = true;
}

/* NULL: the difference of the two clocks has no known limit. */
static const struct clocks_limit *limit_of(const struct clocks *c, uint16_t earlier, uint16_t later)
{
    bool both = earlier < CLOCKS_INTERFACES && later < CLOCKS_INTERFACES;
    return both && c->limits[earlier][later].known ? &c->limits[earlier][later] : NULL;
}

int64_t clocks_at_least(const struct clocks *c, uint16_t interface, int64_t ns)
{
    int64_t difference = minus(c->ns, ns);
    if (interface == c->interface)
        return difference;
    const struct clocks_limit *l = limit_of(c, interface, c->interface);
    return l ? minus(difference, l->ns) : INT64_MIN;
}

int64_t clocks_at_most(const struct clocks *c, uint16_t interface, int64_t ns)
{
    int64_t difference = minus(c->ns, ns);
    if (interface == c->interface)
        return difference;
    const struct clocks_limit *l = limit_of(c, c->interface, interface);
    return l ? plus(difference, l->ns) : INT64_MAX;
}

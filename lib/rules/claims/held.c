/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Claims that a packet proved, and that a late copy may withdraw. */
#include "model/copies.h"
#include "rules/claims/claim_state.h"
#include "wire/nanoseconds.h"

void claims_hold(struct claims *c)
{
    c->holds = true;
}

bool claims_are_held(const struct claims *c)
{
    return c->held > 0;
}

static bool is_apart(int64_t ns, int64_t from, int64_t least)
{
    int64_t age;
    return __builtin_sub_overflow(ns, from, &age) || age >= least || age <= -least;
}

static void end_held(const struct check_context *s, struct claim *f)
{
    f->port = endport_of(f->port);
    if (f->is_late || order_is_reversed_on(&s->f->order, f->port->interface))
        claim_withdraw(s, f, CLAIM_OF_TWO_CLOCKS);
    else
        claim_report_standing(s, f);
    claim_free(s->claims, f);
}

/* The next one that is held, the oldest first; NULL: no further one. at: 0 at first. */
static struct claim *next_held(struct claims *c, unsigned *at)
{
    while (c->held && *at < CLAIMS_MAX) {
        struct claim *f = &c->all[(c->next + (*at)++) % CLAIMS_MAX];
        if (f->port && f->proved_frame)
            return f;
    }
    return NULL;
}

bool claims_end_first_held(const struct check_context *s)
{
    unsigned at = 0;
    struct claim *f = next_held(s->claims, &at);
    if (f)
        end_held(s, f);
    return f != NULL;
}

bool claim_is_late_copy(const struct check_context *s, const struct claim *f)
{
    const struct order *o = &s->f->order;
    bool is_near = order_is_uncertain(o, f->frame) ||
                   (order_has_copies(o) && f->frame >= order_window(o));
    return f->frame == s->p->copy_of && !is_near &&
           is_apart(s->p->at.ns, f->ns, ORDER_MS * (NANOSECONDS / 1000));
}

void claims_settle(const struct check_context *s)
{
    unsigned at = 0;
    for (struct claim *f; (f = next_held(s->claims, &at));) {
        f->is_late |= s->p->copy_of && claim_is_late_copy(s, f);
        if (f->is_late || is_apart(s->p->at.ns, f->proved_ns, COPIES_SECONDS * NANOSECONDS))
            end_held(s, f);
    }
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/stale.h"

#include "model/write.h"

static bool is_same(const struct stale_use *a, const struct stale_use *b)
{
    return a->link == b->link && a->lid == b->lid && a->qpn == b->qpn &&
           a->taken_frame == b->taken_frame && ip_same(&a->ip, &b->ip);
}

const struct stale_use *stale_use_of(const struct stale_uses *s, const struct stale_use *like)
{
    for (unsigned i = 0; i < STALE_USES; i++)
        if (is_same(&s->slots[i], like))
            return &s->slots[i];
    return NULL;
}

void stale_used(struct stale_uses *s, const struct stale_use *u)
{
    if (!stale_use_of(s, u))
        s->slots[s->next++ % STALE_USES] = *u;
}

void stale_merge(struct stale_uses *s, uint16_t from, uint16_t to)
{
    for (unsigned i = 0; i < STALE_USES; i++) {
        struct stale_use *u = &s->slots[i];
        if (u->link >> 16 == from)
            u->link = (uint32_t)to << 16 | (u->link & 0xffffu);
    }
}

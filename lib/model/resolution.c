/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/resolution.h"

#include "model/write.h"

static guint add_octets(guint h, const uint8_t *p, unsigned n)
{
    while (n--)
        h = (h ^ *p++) * 16777619u;
    return h;
}

static bool is_arp(const struct resolution *q)
{
    return q->asked.length == 4;
}

static struct resolution *slot(struct resolutions *r, const struct resolution *q)
{
    guint h = add_octets(q->link * 2654435761u, q->asked.octets, q->asked.length);
    h = is_arp(q) ? add_octets(h, q->asker + LLADDR_QPN, LLADDR_SIZE - LLADDR_QPN)
                  : add_octets(h, q->asker_ip.octets, q->asker_ip.length);
    return r->slots[(h ^ h >> 16) % RESOLUTIONS];
}

static bool same_asker(const struct resolution *a, const struct resolution *b)
{
    return a->link == b->link && ip_same(&a->asked, &b->asked) &&
           (is_arp(a) ? lladdr_same(a->asker, b->asker) : ip_same(&a->asker_ip, &b->asker_ip));
}

static bool same_question(const struct resolution *a, const struct resolution *b)
{
    return same_asker(a, b) && lladdr_same(a->asker, b->asker) &&
           ip_same(&a->asker_ip, &b->asker_ip);
}

/* Store the request as the newest. A repeated request replaces its earlier entry. */
void resolution_asked(struct resolutions *r, const struct resolution *q)
{
    struct resolution *first = slot(r, q);
    unsigned at = 0;
    if (!same_asker(first, q))
        memset(first, 0, sizeof r->slots[0]);
    while (at < RESOLUTION_QUESTIONS - 1 && !same_question(&first[at], q))
        at++;
    memmove(first + 1, first, at * sizeof *first);
    *first = *q;
}

const struct resolution *resolution_question(const struct resolutions *r,
                                             const struct resolution *like, unsigned of)
{
    return resolution_get((struct resolutions *)r, like, of);
}

struct resolution *resolution_get(struct resolutions *r, const struct resolution *like, unsigned of)
{
    struct resolution *q = slot(r, like) + of;
    return of < RESOLUTION_QUESTIONS && q->asked.length && same_asker(q, like) ? q : NULL;
}

void resolutions_merge(struct resolutions *r, uint16_t from, uint16_t to)
{
    for (unsigned i = 0; i < RESOLUTIONS; i++) {
        struct resolution asked[RESOLUTION_QUESTIONS];
        if (!r->slots[i][0].asked.length || r->slots[i][0].link >> 16 != from)
            continue;
        memcpy(asked, r->slots[i], sizeof asked);
        memset(r->slots[i], 0, sizeof asked);
        for (unsigned k = RESOLUTION_QUESTIONS; k-- > 0;) { /* oldest first */
            asked[k].link = (uint32_t)to << 16 | (asked[k].link & 0xffffu);
            if (asked[k].asked.length)
                resolution_asked(r, &asked[k]);
        }
    }
}

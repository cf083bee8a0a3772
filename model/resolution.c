/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/resolution.h"

static unsigned slot(uint32_t link, const uint8_t *asker, const struct ip *asked)
{
    guint h = link * 2654435761u;
    for (unsigned i = LLADDR_QPN; i < LLADDR_SIZE; i++)
        h = (h ^ asker[i]) * 16777619u;
    for (unsigned i = 0; i < asked->length; i++)
        h = (h ^ asked->octets[i]) * 16777619u;
    return (h ^ h >> 16) % RESOLUTIONS;
}

void resolution_asked(struct resolutions *r, uint32_t link, const uint8_t *asker, const struct ip *asker_ip, const struct ip *asked)
{
    struct resolution *q = &r->slots[slot(link, asker, asked)];
    q->link = link;
    memcpy(q->asker, asker, LLADDR_SIZE);
    q->asker_ip = *asker_ip;
    q->asked = *asked;
}

const struct ip *resolution_asker_ip(const struct resolutions *r, uint32_t link, const uint8_t *asker, const struct ip *asked)
{
    const struct resolution *q = &r->slots[slot(link, asker, asked)];
    return q->asked.length && q->link == link && lladdr_same(q->asker, asker) && ip_same(&q->asked, asked) ? &q->asker_ip : NULL;
}

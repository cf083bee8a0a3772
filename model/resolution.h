/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ARP requests that wait for their reply: who asked for which address, under which IP. */
#ifndef IPOIB_MODEL_RESOLUTION_H
#define IPOIB_MODEL_RESOLUTION_H

#include "model/neighbour.h"

/* As many are remembered; one that is overwritten is as one that was not seen. */
enum { RESOLUTIONS = 512 };

struct resolutions {
    struct resolution {
        uint32_t link;
        uint8_t asker[LLADDR_SIZE]; /* its link-layer address; flags aside */
        struct ip asker_ip, asked;  /* asked.length 0: unused */
    } slots[RESOLUTIONS];
};

void resolution_asked(struct resolutions *r, uint32_t link, const uint8_t *asker, const struct ip *asker_ip, const struct ip *asked);
/* Under which IP the asker asked for this one; NULL: it did not, or long ago. */
const struct ip *resolution_asker_ip(const struct resolutions *r, uint32_t link, const uint8_t *asker, const struct ip *asked);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address-resolution requests (ARP requests, neighbour solicitations): the requester, its IP
 * address and the requested IP address.
 */
#ifndef IPOIB_MODEL_RESOLUTION_H
#define IPOIB_MODEL_RESOLUTION_H

#include "model/neighbour.h"

struct resolution {
    uint32_t link;
    struct ip asker_ip, asked;  /* requester's and requested IP address; asked.length 0: unused */
    uint8_t asker[LLADDR_SIZE]; /* requester's link-layer address */
    uint16_t lid;               /* LID of the requester; 0: not known */
    bool answered;
    uint32_t frame;
    int64_t seconds; /* time of the request, s since 1970 */
};

/*
 * Number of requesters remembered, and of each requester's latest requests for one IP address. An
 * overwritten request counts as not seen.
 */
enum { RESOLUTIONS = 512, RESOLUTION_QUESTIONS = 4 };

struct resolutions {
    struct resolution slots[RESOLUTIONS][RESOLUTION_QUESTIONS]; /* newest request first */
};

/*
 * The requester's requests for one IP address: `of` 0 returns the newest, 1 the one before it, and
 * so on; NULL: no more. like: the link, the requested IP address and the requester; other fields
 * are ignored. The requester is identified in ARP (an IPv4 address) by its link-layer address,
 * which may have several IP addresses; in Neighbour Discovery by its IP address, which several
 * interfaces may have.
 */
const struct resolution *resolution_question(const struct resolutions *r,
                                             const struct resolution *like, unsigned of);

#endif

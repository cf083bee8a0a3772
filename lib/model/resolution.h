/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions of address resolution (ARP requests, neighbour solicitations): who asked for which IP,
 * under which of its own.
 */
#ifndef IPOIB_MODEL_RESOLUTION_H
#define IPOIB_MODEL_RESOLUTION_H

#include "model/neighbour.h"

struct resolution {
    uint32_t link;
    struct ip asker_ip, asked;  /* asked.length 0: unused */
    uint8_t asker[LLADDR_SIZE]; /* its link-layer address */
    uint16_t lid;               /* it came from; 0: not known */
    bool answered;
    uint32_t frame;
    int64_t seconds; /* when, s since 1970 */
};

/*
 * So many askers are remembered, and their last questions for one IP; what is overwritten is as
 * what was not seen.
 */
enum { RESOLUTIONS = 512, RESOLUTION_QUESTIONS = 4 };

struct resolutions {
    struct resolution slots[RESOLUTIONS][RESOLUTION_QUESTIONS]; /* the newest first */
};

void resolution_asked(struct resolutions *r, const struct resolution *q);

/* Two interfaces turned out to see one subnet: the upper half of a link's number is from, or to. */
void resolutions_merge(struct resolutions *r, uint16_t from, uint16_t to);

/*
 * The asker's questions for one IP: of 0 the newest, of 1 the one before it, and so on, NULL: no
 * more. like: the link, the IP, and who asked: in ARP (an IPv4 address) its link-layer address,
 * which may have several IPs; in Neighbour Discovery its IP, which several interfaces may have. The
 * rest of it is not looked at.
 */
struct resolution *resolution_question(struct resolutions *r, const struct resolution *like,
                                       unsigned of);

#endif

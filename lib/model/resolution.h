/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address-resolution requests (ARP requests, neighbour solicitations): the requester, its IP
 * address and the requested IP address.
 */
#ifndef IPOIB_MODEL_RESOLUTION_H
#define IPOIB_MODEL_RESOLUTION_H

#include "model/neighbour.h"
#include "model/order.h"

struct resolution {
    uint32_t link;
    struct ip requester_ip,
        target; /* requester's and requested IP address; target.length 0: unused */
    uint8_t requester[LLADDR_SIZE]; /* requester's link-layer address */
    uint16_t lid;                   /* LID of the requester; 0: not known */
    uint16_t interface;             /* capture interface of the request */
    uint32_t to_qpn; /* UD QP to which a unicast request went; 0: it went to a group */
    /* a reply to it was captured; in replies[]: it was captured first, and had no reply yet */
    bool replied;
    uint32_t reply_frame; /* of the last such reply that is not corrupt; 0: none */
    uint32_t psn;         /* of the request */
    uint32_t frame;
    uint32_t window; /* first frame within the window of order of the request */
    int64_t ns;      /* time of the request, since 1970 */
    /* the last equal request before this one with a reply_frame; frame 0: none */
    struct {
        uint32_t frame;
        uint16_t interface;
        int64_t ns;
    } before;
};

/*
 * Number of requesters remembered, and of each requester's latest requests for one IP address. An
 * overwritten request counts as not seen. Which one is overwritten depends on the order of the
 * requests only: with other addresses in their place, the findings are the same.
 */
enum { RESOLUTIONS = 512, RESOLUTION_REQUESTS = 4 };
/* Number of last replies that are remembered: a reply may be captured before its request. */
enum { RESOLUTION_REPLIES = ORDER_FRAMES };

struct resolutions {
    struct resolution slots[RESOLUTIONS][RESOLUTION_REQUESTS]; /* newest request first */
    GHashTable *places; /* a set: the first request of each slot in use */
    unsigned next_slot;
    struct resolution replies[RESOLUTION_REPLIES]; /* the requests of the replies */
    unsigned next_reply;
};

/*
 * The requester's requests for one IP address: `of` 0 returns the newest, 1 the one before it, and
 * so on; NULL: no more. like: the link, the requested IP address and the requester; other fields
 * are ignored. The requester is identified in ARP (an IPv4 address) by its link-layer address,
 * which may have several IP addresses; in Neighbour Discovery by its IP address, which several
 * interfaces may have.
 */
const struct resolution *resolution_request(const struct resolutions *r,
                                            const struct resolution *like, unsigned of);

#endif

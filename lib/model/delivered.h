/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the copies of datagrams say about the capture. On one link, where all packets to single
 * ports have one port in common: packets to groups that come twice while others come once, because
 * switches deliver them twice. And copies that all come the same time later: captures were merged
 * whose clocks differ.
 */
#ifndef IPOIB_MODEL_DELIVERED_H
#define IPOIB_MODEL_DELIVERED_H

#include "model/fabric.h"

/* All zero at first. */
struct delivered {
    struct delivered_link {
        uint16_t lid;             /* 0: not all packets to single ports have it */
        uint64_t packets, copies; /* of datagrams to groups that another port sent */
        uint32_t first;           /* frame of the first copy */
    } links[2];
    uint64_t to_ports, to_ports_copies; /* datagrams to single ports */
    /* copies of datagrams that come later than two packets may be swapped */
    struct {
        int64_t after_ns;    /* the first one after its packet */
        uint64_t all, equal; /* number of them, of those after the same time */
        uint64_t others;     /* of these, those of other senders than the first */
        uint16_t slid;       /* of the first */
        uint32_t frame;
    } late;
};

/* The next packet that has a digest. after_ns: a copy comes so much after its packet. */
void delivered_see(struct delivered *d, const struct packet *p, int64_t after_ns);

/* Does a copy come later than two packets may be swapped? */
bool delivered_is_late(int64_t after_ns);

/* How many copies of packets to groups did the link have, if others came once? frame: the first. */
uint64_t delivered_twice(const struct delivered *d, uint32_t *frame);
/* How many copies came the same time later, if nearly all did? */
uint64_t delivered_late(const struct delivered *d, uint32_t *frame);

#endif

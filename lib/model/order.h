/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides whether capture order proves the order in which two frames were sent. It proves nothing
 * for frames that are close together: several receive queues, the two directions of a link, and
 * merged files of two machines with different clocks can swap them. The frames of one port are
 * never swapped, unless two capture points see them (order_has_copies()).
 *
 * Two frames of different ports may be swapped if they are adjacent and at most a second
 * apart, or if they are at most 8 frames and at most 10 ms apart. A rule about order reports a
 * violation only outside this window. 8 frames are more than a receive queue usually delivers
 * before the next queue's turn. 10 ms are the timestamp resolution of a kernel with 100 ticks a
 * second, and more than the difference of two NTP clocks in a local network; a second is more than
 * that of two clocks that were set by hand, whose files were merged.
 *
 * Only frames of the same subnet count: a capture file may contain any number of others between
 * them, as of an Ethernet interface with RoCE, or of a second fabric.
 */
#ifndef IPOIB_MODEL_ORDER_H
#define IPOIB_MODEL_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/clocks.h"

enum { ORDER_FRAMES = 8, ORDER_MS = 10, ADJACENT_MS = 1000 };

/* Further subnets are counted as one. */
enum { ORDER_SUBNETS = 16 };

/* The last frames of a subnet. */
struct order_subnet {
    struct order_entry {
        int64_t ns;     /* of its last copy */
        uint32_t frame; /* 0: unused */
        uint16_t interface;
    } entries[ORDER_FRAMES + 1]; /* the last frame is at [0], earlier ones follow */
    /* a response was captured before its request: the time of the last such request */
    bool reversed;
    int64_t reversed_ns;
    bool copied; /* two capture points see its packets */
};

/* All zero at first. */
struct order {
    struct clocks clocks;
    struct order_subnet subnets[ORDER_SUBNETS];
    unsigned now; /* the subnet of the last frame */
};

/* Record the next frame of the capture; interface: the capture interface, which sees the subnet. */
void order_note(struct order *o, uint32_t frame, uint16_t subnet, uint16_t interface, int64_t ns);

/*
 * Record a copy of this frame: the other capture point has it later. Two frames are as close as
 * their nearest copies.
 */
void order_copy(struct order *o, uint32_t frame, uint16_t subnet, uint16_t interface, int64_t ns);

/* Record that two numbers are the same subnet. */
void order_merge(struct order *o, uint16_t from, uint16_t to);

/* The number of the last recorded frame; 0: none. */
static inline uint32_t order_last(const struct order *o)
{
    return o->subnets[o->now].entries[0].frame;
}

/* The frame of its subnet before the last one; frame 0: none. */
static inline const struct order_entry *order_before(const struct order *o)
{
    return &o->subnets[o->now].entries[1];
}

/*
 * The number of the first frame of its subnet within the window of the last one; 0: the window is
 * not full.
 */
static inline uint32_t order_window(const struct order *o)
{
    return o->subnets[o->now].entries[ORDER_FRAMES].frame;
}

/*
 * Record that the last frame is a request, that its response was captured before it, and that the
 * two are too far apart to be swapped as above (model/reversal.h).
 */
void order_reversed(struct order *o);

/*
 * Record that the packets of this subnet are in the order of two clocks: what one capture point has
 * comes to be captured again later, by the other one (model/delivered.h).
 */
void order_of_two_clocks(struct order *o, uint16_t subnet);

/*
 * Did these two record a frame of this subnet of the last CLOCKS_SECONDS? Then it seems to
 * be merged from two machines with different clocks, and its order proves nothing.
 */
bool order_is_reversed(const struct order *o);
/* The same of a subnet. */
bool order_is_reversed_on(const struct order *o, uint16_t subnet);

/*
 * Record that a MAD of this subnet was captured twice: two capture points see it. Then the frames
 * of one port may be swapped too: what one point has lost, the other shows later.
 */
void order_copied(struct order *o, uint16_t subnet);

static inline bool order_has_copies(const struct order *o)
{
    return o->subnets[o->now].copied;
}

/*
 * Is this earlier frame within the window of the last frame? Then the last frame may have been sent
 * first, if the two come from different ports.
 */
bool order_is_uncertain(const struct order *o, uint32_t frame);

#endif

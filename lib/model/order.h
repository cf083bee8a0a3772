/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In which order were two frames sent? Capture order does not prove it for frames that are close
 * together: several receive queues, the two directions of a link, and merged files of two machines
 * with different clocks can swap them. The frames of one port keep their order.
 *
 * A rule about order reports a violation only outside this window: adjacent frames may always be
 * swapped; frames at most 8 apart may be swapped if at most 10 ms lie between them. 8 frames: more
 * than a receive queue usually delivers before the next queue's turn. 10 ms: the timestamp
 * resolution of a kernel with 100 ticks a second, and more than the difference of two NTP clocks in
 * a local network.
 */
#ifndef IPOIB_MODEL_ORDER_H
#define IPOIB_MODEL_ORDER_H

#include <stdbool.h>
#include <stdint.h>

enum { ORDER_FRAMES = 8, ORDER_MS = 10 };

/* Times of the last frames; all zero at first. */
struct order {
    struct order_moment {
        int64_t ns;
        uint32_t frame; /* 0: unused */
    } moments[ORDER_FRAMES + 1];
    uint32_t last; /* last frame */
};

/* Record the next frame of the capture. */
void order_note(struct order *o, uint32_t frame, int64_t ns);

/* May the last frame have been sent before this earlier one, if a different port sent it? */
bool order_is_uncertain(const struct order *o, uint32_t frame);

#endif

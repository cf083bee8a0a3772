/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In which order were two frames sent? A capture does not tell it of frames that stand close to
 * each other: several receive queues, the two directions of a link, and files that were merged by
 * the clocks of two machines swap them. What one port sends stays in its order.
 *
 * A rule about order fails only beyond this window: neighbours may always be swapped, others within
 * 8 frames if 10 ms or less lie between them. 8 frames: what a receive queue hands over before the
 * next one's turn, a few. 10 ms: as coarse as the time stamps of a kernel with 100 ticks a second,
 * and more than NTP leaves between two clocks of a local network.
 */
#ifndef IPOIB_MODEL_ORDER_H
#define IPOIB_MODEL_ORDER_H

#include <stdbool.h>
#include <stdint.h>

enum { ORDER_FRAMES = 8, ORDER_MS = 10 };

/* When the last frames came; all zero at first. */
struct order {
    struct order_moment {
        int64_t ns;
        uint32_t frame; /* 0: unused */
    } moments[ORDER_FRAMES + 1];
    uint32_t last; /* frame */
};

/* The next frame of the capture. */
void order_note(struct order *o, uint32_t frame, int64_t ns);

/* May the last frame have been sent before this earlier one, if another port sent it? */
bool order_is_uncertain(const struct order *o, uint32_t frame);

#endif

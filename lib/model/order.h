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

#include "model/clocks.h"

enum { ORDER_FRAMES = 8, ORDER_MS = 10 };

/* Times of the last frames; all zero at first. */
struct order {
    struct clocks clocks;
    struct order_entry {
        int64_t ns;
        uint32_t frame; /* 0: unused */
        uint16_t interface;
    } entries[ORDER_FRAMES + 1];
    uint32_t last; /* last frame */
    bool reversed; /* an exchange was: the time of the last one */
    int64_t reversed_ns;
};

/* Record the next frame of the capture; interface: the capture interface. */
void order_note(struct order *o, uint32_t frame, uint16_t interface, int64_t ns);

/*
 * The last frame is a request that was captured after its response, and not within the window
 * (model/reversal.h).
 */
void order_reversed(struct order *o);

/*
 * Was an exchange reversed in the last CLOCKS_SECONDS? Then the capture is in the order of two
 * clocks, as far as it shows.
 */
bool order_is_reversed(const struct order *o);

/* May the last frame have been sent before this earlier one, if a different port sent it? */
bool order_is_uncertain(const struct order *o, uint32_t frame);

#endif

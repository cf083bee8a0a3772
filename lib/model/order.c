/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/order.h"

enum { NS_OF_MS = 1000000, MOMENTS = ORDER_FRAMES + 1 };

void order_note(struct order *o, uint32_t frame, int64_t ns)
{
    o->last = frame;
    o->moments[frame % MOMENTS] = (struct order_moment){ns, frame};
}

bool order_is_uncertain(const struct order *o, uint32_t frame)
{
    const struct order_moment *now = &o->moments[o->last % MOMENTS],
                              *then = &o->moments[frame % MOMENTS];
    if (frame == 0 || then->frame != frame || frame > o->last || o->last - frame > ORDER_FRAMES)
        return false;
    /* compare with a saturating sum, because the difference of two times may overflow */
    int64_t late = then->ns > INT64_MAX - (int64_t)ORDER_MS * NS_OF_MS
                       ? INT64_MAX
                       : then->ns + (int64_t)ORDER_MS * NS_OF_MS;
    return o->last - frame <= 1 || now->ns <= late;
}

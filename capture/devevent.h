/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a device tells by itself: asynchronous events. */
#ifndef CAPTURE_DEVEVENT_H
#define CAPTURE_DEVEVENT_H

#include <stdbool.h>

#include "capture/device.h"

enum devevent {
    DEVEVENT_NONE,
    DEVEVENT_GONE,      /* the device works no more */
    DEVEVENT_BROKEN,    /* the queue pair or the completion queue works no more */
    DEVEVENT_PORT_DOWN, /* of this port */
    DEVEVENT_PORT_UP,
    DEVEVENT_CHANGED, /* the port has another LID, other P_Keys, another SM or the like */
};

/* The device's event channel shall not block. Returns false with errno. */
bool devevent_prepare(const struct device *device);

/* The next event that means something here, or DEVEVENT_NONE. */
enum devevent devevent_take(const struct device *device);

#endif

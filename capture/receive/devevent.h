/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asynchronous events of an RDMA device (ibv_get_async_event). */
#ifndef CAPTURE_DEVEVENT_H
#define CAPTURE_DEVEVENT_H

#include <stdbool.h>

#include "hca/device.h"

enum devevent {
    DEVEVENT_NONE,
    DEVEVENT_REMOVED,   /* fatal device error, or the device was removed */
    DEVEVENT_BROKEN,    /* the queue pair or the completion queue failed */
    DEVEVENT_PORT_DOWN, /* this port went down */
    DEVEVENT_PORT_UP,
    DEVEVENT_CHANGED, /* LID, P_Key table, GID or SM of the port changed, or the SM asks to
                         re-register */
};

/* Makes the device's event channel non-blocking. Returns false with errno. */
bool devevent_prepare(const struct device *device);

/* Returns the next event that concerns the device or its port, or DEVEVENT_NONE. */
enum devevent devevent_take(const struct device *device);

#endif

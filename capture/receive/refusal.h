/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a device does not allow a capture, and what the user can do. */
#ifndef CAPTURE_REFUSAL_H
#define CAPTURE_REFUSAL_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "hca/device.h"

enum refusal_step {
    REFUSED_NOT,
    REFUSED_TRANSPORT,
    REFUSED_QP,
    REFUSED_STATE,
    REFUSED_RECEIVE,
    REFUSED_FLOW,
    REFUSED_ETHERNET,
    REFUSED_SA
};

struct refusal {
    enum refusal_step step; /* step that failed; REFUSED_NOT: none */
    int error;              /* errno value */
    bool again;             /* the queue pair was in use: no advice about how to start a capture */
    bool ud_unsafe;         /* sniffer on an InfiniBand port where no UD queue pair may be tried */
};

/* Makes a refusal. ERROR 0 becomes EIO: some failing calls set no errno. */
struct refusal refused(enum refusal_step step, int error);

/* Returns the more informative of two refusals: a denied permission first, else the later step. */
struct refusal refusal_main(struct refusal a, struct refusal b);

/* Writes the cause in a few words, without the device's name. */
void refusal_cause(const struct device *device, struct refusal refusal, char *out, size_t size);

/*
 * Sets ERROR: why MODE ("sniffer", "firmware": the firmware's sniffer, "multicast") is refused, and
 * what to do instead. Returns false.
 */
bool refusal_fail(GError **error, const struct device *device, struct refusal refusal,
                  const char *mode);

#endif

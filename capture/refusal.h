/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a device does not let itself be captured from, and what can be done about it. */
#ifndef CAPTURE_REFUSAL_H
#define CAPTURE_REFUSAL_H

#include <stddef.h>

#include "capture/device.h"

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
    enum refusal_step step; /* at which it failed; REFUSED_NOT: it did not */
    int error;              /* error number */
};

/* ERROR: a call that fails may leave none. */
struct refusal refused(enum refusal_step step, int error);

/* Of two refusals the one that says more. */
struct refusal refusal_main(struct refusal a, struct refusal b);

/* The cause in a few words, without the device's name. */
void refusal_cause(const struct device *device, struct refusal refusal, char *out, size_t size);

/* Tells the user the cause and the way out of MODE, which was refused. */
void refusal_tell(const struct device *device, struct refusal refusal, const char *mode);

#endif

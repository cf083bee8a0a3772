/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the device of a run, and the IPoIB link on it. */
#ifndef IPOIB_PROBE_DEVICE_H
#define IPOIB_PROBE_DEVICE_H

#include "probe/link/transport.h"
#include "probe/run/target.h"

/* The device, and the result of opening the link on it. */
struct link_state {
    enum opening opening;
    GError *why; /* why the device could not be opened */
    bool tried, opened;
    GError *why_not; /* why the link could not be opened */
};

/*
 * Opens the port that was chosen (the link's choice) with libibverbs, or what shows less: the SA
 * only, or its network interface.
 */
void probe_open_device(struct link_state *s, struct target *t);
/*
 * Opens the link when the first peer is probed; the fabric diagnosis starts without it. Returns
 * false if it is not open.
 */
bool probe_open_link(struct link_state *s, struct target *t);

#endif

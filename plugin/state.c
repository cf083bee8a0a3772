/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is remembered of a capture file: made when one is opened, gone when it is closed or read
 * again.
 */
#include "plugin/plugin.h"

static struct fabric *fabric;

/* Made for the first who asks: in which order init routines run is Wireshark's business. */
struct fabric *state_fabric(void)
{
    if (!fabric)
        fabric = fabric_new();
    return fabric;
}

static void state_close(void)
{
    fabric_free(fabric);
    fabric = NULL;
    frame_forget();
}

void state_register(void)
{
    register_cleanup_routine(state_close);
}

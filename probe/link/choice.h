/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which port of this host a target is tested through, and why. */
#ifndef IPOIB_PROBE_CHOICE_H
#define IPOIB_PROBE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

struct choice {
    char device[64];    /* InfiniBand device; "": the first one */
    unsigned port;      /* 0: the first active one */
    uint16_t pkey;      /* 0: the first of the port's table */
    char interface[32]; /* the IPoIB interface there; "": none, or unknown */
    bool optional;      /* the port may do without an IPoIB interface */
    bool by_route;      /* chosen by the kernel's route to the target */
    bool other_route;   /* the kernel's route to the target does not use this port */
    char why[200];
};

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frames that show that the SA of a subnet may have sent a port other group parameters than the
 * known ones. Such a frame shows that a request of the port's GSI is missing (except the SA's own
 * port, which also serves other ports), that the GSI sent requests before the capture, or that the
 * request of a record was not seen.
 */
#ifndef IPOIB_MODEL_DOUBT_H
#define IPOIB_MODEL_DOUBT_H

#include <stdint.h>

/* Of one subnet; 0: none. */
struct doubt {
    uint32_t first_frame;
    uint32_t last_frame; /* may also be a frame in which the SM asked a port to reregister */
};

struct doubts;

/* interface: the subnet's number (model/interfaces.h). */
struct doubt doubts_find(const struct doubts *all, uint16_t interface);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a capture needs to know of a frame itself: its direction, and whether a switch has wrapped
 * it.
 */
#ifndef CAPTURE_IBFRAME_H
#define CAPTURE_IBFRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/device.h"

/*
 * PCAPNG_INBOUND, PCAPNG_OUTBOUND or PCAPNG_UNKNOWN, by the addresses of the port (LEN octets are
 * there).
 */
uint32_t frame_direction(const struct device *device, const uint8_t *octets, uint32_t len);

enum { MIRROR_HEAD_LEN = 16, MIRROR_TAIL_LEN = 2 }; /* LRH, raw header and prefix; VCRC */

/*
 * Whether a mirroring switch has put its headers around the InfiniBand frame (RSPAN of ibdump's
 * --decap).
 */
bool frame_is_mirrored(const struct device *device, const uint8_t *octets, uint32_t len);

#endif

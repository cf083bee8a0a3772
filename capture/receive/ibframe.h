/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Properties of a frame that the capture itself uses: its direction, and whether a switch has
 * mirrored it.
 */
#ifndef CAPTURE_IBFRAME_H
#define CAPTURE_IBFRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "hca/device.h"

/*
 * Returns PCAPNG_INBOUND, PCAPNG_OUTBOUND or PCAPNG_UNKNOWN by comparing the source LID with the
 * port's LIDs. LEN: captured bytes.
 */
uint32_t frame_direction(const struct device *device, const uint8_t *bytes, uint32_t len);

enum { MIRROR_HEAD_LEN = 16, MIRROR_TAIL_LEN = 2 }; /* bytes: LRH, raw header, prefix; VCRC */

/*
 * Whether a switch has encapsulated the InfiniBand frame for mirroring (RSPAN; removed by --decap,
 * as in ibdump).
 */
bool frame_is_mirrored(const struct device *device, const uint8_t *bytes, uint32_t len);

#endif

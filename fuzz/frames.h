/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of a capture as fuzz input. Each frame has a header of 6 bytes, then its captured
 * bytes. The header:
 *   byte 0     link type (low nibble), interface (high nibble)
 *   byte 1     time since the previous frame: 2 to the power of the low nibble, in ms
 *   bytes 2-3  captured bytes, big-endian
 *   bytes 4-5  bytes that the capture truncated, big-endian
 */
#ifndef IPOIB_FUZZ_FRAMES_H
#define IPOIB_FUZZ_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FUZZ_FRAME_HEADER = 6 };

struct fuzz_frame {
    uint8_t linktype, interface;
    uint32_t milliseconds, captured, length;
    const uint8_t *bytes;
};

static inline bool fuzz_next_frame(const uint8_t **p, size_t *left, struct fuzz_frame *f)
{
    const uint8_t *h = *p;
    if (*left < FUZZ_FRAME_HEADER)
        return false;
    f->linktype = h[0] & 0x0f;
    f->interface = h[0] >> 4;
    f->milliseconds = 1u << (h[1] & 0x0f);
    f->captured = (uint32_t)(h[2] << 8 | h[3]);
    if (f->captured > *left - FUZZ_FRAME_HEADER)
        f->captured = (uint32_t)(*left - FUZZ_FRAME_HEADER);
    f->length = f->captured + (uint32_t)(h[4] << 8 | h[5]);
    f->bytes = h + FUZZ_FRAME_HEADER;
    *p += FUZZ_FRAME_HEADER + f->captured;
    *left -= FUZZ_FRAME_HEADER + f->captured;
    return true;
}

#endif

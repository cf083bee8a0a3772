/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internet checksums of anonymised headers and messages (RFC 1071). */
#ifndef CAPTURE_SHARE_SUM_H
#define CAPTURE_SHARE_SUM_H

#include "capture/share/share_part.h"

/* What a checksum covers */
struct sum {
    struct part p;   /* the header or message */
    uint32_t length; /* its bytes on the wire */
    uint32_t at;     /* offset of the checksum */
    /*
     * the addresses of its pseudo-header (RFC 9293 section 3.1, RFC 8200 section 8.1); empty: it
     * has no pseudo-header
     */
    struct part addresses;
    uint8_t protocol;  /* of the pseudo-header */
    bool zero_is_none; /* UDP: 0 means no checksum */
};

/*
 * Sets the checksum, after all other changes: a right one for the new contents, or a wrong one if
 * it was wrong. It stays 0 if it was none, or if it covers bytes that were not captured.
 */
void sum_share(const struct sum *s);

#endif

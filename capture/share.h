/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * convert --share: frames that may leave the company. Payload becomes zeros, addresses are mapped
 * (share_map.h), CRCs and checksums fit what is there then; one that was wrong stays wrong. What
 * the rules of IPoIB look at stays, so that the capture is judged as before.
 */
#ifndef CAPTURE_SHARE_H
#define CAPTURE_SHARE_H

#include <stdbool.h>
#include <stdint.h>

struct share;

/* NULL after a message. */
struct share *share_new(void);
void share_free(struct share *s); /* NULL does nothing */

/* A frame of link type LINKTYPE_ERF or LINKTYPE_INFINIBAND: cap of its wire octets were captured.
 */
struct share_frame {
    uint32_t linktype;
    int64_t ns; /* since 1970 */
    uint8_t *octets;
    uint32_t cap, wire;
};

/* Changes the octets. false: there is no InfiniBand packet in it, and it is to be left out. */
bool share_frame(struct share *s, const struct share_frame *frame);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises what precedes the InfiniBand packet or the datagram in a frame. */
#ifndef CAPTURE_SHARE_OUTER_H
#define CAPTURE_SHARE_OUTER_H

#include "capture/share/share_span.h"
#include "wire/link_frame.h"

/*
 * WHOLE: the frame. BEFORE: the frame before any change, which C points into. ERF records have no
 * outer addresses; their extension headers are share.c's.
 */
void share_outer(struct share_map *m, uint32_t linktype, struct span whole, const uint8_t *before,
                 const struct link_frame *c);

#endif

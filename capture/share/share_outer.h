/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises what precedes the InfiniBand packet or the datagram in a frame. */
#ifndef CAPTURE_SHARE_OUTER_H
#define CAPTURE_SHARE_OUTER_H

#include "capture/share/share_part.h"
#include "wire/link_frame.h"

/* P: the frame, which is LEN bytes on the wire; C points into P.from. */
void share_outer(struct part p, uint32_t len, uint32_t linktype, const struct link_frame *c);

#endif

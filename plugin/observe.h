/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first pass: the model observes each packet, then the checks run. */
#ifndef IPOIB_PLUGIN_OBSERVE_H
#define IPOIB_PLUGIN_OBSERVE_H

#include "plugin/frame.h"

/* First pass only: observes and checks the InfiniBand frame, before it is dissected. */
void observe_frame(struct frame *f, packet_info *pinfo);
/*
 * First pass only: observes and checks the frame in tvb, whose link type has no InfiniBand headers.
 * Called before the frame is dissected.
 */
void observe_ipoib_frame(tvbuff_t *tvb, packet_info *pinfo);

#endif

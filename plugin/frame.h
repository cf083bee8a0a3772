/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The current InfiniBand frame: decoded, classified, observed. */
#ifndef IPOIB_PLUGIN_FRAME_H
#define IPOIB_PLUGIN_FRAME_H

#include <epan/packet.h>

#include "model/observe.h"
#include "wire/ib.h"

struct frame {
    struct packet p; /* decoded and classified by model/ */
    tvbuff_t *tvb;   /* starts at the header that p.ib.start names */
    uint32_t number;
    struct frame *outer; /* frame that carries this one as payload (RoCE v2), or NULL */
    bool cm_is_ipoib;    /* PAYLOAD_MAD: a CM message of an IPoIB connection */
    bool done;           /* the payload was dissected */
};

/*
 * Decodes and classifies the frame. The caller must call frame_end(), even after an exception; the
 * frame is valid until then. Returns NULL if frames are nested too deeply or the capture has too
 * many interfaces.
 */
struct frame *frame_begin(tvbuff_t *tvb, packet_info *pinfo, enum ib_start start);
void frame_end(struct frame *f);
/* First pass only: stores the classification for later passes. */
void frame_keep(const struct frame *f, packet_info *pinfo);
/* The packet's place in the capture. */
struct capture_position frame_position(packet_info *pinfo);
/*
 * Adds an expert item if this frame shows that interfaces are on two subnets which were treated as
 * one (model/interfaces.h).
 */
void frame_show_contradiction(const struct frame *f, packet_info *pinfo, proto_tree *tree);
/* The payload after the InfiniBand headers, without pad bytes and CRCs. */
tvbuff_t *frame_payload(const struct frame *f);

/* The InfiniBand frame that carries the current packet, or NULL. */
struct frame *frame_current(packet_info *pinfo);

/*
 * The outermost InfiniBand frame of the packet, or NULL. For callers that run after all dissectors.
 */
const struct frame *frame_of(packet_info *pinfo);

/*
 * First pass only, because the subnet's number changes: the IPoIB link of the frame, as a key of
 * P_Key and subnet. Not for display.
 */
uint32_t frame_link(packet_info *pinfo);

void frame_register(void);

#endif

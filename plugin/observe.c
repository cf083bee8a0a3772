/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/observe.h"
#include "plugin/arp.h"
#include "plugin/conformance.h"
#include "plugin/frame.h"
#include "plugin/linktype.h"
#include "plugin/protocol.h"
#include "plugin/state.h"

#include "wire/carrier.h"

/* The model observes the packet before the checks run. begin: offset of the packet in the frame. */
static void observe(struct packet *p, packet_info *pinfo, uint32_t begin)
{
    fabric_observe(state_fabric(), p, state_events());
    arp_keep_duplicate(pinfo, p, state_events());
    conformance_judge(p, pinfo, begin);
}

void observe_ipoib_frame(tvbuff_t *tvb, packet_info *pinfo)
{
    struct carrier c;
    struct moment at;
    struct packet p;
    if (pinfo->fd->visited || !linktype_locate_ipoib(tvb, pinfo, &c) || !frame_moment(pinfo, &at))
        return;
    packet_read_bare(&p, &at, &c);
    observe(&p, pinfo, (uint32_t)(carrier_begin(&c) - tvb_view(tvb).p));
}

void observe_frame(struct frame *f, packet_info *pinfo)
{
    if (pinfo->fd->visited)
        return;
    observe(&f->p, pinfo, (uint32_t)tvb_raw_offset(f->tvb));
    if (f->p.verdict.by_context)
        frame_keep(f, pinfo);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/observe.h"
#include "plugin/arp.h"
#include "plugin/conformance.h"
#include "plugin/events.h"
#include "plugin/frame.h"
#include "plugin/linktype.h"
#include "plugin/protocol.h"
#include "plugin/state.h"

#include <wiretap/wtap.h>

#include "wire/link_frame.h"

/* The model observes the packet before the checks run. begin: offset of the packet in the frame. */
static void observe(struct packet *p, packet_info *pinfo, uint32_t begin)
{
    fabric_observe(state_fabric(), p, state_events());
    arp_keep_duplicate(pinfo, p, state_events());
    conformance_check(p, begin);
    events_observe(p, state_events());
}

void observe_ipoib_frame(tvbuff_t *tvb, packet_info *pinfo)
{
    struct link_frame c;
    struct packet p;
    if (pinfo->fd->visited)
        return;
    store_begin_frame(pinfo->num);
    if (!linktype_locate_ipoib(tvb, pinfo, &c))
        return;
    const struct capture_position at = frame_position(pinfo);
    packet_read_without_ib(&p, &at, &c);
    observe(&p, pinfo, (uint32_t)(link_frame_start(&c) - tvb_view(tvb).p));
}

/* RoCE: the frame's bytes lead to this packet, with the port that called the dissector. */
static bool is_located(const struct frame *f, packet_info *pinfo, tvbuff_t *whole)
{
    struct link_frame c;
    uint16_t port = f->p.ib.start == IB_START_BTH ? (uint16_t)pinfo->match_uint : UDP_PORT_ROCE2;
    return pinfo->rec->rec_header.packet_header.pkt_encap == WTAP_ENCAP_ETHERNET &&
           link_frame_locate_roce(tvb_view(whole), port, &c) == WIRE_OK &&
           c.kind == LINK_FRAME_IB && c.start == f->p.ib.start && c.inner.p == tvb_view(f->tvb).p;
}

/*
 * False for a packet that only Wireshark reaches: in a tunnel, in reassembled fragments, or quoted
 * by an ICMP error, which never was a frame of its own. ipoib-check does not see it. Offsets count
 * from the start of the frame, which is the first data source.
 */
static bool is_reached_by_all(const struct frame *f, packet_info *pinfo)
{
    tvbuff_t *whole = get_data_source_tvb(pinfo->data_src->data);
    if (tvb_get_ds_tvb(f->tvb) != whole)
        return false;
    return f->p.ib.start == IB_START_LRH ? tvb_raw_offset(f->tvb) == 0
                                         : is_located(f, pinfo, whole);
}

void observe_frame(struct frame *f, packet_info *pinfo)
{
    if (pinfo->fd->visited)
        return;
    store_begin_frame(pinfo->num);
    if (!is_reached_by_all(f, pinfo))
        return;
    observe(&f->p, pinfo, (uint32_t)tvb_raw_offset(f->tvb));
    if (f->p.classification.by_context)
        frame_keep(f, pinfo);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/linktype.h"
#include "plugin/protocol.h"

#include <wiretap/wtap.h>

/* Returns the link type of frames without InfiniBand headers, or -1 for another encapsulation. */
static int linktype_without_ib(int encapsulation)
{
    enum { WITH_IB, WITHOUT_IB };
    switch (encapsulation) {
#define LINKTYPE(name, number, wiretap, headers)                                                   \
    case WTAP_ENCAP_##wiretap:                                                                     \
        return (headers) == WITHOUT_IB ? (number) : -1;
#include "wire/linktypes.def"
#undef LINKTYPE
    default:
        return -1;
    }
}

bool linktype_locate_ipoib(tvbuff_t *tvb, packet_info *pinfo, struct link_frame *c)
{
    int encapsulation = pinfo->rec->rec_header.packet_header.pkt_encap;
    int linktype = linktype_without_ib(encapsulation);
    /* Solaris snoop: libpcap has no link type for it */
    if (encapsulation == WTAP_ENCAP_IP_OVER_IB_SNOOP) {
        *c = (struct link_frame){.kind = LINK_FRAME_IPOIB, .inner = tvb_view(tvb)};
        return true;
    }
    return linktype >= 0 && link_frame_locate(linktype, tvb_view(tvb), c) == WIRE_OK &&
           (c->kind == LINK_FRAME_IPOIB || c->kind == LINK_FRAME_COOKED);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Direction of a frame, and detection of mirrored frames. See ibframe.h. */
#include "capture/receive/ibframe.h"

#include "pcapio/bytes.h"
#include "pcapio/pcapng.h"
#include "wire/ib.h"

enum {
    LNH_MASK = 0x03,              /* mask in LRH_SL_LNH (IBA 7.7.5) */
    RWH_ETHERTYPE = LRH_SIZE + 2, /* offset in the raw header after the LRH (IBA 5.2.4) */
    ETHERTYPE_MIRROR = 0x1123,    /* as in ibdump */
};

uint32_t frame_direction(const struct device *device, const uint8_t *bytes, uint32_t len)
{
    if (len < LRH_SIZE || device_is_ethernet(device) || device->port_attr.lid == 0)
        return PCAPNG_UNKNOWN;
    if (device_owns_lid(device, get_be16(bytes + LRH_SLID)))
        return PCAPNG_OUTBOUND; /* also if the destination is this port */
    /* sent by another port to this port: unicast, multicast or directed route */
    return get_be16(bytes + LRH_SLID) == LID_PERMISSIVE ? PCAPNG_UNKNOWN : PCAPNG_INBOUND;
}

bool frame_is_mirrored(const struct device *device, const uint8_t *bytes, uint32_t len)
{
    return !device_is_ethernet(device) && len >= MIRROR_HEAD_LEN + MIRROR_TAIL_LEN &&
           (bytes[LRH_SL_LNH] & LNH_MASK) == LNH_RAW &&
           get_be16(bytes + RWH_ETHERTYPE) == ETHERTYPE_MIRROR;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A frame's direction, and a switch's wrapping. See ibframe.h. */
#include "capture/ibframe.h"

#include "pcapio/octets.h"
#include "pcapio/pcapng.h"
#include "wire/ib.h"

enum {
    LNH_MASK = 0x03,              /* of LRH_SL_LNH (IBA 7.7.5) */
    RWH_ETHERTYPE = LRH_SIZE + 2, /* of the raw header behind it (IBA 5.2.4) */
    ETHERTYPE_MIRROR = 0x1123,    /* as ibdump knows it */
};

uint32_t frame_direction(const struct device *device, const uint8_t *octets, uint32_t len)
{
    if (len < LRH_SIZE || device_is_ethernet(device))
        return PCAPNG_UNKNOWN;
    if (device_owns_lid(device, get_be16(octets + LRH_SLID)))
        return PCAPNG_OUTBOUND; /* also to itself */
    /*
     * another's: it was sent to this port, whether to it alone, to a group or by a directed route
     */
    return get_be16(octets + LRH_SLID) == LID_PERMISSIVE ? PCAPNG_UNKNOWN : PCAPNG_INBOUND;
}

bool frame_is_mirrored(const struct device *device, const uint8_t *octets, uint32_t len)
{
    return !device_is_ethernet(device) && len >= MIRROR_HEAD_LEN + MIRROR_TAIL_LEN &&
           (octets[LRH_SL_LNH] & LNH_MASK) == LNH_RAW &&
           get_be16(octets + RWH_ETHERTYPE) == ETHERTYPE_MIRROR;
}

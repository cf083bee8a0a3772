/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A frame's direction, and a switch's wrapping. See ibframe.h. */
#include "capture/ibframe.h"

#include "capture/octets.h"
#include "capture/pcapng.h"

enum {
    LRH_LEN = 8, /* IBA 7.7; the offsets below are those of its SLID and LNH */
    LRH_SLID = 6,
    LRH_LNH_OFFSET = 1,
    LRH_LNH = 0x03,   /* link next header, 0: a raw packet with a raw header (IBA 5.2.4, 7.7.5) */
    RWH_ETHERTYPE = 10,
    ETHERTYPE_MIRROR = 0x1123, /* as ibdump knows it */
};

uint32_t frame_direction(const struct device *device, const uint8_t *octets, uint32_t len)
{
    if (len < LRH_LEN || device_is_ethernet(device))
        return PCAPNG_UNKNOWN;
    if (device_owns_lid(device, get_be16(octets + LRH_SLID)))
        return PCAPNG_OUTBOUND; /* also to itself */
    /* another's: it was sent to this port, whether to it alone, to a group or by a directed route */
    return get_be16(octets + LRH_SLID) == 0xffff ? PCAPNG_UNKNOWN : PCAPNG_INBOUND;
}

bool frame_is_mirrored(const uint8_t *octets, uint32_t len)
{
    return len >= MIRROR_HEAD_LEN + MIRROR_TAIL_LEN && (octets[LRH_LNH_OFFSET] & LRH_LNH) == 0 &&
           get_be16(octets + RWH_ETHERTYPE) == ETHERTYPE_MIRROR;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The variant CRC of an InfiniBand packet (IBA 7.8.2): all of the packet, from the LRH to the ICRC,
 * as it is on one link. Each switch and router computes it anew.
 */
#ifndef IPOIB_WIRE_VCRC_H
#define IPOIB_WIRE_VCRC_H

#include "wire/ib.h"

enum vcrc { VCRC_RIGHT, VCRC_WRONG, VCRC_NOT_THERE };

/*
 * Of the packet in v, which ib_decode() decoded to ib. Not there: the packet was cut, begins behind
 * its LRH, ends with its ICRC, or holds 0, which some sources write instead.
 */
enum vcrc vcrc_check(struct view v, const struct ib_packet *ib);

/* The right one, of a packet for which vcrc_check() finds one there. */
uint16_t vcrc_of(struct view v, const struct ib_packet *ib);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The invariant CRC of an InfiniBand packet (IBA 7.8.1): what no switch or router changes, from its
 * sender on.
 */
#ifndef IPOIB_WIRE_ICRC_H
#define IPOIB_WIRE_ICRC_H

#include "wire/ib.h"

enum icrc { ICRC_RIGHT, ICRC_WRONG, ICRC_NOT_THERE };

/*
 * Of the packet in v, which ib_decode() decoded to ib. Not there: the packet was cut, begins behind
 * its LRH, or holds 0, which some sources write instead.
 */
enum icrc icrc_check(struct view v, const struct ib_packet *ib);

/* The right one, of a packet for which icrc_check() finds one there. */
uint32_t icrc_of(struct view v, const struct ib_packet *ib);

#endif

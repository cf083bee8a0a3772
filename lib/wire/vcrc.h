/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The variant CRC of an InfiniBand packet (IBA 7.8.2). It covers the whole packet on one link, from
 * the LRH to the ICRC. Each switch and router computes it again.
 */
#ifndef IPOIB_WIRE_VCRC_H
#define IPOIB_WIRE_VCRC_H

#include "wire/ib.h"

enum vcrc { VCRC_RIGHT, VCRC_WRONG, VCRC_NOT_THERE };

/*
 * Check the VCRC of the packet in v, which ib_decode() decoded to ib. VCRC_NOT_THERE: the packet is
 * truncated, does not start with an LRH, ends after its ICRC, or has 0 there, which some sources
 * write instead.
 */
enum vcrc vcrc_check(struct view v, const struct ib_packet *ib);

/* The right VCRC; only if vcrc_check() does not return VCRC_NOT_THERE. */
uint16_t vcrc_of(struct view v, const struct ib_packet *ib);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The invariant CRC of an InfiniBand packet (IBA 7.8.1). It covers the fields that switches and
 * routers do not change.
 */
#ifndef IPOIB_WIRE_ICRC_H
#define IPOIB_WIRE_ICRC_H

#include "wire/ib.h"

enum icrc { ICRC_RIGHT, ICRC_WRONG, ICRC_NOT_THERE };

/*
 * Check the ICRC of the packet in v, which ib_decode() decoded to ib. ICRC_NOT_THERE: the packet is
 * truncated, does not start with an LRH, or has 0 there, which some sources write instead.
 */
enum icrc icrc_check(struct view v, const struct ib_packet *ib);

/* The right ICRC; only if icrc_check() does not return ICRC_NOT_THERE. */
uint32_t icrc_of(struct view v, const struct ib_packet *ib);

#endif

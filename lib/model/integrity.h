/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does a wrong CRC mean that a packet was corrupted in transit? If so, its receiver dropped it (IBA
 * 7.8): the model does not learn from it, and the rules do not check its contents. But simulators,
 * programs that rewrite captures and some capture tools write arbitrary values into the CRCs of all
 * packets; such a CRC proves nothing.
 *
 *   INTACT   the ICRC is right, and the VCRC is not known to be wrong
 *   CORRUPT  one of the two is wrong, and its source has shown right ones before
 *   UNKNOWN  the source has shown no right CRC, or the packet has no CRC: it is truncated, has no
 *            LRH (RoCE), or has 0 there. It is treated as intact
 *
 * The ICRC does not cover the fields that switches and routers may change (IBA 7.8.1): the VL and
 * the BTH's Resv8a; with a GRH also the whole LRH, and the traffic class, flow label and hop limit.
 * The VCRC covers them on each link (IBA 7.8.2). If the VCRC is wrong and the ICRC is right, these
 * fields or the VCRC itself are corrupt; the port at the end of the link dropped the packet in both
 * cases.
 *
 * The source of an ICRC is the sending port, on its interface of the capture. Switches and routers
 * do not change the ICRC (IBA 7.8.1). A packet that a router forwarded has the router's SLID, so
 * with a GRH the source is the SGID. Without a GRH the packet did not leave its subnet, so the
 * source is the SLID. Ports that have no LID yet share the permissive LID. If the model knows that
 * the port with the SGID has the SLID, both are one sender: a right ICRC without a GRH counts for
 * both.
 *
 * Corruption may change the SLID or SGID too and so seem to show a new source. So a wrong ICRC in
 * the first packet of a source also counts if any source on the interface has shown a right one;
 * from its second packet on, each source is treated separately.
 *
 * The result depends only on the packets up to the current one, in capture order. It does not
 * depend on the packet's classification or on the calling rule.
 */
#ifndef IPOIB_MODEL_INTEGRITY_H
#define IPOIB_MODEL_INTEGRITY_H

#include "wire/ib.h"

enum integrity { INTEGRITY_UNKNOWN, INTEGRITY_INTACT, INTEGRITY_CORRUPT };

/* The CRCs of a packet that make it corrupt if they are wrong. */
struct crcs_count {
    bool icrc, vcrc;
};

/*
 * Limit of ICRCs computed per source until a right one is found. Without a limit, a capture without
 * right ICRCs would cost one computation per packet. If none is right, the source's ICRCs do not
 * count for the rest of the capture, and the rules also check its corrupt packets. Corruption alone
 * is unlikely to cause this: if it hits every second packet, the chance that all 64 are corrupt is
 * 1 in 2^64.
 */
enum { SOURCE_TRIES = 64 };

/*
 * Right VCRCs that a source must show before its VCRCs count. An arbitrary value is right once in
 * 65,536 packets, so one among 64 would not be rare; all its other VCRCs would then count as wrong
 * and hide real violations.
 */
enum { VCRCS_SHOWN = 2 };

/* Compute the CRCs that count, over the whole packet. */
enum integrity integrity_of(struct crcs_count counts, struct view bytes,
                            const struct ib_packet *ib);

#endif

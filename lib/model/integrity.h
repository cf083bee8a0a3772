/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does a wrong CRC mean that a packet was damaged on its way? Its receiver dropped it then (IBA
 * 7.8): nobody is at fault for what it says, and nothing is to be learnt from it. But simulators,
 * programs that rewrite captures and some capture tools write anything there, in all packets: such
 * a CRC says nothing.
 *
 *   INTACT   the ICRC is right, and the VCRC is not known to be wrong
 *   CORRUPT  one of the two is wrong, in a source that has shown right ones before
 *   UNKNOWN  the source has shown none, or the packet has none: it was cut, has no LRH (RoCE), or 0
 *            stands there. It is judged and learnt from as an intact one
 *
 * The ICRC does not protect what switches and routers may change (IBA 7.8.1): the VL and the BTH's
 * Resv8a; with a GRH all of the LRH, and the traffic class, flow label and hop limit. The VCRC
 * does, on each link (IBA 7.8.2): where it is wrong and the ICRC is right, these fields were
 * damaged, or the VCRC itself. The port at the end of the link dropped the packet either way.
 *
 * A source is what computes the ICRC: the sending port, on its interface of the capture. Switches
 * and routers leave the ICRC alone (IBA 7.8.1), so the SLID of a packet that a router forwarded,
 * which is the router's, does not say who computed it; the SGID does. Without a GRH the packet did
 * not leave its subnet, and the SLID says it. Ports that have no LID yet share the permissive one.
 *
 * What damages a packet may damage its SLID or SGID too, and makes a sender of it that there is
 * not. So the first packet of a source is corrupt by its wrong ICRC also if other sources of its
 * interface have shown right ones; from the second one on the source is judged by itself.
 *
 * All of this is decided by the packets up to the one at hand, in the order of the capture. It
 * depends on nothing else: not on what a packet is, nor on which rule asks.
 */
#ifndef IPOIB_MODEL_INTEGRITY_H
#define IPOIB_MODEL_INTEGRITY_H

#include "wire/ib.h"

enum integrity { INTEGRITY_UNKNOWN, INTEGRITY_INTACT, INTEGRITY_CORRUPT };

/* Which of a packet's CRCs mean that it is corrupt if they are wrong. */
struct crcs_count {
    bool icrc, vcrc;
};

/*
 * As many ICRCs of a source are computed to find a right one. Without a bound, a capture without
 * right ones would cost one for each of its packets. If none of them is right, then the source has
 * none for the rest of the capture: right ones that come later do not count, and a corrupt packet
 * among these is judged. Damage alone does not make it so: where it hits every second packet, all
 * 64 are hit once in 2^64 captures.
 */
enum { SOURCE_TRIES = 64 };

/*
 * So many right VCRCs has a source to show. Where anything stands there, each is right once in
 * 65,536 packets: one right among 64 would be no rarity, and would hide all that is wrong.
 */
enum { VCRCS_SHOWN = 2 };

/* Computes the CRCs that count, over all of the packet. */
enum integrity integrity_of(struct crcs_count counts, struct view octets,
                            const struct ib_packet *ib);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the forwarding tables of the switches lead (IBA 14.2.5.10 and 14.2.5.12): asked of the
 * switches themselves, so this shows what they do, and not what the SM wants. Needs queries of the
 * SA for the cables, and the right to send SMPs.
 */
#ifndef IPOIB_PROBE_SWITCHES_H
#define IPOIB_PROBE_SWITCHES_H

#include "probe/run/target.h"

/*
 * Follows the linear forwarding tables from one end port to another. Returns what is wrong, for a
 * report; NULL: nothing, or it is not known. Free with g_free().
 */
char *switches_find_hole(struct target *t, uint16_t from, uint16_t to);

/* A switch on the path: its LID, and the ports by which packets enter and leave it. */
struct switch_on_path {
    uint16_t lid;
    uint8_t in, out;
};
enum { SWITCHES_ON_PATH = 16 };
/*
 * The switches from one end port to another. Returns their number. *whole: they are all; else a
 * table could not be read, or the tables do not lead there.
 */
unsigned switches_list(struct target *t, uint16_t from, uint16_t to,
                       struct switch_on_path all[SWITCHES_ON_PATH], bool *whole);

enum forwarded { FORWARD_UNKNOWN, FORWARDED, NOT_FORWARDED };
/* Does the switch of the end port with that LID forward the MLID to that port? */
enum forwarded switches_forward_group(struct target *t, uint16_t mlid, uint16_t lid,
                                      uint16_t *switch_lid, uint8_t *switch_port);

/*
 * The same for the link's broadcast group and this port. A group without another member needs no
 * entry, so it is never NOT_FORWARDED, nor if the SA does not disclose the members.
 */
enum forwarded switches_forward_to_own(struct target *t, uint16_t *switch_lid,
                                       uint8_t *switch_port);

#endif

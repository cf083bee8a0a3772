/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of switches that cut a port off (forwarding.c). Private to analysis/. */
#ifndef IPOIB_ANALYSIS_FORWARDING_H
#define IPOIB_ANALYSIS_FORWARDING_H

#include "analysis/watch.h"

/* The current packet is an SMP with NodeInfo. */
APART void watch_node(const struct watch *w);
/* The current packet is an SMP with a block of a forwarding table, or with an SLtoVLMappingTable.
 */
APART void watch_forwarding(const struct watch *w);
APART void watch_sl_to_vl(const struct watch *w);

/*
 * Packets from one LID to the other, or their answers, do not arrive: does a table say why? to: 0,
 * or that of a group: not known.
 */
APART void watch_cut_paths(const struct watch *w, uint16_t from, uint16_t to);
/* The port at the LID asks again although it was answered. */
APART void watch_cut_requester(const struct watch *w, uint16_t lid);
/* Packets to the group do not reach the port. NULL: not known. */
APART void watch_cut_group(const struct watch *w, const struct group *group,
                           const struct endport *port);

#endif

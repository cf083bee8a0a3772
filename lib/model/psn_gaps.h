/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Datagrams that the PSNs of IPoIB queue pairs show to be missing in the capture. A queue pair
 * counts its packets to all destinations in one sequence (IBA 9.8.2.2), so the capture lost them,
 * or they went where the capture does not see. A queue pair of which many are missing is one of
 * another port, whose packets to others are not captured: it does not count.
 */
#ifndef IPOIB_MODEL_PSN_GAPS_H
#define IPOIB_MODEL_PSN_GAPS_H

#include "model/port.h"

struct psn_gaps;

struct psn_gaps *psn_gaps_new(void);
void psn_gaps_free(struct psn_gaps *all);

/* How sure it is that an IPoIB queue pair sent the packet with this PSN. */
enum psn_evidence {
    PSN_SURE,
    PSN_OF_QP, /* it is from the queue pair, if this is known */
    PSN_NEXT   /* the packet is corrupt: only if it has the next PSN */
};

/* A packet of the queue pair. */
void psn_gaps_see(struct psn_gaps *all, const struct port_number *sender, uint32_t psn,
                  uint32_t frame, enum psn_evidence evidence);

/*
 * Two interfaces turned out to see one subnet: the next datagram of each queue pair is not compared
 * with the previous one, which may have been captured on the other interface.
 */
void psn_gaps_merge(struct psn_gaps *all);

/* How many datagrams are missing; frame: the first one after a gap, 0: none. */
uint64_t psn_gaps_missing(const struct psn_gaps *all, uint32_t *frame);

#endif

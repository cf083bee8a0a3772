/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model is what the tools know about the fabric: ports, groups, memberships, addresses and
 * connections, as the packets so far show them. fabric_observe() is the only function that changes
 * it; the files of model/ that it calls do the work. The caller passes each packet of a capture
 * once, in capture order, before the packet is checked and added to the tree. If a packet is
 * encapsulated in another one (RoCE v2 over IPoIB), the caller passes the outer packet first.
 */
#ifndef IPOIB_MODEL_OBSERVE_H
#define IPOIB_MODEL_OBSERVE_H

#include "model/events.h"
#include "model/fabric.h"

/*
 * Classifies the packet (IPoIB, MAD, other: p->classification) and updates the model. e: its
 * contents are replaced by the changes that this packet made.
 */
void fabric_observe(struct fabric *f, struct packet *p, struct events *e);

#endif

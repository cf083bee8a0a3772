/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only function that writes the model. The caller passes each packet of a capture once, in
 * capture order, before the packet is checked and added to the tree. A packet that carries others
 * comes before them.
 */
#ifndef IPOIB_MODEL_OBSERVE_H
#define IPOIB_MODEL_OBSERVE_H

#include "model/events.h"
#include "model/fabric.h"

/*
 * Classify the packet and learn from it. e: receives what was learnt; its old contents are
 * discarded.
 */
void fabric_observe(struct fabric *f, struct packet *p, struct events *e);

#endif

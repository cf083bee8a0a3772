/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only writer of the model. Each packet of a capture goes through fabric_observe() once, in the
 * order of the capture, a packet before those that it carries; before it is checked and before it
 * is shown.
 */
#ifndef IPOIB_MODEL_OBSERVE_H
#define IPOIB_MODEL_OBSERVE_H

#include "model/events.h"
#include "model/fabric.h"

/* Classify the packet, and learn from it. e: what was learnt; it replaces what e had. */
void fabric_observe(struct fabric *f, struct packet *p, struct events *e);

#endif

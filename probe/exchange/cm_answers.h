/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Does the communication manager of a port answer? */
#ifndef IPOIB_PROBE_CM_ANSWERS_H
#define IPOIB_PROBE_CM_ANSWERS_H

#include "probe/run/target.h"

/*
 * Sends a REQ to the port of the link-layer address and awaits a REP or REJ for ms milliseconds.
 * Both show that packets pass in both directions, through queue pair 1. False too if connections
 * are not possible here.
 */
bool cm_answers(struct target *t, const uint8_t *lladdr, int ms);
/* Are connections possible here, so that a manager that does not answer is silent? */
bool cm_can_ask(const struct target *t);

#endif

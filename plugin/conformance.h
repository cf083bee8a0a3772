/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the checks on each packet in the first pass; the results of the file. */
#ifndef IPOIB_PLUGIN_CONFORMANCE_H
#define IPOIB_PLUGIN_CONFORMANCE_H

#include <epan/packet.h>

#include "model/observe.h"
#include "report/verdict.h"

/*
 * The results of the file: up to the current frame, or of the whole file once it is read. NULL if
 * there is no verdict. See report/verdict.h.
 */
const struct verdict *conformance_verdict(void);
/* Why there is no verdict; NULL if there is one. */
const char *conformance_why_not(void);
/* The name of the list of known deviations that the user chose. */
const char *conformance_deviations(void);
/*
 * First pass only: checks the packet after the model has observed it. begin: offset of the packet
 * in the frame.
 */
void conformance_check(const struct packet *p, uint32_t begin);

void conformance_register(void);
void conformance_handoff(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that choose ports. */
#ifndef IPOIB_PROBE_CHOOSE_PARTS_H
#define IPOIB_PROBE_CHOOSE_PARTS_H

#include "probe/link/choice.h"
#include "probe/link/hostports.h"
#include "probe/run/options.h"

void choose_interface(struct choice *c, const struct host_ipoib *i);
/*
 * The option wins. A P_Key is that of a partition of the port, whatever interface the port was
 * found by.
 */
void choose_pkey(struct choice *c, const struct options *o);
/* The device or interface of -d. */
void choose_device(struct choice *c, const struct options *o);
/* The first active port, or that of -p. */
void choose_first(struct choice *c, const struct options *o);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probe's own IP address. */
#ifndef IPOIB_PROBE_SOURCE_H
#define IPOIB_PROBE_SOURCE_H

#include "probe/run/target.h"

/*
 * Checks that the source address is unused and sets it up. Returns false and sets ERROR if it is in
 * use, or if that could not be checked.
 */
bool source_address_open(struct target *t, GError **error);

#endif

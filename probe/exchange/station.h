/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers for the probe's own address. */
#ifndef IPOIB_PROBE_STATION_H
#define IPOIB_PROBE_STATION_H

#include "probe/link/transport.h"
#include "probe/run/target.h"

/* Answers what asks for it. */
void station_take(struct target *t, const struct ud_from *from);
enum { INTRODUCED_AFTER = 1 }; /* of the tries, counted from 0 */
/*
 * Tells the peer the address by a question of its own: it may know it from an earlier run, at a
 * queue pair that is gone. Not done unless it does not reply, for a peer that asks by itself shows
 * more.
 */
void station_introduce(struct target *t);

#endif

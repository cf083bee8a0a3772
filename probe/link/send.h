/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends packets at the requested rate. */
#ifndef IPOIB_PROBE_SEND_H
#define IPOIB_PROBE_SEND_H

#include "hca/mcgroup.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/run.h"
#include "probe/run/target.h"

/* Microseconds until the rate allows the next packet. */
gint64 rate_wait(const struct run *r);
/* Counts one more packet. */
void rate_take(struct run *r);
/*
 * Notes in the run that sending or receiving failed or was stopped. Returns true if the run has
 * ended.
 */
bool send_note_result(struct target *t, enum transport_result result);
/*
 * Sends a packet to one port or to a group. Returns false if the run was stopped or the transport
 * failed.
 */
bool send_unicast(struct target *t, const struct ud_to *to, const uint8_t *bytes, uint32_t n);
bool send_group(struct target *t, const struct mc_group *g, const uint8_t *bytes, uint32_t n);
/*
 * Sends a message over a connection. Returns false in the same cases and if the connection has
 * ended.
 */
bool send_message(struct target *t, struct cm_connection *c, const uint8_t *bytes, uint32_t n);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which protocol the connections of RC and UC queue pairs belong to, learned from CM messages: a
 * REQ carries the Service-ID (RFC 4755 section 3.5) and the requester's QPN, its REP the
 * responder's QPN. A BTH carries only the destination QPN, so a queue pair is looked up by the
 * destination LID and QPN.
 *
 * The table has a fixed size; when a row is full, its oldest entry is dropped.
 */
#ifndef CAPTURE_CONNECTIONS_H
#define CAPTURE_CONNECTIONS_H

#include <stdint.h>

#include "wire/view.h"

enum connection_owner { OWNER_UNKNOWN, OWNER_IPOIB, OWNER_OTHER };

struct connection_table;

struct connection_table *connections_create(void);

/* NULL does nothing. */
void connections_destroy(struct connection_table *c);

/* Learns the queue pairs of a CM message (a whole MAD) sent from SLID to DLID. */
void connections_learn(struct connection_table *c, uint16_t slid, uint16_t dlid, struct view mad);

/* Records that LID and QPN belong to an IPoIB connection, recognised from a packet sent to it. */
void connections_recognise(struct connection_table *c, uint16_t lid, uint32_t qpn);

/* Returns the owner of the queue pair QPN at LID; OWNER_UNKNOWN if it is not in the table. */
enum connection_owner connections_owner(const struct connection_table *c, uint16_t lid,
                                        uint32_t qpn);

#endif

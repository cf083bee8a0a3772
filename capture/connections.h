/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose connections the queue pairs of RC and UC packets belong to, as communication management
 * tells: a REQ names its Service-ID (RFC 4755 section 3.5) and the requester's QPN, the REP to it
 * the responder's. A BTH names the destination alone, so that a queue pair is found by the LID and
 * the QPN that it is addressed with. A table of one size: the oldest entries of a row are
 * forgotten.
 */
#ifndef CAPTURE_CONNECTIONS_H
#define CAPTURE_CONNECTIONS_H

#include <stdint.h>

#include "wire/view.h"

enum connection_owner { OWNER_UNKNOWN, OWNER_IPOIB, OWNER_OTHER };

struct connections;

/* Returns NULL if there is no memory. */
struct connections *connections_create(void);

/* NULL does nothing. */
void connections_destroy(struct connections *c);

/* A CM message, as a MAD, from SLID to DLID. */
void connections_learn(struct connections *c, uint16_t slid, uint16_t dlid, struct view mad);

/* The queue pair's connection was recognised by what was sent to it. */
void connections_recognise(struct connections *c, uint16_t lid, uint32_t qpn);

enum connection_owner connections_owner(const struct connections *c, uint16_t lid, uint32_t qpn);

#endif

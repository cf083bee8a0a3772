/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections to the peer (RFC 4755 §3.2 to 3.5, 6), for the checks: asked for, logged, and what
 * came of it in words.
 */
#ifndef IPOIB_PROBE_CONNECTION_H
#define IPOIB_PROBE_CONNECTION_H

#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/link/transport.h"
#include "probe/run/target.h"

/*
 * Receive MTUs of the probe: what Linux tells, and the least that IPv6 can do with, encapsulation
 * header and all.
 */
enum { RECEIVE_LARGE = 65524, RECEIVE_SMALL = 1280 + 4 };

struct dial {
    bool uc;              /* else RC */
    uint32_t receive_mtu; /* 0: RECEIVE_LARGE */
};

/* Why there are no connections to this peer, or of this port. NULL: there are. */
const char *connections_none(const struct target *t);
/* Does the peer announce the mode? And the one to try all else by: RC, if it announces that. */
bool announces(const struct target *t, bool uc);
bool uc_by_default(const struct target *t);

/*
 * Asks for a connection with the Service-ID that the peer takes: the RFC's, or where that is
 * unknown there, Linux's. came: what came of it, in words. NULL: no answer, or it
 * could not be asked; else it is up, or refused, and hang_up() has to
 * follow. The UD QPN in the answer's private data has been judged.
 */
struct call *dial(struct target *t, const struct dial *d, char came[VERDICT_TEXT]);
/* True: the peer answered the DREQ. c may be NULL. */
bool hang_up(struct target *t, struct call *c);
bool is_up(const struct call *c);

uint64_t service_id(const struct target *t, enum service_form form);
/* The IPoIB MTU of the connection, octets of IP; 0: not known. */
uint32_t mtu_of(const struct call *c);

#endif

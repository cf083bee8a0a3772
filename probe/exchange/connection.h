/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections to the peer (RFC 4755 §3.2 to 3.5, 6), for the checks: request them, log them, and
 * describe the result.
 */
#ifndef IPOIB_PROBE_CONNECTION_H
#define IPOIB_PROBE_CONNECTION_H

#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/link/transport.h"
#include "probe/run/target.h"

/*
 * Receive MTUs of the probe, including the encapsulation header: the value that Linux sends, and
 * the minimum for IPv6.
 */
enum { RECEIVE_LARGE = 65524, RECEIVE_SMALL = 1280 + 4 };

struct connect_options {
    bool uc;              /* otherwise RC */
    uint32_t receive_mtu; /* 0: RECEIVE_LARGE */
};

/* Why connections to this peer, or on this port, are not possible. NULL: they are possible. */
const char *connection_obstacle(const struct target *t);
/*
 * peer_announces() is true if the peer announces the mode. peer_default_uc() chooses the mode for
 * all other tests: RC if the peer announces it.
 */
bool peer_announces(const struct target *t, bool uc);
bool peer_default_uc(const struct target *t);

/*
 * Requests a connection with the Service-ID that the peer accepts: the RFC's, or Linux's if the
 * peer rejects the RFC's as unknown. response: description of the result. Returns NULL if there was
 * no response or the request could not be sent. Otherwise the connection is up or was rejected, and
 * the caller must call peer_disconnect(). The UD QPN in the response's private data is already
 * checked.
 */
struct cm_connection *peer_connect(struct target *t, const struct connect_options *d,
                                   char response[VERDICT_TEXT]);
/* Disconnects. Returns true if the peer answered the DREQ. c may be NULL. */
bool peer_disconnect(struct target *t, struct cm_connection *c);
bool connection_is_up(const struct cm_connection *c);

uint64_t peer_service_id(const struct target *t, enum service_form form);
/* The connection's IPoIB MTU, in bytes of IP; 0: unknown. */
uint32_t connection_ip_mtu(const struct cm_connection *c);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ICMP echo requests over a connection, from the probe's own address. */
#ifndef IPOIB_PROBE_CONNECTED_ECHO_H
#define IPOIB_PROBE_CONNECTED_ECHO_H

#include "probe/checks/variant.h"
#include "probe/exchange/connection.h"
#include "probe/link/transport.h"
#include "probe/run/target.h"

/* A sequence of requests over a connection, which is set up again if it fails. */
struct echo_session {
    struct connect_options options;
    struct cm_connection *connection;
    bool failed; /* a message was not acknowledged */
    bool lost; /* because it, or the acknowledgement, was lost: that says nothing about the peer */
    char reason[160];
    char received[VERDICT_TEXT]; /* result of the last REQ or echo request */
};

struct connected_echo {
    uint32_t length; /* bytes of the IP datagram */
    uint16_t reserved;
    unsigned most_tries;                /* 0: TRIES */
    uint16_t first, sequence;           /* of the tries: a late reply to the first one counts */
    gint64 sent, received;              /* of the last try, and of the reply */
    bool over_connection, by_multicast; /* by_multicast: the peer sent multicast meanwhile */
};

/* Connects if the connection is not up. Returns false if this is not possible. */
bool connected_echo_connect(struct target *t, struct echo_session *s);
/*
 * Sends the request, up to TRIES times, and reports what was sent and received. Returns true if a
 * reply arrived.
 */
bool connected_echo_run(struct target *t, struct echo_session *s, struct connected_echo *e);
/* Tests whether the peer replies to the variant as it does to a small plain request. */
enum decision connected_echo_try(struct target *t, struct echo_session *s,
                                 struct connected_echo *variant);
/* Reports the request as what was sent, after other requests. */
void connected_echo_sent(struct target *t, const struct echo_session *s,
                         const struct connected_echo *e);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ICMP echo requests over UD, from the probe's own address: questions with echo set. */
#ifndef IPOIB_PROBE_ECHO_REQUEST_H
#define IPOIB_PROBE_ECHO_REQUEST_H

#include "probe/exchange/request.h"
#include "probe/run/target.h"

/*
 * Bytes of a small echo request and of the minimum link MTUs; header sizes, protocol numbers and
 * reply types.
 */
enum { ECHO_SMALL = 84, MTU_MIN4 = 68, MTU_MIN6 = 1280, IPV4_HEAD = 20, IPV6_HEAD = 40 };
enum { ICMP = 1, ICMPV6 = 58, REPLY4 = 0, REPLY6 = 129 };
/* Why a host drops a reply with other payload. */
extern const char echo_other_payload[];

/* Sends the next try. The peer must resolve the probe's address first: responder.c answers it. */
bool echo_send(struct target *t, struct pending_request *x);
/* True if the packet is the reply to any of the tries (packet_match; user: struct pending_request).
 */
bool echo_take_reply(struct target *t, const struct ud_from *from, void *user);
/* Describes the request. */
void echo_text(const struct request *q, char *out, size_t size);

#endif

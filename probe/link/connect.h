/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections through librdmacm, for verbs.c: active side only, with any Service-ID and any private
 * data (AF_IB). The kernel's communication manager exchanges the messages; the probe owns the queue
 * pairs.
 */
#ifndef IPOIB_PROBE_CONNECT_H
#define IPOIB_PROBE_CONNECT_H

#include <poll.h>

#include "probe/link/transport.h"

struct caller;

enum { CALLER_FDS = 9 };

/*
 * Returns NULL and writes the reason to why if connections are not possible. f and stop must
 * outlive the caller.
 */
struct caller *caller_new(const struct port_facts *f, const volatile int *stop, char *why,
                          size_t size);
/* Ends all open connections. */
void caller_free(struct caller *c);

/* The same semantics as the transport's call, send_call and hang_up. */
enum transport_result caller_call(struct caller *c, const struct call_question *q, int ms,
                                  struct call **call);
enum transport_result caller_send(struct caller *c, struct call *call, const uint8_t *octets,
                                  uint32_t n);
void caller_hang_up(struct caller *c, struct call *call, int ms, bool *answered);

/*
 * Returns the next message from any connection, if there is one. It is valid until the next call of
 * this function.
 */
bool caller_take(struct caller *c, struct ud_from *from);
/* File descriptors to wait on for the next message; call caller_take() after the wait. */
unsigned caller_fds(struct caller *c, struct pollfd fds[CALLER_FDS]);

#endif

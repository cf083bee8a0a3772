/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections by librdmacm, for verbs.c: the active side alone, with any Service-ID and any
 * private data (AF_IB). The kernel's communication manager sends and takes the messages; the queue
 * pairs are the probe's own.
 */
#ifndef IPOIB_PROBE_CONNECT_H
#define IPOIB_PROBE_CONNECT_H

#include <poll.h>

#include "probe/link/transport.h"

struct caller;

enum { CALLER_FDS = 9 };

/* NULL: why tells what is missing. f and stop have to outlive it. */
struct caller *caller_new(const struct port_facts *f, const volatile int *stop, char *why,
                          size_t size);
/* Ends all that stands. */
void caller_free(struct caller *c);

/* As the transport's. */
enum transport_result caller_call(struct caller *c, const struct call_question *q, int ms,
                                  struct call **call);
enum transport_result caller_send(struct caller *c, struct call *call, const uint8_t *octets,
                                  uint32_t n);
void caller_hang_up(struct caller *c, struct call *call, int ms, bool *answered);

/* The next message over any connection, if there is one; it lives until the next call of this. */
bool caller_take(struct caller *c, struct ud_from *from);
/* What to wait on for the next one; caller_take() has to be tried behind it. */
unsigned caller_fds(struct caller *c, struct pollfd fds[CALLER_FDS]);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replaces connect.c if the program is built without librdmacm: connections are not available. */
#include "probe/link/connect.h"

#include <stdio.h>

#include "probe/link/transport.h"

struct caller *caller_new(const struct port_facts *f, const volatile int *stop, char *why,
                          size_t size)
{
    (void)f;
    (void)stop;
    snprintf(why, size, "this ipoib-probe was built without librdmacm");
    return NULL;
}

/* caller_new() always fails, so the following functions are never called. */
void caller_free(struct caller *c)
{
    (void)c;
}

enum transport_result caller_call(struct caller *c, const struct call_question *q, int ms,
                                  struct call **call)
{
    (void)c;
    (void)q;
    (void)ms;
    *call = NULL;
    return TRANSPORT_OK;
}

enum transport_result caller_send(struct caller *c, struct call *call, const uint8_t *octets,
                                  uint32_t n)
{
    (void)c;
    (void)call;
    (void)octets;
    (void)n;
    return TRANSPORT_NOTHING;
}

void caller_hang_up(struct caller *c, struct call *call, int ms, bool *answered)
{
    (void)c;
    (void)call;
    (void)ms;
    *answered = false;
}

bool caller_take(struct caller *c, struct ud_from *from)
{
    (void)c;
    (void)from;
    return false;
}

unsigned caller_fds(struct caller *c, struct pollfd fds[CALLER_FDS])
{
    (void)c;
    (void)fds;
    return 0;
}

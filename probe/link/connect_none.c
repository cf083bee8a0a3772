/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replaces connect.c if the program is built without librdmacm: connections are not available. */
#include "probe/link/connect.h"

#include <stdio.h>

#include "probe/link/transport.h"

struct connector *connector_new(const struct port_facts *f, const volatile int *stop, char *why,
                                size_t size)
{
    (void)f;
    (void)stop;
    snprintf(why, size, "this ipoib-probe was built without librdmacm");
    return NULL;
}

/* connector_new() always fails, so the following functions are never called. */
void connector_free(struct connector *c)
{
    (void)c;
}

enum transport_result connector_connect(struct connector *c, const struct connect_request *q,
                                        int ms, struct cm_connection **connection)
{
    (void)c;
    (void)q;
    (void)ms;
    *connection = NULL;
    return TRANSPORT_OK;
}

enum transport_result connector_try(struct connector *c, struct cm_trial *trial, int ms)
{
    (void)c;
    (void)trial;
    (void)ms;
    return TRANSPORT_OK;
}

enum transport_result connector_send(struct connector *c, struct cm_connection *connection,
                                     const uint8_t *bytes, uint32_t n)
{
    (void)c;
    (void)connection;
    (void)bytes;
    (void)n;
    return TRANSPORT_NOTHING;
}

void connector_disconnect(struct connector *c, struct cm_connection *connection, int ms,
                          bool *answered)
{
    (void)c;
    (void)connection;
    (void)ms;
    *answered = false;
}

bool connector_receive(struct connector *c, struct ud_from *from)
{
    (void)c;
    (void)from;
    return false;
}

unsigned connector_fds(struct connector *c, struct pollfd fds[CONNECTOR_FDS])
{
    (void)c;
    (void)fds;
    return 0;
}

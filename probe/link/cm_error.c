/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts for connection errors. See cm_error.h. */
#include "probe/link/cm_error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probe/link/transport.h"

/* librdmacm's own failures have no errno: their status is -1. */
static const char *error_name(int status)
{
    return status == -1 ? "librdmacm gives no reason" : strerror(abs(status));
}

/*
 * The kernel's ib_sa returns ETIMEDOUT if the SA did not respond, and EINVAL for every nonzero SA
 * status. The SA status itself is not available here.
 */
static void route_text(int status, const struct port_facts *port, const struct connect_request *q,
                       char *out, size_t size)
{
    if (abs(status) == ETIMEDOUT)
        snprintf(out, size,
                 "the SA (LID %u) did not answer the PathRecord query: run 'ipoib-probe fabric'",
                 port->sm_lid);
    else if (abs(status) == EINVAL)
        snprintf(
            out, size,
            "the SA (LID %u) answered the PathRecord query with an error status: check that both ports are in partition 0x%04x (run 'ipoib-probe fabric'); the SA's log has the status",
            port->sm_lid, q->pkey);
    else
        snprintf(
            out, size,
            "the PathRecord query to the SA (LID %u) failed: %s: check that %s port %u is still active (run 'ipoib-probe fabric')",
            port->sm_lid, error_name(status), port->device, port->port);
}

void cm_error_text(enum cm_step step, int status, const struct port_facts *port,
                   const struct connect_request *q, char *out, size_t size)
{
    switch (step) {
    case CM_STEP_ADDRESS:
        snprintf(
            out, size,
            "cannot resolve the peer's GID on %s port %u: %s: check that the port is active and in partition 0x%04x",
            port->device, port->port, error_name(status), q->pkey);
        break;
    case CM_STEP_ROUTE:
        route_text(status, port, q, out, size);
        break;
    case CM_STEP_REQ:
        snprintf(
            out, size,
            "the peer's communication manager did not answer the REQ (%s): check that its interface is up and that ib_cm is loaded there",
            error_name(status));
        break;
    case CM_STEP_CONNECT:
        snprintf(out, size, "the connection setup failed after the REQ: %s: try again",
                 error_name(status));
        break;
    case CM_STEP_DEVICE:
        snprintf(out, size, "%s was removed: the connection is lost", port->device);
        break;
    }
}

const char *cm_reject_advice(uint16_t reason)
{
    switch (reason) {
    case 1:
    case 3:
        return "the peer has no queue pair or memory left for a connection: see its kernel log";
    case 4:
        return "the peer gave up waiting for this port: a CM message was lost on the way";
    case 8:
        return "nothing listens at this Service-ID: the interface must be up and in connected mode";
    case 28:
        return "the peer's IPoIB refuses it: it uses another mode, or has no more connections left";
    default:
        return NULL;
    }
}

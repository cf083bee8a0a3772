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
    return status == -1 ? "librdmacm does not tell why" : strerror(abs(status));
}

/*
 * The kernel's ib_sa returns ETIMEDOUT if the SA did not respond, and EINVAL for every nonzero SA
 * status. The SA status itself is not available here.
 */
static void route_text(int status, const struct port_facts *port, const struct call_question *q,
                       char *out, size_t size)
{
    if (abs(status) == ETIMEDOUT)
        snprintf(out, size,
                 "the SA (LID %u) did not answer the PathRecord query: run 'ipoib-probe fabric'",
                 port->sm_lid);
    else if (abs(status) == EINVAL)
        snprintf(
            out, size,
            "the SA (LID %u) answered the PathRecord query with an error status, and no path: are both ports in partition 0x%04x? 'ipoib-probe fabric' asks the SA; its log names the status",
            port->sm_lid, q->pkey);
    else
        snprintf(
            out, size,
            "the PathRecord query to the SA (LID %u) failed: %s: is %s port %u still active? run 'ipoib-probe fabric'",
            port->sm_lid, error_name(status), port->device, port->port);
}

void cm_error_text(enum cm_step step, int status, const struct port_facts *port,
                   const struct call_question *q, char *out, size_t size)
{
    switch (step) {
    case CM_STEP_ADDRESS:
        snprintf(
            out, size,
            "the peer's GID cannot be resolved on %s port %u: %s: is the port active, and in partition 0x%04x?",
            port->device, port->port, error_name(status), q->pkey);
        break;
    case CM_STEP_ROUTE:
        route_text(status, port, q, out, size);
        break;
    case CM_STEP_REQ:
        snprintf(
            out, size,
            "no answer to the REQ (%s): the peer's communication manager is silent: is its interface up, and is ib_cm loaded there?",
            error_name(status));
        break;
    case CM_STEP_CONNECT:
        snprintf(out, size, "the connection was not finished: %s: try again", error_name(status));
        break;
    case CM_STEP_DEVICE:
        snprintf(out, size, "%s was removed while the connection was made", port->device);
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
        return "nothing listens at this Service-ID: in connected mode, and UP, an interface does";
    case 28:
        return "the peer's IPoIB refuses it: the mode is not its own, or it has its connections";
    default:
        return NULL;
    }
}

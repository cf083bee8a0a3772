/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Describes a librdmacm event or a REJ: what failed, why, and what to do. Each text is one line;
 * the report shows it in place of a response.
 */
#ifndef IPOIB_PROBE_CM_ERROR_H
#define IPOIB_PROBE_CM_ERROR_H

#include "probe/link/transport.h"

/* The step of the connection setup that failed (rdma_get_cm_event(3)). */
enum cm_step { CM_STEP_ADDRESS, CM_STEP_ROUTE, CM_STEP_REQ, CM_STEP_CONNECT, CM_STEP_DEVICE };

/* status: from the event, an errno with either sign. */
void cm_error_text(enum cm_step step, int status, const struct port_facts *port,
                   const struct connect_request *q, char *out, size_t size);

/*
 * What a REJ with this reason (IBA 12.6.7.2) means and what to do. NULL if its name is sufficient.
 */
const char *cm_reject_advice(uint16_t reason);

#endif

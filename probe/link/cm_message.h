/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds messages of the communication manager (IBA 12.6) from what an adapter's user knows of
 * them. Unknown fields are 0: transaction ID, node GUID, flow label, ACK delay.
 */
#ifndef IPOIB_PROBE_CM_MESSAGE_H
#define IPOIB_PROBE_CM_MESSAGE_H

#include "wire/cm.h"

struct cm_fields {
    uint32_t local_id, remote_id; /* communication IDs */
    uint64_t service_id;          /* from here to the GIDs: REQ only; qpn and psn also REP */
    uint32_t qpn, psn;
    bool uc;
    uint16_t pkey, local_lid, remote_lid;
    uint8_t path_mtu, sl, ack_timeout, retry_count;
    const uint8_t *local_gid, *remote_gid;
    uint16_t reason;     /* REJ of a REQ */
    uint32_t remote_qpn; /* DREQ */
    const uint8_t *private_data;
    uint32_t private_size; /* truncated if the message has less room */
};

void cm_message_make(uint8_t mad[MAD_SIZE], enum cm_message m, const struct cm_fields *f);

#endif

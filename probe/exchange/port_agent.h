/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the subnet management agent of a port says. It answers in any partition, and on most
 * adapters although the host hangs.
 */
#ifndef IPOIB_PROBE_PORT_AGENT_H
#define IPOIB_PROBE_PORT_AGENT_H

#include "probe/run/target.h"

struct port_agent {
    uint8_t state;     /* PORT_DOWN ... PORT_ACTIVE from wire/smp.h */
    bool pkeys_known;  /* the next fields are valid */
    bool full, member; /* of the link's partition: the port has its P_Key, as a full member */
};

/*
 * Asks the agent at that LID. Returns false if it does not answer, or is not that of the port with
 * that GUID. Takes up to 0.8 s if answers are lost.
 */
bool port_agent_ask(struct target *t, uint16_t lid, const uint8_t *guid, struct port_agent *a);

#endif

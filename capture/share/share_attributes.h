/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attributes of management datagrams that both subnet management packets and records of the SA
 * contain (IBA 13.4.8, 14.2.5): their fields, in the words of share_layout.h.
 */
#ifndef CAPTURE_SHARE_ATTRIBUTES_H
#define CAPTURE_SHARE_ATTRIBUTES_H

#include "capture/share/share_layout.h"

/*
 * versions, type, ports; GUIDs of system, node and port; PartitionCap, device, revision, local
 * port, vendor. The fields are those of the component mask of a NodeRecord, here and below.
 */
#define NODE_INFO_FIELDS                                                                           \
    KEEP(8), KEEP(8), KEEP(8), KEEP(8), MAP_GUID, MAP_GUID, MAP_GUID, KEEP(16), KEEP(16),          \
        KEEP(32), KEEP(8), KEEP(24)

/* M_Key; prefix, LIDs, capabilities, diagnosis, lease, local port; widths, speeds, states */
#define PORT_INFO_LINK_FIELDS                                                                      \
    ZERO(64), MAP_PREFIX, KEEP(16), KEEP(16), KEEP(32), KEEP(16), KEEP(16), KEEP(8), KEEP(8),      \
        KEEP(8), KEEP(8), KEEP(4), KEEP(4), KEEP(4), KEEP(4)
/* protection, LMC; speeds; MTU, SL, VLs; limits of VLs; MTUCap; HOQLife; enforcement, filters */
#define PORT_INFO_VL_FIELDS                                                                        \
    KEEP(2), ZERO(3), KEEP(3), KEEP(4), KEEP(4), KEEP(4), KEEP(4), KEEP(4), KEEP(4), KEEP(8),      \
        KEEP(8), KEEP(8), KEEP(4), KEEP(4), KEEP(3), KEEP(5), KEEP(4), KEEP(1), KEEP(1), KEEP(1),  \
        KEEP(1)
/* violations; GUIDCap; ClientReregister; timeouts; errors; credits; latency */
#define PORT_INFO_COUNT_FIELDS                                                                     \
    KEEP(16), KEEP(16), KEEP(16), KEEP(8), KEEP(3), KEEP(5), ZERO(3), KEEP(5), KEEP(4), KEEP(4),   \
        KEEP(16), ZERO(8), KEEP(24)
#define PORT_INFO_FIELDS PORT_INFO_LINK_FIELDS, PORT_INFO_VL_FIELDS, PORT_INFO_COUNT_FIELDS

/* GUID; SM_Key; ActCount, priority, state */
#define SM_INFO_FIELDS MAP_GUID, ZERO(64), KEEP(32), KEEP(4), KEEP(4)

#define GUID_INFO_FIELDS                                                                           \
    MAP_GUID, MAP_GUID, MAP_GUID, MAP_GUID, MAP_GUID, MAP_GUID, MAP_GUID, MAP_GUID

/* Anonymises the notice P (IBA 13.4.8.2). */
void share_notice(struct part p);

#endif

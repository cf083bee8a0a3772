/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The SA's records about ports and nodes (IBA 15.2.5). Each begins with the LID of the port, which
 * is also the first component of its mask.
 */
#ifndef IPOIB_WIRE_PORT_RECORDS_H
#define IPOIB_WIRE_PORT_RECORDS_H

#include "wire/smp.h"

enum {
    SA_NODE_RECORD = 0x0011,
    SA_PORT_INFO_RECORD = 0x0012,
    SA_SWITCH_INFO_RECORD = 0x0014,
    SA_SM_INFO_RECORD = 0x0018,
    SA_LINK_RECORD = 0x0020,
    SA_GUID_INFO_RECORD = 0x0030,
    SA_PKEY_TABLE_RECORD = 0x0033
};
enum { PORT_RECORD_LID = 0, PORT_RECORD_HAS_LID = 1 << 0 };

/* IBA 15.2.5.2: LID, reserved, NodeInfo, NodeDescription */
enum {
    NODE_RECORD_INFO = 4,
    NODE_RECORD_PORT_GUID = NODE_RECORD_INFO + NODE_INFO_PORT_GUID,
    NODE_RECORD_DESCRIPTION = 44,
    NODE_RECORD_SIZE = 108
};

/*
 * IBA 15.2.5.3: LID, port, options, PortInfo. Bit 31 of the AttributeModifier: those match whose
 * CapabilityMask has the request's bits, and perhaps others.
 */
enum {
    PORT_RECORD_INFO = 4,
    PORT_RECORD_CAPABILITY_MASK = PORT_RECORD_INFO + PORT_INFO_CAPABILITY_MASK,
    PORT_RECORD_SIZE = PORT_RECORD_INFO + 64,
    PORT_RECORD_HAS_CAPABILITY_MASK = 1 << 7
};
#define PORT_RECORD_MATCH_BITS 0x80000000u

/* IBA 15.2.5.7: LID, reserved, SwitchInfo */
enum {
    SWITCH_RECORD_INFO = 4,
    SWITCH_MULTICAST_CAP = SWITCH_RECORD_INFO + 4,
    SWITCH_RECORD_SIZE = 24
};

/* IBA 15.2.5.10: LID, reserved, SMInfo */
enum { SM_RECORD_INFO = 4, SM_RECORD_SIZE = SM_RECORD_INFO + SM_INFO_SIZE };

/* IBA 15.2.5.13: FromLID, FromPort, ToPort, ToLID, reserved */
enum {
    LINK_RECORD_FROM_PORT = 2,
    LINK_RECORD_TO_PORT = 3,
    LINK_RECORD_TO_LID = 4,
    LINK_RECORD_SIZE = 8,
    LINK_RECORD_HAS_FROM_PORT = 1 << 1
};

/* IBA 15.2.5.11: LID, number of the block, port, reserved, 32 P_Keys */
enum {
    PKEY_RECORD_NUMBER = 2,
    PKEY_RECORD_BLOCK = 8,
    PKEY_RECORD_SIZE = PKEY_RECORD_BLOCK + 2 * PKEY_BLOCK
};

/* IBA 15.2.5.18: LID, number of the block, reserved, 8 GUIDs, the port GUID first */
enum {
    GUID_RECORD_NUMBER = 2,
    GUID_RECORD_BLOCK = 8,
    GUIDS_OF_BLOCK = 8,
    GUID_RECORD_SIZE = GUID_RECORD_BLOCK + 8 * GUIDS_OF_BLOCK
};

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Subnet management packets (SMPs), LID-routed and directed-route (IBA 14.2.1.1, 14.2.1.2), and the
 * attributes that show the configuration of a port (IBA 14.2.5): NodeInfo, PortInfo, P_KeyTable,
 * SMInfo.
 */
#ifndef IPOIB_WIRE_SMP_H
#define IPOIB_WIRE_SMP_H

#include "wire/mad.h"

/* Management classes of SMPs (IBA 13.4.4) */
enum { MAD_CLASS_SMP = 0x01, MAD_CLASS_SMP_DIRECTED = 0x81 };

/* Offsets in bytes from the start of the MAD (IBA 14.2.1.1, 14.2.1.2). */
enum {
    SMP_HOP_POINTER = 6, /* directed-route only, like all below unless marked "both kinds" */
    SMP_HOP_COUNT = 7,
    SMP_MKEY = 24, /* both kinds */
    SMP_DR_SLID = 32,
    SMP_DR_DLID = 34,
    SMP_DATA = 64,          /* both kinds: the attribute, 64 bytes */
    SMP_INITIAL_PATH = 128, /* 64 bytes; [0] is reserved, [1] to [hop count] are port numbers */
    SMP_RETURN_PATH = 192,
};
enum { SMP_DATA_SIZE = 64, SMP_PATH_SIZE = 64, SMP_HOPS_MAX = 63 };
/* directed-route: direction bit in the status; set in the response */
enum { SMP_STATUS_D = 0x8000 };

/* Methods of SMPs (IBA 13.4.5) */
enum {
    SMP_GET = 0x01,
    SMP_SET = 0x02,
    SMP_TRAP = 0x05,
    SMP_TRAP_REPRESS = 0x07,
    SMP_GET_RESP = 0x81
};

/* Attributes (IBA 14.2.5) that are decoded here */
enum {
    SMP_NODE_INFO = 0x0011,
    SMP_SWITCH_INFO = 0x0012, /* only its requests count */
    SMP_PORT_INFO = 0x0015,
    SMP_PKEY_TABLE = 0x0016,
    SMP_SL_TO_VL = 0x0017,
    SMP_LINEAR_TABLE = 0x0019,
    SMP_MULTICAST_TABLE = 0x001b,
    SMP_SM_INFO = 0x0020
};

struct smp {
    struct mad mad; /* status without the direction bit */
    bool directed;
    uint8_t hop_count;
    /* SMP_PATH_SIZE bytes in the packet; NULL: not directed-route, or not captured */
    const uint8_t *initial_path;
    struct view data; /* the attribute, SMP_DATA_SIZE bytes on the wire */
};

/*
 * v starts at the MAD. WIRE_OK: the header up to SMP_DATA was captured; data and path may be
 * truncated. WIRE_TRUNCATED: the header was not captured. WIRE_MALFORMED: shorter than a MAD's 256
 * bytes on the wire, or more than 63 hops. WIRE_FOREIGN: another class.
 */
enum wire_result smp_decode(struct view v, struct smp *s);

/*
 * The functions below return WIRE_FOREIGN for another attribute and WIRE_TRUNCATED if a field was
 * not captured. A Get request also has the attribute's bytes, but they have no meaning: check
 * smp_says() first.
 */

/* Are the SMP's data valid: in a Set, or a response that reports success? */
static inline bool smp_says(const struct smp *s)
{
    return s->mad.method == SMP_SET || (s->mad.method == SMP_GET_RESP && s->mad.status == 0);
}

/* NodeInfo (IBA 14.2.5.3); offsets in bytes from the start of the data */
enum {
    NODE_INFO_TYPE = 2,
    NODE_INFO_PORTS = 3,
    NODE_INFO_SYSTEM_GUID = 4,
    NODE_INFO_NODE_GUID = 12,
    NODE_INFO_PORT_GUID = 20,
    NODE_INFO_PARTITION_CAP = 28, /* entries of the P_Key table */
    NODE_INFO_LOCAL_PORT = 36,    /* the port at which the SMP arrived */
    NODE_INFO_SIZE = 40,
};
enum { NODE_TYPE_CA = 1, NODE_TYPE_SWITCH = 2, NODE_TYPE_ROUTER = 3 };

struct node_info {
    uint8_t type, ports;
    uint16_t partition_cap; /* entries of the P_Key table; for a switch: of its port 0 */
    uint64_t port_guid;
};
enum wire_result smp_node_info(const struct smp *s, struct node_info *n);

/* PortInfo (IBA 14.2.5.6) */
enum {
    PORT_INFO_GID_PREFIX = 8,
    PORT_INFO_LID = 16,
    PORT_INFO_MASTER_SM_LID = 18,
    PORT_INFO_CAPABILITY_MASK = 20,
    PORT_INFO_LOCAL_PORT = 28,
    PORT_INFO_SPEED_STATE = 32,     /* LinkSpeedSupported (4 bits), PortState (4) */
    PORT_INFO_PHYS_DOWN = 33,       /* PortPhysicalState (4), LinkDownDefaultState (4) */
    PORT_INFO_MKEY_LMC = 34,        /* M_KeyProtectBits (2), reserved (3), LMC (3) */
    PORT_INFO_MTU_SMSL = 36,        /* NeighborMTU (4), MasterSMSL (4) */
    PORT_INFO_MTU_CAP = 41,         /* InitTypeReply (4), MTUCap (4) */
    PORT_INFO_SIZE = 42,            /* up to the last field above */
    PORT_INFO_OPERATIONAL_VLS = 43, /* OperationalVLs (4), enforcement of partitions (4) */
    PORT_INFO_REREGISTER = 51,      /* ClientReregister (1), reserved (2), SubnetTimeOut (5) */
};
/* PortState; in a Set, 0 means no change, and Init is not allowed */
enum { PORT_NO_CHANGE = 0, PORT_DOWN = 1, PORT_INIT = 2, PORT_ARMED = 3, PORT_ACTIVE = 4 };
/* CapabilityMask bits */
enum { PORT_CAP_IS_SM = 1 << 1, PORT_CAP_SM_DISABLED = 1 << 10, PORT_CAP_CM = 1 << 16 };

struct port_info {
    /*
     * the requested port, from the attribute modifier; 0: the port that receives the SMP (a switch:
     * its port 0), or not known
     */
    uint8_t port;
    uint64_t gid_prefix;
    uint16_t lid;
    uint8_t state, lmc;
    uint8_t neighbor_mtu, mtu_cap; /* IBA codes, not bytes: see ib_mtu_bytes() */
    bool reregister;               /* ClientReregister, if it was captured */
};
/* d: PORT_INFO_SIZE bytes, which have neither `port` nor `reregister`. */
struct port_info port_info_read(const uint8_t *d);
enum wire_result smp_port_info(const struct smp *s, struct port_info *p);

/* P_KeyTable (IBA 14.2.5.7): 32 P_Keys per block */
enum { PKEY_BLOCK = 32 };

struct pkey_table {
    uint16_t port;    /* switch: the port of the table; other nodes: no meaning */
    uint16_t block;   /* the index of the first P_Key is block * 32 */
    const uint8_t *p; /* 32 P_Keys of 2 bytes each, pointer into the packet */
};
enum wire_result smp_pkey_table(const struct smp *s, struct pkey_table *t);

/* P_Key i (0 to 31) of the block. 0x0000 and 0x8000 (lower 15 bits 0) are empty entries. */
static inline uint16_t pkey_table_entry(const struct pkey_table *t, unsigned i)
{
    return be16(t->p + 2 * i);
}

/* SMInfo (IBA 14.2.5.13) */
enum {
    SM_INFO_GUID = 0,
    SM_INFO_KEY = 8,
    SM_INFO_ACT_COUNT = 16,
    SM_INFO_PRIORITY_STATE = 20, /* priority (4), SMState (4) */
    SM_INFO_SIZE = 21,
};
enum { SM_NOT_ACTIVE = 0, SM_DISCOVERING = 1, SM_STANDBY = 2, SM_MASTER = 3 };
/* Set(SMInfo): the action that its attribute modifier requests from the other SM (IBA 14.4.1) */
enum { SM_HANDOVER = 1, SM_ACKNOWLEDGE = 2, SM_DISABLE = 3, SM_STAND_BY = 4, SM_DISCOVER = 5 };

struct sm_info {
    uint64_t guid; /* GUID of the port of the SM */
    uint8_t state;
    uint8_t control; /* Set and its response: SM_HANDOVER to SM_DISCOVER; else 0 */
};
enum wire_result smp_sm_info(const struct smp *s, struct sm_info *i);

#endif

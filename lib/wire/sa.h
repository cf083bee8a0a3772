/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Subnet administration (SA): the SA header and its RMPP header (IBA 13.6.2, 15.2.1.1), the records
 * that IPoIB uses (IBA 15.2.5), notices and event subscriptions (IBA 13.4.8.2, 13.4.8.3, 14.2.5.1).
 */
#ifndef IPOIB_WIRE_SA_H
#define IPOIB_WIRE_SA_H

#include "wire/ib.h"
#include "wire/mad.h"

/* Offsets in bytes from the start of the MAD. */
enum {
    RMPP_VERSION = 24,
    RMPP_TYPE = 25,
    RMPP_TIME_FLAGS = 26, /* response time (5 bits), flags (3) */
    RMPP_STATUS = 27,
    RMPP_DATA1 = 28, /* DATA and ACK: segment number, from 1 */
    /*
     * DATA: payload length, of the whole message in the first segment, of the segment in the last
     */
    RMPP_DATA2 = 32,
    SA_SM_KEY = 36,
    SA_ATTRIBUTE_OFFSET = 44, /* distance between records, in units of 8 bytes */
    SA_COMPONENT_MASK = 48,
    SA_DATA = 56,
    SA_DATA_SIZE = 200,
};
enum { RMPP_TYPE_DATA = 1, RMPP_TYPE_ACK = 2, RMPP_TYPE_STOP = 3, RMPP_TYPE_ABORT = 4 };
enum { RMPP_FLAG_ACTIVE = 1, RMPP_FLAG_FIRST = 2, RMPP_FLAG_LAST = 4 };
/* RMPP's payload length includes the SA header of every segment, from SM_Key to ComponentMask. */
enum { RMPP_SA_HEADER = SA_DATA - SA_SM_KEY };

enum {
    SA_GET = 0x01,
    SA_SET = 0x02,
    SA_REPORT = 0x06,
    SA_GET_TABLE = 0x12,
    SA_DELETE = 0x15,
    SA_GET_RESP = 0x81,
    SA_REPORT_RESP = 0x86,
    SA_GET_TABLE_RESP = 0x92,
    SA_DELETE_RESP = 0x95,
};
enum {
    SA_CLASS_PORT_INFO = 0x0001,
    SA_NOTICE = 0x0002,
    SA_INFORM_INFO = 0x0003,
    SA_SERVICE_RECORD = 0x0031,
    SA_PATH_RECORD = 0x0035,
    SA_MC_MEMBER_RECORD = 0x0038,
};
/* SA statuses, in the class-specific byte (IBA 15.2.1.2); sa.c has the names of all. */
enum {
    MAD_STATUS_BUSY = 0x0001, /* a flag bit, in every class (IBA 13.4.7) */
    SA_STATUS_MASK = 0xff00,
    SA_STATUS_REQ_INVALID = 0x0200, /* ERR_REQ_INVALID */
    SA_STATUS_NO_RECORDS = 0x0300,  /* ERR_NO_RECORDS */
    /* ERR_REQ_INSUFFICIENT_COMPONENTS: for a Set, the SA would have to create the group */
    SA_STATUS_INSUFFICIENT_COMPONENTS = 0x0600,
};

struct sa {
    struct mad mad;
    uint8_t rmpp_type, rmpp_flags; /* type 0: no RMPP */
    uint32_t segment, payload_length;
    uint32_t record_stride; /* bytes; 0: not given */
    uint64_t component_mask;
    struct view data; /* this MAD's records, as limited by RMPP's type and payload length */
};

/*
 * v starts at the MAD. WIRE_TRUNCATED with *have_mad: the common header was captured. WIRE_FOREIGN:
 * not the SA class.
 */
enum wire_result sa_decode(struct view v, struct sa *sa, bool *have_mad);

/* MCMemberRecord (IBA 15.2.5.17, table 210) */
enum {
    MCM_MGID = 0,
    MCM_PORT_GID = 16,
    MCM_QKEY = 32,
    MCM_MLID = 36,
    MCM_MTU = 38, /* selector (2 bits), MTU (6) */
    MCM_TCLASS = 39,
    MCM_PKEY = 40,
    MCM_RATE = 42,        /* selector (2), rate (6) */
    MCM_LIFE = 43,        /* selector (2), packet life time (6) */
    MCM_SL_FLOW_HOP = 44, /* SL (4), flow label (20), hop limit (8) */
    MCM_SCOPE_JOIN = 48,  /* scope (4), JoinState (4) */
    MCM_PROXY = 49,
    MCM_SIZE = 52,
};
enum {
    JOIN_FULL = 1,
    JOIN_NON = 2,
    JOIN_SEND_ONLY_NON = 4,
    JOIN_SEND_ONLY_FULL = 8,
    JOIN_ALL = 15
};

/* Component mask bits of a MCMemberRecord, in the order of its components. */
enum {
    MCM_HAS_MGID = 1 << 0,
    MCM_HAS_PORT_GID = 1 << 1,
    MCM_HAS_QKEY = 1 << 2,
    MCM_HAS_MLID = 1 << 3,
    MCM_HAS_MTU_SELECTOR = 1 << 4,
    MCM_HAS_MTU = 1 << 5,
    MCM_HAS_TCLASS = 1 << 6,
    MCM_HAS_PKEY = 1 << 7,
    MCM_HAS_RATE_SELECTOR = 1 << 8,
    MCM_HAS_RATE = 1 << 9,
    MCM_HAS_LIFE_SELECTOR = 1 << 10,
    MCM_HAS_LIFE = 1 << 11,
    MCM_HAS_SL = 1 << 12,
    MCM_HAS_FLOW_LABEL = 1 << 13,
    MCM_HAS_HOP_LIMIT = 1 << 14,
    MCM_HAS_SCOPE = 1 << 15,
    MCM_HAS_JOIN_STATE = 1 << 16,
    MCM_HAS_PROXY = 1 << 17,
};

struct mc_member {
    const uint8_t *mgid, *port_gid; /* 16 bytes each, pointers into the packet */
    uint32_t qkey, flow_label;
    uint16_t mlid, pkey;
    uint8_t mtu_selector, mtu, rate, life; /* IBA codes, not bytes */
    uint8_t tclass, sl, hop_limit, scope, join_state;
};

/* p: MCM_SIZE bytes. */
struct mc_member mc_member_read(const uint8_t *p);

/* PathRecord (IBA 15.2.5.16) */
enum {
    PATH_SERVICE_ID = 0,
    PATH_DGID = 8,
    PATH_SGID = 24,
    PATH_DLID = 40,
    PATH_SLID = 42,
    PATH_FLOW_HOP = 44,
    PATH_TCLASS = 48,
    PATH_NUMB = 49, /* reversible (1), NumbPath (7) */
    PATH_PKEY = 50,
    PATH_SL = 52,  /* QoS class (12), SL (4) */
    PATH_MTU = 54, /* selector (2), MTU (6) */
    PATH_RATE = 55,
    PATH_LIFE = 56,
    PATH_SIZE = 64,
};

/* Component mask bits of a PathRecord; only those used here. */
enum {
    PATH_HAS_DGID = 1 << 2,
    PATH_HAS_SGID = 1 << 3,
    PATH_HAS_DLID = 1 << 4,
    PATH_HAS_SLID = 1 << 5,
    PATH_HAS_FLOW_LABEL = 1 << 8,
    PATH_HAS_HOP_LIMIT = 1 << 9,
    PATH_HAS_TCLASS = 1 << 10,
    PATH_HAS_REVERSIBLE = 1 << 11,
    PATH_HAS_NUMB = 1 << 12,
    PATH_HAS_PKEY = 1 << 13,
    PATH_HAS_SL = 1 << 15,
    PATH_HAS_MTU = 1 << 17,
    PATH_HAS_RATE = 1 << 19,
};

/* ServiceRecord (IBA 15.2.5.14) */
enum {
    SERVICE_ID = 0,
    SERVICE_GID = 8,
    SERVICE_PKEY = 24,
    SERVICE_LEASE = 28, /* seconds */
    SERVICE_KEY = 32,
    SERVICE_NAME = 48, /* 64 bytes, UTF-8, zero-terminated */
    SERVICE_NAME_SIZE = 64,
    SERVICE_DATA = 112,
    SERVICE_SIZE = 176,
};

/* InformInfo (IBA 13.4.8.3) */
enum {
    INFORM_GID = 0,
    INFORM_LID_BEGIN = 16,
    INFORM_LID_END = 18,
    INFORM_GENERIC = 22,
    INFORM_SUBSCRIBE = 23,
    INFORM_TYPE = 24,
    INFORM_TRAP = 26,
    INFORM_QPN_TIME = 28, /* QPN (24), reserved (3), response time (5) */
    INFORM_PRODUCER = 33,
    INFORM_SIZE = 36,
};

/* Type and producer type of the traps 64 to 67 (IBA 13.4.8.2, 14.2.5.1) */
enum { NOTICE_SUBNET_MANAGEMENT = 3, NOTICE_CLASS_MANAGER = 4 };

/* Notice (IBA 13.4.8.2) and the details of the traps 64 to 67 (IBA 14.2.5.1) */
enum {
    NOTICE_GENERIC_TYPE = 0, /* generic (1), type (7) */
    NOTICE_PRODUCER = 1,
    NOTICE_TRAP = 4,
    NOTICE_ISSUER_LID = 6,
    NOTICE_TOGGLE_COUNT = 8,
    NOTICE_DETAILS = 10,
    NOTICE_DETAILS_GID = NOTICE_DETAILS + 6,
    NOTICE_ISSUER_GID = 64,
    NOTICE_SIZE = 80,
};
enum {
    TRAP_GID_IN_SERVICE = 64,
    TRAP_GID_OUT_OF_SERVICE = 65,
    TRAP_GROUP_CREATED = 66,
    TRAP_GROUP_DELETED = 67
};

/* Does a notice of this trap have a GID at NOTICE_DETAILS_GID (IBA 14.2.5.1)? */
static inline bool trap_has_gid(uint16_t trap)
{
    return trap >= TRAP_GID_IN_SERVICE && trap <= TRAP_GROUP_DELETED;
}

/*
 * Is the component valid? In a request, only components in its mask are; the rest of the record has
 * no meaning (IBA 15.2.1.1).
 */
static inline bool sa_component_is_valid(const struct sa *sa, uint64_t component)
{
    bool request = !(sa->mad.method & MAD_RESPONSE) && sa->mad.method != SA_REPORT;
    return !request || (sa->component_mask & component);
}

/* Bytes of one record of the attribute; 0: not decoded here. */
uint32_t sa_record_size(uint16_t attribute);

/* MTU in bytes for the IBA codes 1 to 5; 0: other codes. */
uint32_t ib_mtu_bytes(uint8_t code);
/* Rate in units of 100 Mb/s; 0: unknown code. */
uint32_t ib_rate_100mbps(uint8_t code);

extern const struct name sa_method_names[];
extern const struct name sa_attribute_names[];
extern const struct name sa_selector_names[];
extern const struct name ib_mtu_names[];
/* The MTU codes that Omni-Path adds (enum opa_mtu of Linux), in bytes. */
extern const struct name opa_mtu_names[];
extern const struct name ib_rate_names[];
extern const struct name rmpp_type_names[];
extern const struct name notice_trap_names[];

/*
 * The name of a MAD status as the SA uses it: the class-specific byte first, else the common codes.
 */
const char *sa_status_name(uint16_t status);

/* Write the names, such as "FullMember, NonMember", to buf (at least 64 bytes); returns buf. */
const char *join_state_text(uint8_t join_state, char *buf, size_t size);

/*
 * Write the names of the components in a MCMemberRecord's mask to buf, separated by commas; returns
 * buf.
 */
const char *mc_component_text(uint64_t mask, char *buf, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/sa.h"

#include <stdio.h>

const struct name sa_method_names[] = {
    {SA_GET, "Get"},
    {SA_SET, "Set"},
    {SA_REPORT, "Report"},
    {SA_GET_TABLE, "GetTable"},
    {0x13, "GetTraceTable"},
    {0x14, "GetMulti"},
    {SA_DELETE, "Delete"},
    {SA_GET_RESP, "GetResp"},
    {SA_REPORT_RESP, "ReportResp"},
    {SA_GET_TABLE_RESP, "GetTableResp"},
    {0x94, "GetMultiResp"},
    {SA_DELETE_RESP, "DeleteResp"},
    {0, NULL},
};

const struct name sa_attribute_names[] = {
    {SA_CLASS_PORT_INFO, "ClassPortInfo"},
    {SA_NOTICE, "Notice"},
    {SA_INFORM_INFO, "InformInfo"},
    {0x0011, "NodeRecord"},
    {0x0012, "PortInfoRecord"},
    {0x0013, "SLtoVLMappingTableRecord"},
    {0x0014, "SwitchInfoRecord"},
    {0x0015, "LinearForwardingTableRecord"},
    {0x0016, "RandomForwardingTableRecord"},
    {0x0017, "MulticastForwardingTableRecord"},
    {0x0018, "SMInfoRecord"},
    {0x0020, "LinkRecord"},
    {0x0030, "GuidInfoRecord"},
    {SA_SERVICE_RECORD, "ServiceRecord"},
    {0x0033, "P_KeyTableRecord"},
    {SA_PATH_RECORD, "PathRecord"},
    {0x0036, "VLArbitrationTableRecord"},
    {SA_MC_MEMBER_RECORD, "MCMemberRecord"},
    {0x0039, "TraceRecord"},
    {0x003a, "MultiPathRecord"},
    {0x003b, "ServiceAssociationRecord"},
    {0x00f3, "InformInfoRecord"},
    {0, NULL},
};

/* IBA 15.2.5.16: comparison for a requested MTU, rate or life time. */
const struct name sa_selector_names[] = {
    {0, "greater than"}, {1, "less than"}, {2, "exactly"}, {3, "largest available"}, {0, NULL},
};

const struct name ib_mtu_names[] = {
    {1, "256"}, {2, "512"}, {3, "1024"}, {4, "2048"}, {5, "4096"}, {0, NULL},
};

const struct name opa_mtu_names[] = {{6, "8192"}, {7, "10240"}, {0, NULL}};

const struct name ib_rate_names[] = {
    {2, "2.5 Gb/s"},  {3, "10 Gb/s"},   {4, "30 Gb/s"},    {5, "5 Gb/s"},    {6, "20 Gb/s"},
    {7, "40 Gb/s"},   {8, "60 Gb/s"},   {9, "80 Gb/s"},    {10, "120 Gb/s"}, {11, "14 Gb/s"},
    {12, "56 Gb/s"},  {13, "112 Gb/s"}, {14, "168 Gb/s"},  {15, "25 Gb/s"},  {16, "100 Gb/s"},
    {17, "200 Gb/s"}, {18, "300 Gb/s"}, {19, "28 Gb/s"},   {20, "50 Gb/s"},  {21, "400 Gb/s"},
    {22, "600 Gb/s"}, {23, "800 Gb/s"}, {24, "1200 Gb/s"}, {0, NULL},
};

const struct name rmpp_type_names[] = {
    {0, "none"},
    {RMPP_TYPE_DATA, "DATA"},
    {RMPP_TYPE_ACK, "ACK"},
    {RMPP_TYPE_STOP, "STOP"},
    {RMPP_TYPE_ABORT, "ABORT"},
    {0, NULL},
};

const struct name notice_trap_names[] = {
    {TRAP_GID_IN_SERVICE, "GID now in service"},
    {TRAP_GID_OUT_OF_SERVICE, "GID out of service"},
    {TRAP_GROUP_CREATED, "multicast group created"},
    {TRAP_GROUP_DELETED, "multicast group deleted"},
    {128, "link state of a port changed"},
    {144, "capability mask of a port changed"},
    {145, "system image GUID changed"},
    {0xffff, "all traps"},
    {0, NULL},
};

/* The class-specific byte of the status. */
static const struct name sa_status_names[] = {
    {1, "no resources (ERR_NO_RESOURCES)"},
    {2, "request invalid (ERR_REQ_INVALID)"},
    {SA_STATUS_NO_RECORDS >> 8, "no records (ERR_NO_RECORDS)"},
    {4, "too many records (ERR_TOO_MANY_RECORDS)"},
    {5, "invalid GID in the request (ERR_REQ_INVALID_GID)"},
    {SA_STATUS_INSUFFICIENT_COMPONENTS >> 8,
     "insufficient components in the request (ERR_REQ_INSUFFICIENT_COMPONENTS)"},
    {7, "request denied (ERR_REQ_DENIED)"},
    {8, "priority suggested (ERR_REQ_PRIORITY_SUGGESTED)"},
    {0, NULL},
};

/* Bits 2 to 4 of the status (IBA 13.4.7, table 116). */
static const struct name mad_status_names[] = {
    {1, "bad version"},
    {2, "method not supported"},
    {3, "method with this attribute not supported"},
    {7, "invalid value in attribute or modifier"},
    {0, NULL},
};

const char *sa_status_name(uint16_t status)
{
    const char *n = NULL;
    if (status >> 8)
        n = names_find(sa_status_names, status >> 8);
    else if (status >> 2 & 7)
        n = names_find(mad_status_names, status >> 2 & 7);
    else if (status & 1)
        n = "busy";
    else if (status & 2)
        n = "redirection required";
    else if (status == 0)
        n = "success";
    return n ? n : "unknown status";
}

uint32_t ib_mtu_bytes(uint8_t code)
{
    return code >= 1 && code <= 5 ? 128u << code : 0;
}

uint32_t ib_rate_100mbps(uint8_t code)
{
    static const uint16_t rate[] = {0,    0,    25,  100,  300,  50,   200,  400,  600,
                                    800,  1200, 140, 560,  1120, 1680, 250,  1000, 2000,
                                    3000, 280,  500, 4000, 6000, 8000, 12000};
    return code < sizeof rate / sizeof *rate ? rate[code] : 0;
}

uint32_t sa_record_size(uint16_t attribute)
{
    switch (attribute) {
    case SA_MC_MEMBER_RECORD:
        return MCM_SIZE;
    case SA_PATH_RECORD:
        return PATH_SIZE;
    case SA_SERVICE_RECORD:
        return SERVICE_SIZE;
    case SA_INFORM_INFO:
        return INFORM_SIZE;
    case SA_NOTICE:
        return NOTICE_SIZE;
    default:
        return 0;
    }
}

/*
 * The data of the MAD: all 200 bytes, or fewer by RMPP's payload length (IBA 13.6.2.1); none in
 * RMPP packets other than DATA.
 */
static struct view sa_data(struct view v, const struct sa *sa)
{
    uint32_t n = SA_DATA_SIZE;
    bool data = sa->rmpp_type == RMPP_TYPE_DATA && (sa->rmpp_flags & RMPP_FLAG_ACTIVE);
    if (data && (sa->rmpp_flags & RMPP_FLAG_LAST) && sa->payload_length >= RMPP_SA_HEADER &&
        sa->payload_length - RMPP_SA_HEADER < n)
        n = sa->payload_length - RMPP_SA_HEADER;
    if (sa->rmpp_type != 0 && !data)
        n = 0;
    return view_sub(v, SA_DATA, n);
}

enum wire_result sa_decode(struct view v, struct sa *sa, bool *have_mad)
{
    memset(sa, 0, sizeof *sa);
    enum wire_result r = mad_decode(v, &sa->mad);
    *have_mad = r == WIRE_OK;
    if (r != WIRE_OK)
        return r;
    if (sa->mad.class != MAD_CLASS_SA)
        return WIRE_FOREIGN;
    r = view_has(v, 0, SA_DATA);
    if (r != WIRE_OK)
        return r;
    if (v.p[RMPP_TIME_FLAGS] & RMPP_FLAG_ACTIVE) {
        sa->rmpp_type = v.p[RMPP_TYPE];
        sa->rmpp_flags = v.p[RMPP_TIME_FLAGS] & 7;
        sa->segment = be32(v.p + RMPP_DATA1);
        sa->payload_length = be32(v.p + RMPP_DATA2);
    }
    sa->record_stride = be16(v.p + SA_ATTRIBUTE_OFFSET) * 8u;
    sa->component_mask = be64(v.p + SA_COMPONENT_MASK);
    sa->data = sa_data(v, sa);
    return WIRE_OK;
}

struct mc_member mc_member_read(const uint8_t *p)
{
    uint32_t w = be32(p + MCM_SL_FLOW_HOP);
    return (struct mc_member){
        .mgid = p + MCM_MGID,
        .port_gid = p + MCM_PORT_GID,
        .qkey = be32(p + MCM_QKEY),
        .mlid = be16(p + MCM_MLID),
        .mtu_selector = p[MCM_MTU] >> 6,
        .mtu = p[MCM_MTU] & 0x3f,
        .tclass = p[MCM_TCLASS],
        .pkey = be16(p + MCM_PKEY),
        .rate = p[MCM_RATE] & 0x3f,
        .life = p[MCM_LIFE] & 0x3f,
        .sl = (uint8_t)(w >> 28),
        .flow_label = w >> 8 & 0xfffff,
        .hop_limit = (uint8_t)w,
        .scope = p[MCM_SCOPE_JOIN] >> 4,
        .join_state = p[MCM_SCOPE_JOIN] & 0xf,
    };
}

/* Write the names of the set bits, in order; stop when buf is full. */
static const char *bits_text(uint64_t bits, const char *const *names, unsigned count, char *buf,
                             size_t size)
{
    size_t n = 0;
    buf[0] = '\0';
    for (unsigned i = 0; i < count && n < size; i++)
        if (bits >> i & 1) {
            int k = snprintf(buf + n, size - n, "%s%s", n ? ", " : "", names[i]);
            n += k > 0 ? (size_t)k : 0;
        }
    return buf;
}

const char *join_state_text(uint8_t join_state, char *buf, size_t size)
{
    static const char *const names[] = {"FullMember", "NonMember", "SendOnlyNonMember",
                                        "SendOnlyFullMember"};
    if (join_state == 0) {
        snprintf(buf, size, "none");
        return buf;
    }
    return bits_text(join_state, names, 4, buf, size);
}

const char *mc_component_text(uint64_t mask, char *buf, size_t size)
{
    static const char *const names[] = {"MGID",
                                        "PortGID",
                                        "Q_Key",
                                        "MLID",
                                        "MTUSelector",
                                        "MTU",
                                        "TClass",
                                        "P_Key",
                                        "RateSelector",
                                        "Rate",
                                        "PacketLifeTimeSelector",
                                        "PacketLifeTime",
                                        "SL",
                                        "FlowLabel",
                                        "HopLimit",
                                        "Scope",
                                        "JoinState",
                                        "ProxyJoin"};
    return bits_text(mask, names, sizeof names / sizeof *names, buf, size);
}

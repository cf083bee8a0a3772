/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises MADs of subnet administration (SA). See share_mad.h. */
#include "capture/share/share_attributes.h"
#include "capture/share/share_mad.h"

/* ---- records (IBA 15.2.5): each field is a component of the mask, in its order */

static const struct field node_record[] = {KEEP(16), ZERO(16), NODE_INFO_FIELDS, MAP_NAME,
                                           LAYOUT_END};
static const struct field port_record[] = {KEEP(16), KEEP(8), KEEP(8), PORT_INFO_FIELDS,
                                           LAYOUT_END};
static const struct field sm_record[] = {KEEP(16), ZERO(16), SM_INFO_FIELDS, LAYOUT_END};
static const struct field link_record[] = {KEEP(16), KEEP(8), KEEP(8), KEEP(16), LAYOUT_END};
static const struct field guid_record[] = {KEEP(16), KEEP(8),          ZERO(8),
                                           ZERO(32), GUID_INFO_FIELDS, LAYOUT_END};
/* ServiceID, GID, P_Key; lease, key, name. Its data stay zero. */
static const struct field service_record[] = {MAP_SERVICE_ID, MAP_GID,   KEEP(16), ZERO(16),
                                              KEEP(32),       ZERO(128), MAP_NAME, LAYOUT_END};
static const struct field pkey_record[] = {KEEP(16), KEEP(16),  KEEP(8),
                                           ZERO(24), KEEP(512), LAYOUT_END};
/* ServiceID; GIDs, LIDs; RawTraffic to RateSelector; Rate to Preference */
static const struct field path_record[] = {
    MAP_SERVICE_ID_2, MAP_GID, MAP_GID, KEEP(16), KEEP(16), KEEP(1),  ZERO(3),   KEEP(20),
    KEEP(8),          KEEP(8), KEEP(1), KEEP(7),  KEEP(16), KEEP(12), KEEP(4),   KEEP(2),
    KEEP(6),          KEEP(2), KEEP(6), KEEP(2),  KEEP(6),  KEEP(8),  LAYOUT_END};
/* GIDs, Q_Key, MLID, MTU, TClass, P_Key, rate, life time; SL to ProxyJoin */
static const struct field group_record[] = {
    MAP_GID, MAP_GID, KEEP(32), KEEP(16), KEEP(2), KEEP(6), KEEP(8), KEEP(16), KEEP(2),   KEEP(6),
    KEEP(2), KEEP(6), KEEP(4),  KEEP(20), KEEP(8), KEEP(4), KEEP(4), KEEP(1),  LAYOUT_END};

/* Attributes without a component mask (IBA 13.4.8.1, 13.4.8.3) */

/* versions, capabilities, response time; GID; GID for traps. Other addresses stay zero. */
static const struct field class_port_info[] = {KEEP(64), MAP_GID, ZERO(128), MAP_GID, LAYOUT_END};
/* GID, LIDs; generic or not, subscribe, type, trap, QPN; response time; producer */
static const struct field inform_info[] = {MAP_GID, KEEP(32), ZERO(16), KEEP(72),  ZERO(3),
                                           KEEP(5), ZERO(8),  KEEP(24), LAYOUT_END};

static const struct record {
    uint16_t attribute;
    uint16_t size; /* bytes */
    bool has_mask;
    const struct field *layout;
} records[] = {
    {SA_CLASS_PORT_INFO, 72, false, class_port_info},
    {SA_INFORM_INFO, INFORM_SIZE, false, inform_info},
    {0x0011, 108, true, node_record},
    {0x0012, 64, true, port_record},
    {0x0018, 32, true, sm_record},
    {0x0020, 8, true, link_record},
    {0x0030, 72, true, guid_record},
    {SA_SERVICE_RECORD, SERVICE_SIZE, true, service_record},
    {0x0033, 72, true, pkey_record},
    {SA_PATH_RECORD, PATH_SIZE, true, path_record},
    {SA_MC_MEMBER_RECORD, MCM_SIZE, true, group_record},
};

static const struct record *find_record(uint16_t attribute)
{
    for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++)
        if (records[i].attribute == attribute)
            return &records[i];
    return NULL;
}

/*
 * The components that are valid. A response that refuses a request repeats the request. A request
 * for an attribute without a mask has no contents: senders reuse buffers.
 */
static uint64_t valid_components(const struct sa *sa, const struct record *r)
{
    bool response = sa_component_is_valid(sa, 0);

    if (!r->has_mask)
        return sa->mad.method == SA_GET || sa->mad.method == SA_GET_TABLE ? 0 : UINT64_MAX;
    return response && sa->mad.status == 0 ? UINT64_MAX : sa->component_mask;
}

/* ---- records in a MAD */

/*
 * Only tables continue over RMPP segments. Other MADs have one record, whatever their RMPP header
 * says; the model reads them so, too.
 */
static bool has_one_record(const struct sa *sa)
{
    switch (sa->mad.method) {
    case SA_GET:
    case SA_SET:
    case SA_REPORT:
    case SA_GET_TABLE:
    case SA_DELETE:
    case SA_GET_RESP:
    case SA_REPORT_RESP:
    case SA_DELETE_RESP:
        return true;
    default:
        return sa->rmpp_type != RMPP_TYPE_DATA;
    }
}

static void share_records(struct part data, const struct sa *sa, const struct record *r,
                          const struct split_record *split)
{
    struct laid_record laid = {r->layout, 0, valid_components(sa, r), split};
    uint32_t stride = sa->record_stride >= r->size ? sa->record_stride : r->size;
    uint64_t before = (sa->segment ? sa->segment - 1 : 0) * (uint64_t)SA_DATA_SIZE;

    if (has_one_record(sa)) {
        share_record(data, &laid);
        return;
    }
    for (laid.at = -(int64_t)(before % stride); laid.at < (int64_t)data.cap; laid.at += stride)
        share_record(data, &laid);
}

/* ---- the MAD */

/* version, type, response time, flags, status; segment number; length, or window (IBA 13.6.2) */
static const struct field rmpp_data_or_ack[] = {KEEP(96), LAYOUT_END};
/* A segment in the middle has no length. */
static const struct field rmpp_middle[] = {KEEP(64), LAYOUT_END};
static const struct field rmpp_stop_or_abort[] = {KEEP(32), LAYOUT_END};
/* AttributeOffset, component mask, after the SM_Key */
static const struct field sa_layout[] = {ZERO(64), KEEP(16), ZERO(16), KEEP(64), LAYOUT_END};

/* A MAD without RMPP has other bytes there. */
static void share_rmpp(struct part p, const struct sa *sa)
{
    bool has_length = sa->rmpp_type == RMPP_TYPE_ACK ||
                      sa->rmpp_flags & (RMPP_FLAG_FIRST | RMPP_FLAG_LAST);

    p = part_from(p, RMPP_VERSION);
    if (sa->rmpp_type == RMPP_TYPE_DATA || sa->rmpp_type == RMPP_TYPE_ACK)
        share_layout(p, has_length ? rmpp_data_or_ack : rmpp_middle);
    else if (sa->rmpp_type)
        share_layout(p, rmpp_stop_or_abort);
}

void share_sa(struct part p, const struct mad_payload *mad, const struct split_record *split)
{
    const struct record *r = find_record(mad->mad.attribute);
    const struct sa *sa = &mad->sa;

    if (mad->result != WIRE_OK)
        return;
    share_rmpp(p, sa);
    share_layout(part_from(p, SA_SM_KEY), sa_layout);
    p = part_sub(p, SA_DATA, sa->data.len < SA_DATA_SIZE ? sa->data.len : SA_DATA_SIZE);
    if (mad->mad.attribute == SA_NOTICE)
        share_notice(part_sub(p, 0, NOTICE_SIZE));
    else if (r)
        share_records(p, sa, r, split);
}

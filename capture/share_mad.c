/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises management datagrams. See share_mad.h. */
#include "capture/share_mad.h"

#include <stddef.h>

/* ---- attributes: the fields of a record that are mapped or cleared */

enum what { END, GID, GUID, PREFIX, NAME, CLEAR };

struct field {
    enum what what;
    uint16_t off, n; /* bytes; n only of NAME and CLEAR */
};

/* An attribute; fields NULL: nothing to map or clear. */
struct attribute {
    uint16_t id;
    uint16_t size; /* bytes of a record; only of attributes with tables */
    const struct field *fields;
};

enum {
    NODE_INFO = 4,
    NODE_DESCRIPTION = 44
}; /* offsets in a NodeRecord, after LID and 2 reserved bytes */

static const struct field node_info[] = {{GUID, NODE_INFO_SYSTEM_GUID, 0},
                                         {GUID, NODE_INFO_NODE_GUID, 0},
                                         {GUID, NODE_INFO_PORT_GUID, 0},
                                         {END, 0, 0}};
static const struct field node_record[] = {{GUID, NODE_INFO + NODE_INFO_SYSTEM_GUID, 0},
                                           {GUID, NODE_INFO + NODE_INFO_NODE_GUID, 0},
                                           {GUID, NODE_INFO + NODE_INFO_PORT_GUID, 0},
                                           {NAME, NODE_DESCRIPTION, 64},
                                           {END, 0, 0}};
static const struct field node_description[] = {{NAME, 0, 64}, {END, 0, 0}};
static const struct field port_info[] = {{CLEAR, 0, 8}, /* M_Key */
                                         {PREFIX, PORT_INFO_GID_PREFIX, 0},
                                         {END, 0, 0}};
static const struct field port_info_record[] = {{CLEAR, 8, 8}, {PREFIX, 16, 0}, {END, 0, 0}};
static const struct field guid_info[] = {{GUID, 0, 0},  {GUID, 8, 0},  {GUID, 16, 0},
                                         {GUID, 24, 0}, {GUID, 32, 0}, {GUID, 40, 0},
                                         {GUID, 48, 0}, {GUID, 56, 0}, {END, 0, 0}};
static const struct field guid_info_record[] = {{GUID, 8, 0},  {GUID, 16, 0}, {GUID, 24, 0},
                                                {GUID, 32, 0}, {GUID, 40, 0}, {GUID, 48, 0},
                                                {GUID, 56, 0}, {GUID, 64, 0}, {END, 0, 0}};
static const struct field sm_info[] = {
    {GUID, SM_INFO_GUID, 0}, {CLEAR, SM_INFO_KEY, 8}, {END, 0, 0}};
static const struct field sm_info_record[] = {
    {GUID, 8 + SM_INFO_GUID, 0}, {CLEAR, 8 + SM_INFO_KEY, 8}, {END, 0, 0}};
static const struct field group_record[] = {
    {GID, MCM_MGID, 0}, {GID, MCM_PORT_GID, 0}, {END, 0, 0}};
static const struct field path_record[] = {{GID, PATH_DGID, 0}, {GID, PATH_SGID, 0}, {END, 0, 0}};
static const struct field service_record[] = {{GID, SERVICE_GID, 0},
                                              {CLEAR, SERVICE_KEY, 16},
                                              {NAME, SERVICE_NAME, SERVICE_NAME_SIZE},
                                              {CLEAR, SERVICE_DATA, SERVICE_SIZE - SERVICE_DATA},
                                              {END, 0, 0}};
static const struct field inform_info[] = {{GID, INFORM_GID, 0}, {END, 0, 0}};
static const struct field class_port_info[] = {
    {GID, 8, 0}, {CLEAR, 24, 16}, {GID, 40, 0}, {CLEAR, 56, 16}, {END, 0, 0}};
static const struct field trap_of_gid[] = {
    {GID, NOTICE_DETAILS_GID, 0}, {GID, NOTICE_ISSUER_GID, 0}, {END, 0, 0}};
static const struct field other_trap[] = {
    {CLEAR, NOTICE_DETAILS + 8, 46}, {GID, NOTICE_ISSUER_GID, 0}, {END, 0, 0}};

enum { SMP_NOTICE = 0x0002 };

/* SMP attributes (IBA 14.2.5) */
static const struct attribute of_smp[] = {
    {0x0010, 0, node_description},
    {SMP_NODE_INFO, 0, node_info},
    {0x0012, 0, NULL}, /* SwitchInfo */
    {0x0014, 0, guid_info},
    {SMP_PORT_INFO, 0, port_info},
    {SMP_PKEY_TABLE, 0, NULL},
    {0x0017, 0, NULL}, /* SLtoVLMappingTable */
    {0x0018, 0, NULL}, /* VLArbitrationTable */
    {0x0019, 0, NULL}, /* LinearForwardingTable */
    {0x001b, 0, NULL}, /* MulticastForwardingTable */
    {SMP_SM_INFO, 0, sm_info},
};

/* SA attributes (IBA 15.2.5) */
static const struct attribute of_sa[] = {
    {SA_CLASS_PORT_INFO, 72, class_port_info},
    {SA_INFORM_INFO, INFORM_SIZE, inform_info},
    {0x0011, 108, node_record},
    {0x0012, 64, port_info_record},
    {0x0018, 32, sm_info_record},
    {0x0020, 8, NULL}, /* LinkRecord */
    {0x0030, 72, guid_info_record},
    {SA_SERVICE_RECORD, SERVICE_SIZE, service_record},
    {0x0033, 72, NULL}, /* P_KeyTableRecord */
    {SA_PATH_RECORD, PATH_SIZE, path_record},
    {SA_MC_MEMBER_RECORD, MCM_SIZE, group_record},
};

static const struct attribute *find(const struct attribute *list, size_t n, uint16_t id)
{
    for (; n > 0; n--, list++)
        if (list->id == id)
            return list;
    return NULL;
}

static void share_field(struct share_map *m, struct span s, const struct field *f)
{
    uint32_t n = f->what == GID ? GID_SIZE : f->what == GUID || f->what == PREFIX ? 8 : f->n;
    uint8_t *p = span_field(s, f->off, n);

    if (!p)
        return;
    switch (f->what) {
    case GID:
        share_gid(m, p);
        break;
    case GUID:
        share_guid(m, p);
        break;
    case PREFIX:
        share_prefix(m, p);
        break;
    case NAME:
        share_name(m, p, n);
        break;
    case CLEAR:
        memset(p, 0, n);
        break;
    case END:
        break;
    }
}

static void share_fields(struct share_map *m, struct span s, const struct field *f)
{
    for (; f && f->what != END; f++)
        share_field(m, s, f);
}

static const struct field *notice_fields(struct span s)
{
    const uint8_t *p = span_field(s, NOTICE_TRAP, 2);

    return p && trap_has_gid(be16(p)) ? trap_of_gid : other_trap;
}

/* ---- subnet management */

/*
 * Whether the attribute is valid. A Get request contains it too, but with old contents of the
 * sender's buffer.
 */
static bool has_meaning(const struct mad *mad)
{
    return mad->method == SMP_SET ||
           (mad->method == SMP_GET_RESP && (mad->status & ~SMP_STATUS_D & 0xffff) == 0);
}

static void share_smp(struct share_map *m, struct span s, const struct mad *mad)
{
    const struct attribute *a = find(of_smp, sizeof(of_smp) / sizeof(*of_smp), mad->attribute);
    struct span data = span_part(s, SMP_DATA, SMP_DATA_SIZE);

    span_clear_part(s, SMP_MKEY, 8);
    if (mad->attribute == SMP_NOTICE)
        share_fields(m, data, notice_fields(data));
    else if (a && has_meaning(mad))
        share_fields(m, data, a->fields);
    else
        span_clear(data, 0);
}

/* ---- subnet administration */

/*
 * Anonymises the records of a MAD. The records of a table continue over RMPP segments; a field
 * split between two segments is cleared in both.
 */
static void share_records(struct share_map *m, struct span data, const struct sa *sa,
                          const struct attribute *a)
{
    uint32_t stride = sa->record_stride >= a->size ? sa->record_stride : a->size;
    bool table = sa->rmpp_type == RMPP_TYPE_DATA;
    uint64_t before = table && sa->segment ? (uint64_t)(sa->segment - 1) * SA_DATA_SIZE : 0;
    int64_t at = -(int64_t)(before % stride);

    if (!table) {
        share_fields(m, data, a->fields);
        span_clear(data, a->size);
        return;
    }
    for (; at < (int64_t)data.cap; at += stride)
        for (const struct field *f = a->fields; f && f->what != END; f++) {
            uint32_t n = f->what == GID ? GID_SIZE : f->n ? f->n : 8;
            int64_t from = at + f->off;
            if (from >= 0 && from < (int64_t)data.cap)
                share_field(m, data, &(struct field){f->what, (uint16_t)from, f->n});
            else if (from < 0 && from + n > 0)
                span_clear_part(data, 0, (uint32_t)(from + n));
        }
}

static void share_sa(struct share_map *m, struct span s, const struct mad_payload *mad)
{
    const struct attribute *a = find(of_sa, sizeof(of_sa) / sizeof(*of_sa), mad->mad.attribute);
    struct span data = span_part(s, SA_DATA, SA_DATA_SIZE);

    span_clear_part(s, SA_SM_KEY, 8);
    if (mad->result == WIRE_OK && mad->mad.attribute == SA_NOTICE)
        share_fields(m, span_part(data, 0, NOTICE_SIZE), notice_fields(data));
    else if (mad->result == WIRE_OK && a)
        share_records(m, data, &mad->sa, a);
    else
        span_clear(data, 0);
    if (mad->mad.attribute == SA_NOTICE)
        span_clear(data, NOTICE_SIZE);
}

/* ---- communication management */

static const struct field req[] = {{GUID, REQ_CA_GUID, 0},
                                   {GID, REQ_PRIMARY_LOCAL_GID, 0},
                                   {GID, REQ_PRIMARY_REMOTE_GID, 0},
                                   {GID, REQ_ALTERNATE_LOCAL_LID + 4, 0},
                                   {GID, REQ_ALTERNATE_LOCAL_LID + 20, 0},
                                   {END, 0, 0}};
static const struct field rep[] = {{GUID, REP_CA_GUID, 0}, {END, 0, 0}};
static const struct field rej[] = {{CLEAR, REJ_ARI, REJ_PRIVATE - REJ_ARI}, {END, 0, 0}};
static const struct field lap[] = {
    {GID, LAP_ALTERNATE_LOCAL_LID + 4, 0}, {GID, LAP_ALTERNATE_LOCAL_LID + 20, 0}, {END, 0, 0}};
static const struct field apr[] = {{CLEAR, APR_STATUS + 3, APR_PRIVATE - APR_STATUS - 3},
                                   {END, 0, 0}};
static const struct field sidr_rep[] = {
    {CLEAR, SIDR_REP_QKEY + 4, SIDR_REP_PRIVATE - SIDR_REP_QKEY - 4}, {END, 0, 0}};
static const struct attribute of_cm[] = {
    {CM_REQ, 0, req}, {CM_REP, 0, rep}, {CM_REJ, 0, rej},
    {CM_LAP, 0, lap}, {CM_APR, 0, apr}, {CM_SIDR_REP, 0, sidr_rep},
};

static void share_cm(struct share_map *m, struct span s, const struct mad_payload *mad, bool ipoib)
{
    const struct attribute *a = find(of_cm, sizeof(of_cm) / sizeof(*of_cm), mad->mad.attribute);

    if (!mad->has_header) {
        span_clear(s, MAD_DATA);
        return;
    }
    share_fields(m, span_part(s, 0, MAD_SIZE), a ? a->fields : NULL);
    if (mad->result == WIRE_OK)
        span_clear(s, mad->cm.private_off + (ipoib ? CM_PRIVATE_SIZE : 0));
    else if (mad->mad.attribute != CM_REQ)
        span_clear(s, RTU_PRIVATE);
}

void share_mad(struct share_map *m, struct span s, const struct mad_payload *mad, bool ipoib)
{
    span_clear(s, MAD_SIZE);
    switch (mad->kind) {
    case MAD_KIND_SMP:
        share_smp(m, s, &mad->mad);
        break;
    case MAD_KIND_SA:
        share_sa(m, s, mad);
        break;
    case MAD_KIND_CM:
        share_cm(m, s, mad, ipoib);
        break;
    case MAD_KIND_OTHER:
        span_clear(s, MAD_DATA);
        break;
    }
}

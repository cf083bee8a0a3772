/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises MADs of subnet administration. See share_sa.h. */
#include "capture/share/share_sa.h"

#include <string.h>

#include "capture/share/share_field.h"

/* ---- records (IBA 15.2.5) */

enum { RECORD_MAX = SA_DATA_SIZE };

/* A record: its fields, and the bits of its components, in the order of the component mask. */
struct record {
    uint16_t attribute;
    uint16_t size;              /* bytes */
    const struct field *fields; /* NULL: nothing to map or clear */
    const uint16_t *components; /* ends with 0; NULL: the attribute has no component mask */
};

/* Offset of the attribute in a record, after LID, port and reserved bytes. */
enum { NODE_INFO = 4, PORT_INFO = 4, SM_INFO = 4, NODE_DESCRIPTION = 44 };

static const struct field node_fields[] = {{GUID, NODE_INFO + NODE_INFO_SYSTEM_GUID, 0},
                                           {GUID, NODE_INFO + NODE_INFO_NODE_GUID, 0},
                                           {GUID, NODE_INFO + NODE_INFO_PORT_GUID, 0},
                                           {NAME, NODE_DESCRIPTION, 64},
                                           {END, 0, 0}};
static const struct field port_fields[] = {{CLEAR, PORT_INFO, 8}, /* M_Key */
                                           {PREFIX, PORT_INFO + PORT_INFO_GID_PREFIX, 0},
                                           {END, 0, 0}};
static const struct field sm_fields[] = {
    {GUID, SM_INFO + SM_INFO_GUID, 0}, {CLEAR, SM_INFO + SM_INFO_KEY, 8}, {END, 0, 0}};
static const struct field guid_fields[] = {{GUID, 8, 0},  {GUID, 16, 0}, {GUID, 24, 0},
                                           {GUID, 32, 0}, {GUID, 40, 0}, {GUID, 48, 0},
                                           {GUID, 56, 0}, {GUID, 64, 0}, {END, 0, 0}};
static const struct field group_fields[] = {
    {GID, MCM_MGID, 0}, {GID, MCM_PORT_GID, 0}, {END, 0, 0}};
static const struct field path_fields[] = {{GID, PATH_DGID, 0}, {GID, PATH_SGID, 0}, {END, 0, 0}};
static const struct field service_fields[] = {{GID, SERVICE_GID, 0},
                                              {CLEAR, SERVICE_KEY, 16},
                                              {NAME, SERVICE_NAME, SERVICE_NAME_SIZE},
                                              {CLEAR, SERVICE_DATA, SERVICE_SIZE - SERVICE_DATA},
                                              {END, 0, 0}};
static const struct field inform_fields[] = {{GID, INFORM_GID, 0}, {END, 0, 0}};
static const struct field class_fields[] = {
    {GID, 8, 0}, {CLEAR, 24, 16}, {GID, 40, 0}, {CLEAR, 56, 16}, {END, 0, 0}};

/* Reserved components have a bit in the mask, too. Components after the last one are cleared. */
static const uint16_t node_components[] = {16, 16, 8,  8,  8, 8,  64,  64,
                                           64, 16, 16, 32, 8, 24, 512, 0};
/* up to the VLCap; the rest is one component here */
static const uint16_t port_components[] = {16, 8, 8, 64, 64, 16, 16, 32, 16, 16, 8, 8, 8,   8,
                                           4,  4, 4, 4,  2,  3,  3,  4,  4,  4,  4, 4, 180, 0};
static const uint16_t sm_components[] = {16, 16, 64, 64, 32, 4, 4, 0};
static const uint16_t link_components[] = {16, 8, 8, 16, 0};
static const uint16_t guid_components[] = {16, 8, 8, 32, 64, 64, 64, 64, 64, 64, 64, 64, 0};
static const uint16_t service_components[] = {64, 128, 16, 16, 32, 128, 512, 0};
static const uint16_t pkey_components[] = {16, 16, 8, 24, 512, 0};
/* from the two halves of the ServiceID to the preference */
static const uint16_t path_components[] = {32, 32, 128, 128, 16, 16, 1, 3, 20, 8, 8, 1,
                                           7,  16, 12,  4,   2,  6,  2, 6, 2,  6, 8, 0};
static const uint16_t group_components[] = {128, 128, 32, 16, 2, 6, 8, 16, 2, 6,
                                            2,   6,   4,  20, 8, 4, 4, 1,  0};

static const struct record records[] = {
    {SA_CLASS_PORT_INFO, 72, class_fields, NULL},
    {SA_INFORM_INFO, INFORM_SIZE, inform_fields, NULL},
    {0x0011, 108, node_fields, node_components},
    {0x0012, 64, port_fields, port_components},
    {0x0018, 32, sm_fields, sm_components},
    {0x0020, 8, NULL, link_components},
    {0x0030, 72, guid_fields, guid_components},
    {SA_SERVICE_RECORD, SERVICE_SIZE, service_fields, service_components},
    {0x0033, 72, NULL, pkey_components},
    {SA_PATH_RECORD, PATH_SIZE, path_fields, path_components},
    {SA_MC_MEMBER_RECORD, MCM_SIZE, group_fields, group_components},
};

static const struct record *find_record(uint16_t attribute)
{
    for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++)
        if (records[i].attribute == attribute)
            return &records[i];
    return NULL;
}

/* ---- components */

/* The components that are valid. A response that refuses a request repeats the request. */
static uint64_t valid_components(const struct sa *sa)
{
    bool response = sa_component_is_valid(sa, 0);

    return response && sa->mad.status == 0 ? UINT64_MAX : sa->component_mask;
}

/* Sets in KEPT the bits of the valid components of a record. */
static void mark_valid(uint8_t kept[RECORD_MAX], const uint16_t *components, uint64_t valid)
{
    for (uint32_t at = 0; *components; at += *components++, valid >>= 1)
        for (uint32_t i = at; valid & 1 && i < at + *components; i++)
            kept[i / 8] |= (uint8_t)(0x80 >> i % 8);
}

/* The records in a MAD. Those of a table continue over RMPP segments. */
struct record_run {
    uint32_t stride; /* bytes from record to record */
    uint32_t before; /* bytes of the first record that are in earlier segments */
    bool single;     /* only one record */
};

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

static struct record_run record_table(const struct sa *sa, const struct record *r)
{
    struct record_run t = {.stride = sa->record_stride >= r->size ? sa->record_stride : r->size,
                           .single = has_one_record(sa)};
    uint64_t before = !t.single && sa->segment ? (uint64_t)(sa->segment - 1) * SA_DATA_SIZE : 0;

    t.before = (uint32_t)(before % t.stride);
    return t;
}

static void clear_invalid(struct span data, const struct record_run *t, const struct record *r,
                          uint64_t valid)
{
    uint8_t kept[RECORD_MAX] = {0};

    if (r->components)
        mark_valid(kept, r->components, valid);
    else
        memset(kept, 0xff, r->size);
    for (uint32_t i = 0, at = t->before; i < data.cap; i++, at = at + 1 < t->stride ? at + 1 : 0)
        data.p[i] &= at < r->size && (!t->single || i < r->size) ? kept[at] : 0;
}

/* ---- mapping */

/*
 * Maps a field of the record that starts at AT. Of a GID in two segments, each half is mapped; the
 * second one only if the first is known: SPLIT is the whole record, from the model, or NULL. Other
 * fields in two segments are cleared in both.
 */
static void share_field_at(struct share_map *m, struct span data, int64_t at, const struct field *f,
                           const struct split_record *split)
{
    int64_t from = at + f->off, end = from + field_size(f);

    if (f->kind == GID && from + GID_HALF == SA_DATA_SIZE && data.cap == SA_DATA_SIZE)
        share_gid_first(m, data.p + from);
    else if (f->kind == GID && from == -GID_HALF && split && data.cap >= GID_HALF)
        share_gid_second(m, split->copy + f->off, data.p);
    else if (from >= 0 && from < (int64_t)data.cap)
        share_field(m, data, &(struct field){f->kind, (uint16_t)from, f->n});
    else if (from < 0 && end > 0)
        span_clear_part(data, 0, (uint32_t)end);
}

static void share_records(struct share_map *m, struct span data, const struct sa *sa,
                          const struct record *r, const struct split_record *split)
{
    struct record_run t = record_table(sa, r);

    clear_invalid(data, &t, r, valid_components(sa));
    for (int64_t at = -(int64_t)t.before; at < (int64_t)data.cap; at += t.stride) {
        for (const struct field *f = r->fields; f && f->kind != END; f++)
            share_field_at(m, data, at, f, split);
        if (t.single)
            break;
    }
}

void share_sa(struct share_map *m, struct span s, const struct mad_payload *mad,
              const struct split_record *split)
{
    const struct record *r = find_record(mad->mad.attribute);
    struct span data = span_part(s, SA_DATA, SA_DATA_SIZE);

    span_clear_part(s, SA_SM_KEY, 8);
    if (mad->result != WIRE_OK) {
        span_clear(data, 0);
        return;
    }
    span_clear(data, mad->sa.data.len); /* after the last record of a table */
    data = span_part(data, 0, mad->sa.data.len);
    if (mad->mad.attribute == SA_NOTICE) {
        share_fields(m, span_part(data, 0, NOTICE_SIZE), notice_fields(data));
        span_clear(data, NOTICE_SIZE);
    } else if (r) {
        share_records(m, data, &mad->sa, r, split);
    } else {
        span_clear(data, 0);
    }
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises management datagrams. See share_mad.h. */
#include "capture/share/share_mad.h"

#include <stddef.h>

#include "capture/share/share_field.h"
#include "capture/share/share_sa.h"

/*
 * An attribute; fields NULL: nothing to map or clear. size: of an SMP's attribute, in bytes; its
 * data may be longer. 0 for CM.
 */
struct shared_attribute {
    uint16_t id;
    const struct field *fields;
    uint16_t size;
};

static const struct shared_attribute *find_attribute(const struct shared_attribute *list, size_t n,
                                                     uint16_t id)
{
    for (; n > 0; n--, list++)
        if (list->id == id)
            return list;
    return NULL;
}

/* ---- subnet management */

static const struct field node_info[] = {{GUID, NODE_INFO_SYSTEM_GUID, 0},
                                         {GUID, NODE_INFO_NODE_GUID, 0},
                                         {GUID, NODE_INFO_PORT_GUID, 0},
                                         {END, 0, 0}};
static const struct field node_description[] = {{NAME, 0, 64}, {END, 0, 0}};
static const struct field port_info[] = {{CLEAR, 0, 8}, /* M_Key */
                                         {PREFIX, PORT_INFO_GID_PREFIX, 0},
                                         {END, 0, 0}};
static const struct field guid_info[] = {{GUID, 0, 0},  {GUID, 8, 0},  {GUID, 16, 0},
                                         {GUID, 24, 0}, {GUID, 32, 0}, {GUID, 40, 0},
                                         {GUID, 48, 0}, {GUID, 56, 0}, {END, 0, 0}};
static const struct field sm_info[] = {
    {GUID, SM_INFO_GUID, 0}, {CLEAR, SM_INFO_KEY, 8}, {END, 0, 0}};

enum { SMP_NOTICE = 0x0002 };

/* SMP attributes (IBA 14.2.5) */
static const struct shared_attribute of_smp[] = {
    {0x0010, node_description, 64},
    {SMP_NODE_INFO, node_info, 40},
    {0x0012, NULL, 20}, /* SwitchInfo */
    {0x0014, guid_info, 64},
    {SMP_PORT_INFO, port_info, 64},
    {SMP_PKEY_TABLE, NULL, 64},
    {0x0017, NULL, 8},  /* SLtoVLMappingTable */
    {0x0018, NULL, 64}, /* VLArbitrationTable */
    {0x0019, NULL, 64}, /* LinearForwardingTable */
    {0x001b, NULL, 64}, /* MulticastForwardingTable */
    {SMP_SM_INFO, sm_info, 21},
};

/*
 * Whether the attribute is valid. A Get request contains it too, but with old contents of the
 * sender's buffer.
 */
static bool has_meaning(const struct mad *mad)
{
    return mad->method == SMP_SET ||
           (mad->method == SMP_GET_RESP && (mad->status & ~SMP_STATUS_D & 0xffff) == 0);
}

/* Senders reuse buffers: reserved bytes may be parts of earlier messages. */
static void clear_reserved(struct span s, const struct mad *mad)
{
    bool directed = mad->class == MAD_CLASS_SMP_DIRECTED;
    uint32_t from = directed ? SMP_DR_DLID + 2 : SMP_DR_SLID;

    span_clear_part(s, from, SMP_DATA - from);
    if (!directed)
        span_clear(s, SMP_INITIAL_PATH);
}

static void share_smp(struct share_map *m, struct span s, const struct mad *mad)
{
    const struct shared_attribute *a = find_attribute(of_smp, sizeof(of_smp) / sizeof(*of_smp),
                                                      mad->attribute);
    struct span data = span_part(s, SMP_DATA, SMP_DATA_SIZE);

    span_clear_part(s, SMP_MKEY, 8);
    clear_reserved(s, mad);
    if (mad->attribute == SMP_NOTICE) {
        share_fields(m, data, notice_fields(data));
    } else if (a && has_meaning(mad)) {
        share_fields(m, data, a->fields);
        span_clear(data, a->size);
    } else {
        span_clear(data, 0);
    }
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
static const struct shared_attribute of_cm[] = {
    {CM_REQ, req, 0}, {CM_REP, rep, 0}, {CM_REJ, rej, 0},
    {CM_LAP, lap, 0}, {CM_APR, apr, 0}, {CM_SIDR_REP, sidr_rep, 0},
};

static void share_cm(struct share_map *m, struct span s, const struct mad_payload *mad, bool ipoib)
{
    const struct shared_attribute *a = find_attribute(of_cm, sizeof(of_cm) / sizeof(*of_cm),
                                                      mad->mad.attribute);

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

void share_mad(struct share_map *m, struct span s, const struct mad_payload *mad, bool ipoib,
               const struct split_record *split)
{
    span_clear(s, MAD_SIZE);
    switch (mad->kind) {
    case MAD_KIND_SMP:
        share_smp(m, s, &mad->mad);
        break;
    case MAD_KIND_SA:
        share_sa(m, s, mad, split);
        break;
    case MAD_KIND_CM:
        share_cm(m, s, mad, ipoib);
        break;
    case MAD_KIND_OTHER:
        span_clear(s, MAD_DATA);
        break;
    }
}

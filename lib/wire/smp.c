/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/smp.h"

/*
 * Decode the fields of directed-route SMPs only (IBA 14.2.1.2); their direction bit is the highest
 * bit of the status.
 */
static void decode_directed(struct view v, struct smp *s)
{
    s->mad.status &= (uint16_t)~SMP_STATUS_D;
    s->hop_count = v.p[SMP_HOP_COUNT];
    if (view_has(v, SMP_INITIAL_PATH, SMP_PATH_SIZE) == WIRE_OK)
        s->initial_path = v.p + SMP_INITIAL_PATH;
}

enum wire_result smp_decode(struct view v, struct smp *s)
{
    memset(s, 0, sizeof *s);
    enum wire_result r = mad_decode(v, &s->mad);
    if (r != WIRE_OK)
        return r;
    s->directed = s->mad.class == MAD_CLASS_SMP_DIRECTED;
    if (!s->directed && s->mad.class != MAD_CLASS_SMP)
        return WIRE_FOREIGN;
    if (v.len < MAD_SIZE)
        return WIRE_MALFORMED;
    r = view_has(v, 0, SMP_DATA);
    if (r != WIRE_OK)
        return r;
    if (s->directed)
        decode_directed(v, s);
    s->data = view_sub(v, SMP_DATA, SMP_DATA_SIZE);
    return s->hop_count > SMP_HOPS_MAX ? WIRE_MALFORMED : WIRE_OK;
}

/* Is this the attribute, and were its first size bytes captured? */
static enum wire_result attribute_is(const struct smp *s, uint16_t attribute, uint32_t size)
{
    return s->mad.attribute == attribute ? view_has(s->data, 0, size) : WIRE_FOREIGN;
}

enum wire_result smp_node_info(const struct smp *s, struct node_info *n)
{
    enum wire_result r = attribute_is(s, SMP_NODE_INFO, NODE_INFO_SIZE);
    if (r != WIRE_OK)
        return r;
    const uint8_t *d = s->data.p;
    *n = (struct node_info){
        .type = d[NODE_INFO_TYPE],
        .ports = d[NODE_INFO_PORTS],
        .partition_cap = be16(d + NODE_INFO_PARTITION_CAP),
        .port_guid = be64(d + NODE_INFO_PORT_GUID),
    };
    return WIRE_OK;
}

struct port_info port_info_read(const uint8_t *d)
{
    return (struct port_info){
        .gid_prefix = be64(d + PORT_INFO_GID_PREFIX),
        .lid = be16(d + PORT_INFO_LID),
        .state = d[PORT_INFO_SPEED_STATE] & 0xf,
        .lmc = d[PORT_INFO_MKEY_LMC] & 7,
        .neighbor_mtu = d[PORT_INFO_MTU_SMSL] >> 4,
        .mtu_cap = d[PORT_INFO_MTU_CAP] & 0xf,
    };
}

enum wire_result smp_port_info(const struct smp *s, struct port_info *p)
{
    enum wire_result r = attribute_is(s, SMP_PORT_INFO, PORT_INFO_SIZE);
    if (r != WIRE_OK)
        return r;
    *p = port_info_read(s->data.p);
    p->port = (uint8_t)s->mad.modifier; /* the higher bits are flags, if used */
    p->reregister = view_has(s->data, PORT_INFO_REREGISTER, 1) == WIRE_OK &&
                    s->data.p[PORT_INFO_REREGISTER] >> 7;
    return WIRE_OK;
}

enum wire_result smp_pkey_table(const struct smp *s, struct pkey_table *t)
{
    enum wire_result r = attribute_is(s, SMP_PKEY_TABLE, PKEY_BLOCK * 2);
    if (r == WIRE_OK)
        *t = (struct pkey_table){
            .port = (uint16_t)(s->mad.modifier >> 16),
            .block = (uint16_t)s->mad.modifier,
            .p = s->data.p,
        };
    return r;
}

enum wire_result smp_sm_info(const struct smp *s, struct sm_info *i)
{
    enum wire_result r = attribute_is(s, SMP_SM_INFO, SM_INFO_SIZE);
    if (r != WIRE_OK)
        return r;
    const uint8_t *d = s->data.p;
    *i = (struct sm_info){
        .guid = be64(d + SM_INFO_GUID),
        .state = d[SM_INFO_PRIORITY_STATE] & 0xf,
        .control = (uint8_t)s->mad.modifier,
    };
    return WIRE_OK;
}

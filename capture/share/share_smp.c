/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises subnet management packets. See share_mad.h. */
#include "capture/share/share_attributes.h"
#include "capture/share/share_mad.h"

/* ---- attributes (IBA 14.2.5) */

static const struct field node_description[] = {MAP_NAME, LAYOUT_END};
static const struct field node_info[] = {NODE_INFO_FIELDS, LAYOUT_END};
/* capacities, defaults, LifeTimeValue, state, LIDs, enforcement, filters; top of multicast */
static const struct field switch_info[] = {KEEP(133), ZERO(11), KEEP(16), LAYOUT_END};
static const struct field guid_info[] = {GUID_INFO_FIELDS, LAYOUT_END};
/* also CapabilityMask2, extended speeds */
static const struct field port_info[] = {PORT_INFO_FIELDS, KEEP(24), ZERO(3), KEEP(5), LAYOUT_END};
static const struct field whole_block[] = {KEEP(512), LAYOUT_END};
static const struct field sl_to_vl[] = {KEEP(64), LAYOUT_END};
static const struct field sm_info[] = {SM_INFO_FIELDS, LAYOUT_END};

enum { SMP_NOTICE = 0x0002 };

static const struct shared_attribute {
    uint16_t id;
    const struct field *layout;
} attributes[] = {
    {0x0010, node_description}, {SMP_NODE_INFO, node_info}, {0x0012, switch_info},
    {0x0014, guid_info},        {SMP_PORT_INFO, port_info}, {SMP_PKEY_TABLE, whole_block},
    {0x0017, sl_to_vl},         {0x0019, whole_block}, /* LinearForwardingTable */
    {0x001b, whole_block},                             /* MulticastForwardingTable */
    {SMP_SM_INFO, sm_info},
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

static void share_attribute(struct part data, const struct mad *mad)
{
    bool has_notice = mad->method == SMP_TRAP || mad->method == SMP_TRAP_REPRESS;

    if (mad->attribute == SMP_NOTICE && (has_notice || has_meaning(mad)))
        share_notice(data);
    for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++)
        if (attributes[i].id == mad->attribute && has_meaning(mad))
            share_layout(data, attributes[i].layout);
}

/* ---- directed routes (IBA 14.2.1.2) */

/* Keeps the entries 1 to HOPS; the others may be old contents of the sender's buffer. */
static void share_path(struct part p, uint32_t at, uint32_t hops)
{
    part_keep(p, at + 1, hops < SMP_HOPS_MAX ? hops : SMP_HOPS_MAX);
}

/*
 * The entries of the return path that exist: in a request, each switch adds one and advances the
 * hop pointer.
 */
static uint32_t returned_hops(struct part p, uint32_t hops)
{
    enum { STATUS_D = 0x80 };
    uint32_t pointer = p.from[SMP_HOP_POINTER], added = pointer ? pointer - 1 : 0;

    return p.from[MAD_STATUS] & STATUS_D || added > hops ? hops : added;
}

static void share_route(struct part p, uint32_t hops)
{
    part_keep(p, SMP_HOP_POINTER, 2);
    part_keep(p, SMP_DR_SLID, 4);
    share_path(p, SMP_INITIAL_PATH, hops);
    share_path(p, SMP_RETURN_PATH, returned_hops(p, hops));
}

/* The M_Key stays zero. */
void share_smp(struct part p, const struct mad_payload *mad)
{
    if (mad->result != WIRE_OK)
        return;
    if (mad->smp.directed)
        share_route(p, mad->smp.hop_count);
    share_attribute(part_sub(p, SMP_DATA, SMP_DATA_SIZE), &mad->mad);
}

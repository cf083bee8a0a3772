/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attributes of the port by libibverbs. See verbs.h. */
#include "probe/link/verbs.h"

#include <string.h>

#include "hca/device.h"

static void read_port_pkeys(struct verbs *v, unsigned n)
{
    struct port_facts *f = &v->base.facts;
    f->n_pkeys = MIN(n, TRANSPORT_PKEYS);
    for (unsigned i = 0; i < f->n_pkeys; i++)
        f->pkeys[i] = device_pkey(v->context, f->port, i);
}

/*
 * IBA 14.2.5.6: LinkWidthActive is one bit for 1, 4, 8, 12 or (since 1.3) 2; LinkSpeedActive one
 * bit for 2.5 Gb/s and so on
 */
static uint32_t port_rate_100mbps(const struct ibv_port_attr *p)
{
    static const struct {
        uint8_t code;
        uint32_t value;
    } widths[] = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}},
      speeds[] = {{1, 25},   {2, 50},   {4, 100},  {8, 100},
                  {16, 140}, {32, 250}, {64, 500}, {128, 1000}};
    uint32_t width = 0, speed = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(widths); i++)
        width = p->active_width == widths[i].code ? widths[i].value : width;
    for (size_t i = 0; i < G_N_ELEMENTS(speeds); i++)
        speed = p->active_speed == speeds[i].code ? speeds[i].value : speed;
    return width * speed;
}

bool verbs_read_facts(struct verbs *v)
{
    struct port_facts *f = &v->base.facts;
    struct ibv_port_attr p;
    union ibv_gid gid;
    if (ibv_query_port(v->context, (uint8_t)f->port, &p) ||
        ibv_query_gid(v->context, (uint8_t)f->port, 0, &gid))
        return false;
    g_strlcpy(f->device, ibv_get_device_name(v->context->device), sizeof f->device);
    memcpy(f->gid, gid.raw, 16);
    f->lid = p.lid;
    f->sm_lid = p.sm_lid;
    f->sm_sl = p.sm_sl;
    f->lmc = p.lmc;
    f->state = p.state; /* libibverbs uses the IBA's port states */
    f->mtu = (uint8_t)p.active_mtu;
    f->rate_100mbps = port_rate_100mbps(&p);
    f->pkey_violations = p.bad_pkey_cntr;
    f->qkey_violations = p.qkey_viol_cntr;
    f->infiniband = p.link_layer != IBV_LINK_LAYER_ETHERNET;
    read_port_pkeys(v, p.pkey_tbl_len);
    return true;
}

unsigned verbs_choose_port(struct ibv_context *context, unsigned requested)
{
    struct ibv_device_attr d;
    struct ibv_port_attr p;
    unsigned found = 0;
    if (ibv_query_device(context, &d))
        return 0;
    for (unsigned i = 1; i <= d.phys_port_cnt; i++) {
        if (ibv_query_port(context, (uint8_t)i, &p) || (requested && requested != i))
            continue;
        bool usable = requested || p.link_layer != IBV_LINK_LAYER_ETHERNET;
        if (usable && (!found || (p.state == IBV_PORT_ACTIVE && !requested)))
            found = i;
        if (requested || (usable && p.state == IBV_PORT_ACTIVE))
            break;
    }
    return found;
}

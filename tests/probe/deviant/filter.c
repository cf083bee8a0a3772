/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which received packets the station accepts: without a fault, all. See faults.def. */
#include "tests/probe/deviant/deviant.h"

#include "wire/arp.h"
#include "wire/encap.h"

static bool is_dead(const struct deviant *d)
{
    return (d->fault == FAULT_DIES && d->replies >= DIES_AFTER) ||
           (d->fault == FAULT_DIES_SOON && d->replies >= DIES_SOON_AFTER);
}

static bool minds_header(const struct deviant *d, bool ip, uint16_t reserved)
{
    switch (d->fault) {
    case FAULT_RESERVED_MINDED:
    case FAULT_RESERVED_MINDED6:
        return reserved != 0;
    case FAULT_RESERVED_MINDED_IP:
        return ip && reserved != 0;
    default:
        return false;
    }
}

static bool minds_grh(const struct deviant *d, bool ip, bool grh, bool multicast)
{
    switch (d->fault) {
    case FAULT_GRH_NEEDED:
        return !grh;
    case FAULT_GRH_REFUSED:
    case FAULT_GRH_REFUSED6:
        return grh && !multicast;
    case FAULT_GRH_REFUSED_IP:
        return ip && grh && !multicast;
    default:
        return false;
    }
}

static bool minds_size(const struct deviant *d, uint32_t bytes)
{
    switch (d->fault) {
    case FAULT_MTU_1500:
    case FAULT_MTU_1500_6:
        return bytes > 1500;
    case FAULT_MTU_1020:
        return bytes > 1020;
    case FAULT_MTU_1000:
        return bytes > 1000;
    case FAULT_LEAST_76:
        return bytes < 76;
    default:
        return false;
    }
}

/* Only for ARP: only requests for its own address count. */
static bool is_deaf(struct deviant *d, const struct ud_from *from, bool multicast)
{
    enum { TARGET = ARP_SIZE_FIXED + 2 * LLADDR_SIZE + 4 };
    struct view v = view_from(from->bytes, ENCAP_SIZE);
    if (view_has(v, TARGET, 4) != WIRE_OK || memcmp(v.p + TARGET, d->ip4, 4) != 0)
        return false;
    if (d->fault == FAULT_UNICAST_DEAF)
        return !multicast;
    return d->fault == FAULT_MULTICAST_DEAF && multicast && d->requests++ > 0;
}

bool takes(struct deviant *d, const struct ud_from *from)
{
    struct encap e;
    bool multicast = from->grh && from->grh[GRH_DGID] == 0xff;
    if (encap_decode(from->bytes, &e) != WIRE_OK || is_dead(d))
        return false;
    bool ipv4 = e.type == TYPE_IPV4;
    if (minds_header(d, ipv4, e.reserved) || minds_grh(d, ipv4, from->grh != NULL, multicast))
        return false;
    if (e.type == TYPE_ARP)
        return !is_deaf(d, from, multicast);
    return !minds_size(d, from->bytes.cap - ENCAP_SIZE);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Creates groups with wrong parameters; the SA accepts each of them. See faults.def. */
#include "tests/probe/deviant/deviant.h"

#include <string.h>

#include "cli/fail.h"
#include "wire/put.h"
#include "wire/mgid.h"
#include "probe/link/groups.h"
#include "probe/link/link.h"
#include "probe/run/run.h"

enum { MTU_1024 = 3, RATE_2_5 = 2 }; /* IBA 15.2.5.17: codes of the record */

/* 239.1.2.3 on this link (RFC 4391 §4) */
static void ipv4_mgid(const struct deviant *d, uint8_t *mgid)
{
    memcpy(mgid, d->link.group.mgid, 16);
    put32(mgid + MGID_GROUP_IPV4, 0x0f010203);
}

static bool make(struct deviant *d, const uint8_t *mgid, const struct mc_group *like)
{
    struct mc_group before = d->link.group, g;
    uint16_t status;
    d->link.group = *like;
    bool made = group_join(&d->target, mgid, JOIN_FULL, true, &g, &status) == SA_SUCCESS;
    d->link.group = before;
    return made;
}

bool make_groups(struct deviant *d, GError **error)
{
    struct mc_group like = d->link.group;
    uint8_t mgid[16];
    ipv4_mgid(d, mgid);
    switch (d->fault) {
    case FAULT_GROUP_T:
        mgid[MGID_FLAGS_SCOPE] &= 0x0f;
        break;
    case FAULT_GROUP_FLAGS:
        mgid[MGID_FLAGS_SCOPE] |= 0x20;
        break;
    case FAULT_GROUP_ID:
        mgid[MGID_GROUP] = 0x01;
        break;
    case FAULT_GROUP_MTU:
        like.mtu = MTU_1024;
        break;
    case FAULT_GROUP_RATE:
        like.rate = RATE_2_5;
        break;
    default:
        return true;
    }
    return make(d, mgid, &like) || fail_with(error, "the subnet administrator refuses the group");
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* P_Key of a partition. See partition.h. */
#include "capture/multicast/partition.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "cli/say.h"

static bool is_member(uint16_t pkey, uint16_t wanted)
{
    return ((pkey ^ wanted) & 0x7fff) == 0 && (pkey & 0x7fff) != 0;
}

uint16_t partition_pkey(const struct device *device, int index)
{
    __be16 pkey;

    return ibv_query_pkey(device->context, device->port, index, &pkey) == 0 ? ntohs(pkey) : 0;
}

static void report_pkeys(const struct device *device, unsigned wanted)
{
    char all[256] = "";
    size_t at = 0;

    for (int i = 0; i < device->port_attr.pkey_tbl_len && at + 8 < sizeof(all); i++)
        if (partition_pkey(device, i) != 0)
            at += (size_t)snprintf(all + at, sizeof(all) - at, " 0x%04x",
                                   partition_pkey(device, i));
    say("%s port %u is not in partition 0x%04x; it has the P_Keys%s", device_name(device),
        device->port, wanted, at ? all : ": none");
}

bool partition_find(const struct device *device, unsigned wanted, uint16_t *pkey, uint16_t *index)
{
    bool found = false;

    for (int i = 0; i < device->port_attr.pkey_tbl_len; i++) {
        uint16_t one = partition_pkey(device, i);

        if (!is_member(one, wanted ? (uint16_t)wanted : found ? *pkey : one))
            continue;
        if (found && !(one & 0x8000))
            continue;
        found = true;
        *pkey = one;
        *index = (uint16_t)i;
    }
    if (!found)
        report_pkeys(device, wanted ? wanted : 0xffff);
    return found;
}

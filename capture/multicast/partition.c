/* SPDX-License-Identifier: GPL-2.0-or-later */
/* P_Key of a partition. See partition.h. */
#include "capture/multicast/partition.h"

#include <glib.h>

#include "cli/fail.h"
#include "hca/pkeys.h"

bool partition_find(const struct device *device, unsigned wanted, uint16_t *pkey, uint16_t *index,
                    GError **error)
{
    unsigned n = device->port_attr.pkey_tbl_len, found;
    uint16_t *table = g_new(uint16_t, n);
    bool has;

    for (unsigned i = 0; i < n; i++)
        table[i] = device_pkey(device->context, device->port, i);
    has = pkeys_find(table, n, (uint16_t)wanted, &found);
    if (has) {
        *pkey = table[found];
        *index = (uint16_t)found;
    } else {
        char *all = pkeys_text(table, n);

        fail_with(error, "%s port %u is not in partition 0x%04x; it has the P_Keys%s",
                  device_name(device), device->port, wanted ? wanted : 0xffff, all);
        g_free(all);
    }
    g_free(table);
    return has;
}

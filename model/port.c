/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/port.h"

guint port_number_hash(gconstpointer key)
{
    const struct port_number *k = key;
    guint32 h = 2166136261u ^ k->number * 2654435761u ^ k->port.kind;
    for (unsigned i = 0; i < sizeof k->port.address; i += 4)
        h = (h ^ be32(k->port.address + i)) * 16777619u;
    return h ^ h >> 15;
}

gboolean port_number_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(struct port_number)) == 0;
}

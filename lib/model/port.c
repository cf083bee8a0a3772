/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/port.h"

#include "model/hash.h"

static uint64_t mix_port(uint64_t h)
{
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93ull;
    return h ^ h >> 32;
}

struct port port_gid(uint16_t interface, const uint8_t *gid)
{
    return port_make(PORT_GID, interface, mix_port(be64(gid) ^ mix_port(be64(gid + 8))));
}

struct port port_ip(uint16_t interface, const uint8_t *ip, size_t len)
{
    return port_make(PORT_IP, interface,
                     len == 4 ? be32(ip) : mix_port(be64(ip) ^ mix_port(be64(ip + 8))));
}

guint port_number_place(const struct port_number *key)
{
    return (guint)mix_port(key->port.id ^ (uint64_t)key->number * 0x9e3779b97f4a7c15ull);
}

guint port_transaction_place(const struct port *port, uint64_t tid)
{
    struct port_number key = port_number(port, (uint32_t)(tid ^ tid >> 32));
    return port_number_place(&key);
}

guint port_number_hash(gconstpointer key)
{
    const struct port_number *k = key;
    uint8_t bytes[sizeof k->port.id + sizeof k->number];
    memcpy(bytes, &k->port.id, sizeof k->port.id);
    memcpy(bytes + sizeof k->port.id, &k->number, sizeof k->number);
    return hash_bytes(bytes, sizeof bytes);
}

gboolean port_number_equal(gconstpointer a, gconstpointer b)
{
    const struct port_number *x = a, *y = b;
    return port_same(x->port, y->port) && x->number == y->number;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who sends and who receives, as far as a packet tells: a LID within a subnet, a GID where packets carry a
 * GRH but no LRH (RoCE), an IP address (RoCE v2). With a number behind it (a QPN or a communication ID) a
 * key for hash tables.
 */
#ifndef IPOIB_MODEL_PORT_H
#define IPOIB_MODEL_PORT_H

#include <glib.h>

#include "wire/ib.h"

enum port_kind { PORT_NONE, PORT_LID, PORT_GID, PORT_IP };

struct port {
    uint8_t kind;
    uint8_t address[16]; /* big-endian; octets that the kind does not use are 0 */
};

static inline struct port port_lid(uint16_t lid)
{
    return (struct port){PORT_LID, {(uint8_t)(lid >> 8), (uint8_t)lid}};
}

static inline struct port port_gid(const uint8_t *gid)
{
    struct port p = {.kind = PORT_GID};
    memcpy(p.address, gid, sizeof p.address);
    return p;
}

/* len: 4 or 16 octets */
static inline struct port port_ip(const uint8_t *ip, size_t len)
{
    struct port p = {.kind = PORT_IP};
    memcpy(p.address, ip, len <= sizeof p.address ? len : sizeof p.address);
    return p;
}

struct port_number {
    struct port port;
    uint8_t zero[3];
    uint32_t number;
};

static inline struct port_number port_number(const struct port *port, uint32_t number)
{
    struct port_number k;
    memset(&k, 0, sizeof k);
    k.port = *port;
    k.number = number;
    return k;
}

guint port_number_hash(gconstpointer key);
gboolean port_number_equal(gconstpointer a, gconstpointer b);

#endif

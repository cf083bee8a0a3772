/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sending or receiving port as a packet shows it: a LID within a subnet, a GID if packets have
 * a GRH but no LRH (RoCE), or an IP address (RoCE v2). Together with a QPN or a communication ID,
 * it is a key for hash tables.
 */
#ifndef IPOIB_MODEL_PORT_H
#define IPOIB_MODEL_PORT_H

#include <glib.h>

#include "wire/ib.h"

enum port_kind { PORT_NONE, PORT_LID, PORT_GID, PORT_IP };

/*
 * Kind (2 bits), subnet number (16 bits, model/interfaces.h), and the LID, the IPv4 address or 46
 * bits of a hash of the address: short keys, and long enough that two ports of a fabric practically
 * never collide. 0: no port.
 */
struct port {
    uint64_t id;
};

static inline struct port port_make(enum port_kind kind, uint16_t interface, uint64_t value)
{
    return (struct port){(uint64_t)kind << 62 | (uint64_t)interface << 46 |
                         (value & ((1ull << 46) - 1))};
}

/* The interface is part of the key: on another interface, the same LID may be another port. */
static inline struct port port_lid(uint16_t interface, uint16_t lid)
{
    return port_make(PORT_LID, interface, lid);
}

struct port port_gid(uint16_t interface, const uint8_t *gid);
/* len: 4 or 16 bytes */
struct port port_ip(uint16_t interface, const uint8_t *ip, size_t len);

static inline bool port_same(struct port a, struct port b)
{
    return a.id == b.id;
}

/* The same port on another interface. */
static inline struct port port_on(struct port p, uint16_t interface)
{
    return p.id ? port_make((enum port_kind)(p.id >> 62), interface, p.id) : p;
}

static inline enum port_kind port_kind(struct port p)
{
    return (enum port_kind)(p.id >> 62);
}

static inline uint16_t port_interface(struct port p)
{
    return (uint16_t)(p.id >> 46);
}

/* 0: the port has no known LID. */
static inline uint16_t port_to_lid(struct port p)
{
    return port_kind(p) == PORT_LID ? (uint16_t)p.id : 0;
}

/* A port and a number that the port assigned: a QPN or a communication ID. */
struct port_number {
    struct port port;
    uint32_t number;
};

static inline struct port_number port_number(const struct port *port, uint32_t number)
{
    return (struct port_number){*port, number};
}

/*
 * Table position for a table in which newer entries overwrite older ones. It does not use the
 * random key of model/hash.h, so findings are the same in each run.
 */
guint port_number_place(const struct port_number *key);
/* The same for a transaction: a port, and the ID that it assigned. */
guint port_transaction_place(const struct port *port, uint64_t tid);

/* For GHashTable; the key starts with a struct port_number. */
guint port_number_hash(gconstpointer key);
gboolean port_number_equal(gconstpointer a, gconstpointer b);

#endif

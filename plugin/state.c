/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is remembered of a capture file: made when one is opened, gone when it is closed or read again. */
#include "plugin/plugin.h"

/* Limits that keep a hostile capture from eating the memory; a fabric of 50,000 ports stays below them. */
enum { CONNECTIONS_MAX = 1 << 17, NEIGHBOURS_MAX = 1 << 18, QPNS_MAX = 1 << 18 };

/* A small direct-mapped memory of QPs just seen spares the hash table most of the questions. */
enum { RECENT = 1024 };

struct qpn_set {
    GHashTable *known;
    struct port_number recent[RECENT];
};

static struct connections *connections;
static struct neighbours *neighbours;
static struct qpn_set qpns;

struct connections *state_connections(void)
{
    return connections;
}

struct neighbours *state_neighbours(void)
{
    return neighbours;
}

struct qpn_set *state_qpns(void)
{
    return &qpns;
}

void qpn_learn(struct qpn_set *s, const struct port *port, uint32_t qpn)
{
    struct port_number key = port_number(port, qpn);
    struct port_number *slot = &s->recent[port_number_hash(&key) % RECENT];
    if (port_number_equal(slot, &key))
        return;
    *slot = key;
    if (g_hash_table_size(s->known) < QPNS_MAX && !g_hash_table_contains(s->known, &key))
        g_hash_table_add(s->known, g_memdup2(&key, sizeof key));
}

bool qpn_known(const struct qpn_set *s, const struct port *port, uint32_t qpn)
{
    struct port_number key = port_number(port, qpn);
    return g_hash_table_contains(s->known, &key);
}

static void state_open(void)
{
    connections = connections_new(CONNECTIONS_MAX);
    neighbours = neighbours_new(NEIGHBOURS_MAX);
    qpns.known = g_hash_table_new_full(port_number_hash, port_number_equal, g_free, NULL);
}

static void state_close(void)
{
    connections_free(connections);
    neighbours_free(neighbours);
    if (qpns.known)
        g_hash_table_destroy(qpns.known);
    connections = NULL;
    neighbours = NULL;
    memset(&qpns, 0, sizeof qpns);
}

void state_register(void)
{
    register_init_routine(state_open);
    register_cleanup_routine(state_close);
}

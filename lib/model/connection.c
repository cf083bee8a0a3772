/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/connection_state.h"
#include "model/hash.h"

static guint comm_id_hash(gconstpointer p)
{
    const struct connection_side *s = p;
    struct port_number key = port_number(&s->flow.id.port, s->comm_id);
    return port_number_hash(&key);
}

static gboolean comm_id_equal(gconstpointer p, gconstpointer q)
{
    const struct connection_side *a = p, *b = q;
    return a->comm_id == b->comm_id && port_same(a->flow.id.port, b->flow.id.port);
}

struct connections *connections_new(unsigned limit, struct endports *ports, struct qpns *qpns,
                                    struct undone *undone)
{
    struct connections *c = g_new0(struct connections, 1);
    c->by_comm_id = g_hash_table_new(comm_id_hash, comm_id_equal);
    c->flows = g_hash_table_new_full(port_number_hash, port_number_equal, flow_drop, NULL);
    slab_init(&c->all, sizeof(struct connection));
    c->ports = ports;
    c->qpns = qpns;
    c->limit = limit;
    c->undone = c->streams.undone = undone;
    return c;
}

void connections_free(struct connections *c)
{
    if (!c)
        return;
    g_hash_table_destroy(c->by_comm_id);
    g_hash_table_destroy(c->flows); /* before the connections, which contain most flows */
    slab_clear(&c->all);
    g_free(c);
}

struct stream_store *connections_streams(struct connections *c)
{
    return &c->streams;
}

const struct connection *connections_at(const struct connections *c, unsigned index)
{
    return slab_at(&c->all, index);
}

uint64_t connections_incomplete_messages(const struct connections *c)
{
    return c->streams.begun - c->streams.ended;
}

unsigned connections_count(const struct connections *c)
{
    return c->all.count;
}

struct connection *connections_find(struct connections *c, const struct port *port,
                                    uint32_t comm_id)
{
    struct connection_side key = {.flow.id.port = *port, .comm_id = comm_id};
    struct connection_side *side = g_hash_table_lookup(c->by_comm_id, &key);
    return side ? connection_of_side(side) : NULL;
}

void connections_add_side(struct connections *c, struct connection_side *side, uint32_t frame,
                          const struct port *port, const struct cm *cm)
{
    side->flow.id.port = *port;
    side->comm_id = cm->local_comm_id;
    side->known = true;
    g_hash_table_replace(c->by_comm_id, side, side);
    flow_bind(c, side, cm, frame);
}

bool connection_may_be_replaced(const struct connection *c)
{
    return c->endport[0] && c->endport[1] && c->endport[0]->gsi.gap_frame > c->req_frame &&
           c->endport[1]->gsi.gap_frame > c->req_frame;
}

uint32_t connection_mtu(const struct connection *c)
{
    if (!c->requester.has_private || !c->responder.has_private)
        return 0;
    return cm_connection_mtu(c->requester.recv_mtu, c->responder.recv_mtu);
}

/* ---- two interfaces that see one subnet */

static bool is_on(const void *flow, uint16_t interface)
{
    return port_interface(((const struct flow *)flow)->id.port) == interface;
}

/* true: the communication ID finds this side, which is now removed from the table */
static bool take_side(struct connections *c, struct connection_side *s, uint16_t from)
{
    if (!is_on(&s->flow, from) || g_hash_table_lookup(c->by_comm_id, s) != s)
        return false;
    g_hash_table_remove(c->by_comm_id, s);
    return true;
}

static void move_side(struct connections *c, struct connection_side *s, uint16_t from, uint16_t to)
{
    bool taken = take_side(c, s, from);
    if (is_on(&s->flow, from))
        s->flow.id.port = port_on(s->flow.id.port, to);
    if (taken)
        g_hash_table_replace(c->by_comm_id, s, s);
}

/* Move the connection to the lists of merged endports, newest first. */
static void move_list(struct connection *conn)
{
    for (unsigned i = 0; i < 2; i++) {
        struct endport *p = conn->endport[i], *now = endport_now(p);
        if (!p || p == now)
            continue;
        bool loop = i == 1 && conn->endport[0] == now;
        conn->endport[i] = now;
        conn->older[i] = NULL;
        if (loop)
            continue;
        conn->older[i] = now->connections;
        now->connections = conn;
    }
}

static void move_flow(struct connections *c, struct flow *f, uint16_t to)
{
    if (f->heap)
        f->id.port = port_on(f->id.port, to);
    const struct flow *same = g_hash_table_lookup(c->flows, f);
    if (same && (same->connection || !f->connection))
        flow_drop(f);
    else
        g_hash_table_replace(c->flows, f, f);
}

void connections_merge(struct connections *c, uint16_t from, uint16_t to)
{
    memset(c->recent, 0, sizeof c->recent);
    GPtrArray *moved = hash_take(c->flows, is_on, from);
    for (unsigned i = 0; i < c->all.count; i++) {
        struct connection *conn = slab_at(&c->all, i);
        move_side(c, &conn->requester, from, to);
        move_side(c, &conn->responder, from, to);
        move_list(conn);
    }
    for (unsigned i = 0; i < moved->len; i++)
        move_flow(c, g_ptr_array_index(moved, i), to);
    g_ptr_array_unref(moved);
}

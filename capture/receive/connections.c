/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Owners of connected-mode queue pairs. See connections.h. */
#include "capture/receive/connections.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "wire/cm.h"

enum {
    ROWS = 4096, /* a power of two */
    WAYS = 4,    /* slots per row; one row is one cache line */
    ROW_SIZE = 64,
};

/* Kind of a key: a queue pair, or a REQ without its REP. */
enum key_kind { KEY_QP = 1, KEY_REQUEST = 2 };

struct slot {
    uint64_t key; /* 0: free */
    uint64_t value;
};

struct connection_table {
    struct slot rows[ROWS][WAYS];
};

/* ID: a QPN (KEY_QP), or the requester's communication ID (KEY_REQUEST). */
static uint64_t connection_key(enum key_kind kind, uint16_t lid, uint32_t id)
{
    return (uint64_t)kind << 56 | (uint64_t)lid << 32 | id;
}

/* Multiplicative hashing: the high bits of the product depend on the whole key. */
static unsigned row_of(uint64_t key)
{
    return (unsigned)(key * UINT64_C(0x9e3779b97f4a7c15) >> 52) & (ROWS - 1);
}

static uint64_t find_value(const struct connection_table *c, uint64_t key)
{
    const struct slot *row = c->rows[row_of(key)];

    for (int i = 0; i < WAYS; i++)
        if (row[i].key == key)
            return row[i].value;
    return 0;
}

/* Puts the newest entry first and drops the oldest one of a full row. */
static void put_key(struct connection_table *c, uint64_t key, uint64_t value)
{
    struct slot *row = c->rows[row_of(key)];
    int place = 0;

    while (place < WAYS - 1 && row[place].key != key)
        place++;
    memmove(row + 1, row, (size_t)place * sizeof(*row));
    row[0] = (struct slot){key, value};
}

struct connection_table *connections_create(void)
{
    struct connection_table *c = aligned_alloc(ROW_SIZE, sizeof(*c));

    g_assert_nonnull(c); /* as GLib's own functions, which do not align */
    memset(c, 0, sizeof(*c));
    return c;
}

void connections_destroy(struct connection_table *c)
{
    free(c);
}

/*
 * Whether packets can carry LID as their unicast destination: not 0 (no alternate path) and not the
 * permissive LID.
 */
static bool is_lid(uint16_t lid)
{
    return lid != 0 && lid != LID_PERMISSIVE;
}

static void put_qp(struct connection_table *c, uint16_t lid, uint32_t qpn,
                   enum connection_owner owner)
{
    if (is_lid(lid))
        put_key(c, connection_key(KEY_QP, lid, qpn), owner);
}

/*
 * Any Type and Reserved after the prefix 0x01 counts as IPoIB (RFC 4755 section 3.5): the capture
 * must show a peer that sets these fields wrongly.
 */
static enum connection_owner owner_of_service(enum cm_service service)
{
    return cm_service_is_ipoib(service) || service == SERVICE_IETF_OTHER ? OWNER_IPOIB
                                                                         : OWNER_OTHER;
}

/* Value of a REQ entry: its owner and the responder's LIDs. */
static uint64_t request_value(enum connection_owner owner, const struct cm *cm)
{
    return (uint64_t)owner << 32 | (uint64_t)cm->remote_lid << 16 | cm->alternate_remote_lid;
}

static void learn_request(struct connection_table *c, uint16_t slid, const struct cm *cm)
{
    enum connection_owner owner = owner_of_service(cm->service);

    put_qp(c, slid, cm->qpn, owner);
    put_qp(c, cm->local_lid, cm->qpn, owner);
    put_qp(c, cm->alternate_local_lid, cm->qpn, owner);
    put_key(c, connection_key(KEY_REQUEST, slid, cm->local_comm_id), request_value(owner, cm));
}

/* If the REQ was not captured, the service of a REP is unknown. */
static void learn_reply(struct connection_table *c, uint16_t slid, uint16_t dlid,
                        const struct cm *cm)
{
    uint64_t request = find_value(c, connection_key(KEY_REQUEST, dlid, cm->remote_comm_id));
    enum connection_owner owner = (enum connection_owner)(request >> 32);

    if (owner == OWNER_UNKNOWN)
        return;
    put_qp(c, slid, cm->qpn, owner);
    put_qp(c, (uint16_t)(request >> 16), cm->qpn, owner);
    put_qp(c, (uint16_t)request, cm->qpn, owner);
}

void connections_learn(struct connection_table *c, uint16_t slid, uint16_t dlid, struct view mad)
{
    bool have_ids;
    struct cm cm;

    if (cm_decode(mad, &cm, &have_ids) != WIRE_OK)
        return;
    if (cm.message == CM_REQ)
        learn_request(c, slid, &cm);
    else if (cm.message == CM_REP)
        learn_reply(c, slid, dlid, &cm);
}

void connections_recognise(struct connection_table *c, uint16_t lid, uint32_t qpn)
{
    put_qp(c, lid, qpn, OWNER_IPOIB);
}

enum connection_owner connections_owner(const struct connection_table *c, uint16_t lid,
                                        uint32_t qpn)
{
    return (enum connection_owner)find_value(c, connection_key(KEY_QP, lid, qpn));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the SA knows about the peer's port. See records.h. */
#include "probe/exchange/records.h"

#include <string.h>

#include "hca/client.h"
#include "hca/records.h"
#include "probe/exchange/peer.h"
#include "probe/link/link.h"
#include "wire/port_records.h"
#include "probe/link/sa.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "wire/put.h"

enum { ONE_PATH = 0x81 }; /* reversible, one path */

enum sa_result records_get_path(struct target *t, const uint8_t *gid, struct sa_response *a)
{
    struct sa_query q = {.method = SA_GET,
                         .attribute = SA_PATH_RECORD,
                         .mask = PATH_HAS_DGID | PATH_HAS_SGID | PATH_HAS_NUMB | PATH_HAS_PKEY};
    memcpy(q.record + PATH_DGID, gid, 16);
    memcpy(q.record + PATH_SGID, t->link->transport->facts.gid, 16);
    q.record[PATH_NUMB] = ONE_PATH;
    put16(q.record + PATH_PKEY, t->link->pkey);
    results_sent(t->results, "SA Get PathRecord from this port to the peer's GID, P_Key 0x%04x",
                 t->link->pkey);
    return sa_query_send(t, &q, a);
}

static enum sa_result get_node(struct target *t, uint16_t lid, struct sa_response *a)
{
    struct sa_query q = {
        .method = SA_GET, .attribute = SA_NODE_RECORD, .mask = PORT_RECORD_HAS_LID};
    put16(q.record, lid);
    return sa_query_send(t, &q, a);
}

static bool get_name(struct target *t, uint16_t lid, char name[NODE_NAME_SIZE])
{
    struct sa_response a;
    bool good = get_node(t, lid, &a) == SA_SUCCESS;
    if (good)
        memcpy(name, a.records->data + NODE_RECORD_DESCRIPTION, NODE_NAME_SIZE - 1);
    name[good ? NODE_NAME_SIZE - 1 : 0] = '\0';
    sa_response_clear(&a);
    return good;
}

bool records_get_node_name(struct target *t, char name[NODE_NAME_SIZE])
{
    return get_name(t, t->peer->lid, name);
}

char *records_name_text(struct target *t, uint16_t lid)
{
    char name[NODE_NAME_SIZE];
    bool known = lid && transport_can(t->link->transport, CAN_QUERY_SA) && get_name(t, lid, name) &&
                 name[0];
    return known ? g_strdup_printf(" ('%s')", name) : g_strdup("");
}

const char *records_get_port_guid(struct target *t, uint8_t guid[8])
{
    struct sa_response a;
    results_sent(t->results, "SA Get NodeRecord of LID %u", t->peer->lid);
    enum sa_result result = get_node(t, t->peer->lid, &a);
    const char *why = result == SA_SUCCESS ? NULL : sa_failure_text(t, result, a.status);
    if (why)
        results_received(t->results, "%s", why);
    else
        memcpy(guid, a.records->data + NODE_RECORD_PORT_GUID, 8);
    sa_response_clear(&a);
    return why;
}

bool records_is_port_at_lid(struct target *t)
{
    uint8_t guid[8];
    return !records_get_port_guid(t, guid) &&
           memcmp(guid, t->peer->lladdr + LLADDR_GID + 8, sizeof guid) == 0;
}

/* port: 0: any. */
static bool get_cable(struct target *t, uint16_t lid, uint8_t port, struct cable *c, bool *none)
{
    struct sa_query q = {.method = SA_GET_TABLE,
                         .attribute = SA_LINK_RECORD,
                         .mask = PORT_RECORD_HAS_LID | (port ? LINK_RECORD_HAS_FROM_PORT : 0)};
    struct sa_response a;
    put16(q.record, lid);
    q.record[LINK_RECORD_FROM_PORT] = port;
    enum sa_result result = sa_query_send(t, &q, &a);
    const uint8_t *record = result == SA_SUCCESS ? sa_record(&a, 0, LINK_RECORD_SIZE) : NULL;
    if (record)
        *c = (struct cable){.port = record[LINK_RECORD_FROM_PORT],
                            .to_lid = be16(record + LINK_RECORD_TO_LID),
                            .to_port = record[LINK_RECORD_TO_PORT]};
    *none = !record &&
            (result == SA_SUCCESS || (result == SA_REJECTED && a.status == SA_STATUS_NO_RECORDS));
    sa_response_clear(&a);
    return record != NULL;
}

bool records_get_cable(struct target *t, uint16_t lid, struct cable *c)
{
    bool none;
    return get_cable(t, lid, 0, c, &none);
}

bool records_get_cable_of(struct target *t, uint16_t lid, uint8_t port, struct cable *c, bool *none)
{
    return get_cable(t, lid, port, c, none);
}

uint16_t records_get_switch_lid(struct target *t, uint16_t lid)
{
    struct cable c;
    return records_get_cable(t, lid, &c) ? c.to_lid : 0;
}

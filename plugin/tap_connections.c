/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -z ipoib,connections: IPoIB connections (RFC 4755), from REQ to disconnect. */
#include "plugin/protocol.h"
#include "plugin/state.h"
#include "plugin/tap.h"

#include <arpa/inet.h>
#include <inttypes.h>

/* The port's LID if it is known, and its GID, which the REQ contains. */
static void cell_port(struct rows *rows, const struct connection_side *side,
                      const struct endport *port)
{
    char gid[INET6_ADDRSTRLEN] = "";
    uint16_t lid = port_to_lid(side->flow.id.port);
    if (port && endport_has_gid(port))
        inet_ntop(AF_INET6, port->gid, gid, sizeof gid);
    if (lid)
        cell_text(rows, "LID %u%s%s", lid, *gid ? ", " : "", gid);
    else
        cell_text(rows, "%s", *gid ? gid : "-");
}

static void cell_qpn(struct rows *rows, bool known, uint32_t qpn)
{
    if (known)
        cell_text(rows, "0x%06x", qpn);
    else
        cell_text(rows, "-");
}

static void cells_side(struct rows *rows, const struct connection_side *side,
                       const struct endport *port)
{
    cell_port(rows, side, port);
    cell_qpn(rows, side->known, side->flow.id.number);
    cell_qpn(rows, side->has_private, side->ud_qpn);
}

static const char *connection_state(const struct connection *c)
{
    if (c->drep_frame)
        return "closed";
    if (c->dreq_frame)
        return "closing";
    if (c->rej_frame)
        return "rejected";
    if (c->rtu_frame)
        return "open";
    return c->rep_frame ? "accepted" : "requested";
}

static void cells_frames(struct rows *rows, const struct connection *c)
{
    cell_frame(rows, c->req_frame);
    cell_frame(rows, c->rep_frame);
    cell_frame(rows, c->rtu_frame);
    cell_frame(rows, c->rej_frame);
    cell_frame(rows, c->dreq_frame);
    cell_frame(rows, c->drep_frame);
}

static void add_connection_row(struct rows *rows, const struct connection *c)
{
    const char *transport = names_find(cm_transport_names, c->transport);
    uint32_t mtu = connection_mtu(c);
    cell_number(rows, c->number);
    cell_text(rows, "0x%016" PRIx64, c->service_id);
    cell_text(rows, "%s", transport);
    cell_pkey(rows, c->pkey);
    cell_interface(rows, port_interface(c->requester.flow.id.port));
    cells_side(rows, &c->requester, c->endport[0]);
    cells_side(rows, &c->responder, c->endport[1]);
    if (mtu)
        cell_text(rows, "%" PRIu32, mtu);
    else
        cell_text(rows, "-");
    cells_frames(rows, c);
    cell_text(rows, "%s", connection_state(c));
}

static void fill_connections(struct rows *rows)
{
    const struct fabric_facts *f = state_facts();
    for (unsigned i = 0; i < connections_count(f->connections); i++) {
        const struct connection *c = connections_at(f->connections, i);
        if (connection_is_ipoib(c))
            add_connection_row(rows, c);
    }
}

void tap_connections_register(void)
{
    static const struct column columns[] = {
        {.name = "Number", .number = true},
        {.name = "Service-ID"},
        {.name = "Transport"},
        {.name = "P_Key"},
        {.name = "Interface", .digits = true},
        {.name = "Requester"},
        {.name = "QPN"},
        {.name = "UD QPN"},
        {.name = "Responder"},
        {.name = "QPN"},
        {.name = "UD QPN"},
        {.name = "IPoIB MTU", .digits = true},
        {.name = "REQ", .digits = true},
        {.name = "REP", .digits = true},
        {.name = "RTU", .digits = true},
        {.name = "REJ", .digits = true},
        {.name = "DREQ", .digits = true},
        {.name = "DREP", .digits = true},
        {.name = "State"},
    };
    static const struct tap_table connections = {"ipoib,connections",
                                                 "IPoIB Connections",
                                                 "no IPoIB connection was requested",
                                                 columns,
                                                 array_length(columns),
                                                 fill_connections,
                                                 NULL,
                                                 NULL};
    table_register(&connections);
}

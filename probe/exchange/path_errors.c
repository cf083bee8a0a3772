/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See path_errors.h. */
#include "probe/exchange/path_errors.h"

#include "probe/exchange/records.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"

static bool is_there(const struct path_errors *e, uint16_t lid, uint8_t number)
{
    for (unsigned i = 0; i < e->n; i++)
        if (e->ports[i].lid == lid && e->ports[i].number == number)
            return true;
    return false;
}

static void add(struct target *t, struct path_errors *e, const char *of, uint16_t lid,
                uint8_t number)
{
    struct path_port *p = &e->ports[e->n];
    *p = (struct path_port){.of = of, .lid = lid, .number = number};
    if (lid && number && !is_there(e, lid, number) && !target_ended(t) &&
        counters_ask(t->link, lid, number, &p->before))
        e->n++;
}

void path_errors_begin(struct target *t, uint16_t peer_lid, struct path_errors *e)
{
    const struct port_facts *own = &t->link->transport->facts;
    struct cable c;
    e->n = 0;
    if (!transport_can(t->link->transport, CAN_QUERY_SA) || !t->link->transport->ops->ask_agent)
        return;
    add(t, e, "this host's port", own->lid, (uint8_t)own->port);
    if (records_get_cable(t, own->lid, &c))
        add(t, e, "the port at the other end of this host's cable", c.to_lid, c.to_port);
    if (!peer_lid || !records_get_cable(t, peer_lid, &c))
        return;
    add(t, e, "the peer's port", peer_lid, c.port);
    add(t, e, "the port at the other end of the peer's cable", c.to_lid, c.to_port);
}

struct path_place path_place_of(struct target *t, uint16_t lid)
{
    struct cable c;
    bool known = lid && transport_can(t->link->transport, CAN_QUERY_SA) &&
                 records_get_cable(t, lid, &c);
    return (struct path_place){lid, known ? c.port : 1};
}

char *path_errors_text(struct target *t, const struct path_errors *e, struct path_place *at)
{
    char *text = NULL;
    for (unsigned i = 0; i < e->n && !text; i++) {
        const struct path_port *p = &e->ports[i];
        struct port_counters now = {.read_at = 0};
        if (!counters_ask(t->link, p->lid, p->number, &now))
            continue;
        struct counter_growth g = counters_compare(&p->before, &now);
        if (g.fault)
            *at = (struct path_place){p->lid, p->number};
        if (g.fault)
            text = g_strdup_printf(
                "%s (LID %u port %u): %s: that cable or one of its ends%s", p->of, p->lid,
                p->number, g.errors,
                g.only_packets ? ", or the adapter that sends the damaged packets" : "");
        counters_growth_clear(&g);
    }
    return text;
}

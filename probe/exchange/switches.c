/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See switches.h. */
#include "probe/exchange/switches.h"

#include <string.h>

#include "hca/smp_query.h"
#include "probe/exchange/records.h"
#include "probe/link/groups.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "wire/smp.h"

enum { ANSWER_MS = 200, HOPS = SWITCHES_ON_PATH, BLOCK = 64, NO_PORT = 255 };

static bool ask(struct target *t, uint16_t lid, uint16_t attribute, uint32_t modifier,
                struct smp_request *q)
{
    struct transport *transport = t->link->transport;
    *q = (struct smp_request){.lid = lid, .attribute = attribute, .modifier = modifier};
    return transport_can(transport, CAN_QUERY_SA) && transport->ops->ask_smp &&
           transport->ops->ask_smp(transport, q, ANSWER_MS) == AGENT_ANSWERS;
}

/* IBA 14.2.5.10: a block has the ports of 64 LIDs. */
static bool read_port(struct target *t, uint16_t at, uint16_t to, uint8_t *port)
{
    struct smp_request q;
    bool good = ask(t, at, SMP_LINEAR_TABLE, to / BLOCK, &q);
    *port = q.data[to % BLOCK];
    return good;
}

/* The switch at LID "at": what is wrong there, NULL: nothing. next: where its port leads. */
static char *look_at(struct target *t, uint16_t at, uint16_t to, uint16_t *next)
{
    struct cable c = {.to_lid = 0};
    uint8_t port;
    bool none = false;
    *next = 0;
    if (!read_port(t, at, to, &port))
        return NULL;
    if (port == NO_PORT)
        return g_strdup_printf("the forwarding table of the switch with LID %u has no port for LID "
                               "%u",
                               at, to);
    bool leads = port && records_get_cable_of(t, at, port, &c, &none);
    if (none)
        return g_strdup_printf("the switch with LID %u sends what is for LID %u to its port %u, "
                               "which has no link",
                               at, to, port);
    *next = leads ? c.to_lid : 0;
    return NULL;
}

/* The LMC's low bits select one of the port's LIDs. */
static bool is_end(const struct target *t, uint16_t lid, uint16_t to)
{
    return (lid ^ to) >> t->link->transport->facts.lmc == 0;
}

char *switches_find_hole(struct target *t, uint16_t from, uint16_t to)
{
    struct cable end;
    uint16_t at = records_get_switch_lid(t, from), seen[HOPS];
    if (!at || is_end(t, at, to) || !records_get_cable(t, to, &end))
        return NULL;
    for (unsigned n = 0; n < HOPS; n++) {
        uint16_t next;
        seen[n] = at;
        char *hole = look_at(t, at, to, &next);
        if (hole || !next || is_end(t, next, to))
            return hole;
        for (unsigned i = 0; i <= n; i++)
            if (seen[i] == next)
                return g_strdup_printf("the switches send what is for LID %u in a loop, by the "
                                       "switch with LID %u",
                                       to, next);
        at = next;
    }
    return NULL;
}

unsigned switches_list(struct target *t, uint16_t from, uint16_t to,
                       struct switch_on_path all[SWITCHES_ON_PATH], bool *whole)
{
    struct cable c;
    bool none, leads = records_get_cable(t, from, &c);
    unsigned n = 0;
    *whole = leads && is_end(t, c.to_lid, to);
    while (leads && !*whole && n < HOPS && !target_ended(t)) {
        struct switch_on_path *s = &all[n++];
        *s = (struct switch_on_path){.lid = c.to_lid, .in = c.to_port};
        leads = read_port(t, s->lid, to, &s->out) && s->out && s->out != NO_PORT &&
                records_get_cable_of(t, s->lid, s->out, &c, &none);
        *whole = leads && is_end(t, c.to_lid, to);
    }
    return n;
}

/* IBA 14.2.5.12: a block has the masks of 32 MLIDs, for 16 ports. */
enum forwarded switches_forward_group(struct target *t, uint16_t mlid, uint16_t lid,
                                      uint16_t *switch_lid, uint8_t *switch_port)
{
    enum { MLIDS = 32, PORTS = 16, POSITION_SHIFT = 28, FIRST = 0xc000 };
    struct smp_request q;
    struct cable c;
    if (mlid < FIRST || !lid || !records_get_cable(t, lid, &c))
        return FORWARD_UNKNOWN;
    *switch_lid = c.to_lid;
    *switch_port = c.to_port;
    unsigned place = mlid - FIRST;
    uint32_t modifier = (uint32_t)(c.to_port / PORTS) << POSITION_SHIFT | place / MLIDS;
    if (!ask(t, c.to_lid, SMP_MULTICAST_TABLE, modifier, &q))
        return FORWARD_UNKNOWN;
    uint16_t mask = be16(q.data + (size_t)2 * (place % MLIDS));
    return mask >> c.to_port % PORTS & 1 ? FORWARDED : NOT_FORWARDED;
}

enum forwarded switches_forward_to_own(struct target *t, uint16_t *switch_lid, uint8_t *switch_port)
{
    const struct probe_link *l = t->link;
    uint8_t gid[GID_SIZE];
    enum forwarded is = switches_forward_group(t, l->group.mlid, l->transport->facts.lid,
                                               switch_lid, switch_port);
    bool has_others = is == NOT_FORWARDED && group_other_receivers(t, l->group.mgid, gid) > 0;
    return is == NOT_FORWARDED && !has_others ? FORWARD_UNKNOWN : is;
}

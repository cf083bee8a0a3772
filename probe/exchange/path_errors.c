/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See path_errors.h. */
#include "probe/exchange/path_errors.h"

#include "probe/exchange/records.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"

static bool is_there(const struct path_errors *e, struct path_place at)
{
    for (unsigned i = 0; i < e->n; i++)
        if (e->ports[i].at.lid == at.lid && e->ports[i].at.port == at.port)
            return true;
    return false;
}

static bool is_silent(const struct path_errors *e, uint16_t lid)
{
    for (unsigned i = 0; i < e->n_silent; i++)
        if (e->silent[i] == lid)
            return true;
    return false;
}

/* On a lossy path a request or its answer may be lost too. */
static bool ask(struct target *t, struct path_place at, struct port_counters *c)
{
    enum { TIMES = 3 };
    bool answers = false;
    for (unsigned i = 0; i < TIMES && !answers && !target_ended(t); i++)
        answers = counters_ask(t->link, at.lid, at.port, c);
    return answers;
}

static void add(struct target *t, struct path_errors *e, const char *of, struct path_place at,
                struct path_place other)
{
    if (!at.lid || !at.port || is_there(e, at) || is_silent(e, at.lid) || target_ended(t) ||
        e->n == PATH_PORTS)
        return;
    struct path_port *p = &e->ports[e->n];
    *p = (struct path_port){.of = of, .at = at, .other = other};
    if (ask(t, at, &p->before))
        e->n++;
    else
        e->silent[e->n_silent++] = at.lid;
}

/* The ports of the switches between the ends. Returns true if they are all known. */
static bool add_switches(struct target *t, struct path_errors *e, uint16_t from, uint16_t to)
{
    struct switch_on_path all[SWITCHES_ON_PATH];
    bool whole;
    unsigned n = switches_list(t, from, to, all, &whole);
    for (unsigned i = 1; i < n; i++) {
        struct path_place exit = {all[i - 1].lid, all[i - 1].out}, entry = {all[i].lid, all[i].in};
        add(t, e, NULL, exit, entry);
        add(t, e, NULL, entry, exit);
    }
    return whole;
}

/* The cables of the two ends. Returns true if they lead to one switch, or to each other. */
static bool add_ends(struct target *t, struct path_errors *e, uint16_t own, uint16_t peer)
{
    const struct path_place none = {0, 0}, at = {own, (uint8_t)t->link->transport->facts.port};
    struct cable mine, others;
    add(t, e, "this host's port", at, none);
    bool known = records_get_cable(t, own, &mine);
    if (known)
        add(t, e, "the port at the other end of this host's cable",
            (struct path_place){mine.to_lid, mine.to_port}, none);
    if (!peer || !records_get_cable(t, peer, &others))
        return false;
    add(t, e, "the peer's port", (struct path_place){peer, others.port}, none);
    add(t, e, "the port at the other end of the peer's cable",
        (struct path_place){others.to_lid, others.to_port}, none);
    return known && (mine.to_lid == others.to_lid || mine.to_lid == peer);
}

void path_errors_begin(struct target *t, uint16_t peer_lid, struct path_errors *e)
{
    uint16_t own = t->link->transport->facts.lid;
    e->n = e->n_silent = 0;
    e->whole = false;
    if (!transport_can(t->link->transport, CAN_QUERY_SA) || !t->link->transport->ops->ask_agent)
        return;
    e->whole = add_ends(t, e, own, peer_lid) || !peer_lid;
    if (e->whole)
        return;
    bool there = add_switches(t, e, own, peer_lid), back = add_switches(t, e, peer_lid, own);
    e->whole = there && back;
}

struct path_place path_place_of(struct target *t, uint16_t lid)
{
    struct cable c;
    bool known = lid && transport_can(t->link->transport, CAN_QUERY_SA) &&
                 records_get_cable(t, lid, &c);
    return (struct path_place){lid, known ? c.port : 1};
}

/* A port of a switch counts what arrives damaged from the other end, and drops what it sends. */
static char *text_of_switch(const struct path_port *p, const struct counter_growth *g)
{
    return g->only_discards
               ? g_strdup_printf(
                     "packets are dropped at the switch with LID %u, which sends them by "
                     "port %u to the switch with LID %u: %s: that link is congested or "
                     "down, or its forwarding table leads to the wrong port",
                     p->at.lid, p->at.port, p->other.lid, g->errors)
               : g_strdup_printf("packets are damaged on the link between the switch with LID %u "
                                 "(port %u) and the switch with LID %u (port %u): %s at the latter",
                                 p->other.lid, p->other.port, p->at.lid, p->at.port, g->errors);
}

static char *text_of_end(const struct path_port *p, const struct counter_growth *g)
{
    return g->only_discards
               ? g_strdup_printf("packets are dropped at %s (LID %u port %u), which should send "
                                 "them: %s: its link is congested or down",
                                 p->of, p->at.lid, p->at.port, g->errors)
               : g_strdup_printf(
                     "packets are damaged at %s (LID %u port %u): %s: that cable or one "
                     "of its ends%s",
                     p->of, p->at.lid, p->at.port, g->errors,
                     g->only_packets ? ", or the adapter that sends the damaged packets" : "");
}

char *path_errors_text(struct target *t, const struct path_errors *e, struct path_place *at)
{
    char *text = NULL;
    for (unsigned i = 0; i < e->n && !text; i++) {
        const struct path_port *p = &e->ports[i];
        struct port_counters now = {.read_at = 0};
        if (!ask(t, p->at, &now))
            continue;
        struct counter_growth g = counters_compare(&p->before, &now);
        if (g.fault) {
            *at = p->at;
            text = p->of ? text_of_end(p, &g) : text_of_switch(p, &g);
        }
        counters_growth_clear(&g);
    }
    return text;
}

/* "LID 2" or "LIDs 2, 3" */
static void add_lids(GString *text, const uint16_t *lids, unsigned n)
{
    g_string_append(text, n > 1 ? "LIDs " : "LID ");
    for (unsigned i = 0; i < n; i++)
        g_string_append_printf(text, "%s%u", i ? ", " : "", lids[i]);
}

char *path_errors_unseen(const struct path_errors *e)
{
    if (!e->n && !e->n_silent)
        return NULL;
    GString *text = g_string_new("no port that shows its counters counts errors");
    if (e->n_silent) {
        g_string_append(text, ", and ");
        add_lids(text, e->silent, e->n_silent);
        g_string_append(text, e->n_silent > 1 ? " show none" : " shows none");
    }
    if (!e->whole)
        g_string_append(text, ", and the links between the switches were not looked at: their "
                              "forwarding tables cannot be read");
    return g_string_free(text, FALSE);
}

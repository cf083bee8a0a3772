/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See path_mtu.h. */
#include "probe/exchange/path_mtu.h"

#include "probe/exchange/peer.h"
#include "probe/exchange/switches.h"
#include "probe/link/advice.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"

static void ask_port(GString *commands, const char *diags, uint16_t lid, uint8_t port)
{
    g_string_append_printf(commands, "%ssmpquery %s portinfo %u %u | grep -i mtu",
                           commands->len ? "; " : "", diags, lid, port);
}

/* A command for each port that sends on the path; NULL: they are not known. */
static char *ask_ports(struct target *t, const char *diags)
{
    const struct port_facts *own = &t->link->transport->facts;
    struct switch_on_path all[SWITCHES_ON_PATH];
    bool whole = false;
    unsigned n = 0;
    if (transport_can(t->link->transport, CAN_QUERY_SA) && t->peer->lid)
        n = switches_list(t, own->lid, t->peer->lid, all, &whole);
    if (!whole)
        return NULL;
    GString *commands = g_string_new(NULL);
    ask_port(commands, diags, own->lid, own->port);
    for (unsigned i = 0; i < n; i++)
        ask_port(commands, diags, all[i].lid, all[i].out);
    return g_string_free(commands, FALSE);
}

char *path_mtu_command(struct target *t)
{
    struct port_words w;
    advice_name_port(t->link, &w);
    char *commands = ask_ports(t, w.diags);
    return commands
               ? commands
               : g_strdup_printf("ibtracert %s %u %u  # the ports; for each: smpquery %s "
                                 "portinfo LID PORT",
                                 w.diags, t->link->transport->facts.lid, t->peer->lid, w.diags);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See path_mtu.h. */
#include "probe/exchange/path_mtu.h"

#include "probe/exchange/peer.h"
#include "probe/exchange/switches.h"
#include "probe/link/advice.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"

/* "'3 1' '70 9'": LID and port; NULL: they are not known. */
static char *list_ports(struct target *t)
{
    const struct port_facts *own = &t->link->transport->facts;
    struct switch_on_path all[SWITCHES_ON_PATH];
    bool whole = false;
    unsigned n = 0;
    if (transport_can(t->link->transport, CAN_QUERY_SA) && t->peer->lid)
        n = switches_list(t, own->lid, t->peer->lid, all, &whole);
    if (!whole)
        return NULL;
    GString *ports = g_string_new(NULL);
    g_string_append_printf(ports, "'%u %u'", own->lid, own->port);
    for (unsigned i = 0; i < n; i++)
        g_string_append_printf(ports, " '%u %u'", all[i].lid, all[i].out);
    return g_string_free(ports, FALSE);
}

char *path_mtu_command(struct target *t)
{
    struct port_words w;
    advice_name_port(t->link, &w);
    char *ports = list_ports(t),
         *command = ports
                        ? g_strdup_printf("for p in %s; do smpquery %s portinfo $p | grep -i mtu; "
                                          "done",
                                          ports, w.diags)
                        : g_strdup_printf("ibtracert %s %u %u  # the ports; for each: smpquery %s "
                                          "portinfo LID PORT",
                                          w.diags, t->link->transport->facts.lid, t->peer->lid,
                                          w.diags);
    g_free(ports);
    return command;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the device of a run, and the IPoIB link on it. See device.h. */
#include "probe/device.h"

#include <net/if.h>
#include <string.h>

#include "cli/fail.h"
#include "cli/say.h"
#include "probe/exchange/source.h"
#include "probe/link/link.h"
#include "probe/link/wirelog.h"
#include "probe/run/options.h"
#include "probe/run/run.h"

/* ---- the device */

/* Without a libibverbs device: tries a transport that shows less. */
static bool open_less(const struct link_state *s, struct target *t)
{
    const struct options *o = t->run->options;
    char *interface;
    if (probe_options_only_fabric(o) &&
        sa_only_open(&t->link->transport, o->device, o->port, t->run->stop) == OPENED) {
        say("%s; querying only the SA", s->why->message);
        return true;
    }
    if (o->device || !(interface = packet_first_interface()))
        return false;
    bool opened = packet_open(&t->link->transport, interface, t->run->stop, NULL) == OPENED;
    if (opened)
        say("%s; using the network interface %s, which supports fewer checks", s->why->message,
            interface);
    g_free(interface);
    return opened;
}

void probe_open_device(struct link_state *s, struct target *t)
{
    const struct options *o = t->run->options;
    const char *name = o->device;
    if (name && packet_is_interface(name)) {
        if (o->port)
            say("--port is ignored: %s already implies a port", name);
        s->opening = packet_open(&t->link->transport, name, t->run->stop, &s->why);
        return;
    }
    s->opening = verbs_open(&t->link->transport, name, o->port, t->run->stop, &s->why);
    if (s->opening != OPENED && open_less(s, t))
        s->opening = OPENED;
    else if (s->opening != OPENED && name && if_nametoindex(name)) {
        g_clear_error(&s->why);
        fail_with(&s->why, "%s is a network interface, but not an IPoIB one", name);
    }
}

/* ---- the link */

static void open_source(struct target *t)
{
    const struct options *o = t->run->options;
    struct probe_link *l = t->link;
    GError *why = NULL;
    if (!o->has_source)
        return;
    l->source = (struct own_address){.given = true, .ipv6 = o->source_ipv6};
    if (!transport_can(l->transport, HAS_OWN_QP)) {
        say("--source is ignored: the probe has no address of its own through a network interface; "
            "checks that need one are skipped");
        return;
    }
    memcpy(l->source.ip, o->source, 16);
    wirelog_begin(t->log, "source");
    if (!source_address_open(t, &why) && !t->run->stopped)
        say("--source: %s; checks that need an address are skipped",
            t->run->broken ? l->transport->error : why->message);
    g_clear_error(&why);
    wirelog_end(t->log, l->source.usable ? "unused" : "not usable");
}

bool probe_open_link(struct link_state *s, struct target *t)
{
    if (!s->tried) {
        s->tried = true;
        wirelog_begin(t->log, "link");
        s->opened = link_open(t, &s->why_not);
        wirelog_end(t->log, s->opened ? "ready" : "not available");
        if (s->opened)
            open_source(t);
    }
    return s->opened;
}

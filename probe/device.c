/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the device of a run, and the IPoIB link on it. See device.h. */
#include "probe/device.h"

#include <net/if.h>
#include <string.h>

#include "cli/fail.h"
#include "cli/say.h"
#include "probe/exchange/source.h"
#include "probe/link/hostports.h"
#include "probe/link/link.h"
#include "probe/link/wirelog.h"
#include "probe/run/options.h"
#include "probe/run/run.h"

/* ---- the device */

static bool open_interface(const struct link_state *s, struct target *t, const char *name)
{
    bool opened = packet_open(&t->link->transport, name, t->run->stop, NULL) == OPENED;
    if (opened && !t->run->options->device)
        say("%s; using the network interface %s, which supports fewer checks", s->why->message,
            name);
    return opened;
}

/* Without a libibverbs device: tries a transport that shows less. */
static bool open_less(const struct link_state *s, struct target *t)
{
    const struct options *o = t->run->options;
    const struct choice *c = t->link->choice;
    if (probe_options_only_fabric(o) &&
        sa_only_open(&t->link->transport, c->device[0] ? c->device : NULL, c->port, t->run->stop) ==
            OPENED) {
        say("%s; querying only the SA", s->why->message);
        return true;
    }
    return c->interface[0] && open_interface(s, t, c->interface);
}

static bool is_port_device(const char *name)
{
    GArray *ports = host_ports();
    bool is = false;
    for (guint i = 0; i < ports->len; i++)
        is |= strcmp(g_array_index(ports, struct host_port, i).device, name) == 0;
    g_array_unref(ports);
    return is;
}

/* The name of -d is wrong: lists the right ones. */
static void explain_name(struct link_state *s, const char *name)
{
    char *names = host_names();
    struct host_ipoib i;
    bool interface = if_nametoindex(name) != 0;
    if (!host_ipoib_find(name, &i) && !is_port_device(name) && (*names || interface)) {
        g_clear_error(&s->why);
        fail_with(&s->why,
                  interface ? "%s is a network interface, but not an IPoIB one; there is %s"
                            : "there is no InfiniBand device or IPoIB interface %s; there is %s",
                  name, *names ? names : "no other");
    }
    g_free(names);
}

/* An interface whose device libibverbs does not have: the reason is that of the interface. */
static void open_named_interface(struct link_state *s, struct target *t)
{
    const struct choice *c = t->link->choice;
    GError *why = NULL;
    if (!c->interface[0] || !t->run->options->device)
        return;
    s->opening = packet_open(&t->link->transport, c->interface, t->run->stop, &why);
    g_clear_error(&s->why);
    s->why = why;
}

void probe_open_device(struct link_state *s, struct target *t)
{
    const struct options *o = t->run->options;
    const struct choice *c = t->link->choice;
    struct host_ipoib i;
    if (o->device && o->port && host_ipoib_find(o->device, &i))
        say("--port is ignored: %s already implies a port", o->device);
    if (c->interface[0] && !c->device[0]) { /* sysfs does not name its device */
        s->opening = packet_open(&t->link->transport, c->interface, t->run->stop, &s->why);
        return;
    }
    s->opening = verbs_open(&t->link->transport, c->device[0] ? c->device : NULL, c->port,
                            t->run->stop, &s->why);
    if (s->opening != OPENED && open_less(s, t))
        s->opening = OPENED;
    else if (s->opening != OPENED)
        open_named_interface(s, t);
    if (s->opening == OPEN_NO_DEVICE && o->device && !c->interface[0])
        explain_name(s, o->device);
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

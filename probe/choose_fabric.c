/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ports through which the target fabric is tested. See choose.h. */
#include <string.h>

#include "probe/choose.h"
#include "probe/choose_parts.h"
#include "wire/smp.h"

static const struct host_port *port_of(const GArray *ports, const char *device, unsigned number)
{
    for (guint i = 0; i < ports->len; i++) {
        const struct host_port *p = &g_array_index(ports, struct host_port, i);
        if (p->port == number && strcmp(p->device, device) == 0)
            return p;
    }
    return NULL;
}

static bool has_choice(const GArray *choices, const char *device, unsigned port, uint16_t pkey)
{
    bool has = false;
    for (guint i = 0; i < choices->len; i++) {
        const struct choice *c = &g_array_index(choices, struct choice, i);
        has |= c->port == port && strcmp(c->device, device) == 0 && (!pkey || c->pkey == pkey);
    }
    return has;
}

/* A port that is down, and that no interface waits for. */
static bool is_unused(const struct host_port *p, bool up)
{
    return p && p->state == PORT_DOWN && !up;
}

static void add_interfaces(GArray *choices, const struct options *o, const GArray *ports,
                           bool unused)
{
    GArray *all = host_ipoib_all();
    for (guint i = 0; i < all->len; i++) {
        const struct host_ipoib *one = &g_array_index(all, struct host_ipoib, i);
        struct choice c = {.why = "an IPoIB interface of this host"};
        choose_interface(&c, one);
        choose_pkey(&c, o);
        if (is_unused(port_of(ports, c.device, c.port), one->up) == unused &&
            !(o->pkey && has_choice(choices, c.device, c.port, c.pkey)))
            g_array_append_val(choices, c);
    }
    g_array_unref(all);
}

static void add_ports(GArray *choices, const struct options *o, const GArray *ports, bool unused)
{
    guint with_interface = choices->len;
    for (guint i = 0; i < ports->len; i++) {
        const struct host_port *p = &g_array_index(ports, struct host_port, i);
        struct choice c = {.port = p->port,
                           .pkey = o->pkey,
                           .optional = with_interface > 0 && !o->all_ports,
                           .why = "a port without an IPoIB interface"};
        g_strlcpy(c.device, p->device, sizeof c.device);
        if (is_unused(p, false) == unused && !has_choice(choices, c.device, c.port, 0))
            g_array_append_val(choices, c);
    }
}

/* used: the choices that are tested. */
static char *describe_unused(const struct options *o, const GArray *ports, const GArray *used)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct choice));
    GString *text = g_string_new(NULL);
    add_interfaces(all, o, ports, true);
    add_ports(all, o, ports, true);
    for (guint i = 0; i < all->len; i++) {
        const struct choice *c = &g_array_index(all, struct choice, i);
        if (!has_choice(used, c->device, c->port, 0))
            g_string_append_printf(text, "%s%s port %u (%s)", text->len ? ", " : "", c->device,
                                   c->port, c->interface[0] ? c->interface : "no interface");
    }
    g_array_unref(all);
    return g_string_free(text, FALSE);
}

/* All of them. If no port is in use, those that are unused are the ones to test. */
static void add_all(GArray *choices, const struct options *o, char **unused)
{
    GArray *ports = host_ports();
    add_interfaces(choices, o, ports, false);
    add_ports(choices, o, ports, false);
    if (o->all_ports || !choices->len) {
        add_interfaces(choices, o, ports, true);
        add_ports(choices, o, ports, true);
    } else {
        g_free(*unused);
        *unused = describe_unused(o, ports, choices);
    }
    g_array_unref(ports);
}

GArray *choose_for_fabric(const struct options *o, char **unused)
{
    GArray *choices = g_array_new(FALSE, FALSE, sizeof(struct choice));
    struct choice c = {.port = 0};
    *unused = g_strdup("");
    if (!o->device && !o->port)
        add_all(choices, o, unused);
    if (choices->len)
        return choices;
    if (o->device)
        choose_device(&c, o);
    else
        choose_first(&c, o);
    g_array_append_val(choices, c);
    return choices;
}

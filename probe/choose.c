/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses the port for a target. See choose.h. */
#include "probe/choose.h"

#include <string.h>

#include "probe/choose_parts.h"
#include "probe/link/hostif.h"
#include "probe/link/hostnet.h"
#include "probe/link/hostping.h"
#include "probe/link/hostports.h"
#include "probe/link/hostroute.h"
#include "probe/link/sysfs.h"
#include "probe/run/text.h"
#include "wire/ip.h"
#include "wire/smp.h"

/* ---- from the options */

void choose_interface(struct choice *c, const struct host_ipoib *i)
{
    g_strlcpy(c->interface, i->name, sizeof c->interface);
    g_strlcpy(c->device, i->device, sizeof c->device);
    c->port = i->port;
    c->pkey = i->pkey;
}

void choose_pkey(struct choice *c, const struct options *o)
{
    if (!o->pkey || !((o->pkey ^ c->pkey) & 0x7fff))
        return;
    c->pkey = o->pkey;
    g_strlcat(c->why, ", and --pkey", sizeof c->why);
    if (!o->device) /* the port has another interface in that partition, or none */
        c->interface[0] = '\0';
}

void choose_device(struct choice *c, const struct options *o)
{
    struct host_ipoib i;
    bool interface = host_ipoib_find(o->device, &i);
    if (interface)
        choose_interface(c, &i);
    else
        g_strlcpy(c->device, o->device, sizeof c->device);
    if (!interface && o->port)
        c->port = o->port;
    if (interface && strcmp(i.name, o->device) != 0)
        g_snprintf(c->why, sizeof c->why, "the active interface of %s", o->device);
    else
        g_strlcpy(c->why, "named by -d", sizeof c->why);
    c->optional = !interface;
    choose_pkey(c, o);
}

/* ---- the first active port */

void choose_first(struct choice *c, const struct options *o)
{
    GArray *ports = host_ports();
    unsigned active = 0;
    for (guint i = 0; i < ports->len; i++)
        active += g_array_index(ports, struct host_port, i).state == PORT_ACTIVE;
    c->port = o->port;
    c->pkey = o->pkey;
    if (o->port)
        g_strlcpy(c->why, "named by -p", sizeof c->why);
    else if (active > 1)
        g_snprintf(c->why, sizeof c->why, "the first of %u active ports; -d names another", active);
    else
        g_strlcpy(c->why, "the only active port", sizeof c->why);
    g_array_unref(ports);
}

/* ---- by the kernel's route */

static char *names_of_interfaces(void)
{
    GArray *all = host_ipoib_all();
    GString *names = g_string_new(NULL);
    for (guint i = 0; i < all->len; i++)
        g_string_append_printf(names, "%s%s", i ? ", " : "",
                               g_array_index(all, struct host_ipoib, i).name);
    g_array_unref(all);
    return g_string_free(names, FALSE);
}

/* The first interface, preferably one that is up. Returns false if there is none. */
static bool first_interface(struct host_ipoib *out)
{
    GArray *all = host_ipoib_all();
    bool found = all->len > 0;
    if (found)
        *out = g_array_index(all, struct host_ipoib, 0);
    for (guint i = all->len; i-- > 0;)
        if (g_array_index(all, struct host_ipoib, i).up)
            *out = g_array_index(all, struct host_ipoib, i);
    g_array_unref(all);
    return found;
}

/* The route leads off the IPoIB links: the address may be on one whose prefix is too long. */
static void fail_other_gateway(const struct target_option *t, const struct host_route *r,
                               const char *gateway, char **why, char **advice)
{
    struct host_ipoib i = {.name = "ib0"};
    char *networks = hostnet_text(t->ipv6);
    first_interface(&i);
    *why = g_strdup_printf(
        "it is behind a router, or the prefix of an IPoIB interface is too long: "
        "the route leads through %s at %s, which is no IPoIB interface; %s",
        gateway, r->interface, *networks ? networks : "the IPoIB interfaces have no address");
    *advice = g_strdup_printf("ip -br addr show %s  # compare the prefix length with the peer's",
                              i.name);
    g_free(networks);
}

/* Does the router reply to this host's ping? It may not be permitted to send one. */
static bool is_silent(const struct target_option *t, const struct host_route *r)
{
    enum { TRIES = 2, WAIT_MS = 300 };
    bool sent = false, replies = false;
    for (unsigned i = 0; i < TRIES && !replies; i++) {
        struct ping_request *p = host_ping_send(t->ipv6, r->gateway, r->interface);
        sent |= p != NULL;
        if (p)
            g_usleep((gulong)WAIT_MS * 1000);
        replies = p && host_ping_end(p);
    }
    return sent && !replies;
}

static void fail_gateway(const struct target_option *t, const struct host_route *r, char **why,
                         char **advice)
{
    struct host_ipoib i;
    char gateway[48];
    text_ip(t->ipv6, r->gateway, gateway);
    if (!host_ipoib_find(r->interface, &i)) {
        fail_other_gateway(t, r, gateway, why, advice);
        return;
    }
    *why = g_strdup_printf("it is behind a router: the route leads through %s at %s, and address "
                           "resolution ends there%s",
                           gateway, r->interface,
                           is_silent(t, r) ? "; the router does not reply to this host's ping"
                                           : "");
    *advice = g_strdup_printf("ipoib-probe %s%s%s  # the router", gateway,
                              t->ipv6 && r->gateway[0] == 0xfe ? "%" : "",
                              t->ipv6 && r->gateway[0] == 0xfe ? r->interface : "");
}

static void fail_other_link(const struct target_option *t, const struct host_route *r, char **why,
                            char **advice)
{
    struct host_ipoib i = {.name = "ib0"};
    first_interface(&i);
    *why = g_strdup_printf("%s is not on an IPoIB link of this host: the route to it leads "
                           "through %s, which is no IPoIB interface",
                           t->name, r->interface);
    *advice = g_strdup_printf("ipoib-probe -d %s %.*s  # tests it on that link all the same",
                              i.name, (int)strcspn(t->name, " "), t->name);
}

/* Active ports without an interface, whose interface may be in another network namespace. */
static char *ports_without_interface(void)
{
    GArray *ports = host_ports(), *all = host_ipoib_all();
    GString *names = g_string_new(NULL);
    for (guint i = 0; i < ports->len; i++) {
        const struct host_port *p = &g_array_index(ports, struct host_port, i);
        bool has = p->state != PORT_ACTIVE;
        for (guint k = 0; k < all->len && !has; k++) {
            const struct host_ipoib *one = &g_array_index(all, struct host_ipoib, k);
            has = one->port == p->port && strcmp(one->device, p->device) == 0;
        }
        if (!has)
            g_string_append_printf(names, "%s%s port %u", names->len ? ", " : "", p->device,
                                   p->port);
    }
    g_array_unref(all);
    g_array_unref(ports);
    return g_string_free(names, FALSE);
}

/* The names of the interfaces that are down. */
static char *interfaces_down(void)
{
    GArray *all = host_ipoib_all();
    GString *names = g_string_new(NULL);
    for (guint i = 0; i < all->len; i++) {
        const struct host_ipoib *one = &g_array_index(all, struct host_ipoib, i);
        if (!one->up)
            g_string_append_printf(names, "%s%s", names->len ? ", " : "", one->name);
    }
    g_array_unref(all);
    return g_string_free(names, FALSE);
}

/* A kernel removes the IPv6 addresses of an interface that goes down. */
static bool fail_down(const struct target_option *t, char **why, char **advice)
{
    char *networks = hostnet_text(t->ipv6), *down = interfaces_down();
    bool fails = *down && !*networks;
    if (fails) {
        *why = g_strdup_printf("this host has no route to %s: %s is down", t->name, down);
        *advice = g_strdup_printf("ip link set %.*s up", (int)strcspn(down, ","), down);
    }
    g_free(networks);
    g_free(down);
    return fails;
}

/* The name of an interface that is up and has no address of that IP version. */
static bool find_unaddressed(bool ipv6, struct host_ipoib *out)
{
    GArray *all = host_ipoib_all();
    bool found = false;
    for (guint i = 0; i < all->len && !found; i++) {
        const struct host_ipoib *one = &g_array_index(all, struct host_ipoib, i);
        char *own = hostnet_text_of(one->name, ipv6);
        found = one->up && !*own;
        if (found)
            *out = *one;
        g_free(own);
    }
    g_array_unref(all);
    return found;
}

static void fail_no_route(const struct target_option *t, char **why, char **advice)
{
    struct host_ipoib i = {.name = "ib0"};
    if (fail_down(t, why, advice))
        return;
    char *networks = hostnet_text(t->ipv6), *bare = ports_without_interface();
    first_interface(&i);
    bool lacks = find_unaddressed(t->ipv6, &i);
    *why = g_strdup_printf("this host has no route to %s: no network of its IPoIB interfaces has "
                           "that address (%s%s%s%s)%s%s",
                           t->name, networks, *networks && lacks ? "; " : "", lacks ? i.name : "",
                           lacks       ? " is up and has no address of that IP version"
                           : *networks ? ""
                                       : "they have no address",
                           *bare ? "; no interface in this network namespace: " : "", bare);
    g_free(bare);
    *advice = g_strdup_printf("ip -br addr show %s  # %s", i.name,
                              lacks || !*networks ? "it lacks an address of that IP version"
                                                  : "compare the prefix length with the peer's");
    g_free(networks);
}

static void fail_broadcast(const struct target_option *t, const struct host_route *r, char **why,
                           char **advice)
{
    bool network = hostnet_is_network_address(r->interface, t->ip);
    char *own = hostnet_text_of(r->interface, t->ipv6);
    *why = g_strdup_printf("%s is the %s of the network of %s (%s), which no host of it has; if a "
                           "host has the address, that prefix is too long",
                           t->name, network ? "first address" : "broadcast address", r->interface,
                           own);
    *advice = g_strdup_printf("ip -br addr show %s  # compare the prefix length with the peer's",
                              r->interface);
    g_free(own);
}

static void describe_route(struct choice *c, const struct target_option *t,
                           const struct host_route *r)
{
    char source[48] = "";
    c->by_route = true;
    if (r->has_source)
        text_ip(t->ipv6, r->source, source);
    g_snprintf(c->why, sizeof c->why, "the kernel's route%s%s", source[0] ? ", source " : "",
               source);
}

/* The kernel routes an address of its own to lo. */
static bool choose_own(struct choice *c, const struct target_option *t)
{
    struct host_ipoib i;
    char *name = host_has_address(t->ipv6, t->ip);
    bool found = name && host_ipoib_find(name, &i);
    if (found) {
        choose_interface(c, &i);
        g_snprintf(c->why, sizeof c->why, "%s has the address itself", name);
    }
    g_free(name);
    return found;
}

/* An interface in a VRF has routes of its own, which only packets sent through it use. */
static bool is_routed_in_vrf(const struct target_option *t, const char *name)
{
    return sysfs_is_in_vrf(name) && host_route_get(t->ipv6, t->ip, name).kind == ROUTE_LINK;
}

/*
 * The network of an IPoIB interface has the address, but the kernel does not use it: the interface
 * is down, or the route was deleted or is another one.
 */
static bool choose_network(struct choice *c, const struct target_option *t,
                           const struct host_route *r)
{
    struct host_ipoib i;
    char *name = hostnet_of(t->ipv6, t->ip);
    bool found = name && host_ipoib_find(name, &i);
    if (found && is_routed_in_vrf(t, name)) {
        choose_interface(c, &i);
        g_snprintf(c->why, sizeof c->why,
                   "the route in the VRF of %s; programs outside it do not use it", name);
    } else if (found) {
        choose_interface(c, &i);
        c->other_route = true;
        g_snprintf(c->why, sizeof c->why, "the network of %s has the address%s%s", name,
                   r->forbids              ? ", but a route forbids it: "
                   : r->kind == ROUTE_NONE ? ", but there is no route"
                                           : "",
                   r->forbids ? r->forbids : "");
    }
    g_free(name);
    return found;
}

/* The address names its interface, which may be down and then has no route. */
static bool choose_named(struct choice *c, const struct target_option *t,
                         const struct host_route *r)
{
    struct host_ipoib i;
    if (!t->zone[0] || r->kind != ROUTE_NONE || !host_ipoib_find(t->zone, &i))
        return false;
    choose_interface(c, &i);
    c->other_route = true;
    g_strlcpy(c->why, "named by the address", sizeof c->why);
    return true;
}

static bool choose_route(struct choice *c, const struct target_option *t, char **why, char **advice)
{
    struct host_route r = host_route_get(t->ipv6, t->ip, t->zone);
    struct host_ipoib i;
    bool link = r.kind == ROUTE_LINK && host_ipoib_find(r.interface, &i);
    if (link && !t->ipv6 && hostnet_is_network_address(r.interface, t->ip))
        r.kind = ROUTE_BROADCAST;
    link &= r.kind == ROUTE_LINK;
    if (choose_named(c, t, &r))
        return true;
    if (r.kind == ROUTE_LOCAL && choose_own(c, t))
        return true;
    if (!link && r.kind != ROUTE_BROADCAST && choose_network(c, t, &r))
        return true;
    if (r.kind == ROUTE_GATEWAY)
        fail_gateway(t, &r, why, advice);
    else if (r.kind == ROUTE_BROADCAST && !t->prefix)
        fail_broadcast(t, &r, why, advice);
    else if (r.kind == ROUTE_NONE || r.kind == ROUTE_UNKNOWN)
        fail_no_route(t, why, advice);
    else if (!link)
        fail_other_link(t, &r, why, advice);
    else {
        choose_interface(c, &i);
        describe_route(c, t, &r);
        return true;
    }
    return false;
}

/* Without a zone, a link-local address is on the link of each interface. */
static bool is_without_zone(const struct target_option *t)
{
    return t->ipv6 && !t->zone[0] && ipv6_is_link_local(t->ip);
}

static void choose_zone(struct choice *c, const struct target_option *t)
{
    struct host_ipoib i;
    char *names = names_of_interfaces();
    if (choose_own(c, t) || !first_interface(&i)) {
        g_free(names);
        return;
    }
    choose_interface(c, &i);
    if (strchr(names, ','))
        g_snprintf(c->why, sizeof c->why,
                   "a link-local address, and the first of %s: %s%%INTERFACE names another", names,
                   t->name);
    else
        g_strlcpy(c->why, "the only IPoIB interface", sizeof c->why);
    g_free(names);
}

static bool has_interface(void)
{
    struct host_ipoib i;
    return first_interface(&i);
}

/* Is the address on another link than the one that the options name? */
static void compare_route(struct choice *c, const struct target_option *t)
{
    struct choice routed = {.port = 0};
    char *why = NULL, *advice = NULL;
    if (!has_interface() || is_without_zone(t))
        return;
    c->other_route = !choose_route(&routed, t, &why, &advice) ||
                     strcmp(routed.device, c->device) != 0 ||
                     (c->interface[0] && strcmp(routed.interface, c->interface) != 0);
    g_free(why);
    g_free(advice);
}

bool choose_for_address(const struct options *o, const struct target_option *t, struct choice *c,
                        char **why, char **advice)
{
    *c = (struct choice){.port = 0};
    *why = *advice = NULL;
    if (o->device) {
        choose_device(c, o);
        compare_route(c, t);
        return true;
    }
    if (o->port || !has_interface()) {
        choose_first(c, o);
        return true;
    }
    if (is_without_zone(t))
        choose_zone(c, t);
    else if (!choose_route(c, t, why, advice))
        return false;
    choose_pkey(c, o);
    return true;
}

bool choose_same(const struct choice *a, const struct choice *b)
{
    return strcmp(a->device, b->device) == 0 && a->port == b->port && a->pkey == b->pkey &&
           strcmp(a->interface, b->interface) == 0;
}

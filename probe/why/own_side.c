/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Causes on this host: interface, port, partition, SA, route, neighbour table. */
#include <string.h>

#include "hca/pkeys.h"
#include "probe/exchange/peer.h"
#include "probe/link/hostif.h"
#include "probe/link/hostnet.h"
#include "probe/link/hostroute.h"
#include "probe/link/sysfs.h"
#include "probe/run/options.h"
#include "probe/run/run.h"
#include "probe/run/text.h"
#include "probe/why/diagnosis.h"
#include "wire/smp.h"

/* The probe has a queue pair of its own: a port that the user named needs no interface. */
static bool needs_interface(const struct diagnosis *d)
{
    const struct choice *c = d->t->link->choice;
    return d->interface && c && !c->optional;
}

/* A child works only if its parent is up too. */
static char *command_to_set_up(const char *name)
{
    char *parent = host_parent(name);
    bool first = parent && !host_is_up(parent);
    char *command = first ? g_strdup_printf("ip link set %s up; ip link set %s up", parent, name)
                          : g_strdup_printf("ip link set %s up", name);
    g_free(parent);
    return command;
}

bool why_interface_down(struct diagnosis *d)
{
    return needs_interface(d) && !host_is_up(d->interface) &&
           diagnosis_holds(d, g_strdup_printf("%s is down", d->interface),
                           command_to_set_up(d->interface));
}

bool why_no_carrier(struct diagnosis *d)
{
    if (!needs_interface(d))
        return false;
    char *carrier = sysfs_interface(d->interface, "carrier");
    bool none = strcmp(carrier, "0") == 0;
    g_free(carrier);
    return none &&
           diagnosis_holds(d,
                           g_strdup_printf("%s is up, but the kernel has not joined its broadcast "
                                           "group",
                                           d->interface),
                           g_strdup_printf("ip link set %s down; ip link set %s up; "
                                           "ipoib-probe -d %s fabric",
                                           d->interface, d->interface, d->interface));
}

/* The port's attributes now; it may have changed since it was opened. */
static struct port_facts port_now(const struct diagnosis *d)
{
    struct transport *t = d->t->link->transport;
    struct port_facts now = t->facts;
    if (t->ops->read_port && t->ops->read_port(t, &now))
        return now;
    return t->facts;
}

static bool has_state(struct diagnosis *d, uint8_t state, const char *words, const char *command)
{
    struct port_facts now = port_now(d);
    return now.n_pkeys && now.state == state &&
           diagnosis_holds(d, g_strdup_printf("%s port %u is %s", now.device, now.port, words),
                           g_strdup_printf(command, now.device, now.port));
}

bool why_port_down(struct diagnosis *d)
{
    return has_state(d, PORT_DOWN, "Down: the cable is out, or the other end is off",
                     "ibstat %s %u; check the cable and the switch port");
}

bool why_port_initialize(struct diagnosis *d)
{
    return has_state(d, PORT_INIT, "in Initialize",
                     "ibstat %s %u; start opensm, or see the log of the subnet manager") ||
           has_state(d, PORT_ARMED, "Armed", "ibstat %s %u; see the log of the subnet manager");
}

bool why_pkey_missing(struct diagnosis *d)
{
    const struct choice *c = d->t->link->choice;
    struct port_facts now = port_now(d);
    uint16_t wanted = d->t->link->pkey ? d->t->link->pkey : c ? c->pkey : 0;
    unsigned index;
    if (!now.n_pkeys || pkeys_find(now.pkeys, now.n_pkeys, wanted, &index))
        return false;
    char *all = pkeys_text(now.pkeys, now.n_pkeys);
    bool holds = diagnosis_holds(
        d,
        g_strdup_printf("%s port %u is not in partition 0x%04x; it has the P_Keys%s", now.device,
                        now.port, (wanted ? wanted : 0xffff) | 0x8000, all),
        g_strdup_printf("head /sys/class/infiniband/%s/ports/%u/pkeys/*; add this port's GUID to "
                        "the partition in the SM's partitions.conf",
                        now.device, now.port));
    g_free(all);
    return holds;
}

/* The link could not be opened because the SA did not deal with a request. */
bool why_sa_silent(struct diagnosis *d)
{
    const struct port_facts *f = &d->t->link->transport->facts;
    const struct sa_cache *sa = &d->t->run->sa;
    bool fails = sa->failures && (sa->failure == SA_NO_RESPONSE || sa->failure == SA_BUSY ||
                                  sa->failure == SA_ABSENT);
    return d->link_error && fails &&
           diagnosis_holds(d, g_strdup(d->link_error),
                           g_strdup_printf("sminfo -C %s -P %u; restart the subnet manager at "
                                           "LID %u",
                                           f->device, f->port, f->sm_lid));
}

bool why_link_closed(struct diagnosis *d)
{
    const struct port_facts *f = &d->t->link->transport->facts;
    return d->link_error &&
           diagnosis_holds(d, g_strdup(d->link_error),
                           g_strdup_printf("ipoib-probe -d %s -p %u fabric", f->device, f->port));
}

bool why_other_route(struct diagnosis *d)
{
    const struct target *t = d->t;
    const struct choice *c = t->link->choice;
    char ip[48];
    if (!c || !c->other_route || t->run->options->device) /* the user knows better */
        return false;
    struct host_route r = host_route_get(t->ipv6, t->ip, "");
    char *networks = hostnet_text_of(c->interface, t->ipv6);
    text_ip(t->ipv6, t->ip, ip);
    bool holds = diagnosis_holds(
        d,
        r.interface[0] ? g_strdup_printf("the route leads through %s; %s has %s", r.interface,
                                         c->interface, *networks ? networks : "no address")
                       : g_strdup_printf("there is no route; %s has %s", c->interface,
                                         *networks ? networks : "no address"),
        g_strdup_printf("ip route get %s; ip route replace %s dev %s", ip, ip, c->interface));
    g_free(networks);
    return holds;
}

bool why_own_address(struct diagnosis *d)
{
    char *name = host_has_address(d->t->ipv6, d->t->ip);
    bool holds = name && diagnosis_holds(d, g_strdup_printf("it is at %s", name),
                                         g_strdup("run ipoib-probe on another host"));
    g_free(name);
    return holds;
}

/* The address in the neighbour table is another one than that in the reply. */
bool why_old_entry(struct diagnosis *d)
{
    const struct peer *peer = d->t->peer;
    char cached[64], now[64], ip[48];
    if (!d->known || !d->knows_qpn || !peer->known || peer->has_competing ||
        lladdr_same(d->at.lladdr, peer->lladdr))
        return false;
    text_lladdr(d->at.lladdr, cached);
    text_lladdr(peer->lladdr, now);
    text_ip(d->t->ipv6, d->t->ip, ip);
    return diagnosis_holds(d, g_strdup_printf("it has %s, and the reply says %s", cached, now),
                           g_strdup_printf("ip neigh del %s dev %s", ip, d->interface));
}

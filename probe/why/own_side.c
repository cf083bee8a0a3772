/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Causes on this host: interface, port, partition, SA, route, neighbour table. */
#include <stdlib.h>
#include <string.h>

#include "hca/pkeys.h"
#include "hca/records.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/records.h"
#include "probe/exchange/switches.h"
#include "probe/link/advice.h"
#include "probe/link/hostif.h"
#include "probe/link/hostnet.h"
#include "probe/link/hostports.h"
#include "probe/link/hostroute.h"
#include "probe/link/sa.h"
#include "probe/link/sysfs.h"
#include "probe/run/options.h"
#include "probe/run/run.h"
#include "probe/run/text.h"
#include "probe/why/diagnosis.h"
#include "wire/ip.h"
#include "wire/smp.h"

/* The probe has a queue pair of its own: a port that the user named needs no interface. */
static bool needs_interface(const struct diagnosis *d)
{
    const struct choice *c = d->t->link->choice;
    return d->interface && c && !c->optional;
}

bool why_interface_down(struct diagnosis *d)
{
    return needs_interface(d) && !host_is_up(d->interface) &&
           diagnosis_holds(d, g_strdup_printf("%s is down", d->interface),
                           advice_set_up(d->interface));
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

static uint16_t wanted_pkey(const struct diagnosis *d)
{
    const struct choice *c = d->t->link->choice;
    return d->t->link->pkey ? d->t->link->pkey : c ? c->pkey : 0;
}

static bool lacks_pkey(const struct diagnosis *d)
{
    struct port_facts now = port_now(d);
    unsigned index;
    return now.n_pkeys && !pkeys_find(now.pkeys, now.n_pkeys, wanted_pkey(d), &index);
}

/* A port that the user named may do without. */
bool why_no_interface(struct diagnosis *d)
{
    const struct port_facts *f = &d->t->link->transport->facts;
    const struct choice *c = d->t->link->choice;
    if (!c || c->optional || d->interface || d->t->link->transport->interface || lacks_pkey(d))
        return false;
    return diagnosis_holds(
        d,
        g_strdup_printf("none on %s port %u for partition 0x%04x in this network namespace",
                        f->device, f->port,
                        (d->t->link->pkey ? d->t->link->pkey : c->pkey) | 0x8000),
        advice_create_interface(d->t->link));
}

bool why_no_carrier(struct diagnosis *d)
{
    if (!needs_interface(d))
        return false;
    char *carrier = sysfs_interface(d->interface, "carrier");
    bool none = strcmp(carrier, "0") == 0;
    g_free(carrier);
    return none && diagnosis_holds(
                       d,
                       g_strdup_printf("%s is up, but the kernel has not joined its broadcast "
                                       "group",
                                       d->interface),
                       g_strdup_printf("from a console: ip link set %s down; ip link set %s up; "
                                       "ipoib-probe -d %s fabric",
                                       d->interface, d->interface, d->interface));
}

bool why_no_arp(struct diagnosis *d)
{
    enum { NO_ARP = 0x80 }; /* IFF_NOARP, netdevice(7) */
    if (!needs_interface(d))
        return false;
    char *flags = sysfs_interface(d->interface, "flags");
    bool off = strtoul(flags, NULL, 0) & NO_ARP;
    g_free(flags);
    return off && diagnosis_holds(d, g_strdup_printf("%s has the flag NOARP", d->interface),
                                  g_strdup_printf("ip link set %s arp on", d->interface));
}

/* The kernel believes that it is in the group; the SA gave up the membership. */
bool why_not_member(struct diagnosis *d)
{
    return needs_interface(d) && d->t->link->outside && host_is_up(d->interface) &&
           diagnosis_holds(
               d,
               g_strdup_printf("%s is up, but before this test the SA did not list its "
                               "port in the broadcast group: the SM was restarted "
                               "without reregistration of its clients?",
                               d->interface),
               g_strdup_printf("from a console: ip link set %s down; ip link set %s up; then other "
                               "hosts: saquery -m",
                               d->interface, d->interface));
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
    struct port_facts now = port_now(d);
    uint16_t wanted = wanted_pkey(d);
    struct port_words w;
    if (!lacks_pkey(d))
        return false;
    advice_name_port(d->t->link, &w);
    char *all = pkeys_text(now.pkeys, now.n_pkeys),
         *else_without = d->t->run->options->pkey
                             ? g_strdup_printf("without --pkey: ipoib-probe %.*s; else ",
                                               target_word(d->t), d->t->name)
                             : g_strdup("");
    bool holds = diagnosis_holds(
        d,
        g_strdup_printf("%s port %u is not in partition 0x%04x; it has the P_Keys%s", now.device,
                        now.port, (wanted ? wanted : 0xffff) | 0x8000, all),
        g_strdup_printf("%shead /sys/class/infiniband/%s/ports/%u/pkeys/*; add %s=full to the "
                        "partition in the SM's partitions.conf",
                        else_without, now.device, now.port, w.guid));
    g_free(else_without);
    g_free(all);
    return holds;
}

/* The link could not be opened because the SA did not deal with a request. */
static bool sa_fails(const struct diagnosis *d, bool busy)
{
    const struct sa_cache *sa = &d->t->run->sa;
    return d->link_error && sa->failures &&
           (busy ? sa->failure == SA_BUSY
                 : sa->failure == SA_NO_RESPONSE || sa->failure == SA_ABSENT);
}

bool why_sa_busy(struct diagnosis *d)
{
    struct port_words w;
    advice_name_port(d->t->link, &w);
    return sa_fails(d, true) &&
           diagnosis_holds(d, g_strdup(d->link_error),
                           g_strdup_printf("test again; then smpquery %s nodedesc %u names the "
                                           "host whose load to check",
                                           w.diags, d->t->link->transport->facts.sm_lid));
}

bool why_sa_slow(struct diagnosis *d)
{
    struct port_words w;
    advice_name_port(d->t->link, &w);
    return sa_fails(d, false) && d->t->run->sa.slow[0] &&
           diagnosis_holds(d, g_strdup(d->t->run->sa.slow),
                           g_strdup_printf("test again; then smpquery %s nodedesc %u names the "
                                           "host whose load to check; perfquery %s: lost packets",
                                           w.diags, d->t->link->transport->facts.sm_lid, w.diags));
}

/* The port at the SM's LID answers, and has no SA. */
static bool is_without_sa(struct diagnosis *d)
{
    struct port_words w;
    advice_name_port(d->t->link, &w);
    return d->t->run->sa.failure == SA_ABSENT &&
           diagnosis_holds(
               d, g_strdup_printf("%s: it has ended, or this port's SM LID is old", d->link_error),
               g_strdup_printf("smpquery %s nodedesc %u: start the subnet manager there; or if "
                               "another one runs, restart that: its sweep corrects this port's SM "
                               "LID",
                               w.diags, d->t->link->transport->facts.sm_lid));
}

bool why_sa_silent(struct diagnosis *d)
{
    char *words, *command;
    if (!sa_fails(d, false))
        return false;
    if (is_without_sa(d))
        return true;
    char *history = sa_history(d->t);
    advice_on_silent_sa(d->t->link, sa_was_slow(d->t), history, &words, &command);
    g_free(history);
    bool holds = diagnosis_holds(d, g_strdup_printf("%s: %s", d->link_error, words), command);
    g_free(words);
    return holds;
}

/* Another partition of this port has a link: it may be meant. */
static bool is_other_partition_meant(struct diagnosis *d)
{
    const struct port_facts *f = &d->t->link->transport->facts;
    uint16_t other = d->t->link->no_group ? link_other_partition(d->t) : 0;
    return other &&
           diagnosis_holds(d,
                           g_strdup_printf("%s; partition 0x%04x of this port has one",
                                           d->link_error, other | 0x8000),
                           g_strdup_printf("have the SM create the group (partitions.conf: "
                                           "ipoib); if the other partition is meant: ipoib-probe "
                                           "-d %s -p %u --pkey 0x%04x %.*s",
                                           f->device, f->port, other | 0x8000, target_word(d->t),
                                           d->t->name));
}

bool why_link_closed(struct diagnosis *d)
{
    if (d->link_error && is_other_partition_meant(d))
        return true;
    const struct choice *c = d->t->link->choice;
    struct port_words w;
    advice_name_port(d->t->link, &w);
    char *pkey = c && c->pkey ? g_strdup_printf(" --pkey 0x%04x", c->pkey) : g_strdup("");
    bool holds = d->link_error &&
                 diagnosis_holds(
                     d, g_strdup(d->link_error),
                     d->interface ? g_strdup_printf("ipoib-probe -d %s fabric", d->interface)
                                  : g_strdup_printf("ipoib-probe %s%s fabric", w.probe, pkey));
    g_free(pkey);
    return holds;
}

static char *command_for_route(const struct diagnosis *d, bool local)
{
    const char *name = d->t->link->choice->interface;
    char ip[48];
    text_ip(d->t->ipv6, d->t->ip, ip);
    if (local) /* without an address there, the interface has no route to it either */
        return g_strdup_printf("ip -6 addr show dev %s; sysctl net.ipv6.conf.%s.disable_ipv6", name,
                               name);
    return g_strdup_printf(
        "ip route get %s; ip rule show; if no rule is the cause: ip route replace "
        "%s dev %s",
        ip, ip, name);
}

/* The route was chosen when the test began, perhaps weeks ago. */
static bool leads_here(const struct target *t, const struct choice *c, const struct host_route *r)
{
    struct host_ipoib i;
    if (r->kind == ROUTE_NONE && sysfs_is_in_vrf(c->interface))
        return host_route_get(t->ipv6, t->ip, c->interface).kind == ROUTE_LINK;
    return r->kind == ROUTE_UNKNOWN || r->kind == ROUTE_LOCAL ||
           (r->kind == ROUTE_LINK && host_ipoib_find(r->interface, &i) &&
            strcmp(i.name, c->interface) == 0);
}

bool why_other_route(struct diagnosis *d)
{
    const struct target *t = d->t;
    const struct choice *c = t->link->choice;
    if (!c || !c->interface[0] || c->optional ||
        t->run->options->device) /* the user knows better */
        return false;
    bool local = t->ipv6 && ipv6_is_link_local(t->ip);
    struct host_route r = host_route_get(t->ipv6, t->ip, local ? c->interface : "");
    if (!c->other_route && (!c->by_route || leads_here(t, c, &r)))
        return false;
    char *networks = hostnet_text_of(c->interface, t->ipv6);
    char gateway[48] = "";
    if (r.kind == ROUTE_GATEWAY)
        text_ip(t->ipv6, r.gateway, gateway);
    char *leads = r.forbids         ? g_strdup_printf("a route of type %s forbids it", r.forbids)
                  : !r.interface[0] ? g_strdup("there is no route")
                  : gateway[0]      ? g_strdup_printf("the route leads through the router %s at %s",
                                                      gateway, r.interface)
                                    : g_strdup_printf("the route leads through %s", r.interface);
    bool holds = diagnosis_holds(d,
                                 g_strdup_printf("%s; %s has %s", leads, c->interface,
                                                 *networks ? networks
                                                 : t->ipv6 ? "no IPv6 address"
                                                           : "no IPv4 address"),
                                 command_for_route(d, local));
    g_free(leads);
    g_free(networks);
    return holds;
}

/* One for each request at least: a single packet may be of anybody. */
static bool has_grown(uint32_t before, uint32_t now)
{
    return now >= before && now - before >= TRIES;
}

bool why_wrong_keys(struct diagnosis *d)
{
    const struct port_facts *before = &d->t->link->transport->facts;
    struct port_facts now = port_now(d);
    if (has_grown(before->pkey_violations, now.pkey_violations))
        return diagnosis_holds(
            d,
            g_strdup_printf(
                "%s port %u dropped %u packets with a P_Key that it does not have while "
                "the address was asked for: the peer replies in another partition",
                now.device, now.port, now.pkey_violations - before->pkey_violations),
            g_strdup("on the peer: ip -d link show type ipoib; head "
                     "/sys/class/infiniband/*/ports/*/pkeys/*"));
    if (has_grown(before->qkey_violations, now.qkey_violations))
        return diagnosis_holds(
            d,
            g_strdup_printf(
                "%s port %u dropped %u packets with a wrong Q_Key while the address was "
                "asked for: the peer does not use the group's Q_Key 0x%08x",
                now.device, now.port, now.qkey_violations - before->qkey_violations,
                d->t->link->group.qkey),
            g_strdup("set the peer's interface down and up: it reads the group's record again"));
    return false;
}

/* The route prefers one of two interfaces in the same network. */
bool why_other_network(struct diagnosis *d)
{
    const struct choice *c = d->t->link->choice;
    char *name = c && c->interface[0] && !c->optional
                     ? hostnet_other(d->t->ipv6, d->t->ip, c->interface)
                     : NULL;
    char ip[48];
    text_ip(d->t->ipv6, d->t->ip, ip);
    bool holds = name && diagnosis_holds(d,
                                         g_strdup_printf("%s has that network too: the host may be "
                                                         "on its link, or off",
                                                         name),
                                         g_strdup_printf("ipoib-probe -d %s %s; ip route show to "
                                                         "match %s",
                                                         name, ip, ip));
    g_free(name);
    return holds;
}

bool why_dad_failed(struct diagnosis *d)
{
    bool local = ipv6_is_link_local(d->t->ip);
    char *failed = d->t->ipv6 && needs_interface(d) ? hostnet_dad_failed(d->interface, local)
                                                    : NULL;
    bool holds = failed && diagnosis_holds(
                               d,
                               g_strdup_printf(
                                   "duplicate address detection failed for %s of %s, so this host "
                                   "does not use it: another port has the address",
                                   failed, d->interface),
                               g_strdup_printf("ip -6 addr show dev %s; ipoib-probe -d %s fabric",
                                               d->interface, d->interface));
    g_free(failed);
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
        lladdr_same_port(d->at.lladdr, peer->lladdr))
        return false;
    text_lladdr(d->at.lladdr, cached);
    text_lladdr(peer->lladdr, now);
    text_ip(d->t->ipv6, d->t->ip, ip);
    bool same_gid = memcmp(d->at.lladdr + LLADDR_GID, peer->lladdr + LLADDR_GID, GID_SIZE) == 0;
    if (same_gid && lladdr_read(d->at.lladdr).qpn == peer->qpn)
        return false; /* the entry is right, and what the peer announces is wrong */
    return diagnosis_holds(d,
                           g_strdup_printf("%s: it has %s, and the reply says %s",
                                           same_gid ? "the QPN differs" : "the GID differs", cached,
                                           now),
                           g_strdup_printf("ip neigh del %s dev %s", ip, d->interface));
}

/* The kernel sends where the SA's path leads. */
bool why_wrong_path(struct diagnosis *d)
{
    const struct peer *peer = d->t->peer;
    const struct transport *transport = d->t->link->transport;
    struct sa_response a;
    if (!peer->known || !peer->lid || peer->has_competing ||
        !transport_can(transport, CAN_QUERY_SA))
        return false;
    enum sa_result result = records_get_path(d->t, peer->lladdr + LLADDR_GID, &a);
    uint16_t lid = result == SA_SUCCESS ? be16(a.records->data + PATH_DLID) : peer->lid;
    bool other = lid && (lid ^ peer->lid) >> transport->facts.lmc, none = result == SA_REJECTED;
    uint16_t status = a.status;
    sa_response_clear(&a);
    /* Otherwise the peer announces the GID of another port, and the answer is right. */
    if ((!other && !none) || !records_is_port_at_lid(d->t))
        return false;
    return diagnosis_holds(
        d,
        none && status == SA_STATUS_NO_RECORDS
            ? g_strdup_printf("it has none to LID %u, where the peer replies from", peer->lid)
        : none ? g_strdup_printf("the SA refuses it: status 0x%04x, %s", status,
                                 sa_status_name(status))
               : g_strdup_printf("it leads to LID %u, and the peer replies from LID %u", lid,
                                 peer->lid),
        g_strdup("see the log of the subnet manager; let it sweep again"));
}

/* Hosts that ask for this host's address do not reach it; those that know it do. */
bool why_not_forwarded(struct diagnosis *d)
{
    uint16_t at;
    uint8_t port;
    if (!d->interface || switches_forward_to_own(d->t, &at, &port) != NOT_FORWARDED)
        return false;
    return diagnosis_holds(
        d,
        g_strdup_printf("the switch with LID %u does not forward MLID 0x%04x to its port %u, which "
                        "leads to this host",
                        at, d->t->link->group.mlid, port),
        g_strdup_printf(
            "from a console: ip link set %s down; ip link set %s up; or let the SM sweep again",
            d->interface, d->interface));
}

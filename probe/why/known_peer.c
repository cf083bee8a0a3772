/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Causes at a peer whose link-layer address this host knows. */
#include <inttypes.h>
#include <string.h>

#include "probe/exchange/cm_answers.h"
#include "probe/exchange/path_errors.h"
#include "probe/exchange/records.h"
#include "probe/exchange/switches.h"
#include "probe/link/advice.h"
#include "probe/link/groups.h"
#include "probe/link/hostneigh.h"
#include "probe/link/hostping.h"
#include "probe/link/link.h"
#include "probe/link/message.h"
#include "probe/run/text.h"
#include "probe/why/questions.h"
#include "wire/smp.h"

bool why_both_limited(struct diagnosis *d)
{
    if (d->t->link->pkey & 0x8000)
        return false;
    questions_ask(d);
    return d->limited && !d->by_unicast &&
           diagnosis_holds(
               d,
               g_strdup_printf("this port and %s have 0x%04x without the full-member bit, and two "
                               "limited members cannot communicate",
                               d->gid, d->t->link->pkey),
               g_strdup_printf("make one of the two a full member in the SM's partitions.conf"));
}

/* Free with g_free(). */
static char *add_to_partition(const struct diagnosis *d)
{
    return g_strdup_printf("add 0x%016" PRIx64 "=full, that port's GUID, to 0x%04x in the SM's "
                           "partitions.conf",
                           be64(d->at.lladdr + LLADDR_GID + 8), d->t->link->pkey | 0x8000);
}

bool why_other_partition(struct diagnosis *d)
{
    questions_ask(d);
    if (!d->other)
        return false;
    char *add = add_to_partition(d);
    diagnosis_holds(
        d,
        g_strdup_printf("the SA has no path to %s in partition 0x%04x, but one in 0x%04x", d->gid,
                        d->t->link->pkey | 0x8000, d->pkey | 0x8000),
        g_strdup_printf("%s; or, if the address is meant to be there: ipoib-probe --pkey 0x%04x "
                        "%.*s",
                        add, d->pkey | 0x8000, target_word(d->t), d->t->name));
    g_free(add);
    return true;
}

/* The SA shows a limited member no other limited member: it has no path, in no partition. */
bool why_hidden(struct diagnosis *d)
{
    questions_ask(d);
    return !(d->t->link->pkey & 0x8000) && d->unknown_port && !d->by_unicast &&
           diagnosis_holds(
               d,
               g_strdup_printf("this port is a limited member of 0x%04x, and the SA has no path to "
                               "%s: that port is a limited member too, and the two cannot "
                               "communicate, or it is gone",
                               d->t->link->pkey, d->gid),
               g_strdup("make one of the two a full member in the SM's partitions.conf; else check "
                        "the host and its cable"));
}

/* Its agent answers, and no longer has the P_Key: the SA hides such a port. */
bool why_left_partition(struct diagnosis *d)
{
    questions_ask(d);
    return !d->path && d->has_agent && d->agent.pkeys_known && !d->agent.member &&
           diagnosis_holds(
               d,
               g_strdup_printf("the port of %s (LID %u) does not have the P_Key 0x%04x any more",
                               d->gid, d->at.lid, d->t->link->pkey | 0x8000),
               add_to_partition(d));
}

/* The GID was made from the address, so a wrong digit of it is possible. */
static bool is_unknown_guid(struct diagnosis *d)
{
    return !d->knows_qpn &&
           diagnosis_holds(
               d,
               g_strdup_printf(
                   "the SA has no port with the GID %s, of whose GUID the address is "
                   "made: a digit of it is wrong, a cable on the way is out, the host is "
                   "off, or the adapter was replaced",
                   d->gid),
               g_strdup("compare the address with ip -6 addr on that host; check the host and its "
                        "cable"));
}

bool why_port_gone(struct diagnosis *d)
{
    char ip[48];
    struct port_words w;
    text_ip(d->t->ipv6, d->t->ip, ip);
    questions_ask(d);
    if (!d->unknown_port || d->by_unicast)
        return false;
    if (is_unknown_guid(d))
        return true;
    advice_name_port(d->t->link, &w);
    char *look = g_strdup_printf("check the host and its cable; iblinkinfo %s: is a link between "
                                 "switches out?",
                                 w.diags);
    diagnosis_holds(
        d,
        g_strdup_printf("the SA has no port with the GID %s, which this host has for the address: "
                        "its cable, or one between switches, is out, the host is off, or the "
                        "adapter was replaced",
                        d->gid),
        d->interface && d->knows_qpn
            ? g_strdup_printf("%s; if the adapter was replaced: ip neigh del %s dev %s", look, ip,
                              d->interface)
            : g_strdup(look));
    g_free(look);
    return true;
}

/* Is an interface of the peer up in that partition? */
static bool is_in_partition(const struct diagnosis *d, uint16_t pkey)
{
    struct member_state m;
    uint8_t mgid[GID_SIZE];
    message_broadcast_mgid(mgid, d->t->link->group.scope, pkey);
    return group_member_state_of(d->t, mgid, d->at.lladdr + LLADDR_GID, &m) == SA_SUCCESS &&
           m.member && m.join_state & JOIN_FULL;
}

/*
 * The other partitions of this host's port in which the peer has an interface, and a command for
 * each. The default one is left out: most hosts are in it.
 */
static void add_partitions(const struct diagnosis *d, GString *names, GString *commands)
{
    const struct probe_link *l = d->t->link;
    const struct port_facts *f = &l->transport->facts;
    for (unsigned i = 0; i < f->n_pkeys && !target_ended(d->t); i++) {
        uint16_t pkey = f->pkeys[i] | 0x8000;
        if (pkey == 0x8000 || pkey == 0xffff || pkey == (l->pkey | 0x8000) ||
            !is_in_partition(d, pkey))
            continue;
        g_string_append_printf(names, "%s0x%04x", names->len ? ", " : "", pkey);
        g_string_append_printf(commands, "ipoib-probe --pkey 0x%04x %.*s; ", pkey,
                               target_word(d->t), d->t->name);
    }
}

static bool has_left_group(struct diagnosis *d)
{
    GString *names = g_string_new(NULL), *command = g_string_new(NULL);
    add_partitions(d, names, command);
    char *evidence = names->len
                         ? g_strdup_printf(
                               "; it lists it in the group of partition %s: the address may be on "
                               "that interface, or the one of 0x%04x is down",
                               names->str, d->t->link->pkey | 0x8000)
                         : g_strdup(": its interface is down or absent, or lost the group");
    g_string_append_printf(command,
                           "on the peer: %s; ip -d link show type ipoib  # is the one of "
                           "0x%04x up?",
                           names->len ? "ip -br addr" : "ipoib-probe fabric",
                           d->t->link->pkey | 0x8000);
    diagnosis_holds(d,
                    g_strdup_printf("the SA does not list %s (LID %u) as a full member%s", d->gid,
                                    d->at.lid, evidence),
                    g_string_free(command, FALSE));
    g_free(evidence);
    g_string_free(names, TRUE);
    return true;
}

bool why_not_in_group(struct diagnosis *d)
{
    questions_ask(d);
    if (!d->path || !d->member_known || d->member)
        return false;
    return !d->by_unicast
               ? has_left_group(d)
               : diagnosis_holds(d,
                                 g_strdup_printf("the SA does not list %s (LID %u) as a full "
                                                 "member; it replies to a request to its queue "
                                                 "pair",
                                                 d->gid, d->at.lid),
                                 g_strdup_printf("on the peer, set the interface of 0x%04x down "
                                                 "and up: it joins again",
                                                 d->t->link->pkey | 0x8000));
}

/* RFC 4291 §2.8: a port with the address is a member of that group. */
bool why_not_solicited(struct diagnosis *d)
{
    questions_ask(d);
    return d->path && d->solicited_known && !d->solicited && (d->by_unicast || d->by_ping) &&
           diagnosis_holds(
               d,
               g_strdup_printf("the SA does not list %s (LID %u) in the group for its neighbour "
                               "solicitations; it replies to a request to its queue pair: it has "
                               "lost the membership",
                               d->gid, d->at.lid),
               g_strdup("on the peer, set the interface down and up: it joins again; ip maddr"));
}

bool why_not_delivered(struct diagnosis *d)
{
    questions_ask(d);
    if (!d->by_unicast || questions_group_reaches_nobody(d))
        return false;
    bool member = d->t->ipv6 ? d->solicited_known : d->member_known;
    char *who = g_strdup_printf("%s (LID %u)", d->gid, d->at.lid);
    bool holds = diagnosis_not_delivered(d, who, d->at.lid, member);
    g_free(who);
    return holds;
}

bool why_no_group(struct diagnosis *d)
{
    return d->no_group && !d->by_unicast &&
           diagnosis_holds(
               d,
               g_strdup("the SA has no group for its neighbour solicitations, which "
                        "every port with the address joins (RFC 4291 §2.8): no host has "
                        "it, or its port has lost the group"),
               g_strdup("on the host that should have it: ip -6 addr; sysctl "
                        "net.ipv6.conf.all.disable_ipv6; if it has it: set its "
                        "interface down and up"));
}

/* The QPN at which that port's link-local address is, which this host has just pinged; 0: unknown.
 */
static uint32_t qpn_of_local(const struct diagnosis *d)
{
    uint8_t ip[16];
    uint32_t qpn = 0;
    host_ping_port_address(d->at.lladdr + LLADDR_GID, ip);
    GArray *all = hostneigh_read(d->interface);
    for (guint i = 0; all && i < all->len && !qpn; i++) {
        const struct host_neighbour *n = &g_array_index(all, struct host_neighbour, i);
        if (n->ipv6 && memcmp(n->ip, ip, sizeof ip) == 0)
            qpn = lladdr_read(n->lladdr).qpn;
    }
    if (all)
        g_array_unref(all);
    return qpn;
}

/* That port has several interfaces (children, containers), and the target's is silent. */
static bool is_other_interface(struct diagnosis *d)
{
    uint32_t own = lladdr_read(d->at.lladdr).qpn, local = d->knows_qpn ? qpn_of_local(d) : 0;
    return local && local != own &&
           diagnosis_holds(
               d,
               g_strdup_printf("the address was at queue pair 0x%06x of %s (LID %u), whose other "
                               "interface, at 0x%06x, replies: the interface that had the address "
                               "is down or gone (a child interface, or one in a container)",
                               own, d->gid, d->at.lid, local),
               g_strdup("on the peer: ip -br addr; ip link; ip netns list; lsns -t net: set that "
                        "interface up"));
}

/*
 * Its interface works: it replies for its link-local address, and not for the target. With IPv6
 * each address has a group of its own, which may not be delivered.
 */
static bool is_without_address(struct diagnosis *d)
{
    bool ipv6 = d->t->ipv6;
    return d->by_local &&
           (is_other_interface(d) ||
            diagnosis_holds(
                d,
                g_strdup_printf(
                    "the interface at %s (LID %u) replies to ping for its link-local "
                    "address, and to nothing for this one: the address was removed or "
                    "moved%s, %s, or that host only answers for it (%s)",
                    d->gid, d->at.lid, ipv6 ? " or is a duplicate (dadfailed)" : "",
                    ipv6 ? "packets to its solicited-node group do not reach that port, or its "
                           "replies to all nodes this one"
                         : "its ARP is off or filtered",
                    ipv6 ? "proxy_ndp" : "proxy_arp"),
                g_strdup(ipv6 ? "on the peer: ip -6 addr | grep -B1 dadfailed; ip maddr; "
                                "ipoib-probe fabric"
                              : "on the peer: ip -br addr; ip link | grep NOARP; sysctl -a | "
                                "grep -E 'arp_ignore|proxy_arp'; nft list ruleset")));
}

/* Not lost packets: the SA has no member to whom the switches would send. */
bool why_no_member(struct diagnosis *d)
{
    return d->no_member && !d->by_unicast &&
           diagnosis_holds(
               d,
               g_strdup("the SA lists no port but this one in the group for its "
                        "neighbour solicitations: no host has the address, or its port has lost "
                        "the membership"),
               g_strdup("on the host that should have it: ip -6 addr; ip maddr; set "
                        "its interface down and up: it joins again"));
}

/* The address has the GUID but no QPN: only its solicited-node group was asked. */
static bool is_group_silent(struct diagnosis *d)
{
    if (d->knows_qpn)
        return false;
    char *look = advice_look_at_multicast(d->t->link, d->mlid,
                                          records_get_switch_lid(d->t, d->at.lid), d->at.lid);
    diagnosis_holds(d,
                    g_strdup_printf("the kernel at %s (LID %u) answers a connection request, and "
                                    "nothing answers the solicited-node group of the address: "
                                    "packets to that group do not reach the port, what it sends "
                                    "over UD is lost, or its interface is down or drops ND",
                                    d->gid, d->at.lid),
                    g_strdup_printf("on the peer: ip -br addr; nft list ruleset; here: %s", look));
    g_free(look);
    return true;
}

bool why_queue_silent(struct diagnosis *d)
{
    questions_ask(d);
    if (is_without_address(d)) /* whether its connection manager can be asked or not */
        return true;
    if (!d->by_cm)
        return false;
    if (is_group_silent(d))
        return true;
    char *queue = g_strdup_printf("queue pair 0x%06x", lladdr_read(d->at.lladdr).qpn);
    bool holds = diagnosis_holds(
        d,
        g_strdup_printf("the kernel at %s (LID %u) answers a connection request, but %s answers "
                        "nothing%s: what it sends over UD is lost, or dropped here for a wrong "
                        "P_Key or Q_Key; packets to it are lost; or the address was removed or "
                        "moved, or its %s is off or filtered",
                        d->gid, d->at.lid, queue,
                        d->asked_local ? ", for its link-local address either" : "",
                        d->t->ipv6 ? "ND" : "ARP"),
        g_strdup(d->t->ipv6 ? "on the peer: ip -br addr; ip link; nft list ruleset"
                            : "on the peer: ip -br addr; ip link | grep NOARP; sysctl -a | grep "
                              "-E 'arp_ignore|proxy_arp'; nft list ruleset"));
    g_free(queue);
    return holds;
}

/* There, or back. */
static bool is_hole(struct diagnosis *d)
{
    uint16_t own = d->t->link->transport->facts.lid;
    struct port_words w;
    char *hole = switches_find_hole(d->t, own, d->at.lid);
    if (!hole)
        hole = switches_find_hole(d->t, d->at.lid, own);
    if (!hole)
        return false;
    advice_name_port(d->t->link, &w);
    diagnosis_holds(
        d,
        g_strdup_printf("the SA says %s (LID %u) can be reached, but %s", d->gid, d->at.lid, hole),
        g_strdup_printf("ibroute %s LID  # of that switch; let the SM sweep again, or "
                        "restart it",
                        w.diags));
    g_free(hole);
    return true;
}

bool why_nothing_back(struct diagnosis *d)
{
    const struct port_facts *f = &d->t->link->transport->facts;
    questions_ask(d);
    if (d->path && !d->by_unicast && !d->has_agent && is_hole(d)) /* else the switches lead there */
        return true;
    return d->path && !d->by_unicast &&
           diagnosis_holds(
               d,
               g_strdup_printf(
                   "the SA says %s (LID %u) can be reached%s, but %s: one direction is lost, or the "
                   "host hangs",
                   d->gid, d->at.lid,
                   d->has_agent && d->agent.state == PORT_ACTIVE
                       ? ", its adapter says that its port is Active"
                       : "",
                   cm_can_ask(d->t) ? "neither its interface nor its connection manager answers"
                                    : "its interface does not answer"),
               g_strdup_printf("ibtracert -C %s -P %u %u %u; perfquery -C %s -P %u %u %u",
                               f->device, f->port, f->lid, d->at.lid, f->device, f->port, d->at.lid,
                               path_place_of(d->t, d->at.lid).port));
}

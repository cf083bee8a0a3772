/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks the table of causes. See why.h. */
#include "probe/why/why.h"

#include <string.h>

#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/records.h"
#include "probe/link/advice.h"
#include "probe/link/groups.h"
#include "probe/link/hostif.h"
#include "probe/link/hostneigh.h"
#include "probe/link/message.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/text.h"
#include "probe/why/members.h"
#include "probe/why/questions.h"
#include "wire/ip.h"

static bool is_slow(struct diagnosis *d)
{
    questions_ask(d);
    unsigned ms = questions_late_ms(d);
    return ms &&
           diagnosis_holds(
               d, g_strdup_printf("its reply came %.1f s after the first request", ms / 1000.0),
               g_strdup_printf("ipoib-probe --timeout %u %.*s", ms + ms / 2, target_word(d->t),
                               d->t->name));
}

static bool is_duplicate(struct diagnosis *d)
{
    return d->t->peer->several_senders &&
           diagnosis_holds(d, g_strdup("several ports sent packets in its name"),
                           g_strdup_printf("arping -c 3 %.*s  # from another host: shows both",
                                           target_word(d->t), d->t->name));
}

/* The first MUST that a packet of the peer violates; RULE_COUNT: none. */
static size_t violated_by_reply(const struct target *t)
{
    size_t i = 0;
    while (i < RULE_COUNT &&
           (rules[i].level != RULE_MUST ||
            verdict_worst(t->results->checked->verdict, (enum rule_number)i) != OUTCOME_FAIL))
        i++;
    return i;
}

static bool is_unusable(struct diagnosis *d)
{
    size_t rule = violated_by_reply(d->t);
    if (!d->t->unusable && rule < RULE_COUNT && d->t->peer->lid)
        return diagnosis_holds(
            d,
            g_strdup_printf("its reply violates %s, and hosts drop it: %s", rules[rule].id,
                            rules[rule].text),
            g_strdup_printf("ipoib-probe --explain %s; ipoib-probe -w packets.pcapng %.*s",
                            rules[rule].id, target_word(d->t), d->t->name));
    return d->t->unusable &&
           diagnosis_holds(d, g_strdup_printf("a reply was received that has %s", d->t->unusable),
                           g_strdup_printf("ipoib-probe -w packets.pcapng %.*s", target_word(d->t),
                                           d->t->name));
}

static bool is_lossy(struct diagnosis *d)
{
    struct port_words w;
    if (!d->by_group && !d->few_replies)
        return false;
    advice_name_port(d->t->link, &w);
    struct path_place at = path_place_of(d->t, d->at.lid);
    char *damage = questions_find_damage(d, &at),
         *how = d->few_replies
                    ? g_strdup_printf("it answers some of %d requests, and not those before", OFTEN)
                    : g_strdup("it did not reply to the first three requests to the group, and "
                               "replies to a later one"),
         *evidence = g_strdup_printf("%s%s%s", how, damage ? "; " : "", damage ? damage : "");
    g_free(how);
    g_free(damage);
    return diagnosis_holds(d, evidence,
                           at.lid ? g_strdup_printf("perfquery %s %u %u; ibqueryerrors %s: errors "
                                                    "of the links to it",
                                                    w.diags, at.lid, at.port, w.diags)
                                  : g_strdup_printf("perfquery %s; ibqueryerrors %s: errors of "
                                                    "the links",
                                                    w.diags, w.diags));
}

/* ---- the peer's link-layer address */

static void know_lladdr(struct diagnosis *d, const uint8_t *lladdr, bool knows_qpn)
{
    d->known = true;
    d->knows_qpn = knows_qpn;
    memcpy(d->at.lladdr, lladdr, LLADDR_SIZE);
    text_ip(true, lladdr + LLADDR_GID, d->gid);
}

/* Has the table the same port for another address of that IP version? */
static void read_also(struct diagnosis *d, const GArray *all)
{
    for (guint i = 0; all && d->known && i < all->len && !d->also[0]; i++) {
        const struct host_neighbour *n = &g_array_index(all, struct host_neighbour, i);
        if (n->ipv6 == d->t->ipv6 && lladdr_same_port(n->lladdr, d->at.lladdr) &&
            memcmp(n->ip, d->t->ip, n->ipv6 ? 16 : 4) != 0)
            text_ip(n->ipv6, n->ip, d->also);
    }
}

static void read_neighbour(struct diagnosis *d)
{
    GArray *all = d->interface ? hostneigh_read(d->interface) : NULL;
    for (guint i = 0; all && i < all->len && !d->known; i++) {
        const struct host_neighbour *n = &g_array_index(all, struct host_neighbour, i);
        if (n->ipv6 == d->t->ipv6 && memcmp(n->ip, d->t->ip, n->ipv6 ? 16 : 4) == 0) {
            know_lladdr(d, n->lladdr, true);
            d->permanent = n->permanent;
        }
    }
    read_also(d, all);
    if (all)
        g_array_unref(all);
}

/* ---- a peer that replies, but not to the probe */

/* A request without a sender's address is answered to all nodes (RFC 4861 §7.2.4). */
static bool is_proxied_ipv6(struct diagnosis *d)
{
    uint16_t own = d->t->link->transport->facts.lid;
    char *look = advice_look_at_multicast(d->t->link, exchange_all_nodes_mlid(d->t),
                                          records_get_switch_lid(d->t, own), own);
    bool holds = diagnosis_holds(
        d,
        g_strdup("it replies to this host's kernel, which has its link-layer address, but to no "
                 "request for it: its replies, which go to all nodes, are not delivered to this "
                 "host; packets to its solicited-node group are not delivered to it; or ND is "
                 "filtered there"),
        g_strdup_printf("%s; on the peer: ip maddr; nft list ruleset", look));
    g_free(look);
    return holds;
}

/* The kernel has just learnt the address of the peer: does the switch there forward the group? */
static bool is_not_forwarded(struct diagnosis *d)
{
    struct sa_response a;
    if (!d->known)
        read_neighbour(d);
    if (!d->known)
        return false;
    bool found = records_get_path(d->t, d->at.lladdr + LLADDR_GID, &a) == SA_SUCCESS;
    uint16_t lid = found ? be16(a.records->data + PATH_DLID) : 0;
    sa_response_clear(&a);
    char *who = g_strdup_printf("%s (LID %u)", d->gid, lid);
    bool is = diagnosis_is_not_forwarded(d, lid) && diagnosis_not_delivered(d, who, lid, false);
    g_free(who);
    return is;
}

/* This host still has a neighbour entry, or somebody answers whose sender is not 0.0.0.0 or ::. */
static bool is_proxied(struct diagnosis *d)
{
    return d->by_ping &&
           (is_not_forwarded(d) ||
            (d->t->ipv6
                 ? is_proxied_ipv6(d)
                 : diagnosis_holds(
                       d,
                       g_strdup("it replies to this host's kernel, which has its link-layer "
                                "address, but to no request for it: address resolution is off "
                                "or filtered there, packets to its group do not arrive, or a "
                                "proxy (proxy_arp) answers for it"),
                       g_strdup("on the peer: ip link | grep NOARP; sysctl -a | grep -E "
                                "'arp_ignore|proxy_arp'; nft list ruleset"))));
}

/* ---- the table */

/* When a cause can be looked for. */
enum condition { ALWAYS, LINK_OPEN, PEER_KNOWN };

struct cause {
    const char *words;
    bool (*holds)(struct diagnosis *d);
    enum condition condition;
    unsigned transport; /* required capabilities of the transport */
};

/* From this host outwards. */
static const struct cause causes[] = {
    {"this host has no IPoIB interface there", why_no_interface, ALWAYS, 0},
    {"this host's interface is down", why_interface_down, ALWAYS, 0},
    {"this host's port has no link", why_port_down, ALWAYS, 0},
    {"no subnet manager has set up this host's port", why_port_initialize, ALWAYS, 0},
    {"this host's port is not in the partition", why_pkey_missing, ALWAYS, 0},
    {"the subnet manager (SA) is busy", why_sa_busy, ALWAYS, 0},
    {"the subnet manager is slow, or seems so", why_sa_slow, ALWAYS, 0},
    {"the subnet manager (SA) does not answer", why_sa_silent, ALWAYS, 0},
    {"this host's port cannot join the link", why_link_closed, ALWAYS, 0},
    {"this host's interface has no carrier", why_no_carrier, LINK_OPEN, 0},
    {"this host has lost its membership of the group", why_not_member, LINK_OPEN, 0},
    {"this host's kernel does not send the address to this link", why_other_route, LINK_OPEN, 0},
    {"this host has the address itself", why_own_address, LINK_OPEN, 0},
    {"the peer is slow", is_slow, LINK_OPEN, 0},
    {"two hosts use the address", is_duplicate, LINK_OPEN, 0},
    {"the peer replies, but wrongly", is_unusable, LINK_OPEN, 0},
    {"packets are lost", is_lossy, LINK_OPEN, 0},
    {"both ports are limited members", why_both_limited, PEER_KNOWN, CAN_QUERY_SA},
    {"both ports are limited members, or the peer's is gone", why_hidden, PEER_KNOWN, CAN_QUERY_SA},
    {"replies arrive with a wrong key", why_wrong_keys, LINK_OPEN, 0},
    {"the peer is in another partition", why_other_partition, PEER_KNOWN, CAN_QUERY_SA},
    {"the peer's port is not in the partition", why_left_partition, PEER_KNOWN, CAN_QUERY_SA},
    {"the peer's port is gone", why_port_gone, PEER_KNOWN, CAN_QUERY_SA},
    {"the peer is not in the broadcast group", why_not_in_group, PEER_KNOWN, CAN_QUERY_SA},
    {"the peer is not in its solicited-node group", why_not_solicited, PEER_KNOWN, CAN_QUERY_SA},
    {"packets to the group do not reach the peer", why_not_delivered, PEER_KNOWN, CAN_QUERY_SA},
    {"no port of the link has the address", why_no_group, LINK_OPEN, CAN_QUERY_SA},
    {"no port receives solicitations for the address", why_no_member, LINK_OPEN, CAN_QUERY_SA},
    {"this host reaches nobody on the link", why_nobody_replies, LINK_OPEN, 0},
    {"packets to the group reach nobody", why_group_to_nobody, LINK_OPEN, 0},
    {"packets to groups do not reach this host", why_groups_not_delivered, LINK_OPEN,
     CAN_QUERY_SA | CAN_SEND | HAS_OWN_QP},
    {"it replies to ping, and not to address resolution", is_proxied, LINK_OPEN, 0},
    {"the peer's port replies, its interface does not", why_queue_silent, PEER_KNOWN, CAN_QUERY_SA},
    {"no packet comes back from the peer's port", why_nothing_back, PEER_KNOWN, CAN_QUERY_SA},
    {"this port is a limited member, and so are others", why_others_limited, LINK_OPEN,
     CAN_QUERY_SA},
    {"it is on the link of another interface", why_on_other_interface, LINK_OPEN, 0},
    {"no host replies through this interface", why_other_network, LINK_OPEN, 0},
    {"packets to the group do not reach the peer", why_member_has_it, LINK_OPEN,
     CAN_QUERY_SA | HAS_OWN_QP},
    {"the subnet manager (SA) is busy", why_sa_busy_now, LINK_OPEN, CAN_QUERY_SA},
    {"this host reaches nobody on the link", why_members_silent, LINK_OPEN, CAN_QUERY_SA},
    {"it is behind a router, and this host's prefix says that it is not", why_behind_router,
     LINK_OPEN, 0},
    {"a port has lost the broadcast group", why_lost_group, LINK_OPEN, CAN_QUERY_SA},
    {"the host is there, and requests to the group have no answer", why_unresolved, LINK_OPEN, 0},
    {"no host replies, and those of another partition may be meant", why_other_members, LINK_OPEN,
     CAN_QUERY_SA},
    {"a port that may have the address is silent", why_one_is_silent, LINK_OPEN, CAN_QUERY_SA},
    {"no host replies, and some are not on the link", why_ports_outside, LINK_OPEN, CAN_QUERY_SA},
    {"no such host, or it is off", why_no_host, LINK_OPEN, 0},
};

/* ---- what is known at the beginning */

/* A link-local address made from the port's GUID (RFC 4391 §8). */
static void read_address(struct diagnosis *d)
{
    uint8_t lladdr[LLADDR_SIZE] = {0};
    const uint8_t *ip = d->t->ip;
    if (d->known || !d->t->ipv6 || !ipv6_is_link_local(ip))
        return;
    memcpy(lladdr + LLADDR_GID, d->t->link->transport->facts.gid, 8);
    memcpy(lladdr + LLADDR_GID + 8, ip + 8, 8);
    lladdr[LLADDR_GID + 8] ^= 2;
    know_lladdr(d, lladdr, false);
}

/*
 * The other receiver of the target's solicited-node group, whose MGID has the low 24 bits of the
 * address (RFC 4291 §2.7.1): only a port that has such an address joins it as one.
 */
static void read_group(struct diagnosis *d)
{
    uint8_t group[16], mgid[GID_SIZE], lladdr[LLADDR_SIZE] = {0};
    if (!d->t->ipv6 || d->link_error || !transport_can(d->t->link->transport, CAN_QUERY_SA))
        return;
    message_solicited_node(group, d->t->ip);
    message_ipv6_mgid(mgid, d->t->link->group.scope, d->t->link->pkey, group);
    struct mc_group g;
    uint16_t status;
    enum sa_result result = group_get(d->t, mgid, &g, &status);
    d->no_group = group_is_missing(result, status);
    d->mlid = result == SA_SUCCESS ? g.mlid : 0;
    int others = result == SA_SUCCESS ? group_other_receivers(d->t, mgid, lladdr + LLADDR_GID) : -1;
    d->no_member = others == 0;
    if (!d->known && others == 1)
        know_lladdr(d, lladdr, false);
}

static void begin(struct diagnosis *d)
{
    d->mlid = d->t->link->group.mlid;
    const struct choice *c = d->t->link->choice;
    const struct transport *transport = d->t->link->transport;
    if (transport->interface)
        d->interface = g_strdup(transport->interface->name);
    else if (c && c->interface[0])
        d->interface = g_strdup(c->interface);
    else
        d->interface = host_interface_in_any_state(&transport->facts, d->t->link->pkey);
    read_neighbour(d);
    read_address(d);
}

static void end(struct diagnosis *d)
{
    g_free(d->interface);
    g_free(d->evidence);
    g_free(d->command);
    members_free(d->ports);
}

/* ---- the walk */

static bool can_look(const struct diagnosis *d, const struct cause *c)
{
    return (c->condition == ALWAYS || !d->link_error) && (c->condition != PEER_KNOWN || d->known) &&
           transport_can(d->t->link->transport, c->transport) && !target_ended(d->t);
}

/* Whatever is found at the port of a permanent entry: it may be the wrong port. */
static void doubt_entry(struct diagnosis *d)
{
    char ip[48];
    text_ip(d->t->ipv6, d->t->ip, ip);
    char *evidence = g_strdup_printf("the neighbour entry is permanent (made by hand) and may be "
                                     "wrong%s%s; else: %s",
                                     d->also[0] ? ": that port also has " : "", d->also,
                                     d->evidence),
         *command = g_strdup_printf("ip neigh del %s dev %s; test again; if the same: %s", ip,
                                    d->interface, d->command);
    g_free(d->evidence);
    g_free(d->command);
    diagnosis_holds(d, evidence, command);
}

static const struct cause *first_that_holds(struct diagnosis *d, const struct cause *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (can_look(d, &all[i]) && all[i].holds(d))
            return &all[i];
    return NULL;
}

static const char *find_cause(struct diagnosis *d)
{
    const struct cause *c = first_that_holds(d, causes, G_N_ELEMENTS(causes));
    if (c && c->condition == PEER_KNOWN && d->permanent)
        doubt_entry(d);
    return c ? c->words : NULL;
}

void why_begin(struct target *t)
{
    struct transport *transport = t->link->transport;
    struct port_facts now;
    if (!transport->ops->read_port || !transport->ops->read_port(transport, &now))
        return;
    transport->facts.pkey_violations = now.pkey_violations;
    transport->facts.qkey_violations = now.qkey_violations;
}

/* Its port is known from its replies. */
static void know_peer(struct diagnosis *d)
{
    const struct peer *p = d->t->peer;
    if (!p->known)
        return;
    know_lladdr(d, p->lladdr, true);
    d->at.lid = p->lid;
}

char *why_silent(struct target *t)
{
    static const struct cause of_peer[] = {
        {"both ports are limited members", why_both_limited, PEER_KNOWN, CAN_QUERY_SA},
        {"the peer is in another partition", why_other_partition, PEER_KNOWN, CAN_QUERY_SA},
        {"both ports are limited members, or the peer's is gone", why_hidden, PEER_KNOWN,
         CAN_QUERY_SA},
        {"the peer's port is not in the partition", why_left_partition, PEER_KNOWN, CAN_QUERY_SA},
        {"the peer's port is gone", why_port_gone, PEER_KNOWN, CAN_QUERY_SA},
        {"the peer is not in the broadcast group", why_not_in_group, PEER_KNOWN, CAN_QUERY_SA},
        {"the peer's port replies, its interface does not", why_queue_silent, PEER_KNOWN,
         CAN_QUERY_SA},
        {"no packet comes back from the peer's port", why_nothing_back, PEER_KNOWN, CAN_QUERY_SA},
    };
    struct diagnosis d = {.t = t};
    if (!t->peer->known)
        return NULL;
    begin(&d);
    know_peer(&d);
    questions_ask_soon(&d);
    const struct cause *c = first_that_holds(&d, of_peer, G_N_ELEMENTS(of_peer));
    char *text = c ? g_strdup_printf("%s: %s", c->words, d.evidence) : NULL;
    end(&d);
    return text;
}

static void add_cause(struct diagnosis *d, const char *words)
{
    results_stage(d->t->results, "peer.no-reply", OUTCOME_INCONCLUSIVE, d->command, "%s: %s", words,
                  d->evidence);
    d->t->results->checked->cause = "peer.no-reply";
}

/* Walks the table. Ends the diagnosis. */
static char *report_cause(struct diagnosis *d)
{
    struct target *t = d->t;
    read_group(d);
    results_begin(t->results, "no-reply");
    const char *words = find_cause(d);
    if (words)
        add_cause(d, words);
    char *text = words ? g_strdup_printf("%s: %s", words, d->evidence) : NULL;
    end(d);
    return text;
}

char *why_no_reply(struct target *t, const char *link_error)
{
    struct diagnosis d = {.t = t, .link_error = link_error};
    begin(&d);
    know_peer(&d);
    return report_cause(&d);
}

char *why_gone(struct target *t, const uint8_t *gid)
{
    struct diagnosis d = {.t = t};
    uint8_t lladdr[LLADDR_SIZE] = {0};
    begin(&d);
    if (gid && !d.known) {
        memcpy(lladdr + LLADDR_GID, gid, GID_SIZE);
        know_lladdr(&d, lladdr, false);
    }
    return report_cause(&d);
}

enum own_side why_own_side(struct target *t)
{
    static const struct cause of_kernel[] = {
        {"this host has no IPoIB interface there", why_no_interface, ALWAYS, 0},
        {"this host's interface is down", why_interface_down, ALWAYS, 0},
        {"this host's interface has no carrier", why_no_carrier, ALWAYS, 0},
        {"this host's interface does not resolve addresses", why_no_arp, ALWAYS, 0},
        {"this host had lost its membership of the group", why_not_member, ALWAYS, 0},
        {"this host's kernel does not send the address to this link", why_other_route, ALWAYS, 0},
        {"this host's own address is a duplicate", why_dad_failed, ALWAYS, 0},
        {"this host's neighbour table has an old address", why_old_entry, ALWAYS, 0},
        {"the SA's path does not lead to it", why_wrong_path, ALWAYS, 0},
        {"packets to the group do not reach this host", why_not_forwarded, ALWAYS, 0},
    };
    struct diagnosis d = {.t = t};
    const struct cause *found = NULL;
    begin(&d);
    for (size_t i = 0; i < G_N_ELEMENTS(of_kernel) && !found; i++)
        found = of_kernel[i].holds(&d) ? &of_kernel[i] : NULL;
    if (found)
        results_stage(t->results, "peer.own-side", OUTCOME_FAIL, d.command,
                      "the peer replies to the probe, but %s: %s", found->words, d.evidence);
    end(&d);
    if (!found)
        return OWN_SIDE_GOOD;
    if (found->holds == why_not_member)
        return OWN_SIDE_REPAIRED;
    t->results->checked->state = found->holds == why_other_route
                                     ? "answers here, but this host sends elsewhere"
                                     : "answers, but this host does not reach it";
    return OWN_SIDE_FAILS;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Do packets to groups reach this port? Nobody can be asked to send one to the broadcast group, so
 * those count that arrive by chance, and else the forwarding table of this port's switch. A host
 * that is asked for its link-local address by the unspecified one advertises it to all nodes (RFC
 * 4861 §7.2.4). The group's members are no proof: a switch may not deliver.
 */
#include <string.h>

#include "probe/exchange/addresses.h"
#include "probe/exchange/receive.h"
#include "probe/exchange/records.h"
#include "probe/exchange/switches.h"
#include "probe/fabric/stages.h"
#include "probe/link/advice.h"
#include "probe/link/groups.h"
#include "probe/link/hostif.h"
#include "probe/link/hostping.h"

static bool never(struct target *t, const struct ud_from *from, void *user)
{
    (void)t;
    (void)from;
    (void)user;
    return false;
}

/* The SA answers a join before the switches' tables are set. */
static enum forwarded ask_switch(struct target *t, uint16_t *at, uint8_t *port)
{
    enum { AGAIN_MS = 500 };
    enum forwarded is = switches_forward_to_own(t, at, port);
    if (is != NOT_FORWARDED)
        return is;
    g_usleep((gulong)AGAIN_MS * 1000);
    return switches_forward_to_own(t, at, port);
}

static void report_forwarding(struct target *t, const char *id, enum forwarded is, uint16_t at,
                              uint8_t port)
{
    struct port_words w;
    advice_name_port(t->link, &w);
    t->link->forwarded = is == FORWARDED;
    if (is == FORWARDED) {
        results_stage(t->results, id, OUTCOME_PASS, "",
                      "the switch with LID %u forwards the broadcast group to this port, by its "
                      "port %u",
                      at, port);
        return;
    }
    results_stage(t->results, id, OUTCOME_FAIL, "",
                  "the switch with LID %u does not forward the broadcast group (MLID 0x%04x) to "
                  "its port %u, which leads to this one: hosts that ask for this host's address do "
                  "not reach it",
                  at, t->link->group.mlid, port);
    results_advise(t->results,
                   "set the interface down and up, or let the SM sweep again; ibroute %s -M %u",
                   w.diags, at);
}

/* Hosts that have replied to ARP are asked to advertise themselves to all nodes. */
struct asked_hosts {
    unsigned asked, heard;
};

static struct asked_hosts ask_repliers(struct target *t)
{
    static const struct request q = {.multicast = true, .any = true};
    struct asked_address all[REPLIERS];
    struct asked_hosts a = {0};
    unsigned n = t->link->repliers.n;
    memset(all, 0, sizeof all);
    for (unsigned i = 0; i < n; i++) {
        all[i].ipv6 = true;
        host_ping_port_address(t->link->repliers.gids[i], all[i].ip);
    }
    addresses_ask(t, &q, all, n, TRIES);
    for (unsigned i = 0; i < n; i++) {
        a.asked += all[i].outcome != NOT_SENT; /* without its group, IPv6 may be off there */
        a.heard += all[i].outcome == RESPONSE_RECEIVED;
    }
    return a;
}

/* One host alone may filter ND, or have another link-local address. */
static bool is_proved_deaf(const struct asked_hosts *a)
{
    return a->asked > 1 && !a->heard;
}

static void report_deaf(struct target *t, const char *id, const struct asked_hosts *a)
{
    uint16_t own = t->link->transport->facts.lid;
    char *look = advice_look_at_multicast(t->link, exchange_all_nodes_mlid(t),
                                          records_get_switch_lid(t, own), own);
    results_stage(t->results, id, OUTCOME_INCONCLUSIVE, look,
                  "packets to groups do not reach this port: %u hosts reply to ARP, by unicast, "
                  "and none of their advertisements to all IPv6 nodes arrives; or each of them "
                  "filters ND",
                  a->asked);
    g_free(look);
}

static void report_quiet(struct target *t, const char *id, const struct asked_hosts *a)
{
    bool forwarded = t->link->forwarded, brief = t->results->checked->brief;
    char *heard = a->heard
                      ? g_strdup_printf("; advertisements of %u host%s to all IPv6 nodes arrive",
                                        a->heard, a->heard == 1 ? "" : "s")
                      : g_strdup("");
    results_stage(t->results, id, OUTCOME_NOTED,
                  brief || forwarded /* nothing is missing */
                      ? ""
                      : "ipoib-probe --source FREE_ADDRESS PEER  # has the peer send to the "
                        "group",
                  "%snone arrived meanwhile, as on a quiet link%s",
                  forwarded ? ""
                            : "not tested: whether packets to the broadcast group reach this "
                              "port; ",
                  heard);
    g_free(heard);
}

static void report_unheard(struct target *t, const char *id)
{
    struct asked_hosts a = ask_repliers(t);
    if (target_ended(t))
        return;
    if (is_proved_deaf(&a))
        report_deaf(t, id, &a);
    else
        report_quiet(t, id, &a);
}

static bool stage_delivery(struct target *t, const char *id)
{
    if (!t->link->opened) {
        results_stage(t->results, id, VERDICT_SKIPPED, "", "the link was not opened");
        return true;
    }
    receive_await(t, 0, never, NULL); /* what has arrived meanwhile */
    if (t->link->from_groups)
        results_stage(t->results, id, OUTCOME_PASS, "",
                      "%u packets to the broadcast group arrived from other ports",
                      t->link->from_groups);
    else
        report_unheard(t, id);
    return !t->run->stopped;
}

/* Before the probe joins, which makes the SM set the tables again. Only for an interface's port. */
static bool stage_forwarding(struct target *t, const char *id)
{
    uint16_t at;
    uint8_t port;
    char *interface = host_interface(t->link);
    struct member_state m;
    if (interface && group_member_state(t, t->link->group.mgid, &m) == SA_SUCCESS && !m.member)
        g_clear_pointer(&interface, g_free); /* fabric.join and fabric.interface say it */
    enum forwarded is = interface ? ask_switch(t, &at, &port) : FORWARD_UNKNOWN;
    if (!interface)
        results_stage(t->results, id, VERDICT_SKIPPED, "",
                      "no interface of this host is up and in the group there");
    else if (is == FORWARD_UNKNOWN)
        results_stage(t->results, id, VERDICT_SKIPPED, "",
                      "the switch does not show its forwarding table, or the group has no other "
                      "member");
    else
        report_forwarding(t, id, is, at, port);
    g_free(interface);
    return true;
}

static const struct stage_of_fabric forwarding[] = {
    {.id = "fabric.forwarding",
     .looks_at = "the switch forwards packets to the broadcast group to this port",
     .sends = "SubnGet MulticastForwardingTable to this port's switch",
     .run = stage_forwarding,
     .transport = CAN_QUERY_SA},
};
const struct stage_table forwarding_stages = {forwarding, G_N_ELEMENTS(forwarding)};

static const struct stage_of_fabric stages[] = {
    {.id = "fabric.delivery",
     .looks_at = "packets to the broadcast group reach this port",
     .sends = "neighbour solicitations for up to three hosts that replied to ARP",
     .run = stage_delivery,
     .transport = CAN_SEND | HAS_OWN_QP | SHOWS_SENDER},
};
const struct stage_table delivery_stages = {stages, G_N_ELEMENTS(stages)};

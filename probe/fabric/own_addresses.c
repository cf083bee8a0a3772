/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks for the host's own addresses, as duplicate address detection does (RFC 5227, RFC 4862). A
 * port of another host that announces one of them takes some of the host's traffic.
 */
#include <stdio.h>
#include <string.h>

#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/request.h"
#include "probe/fabric/stages.h"
#include "probe/link/groups.h"
#include "probe/link/hostif.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "probe/run/text.h"

enum { ASKED = 32, ASKED_TRIES = 2 };

struct own_addresses {
    const struct target *fabric;
    GPtrArray *interfaces;                /* names: those on the link */
    unsigned n, taken, unknown, left_out; /* left_out: beyond ASKED */
    GString *words;                       /* text about the addresses that another port announces */
    char why[VERDICT_TEXT];               /* why it is not known of the last unknown one */
};

static void note_owner(struct own_addresses *a, const struct target *t, const char *interface,
                       const struct response *r)
{
    struct owner w = {.lid = r->lid, .sl = r->sl, .qpn = r->qpn};
    char text[OWNER_TEXT];
    memcpy(w.lladdr, r->lladdr, LLADDR_SIZE);
    owner_text(&w, text, sizeof text);
    a->taken++;
    g_string_append_printf(a->words, "%s%s (%s) is announced by %s too", a->words->len ? "; " : "",
                           t->name, interface, text);
}

/* Without the solicited-node group no node has the address. */
static bool is_unused(const struct target *t, const struct exchange *x)
{
    return x->outcome == NO_RESPONSE ||
           (x->outcome == NOT_SENT && group_is_missing(SA_REJECTED, t->run->sa.status));
}

static void ask(struct own_addresses *a, const char *interface, bool ipv6, const uint8_t *ip)
{
    struct peer peer = {.known = false};
    struct target t = *a->fabric;
    t.peer = &peer;
    t.ipv6 = ipv6;
    memcpy(t.ip, ip, ipv6 ? 16 : 4);
    text_ip(ipv6, ip, t.name);
    struct exchange x = exchange_run(&t, &(struct request){.multicast = true, .foreign = true},
                                     ASKED_TRIES);
    if (x.outcome == RESPONSE_RECEIVED)
        note_owner(a, &t, interface, &x.reply);
    else if (!is_unused(&t, &x)) {
        a->unknown++;
        g_strlcpy(a->why, x.received, sizeof a->why);
    }
}

static void take_address(void *user, const char *interface, bool ipv6, const uint8_t *ip)
{
    struct own_addresses *a = user;
    if (!g_ptr_array_find_with_equal_func(a->interfaces, interface, g_str_equal, NULL) ||
        target_ended(a->fabric))
        return;
    if (a->n == ASKED) {
        a->left_out++;
        return;
    }
    a->n++;
    ask(a, interface, ipv6, ip);
}

static void report_addresses(struct target *t, const char *id, const struct own_addresses *a)
{
    if (a->taken)
        results_stage(t->results, id, OUTCOME_FAIL,
                      "two hosts have one address: find the other one by its GID", "%s",
                      a->words->str);
    else if (a->unknown)
        results_stage(t->results, id, OUTCOME_INCONCLUSIVE, "",
                      "of %u of %u addresses it is not known whether another port has them: %s",
                      a->unknown, a->n, a->why);
    else if (!a->n)
        results_stage(t->results, id, VERDICT_SKIPPED, "",
                      "no interface of this host that is up there has an address");
    else
        results_stage(t->results, id, OUTCOME_PASS, "",
                      "no other port announces an address of this host: %u asked for", a->n);
    if (a->left_out)
        results_withhold_stage(t->results, "%u more addresses were not asked for", a->left_out);
}

static bool stage_own_addresses(struct target *t, const char *id)
{
    struct own_addresses a = {
        .fabric = t, .interfaces = host_interfaces(t->link), .words = g_string_new(NULL)};
    GError *why = NULL;
    if (a.interfaces->len == 0)
        results_stage(t->results, id, VERDICT_SKIPPED, "", "no interface of this host is up there");
    else if (!link_open(t, &why))
        results_stage(t->results, id, OUTCOME_INCONCLUSIVE, "", "they cannot be asked for: %s",
                      why->message);
    else {
        host_addresses(take_address, &a);
        report_addresses(t, id, &a);
    }
    g_clear_error(&why);
    g_string_free(a.words, TRUE);
    g_ptr_array_unref(a.interfaces);
    return !t->run->stopped;
}

static const struct stage_of_fabric stages[] = {
    {.id = "fabric.own-addresses",
     .looks_at = "no port of another host announces an address of this host",
     .sends = "ARP requests and neighbour solicitations for up to 32 addresses of this host",
     .run = stage_own_addresses,
     .transport = CAN_SEND},
};
const struct stage_table own_address_stages = {stages, G_N_ELEMENTS(stages)};

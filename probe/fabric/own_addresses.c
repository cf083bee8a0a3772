/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks for the host's own addresses, as duplicate address detection does (RFC 5227, RFC 4862). A
 * port of another host that announces one of them takes some of the host's traffic.
 */
#include <stdio.h>
#include <string.h>

#include "probe/exchange/addresses.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/records.h"
#include "probe/exchange/request.h"
#include "probe/fabric/stages.h"
#include "probe/link/hostif.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "probe/run/text.h"

enum { ASKED = 32, ASKED_TRIES = 2 };

struct own_addresses {
    struct asked_address *asked;
    const char *on[ASKED];                /* the interfaces that have them */
    GPtrArray *interfaces;                /* names: those on the link */
    unsigned n, taken, unknown, left_out; /* left_out: beyond ASKED */
    GString *words;                       /* text about the addresses that another port announces */
    uint16_t lid;                         /* of the last such port; 0: unknown */
    char why[VERDICT_TEXT];               /* why it is not known of the last unknown one */
};

static void note_owner(struct own_addresses *a, const char *interface,
                       const struct asked_address *asked)
{
    const struct response *r = &asked->reply;
    struct owner w = {.lid = r->lid, .sl = r->sl, .qpn = r->qpn};
    char text[OWNER_TEXT], ip[48];
    memcpy(w.lladdr, r->lladdr, LLADDR_SIZE);
    owner_text(&w, text, sizeof text);
    text_ip(asked->ipv6, asked->ip, ip);
    a->taken++;
    a->lid = r->lid;
    g_string_append_printf(a->words, "%s%s (%s) is announced by %s too", a->words->len ? "; " : "",
                           ip, interface, text);
}

/* Without the solicited-node group no node has the address. */
static void note_result(struct own_addresses *a, const char *interface,
                        const struct asked_address *asked)
{
    if (asked->outcome == RESPONSE_RECEIVED)
        note_owner(a, interface, asked);
    else if (asked->outcome == NOT_SENT && !asked->no_group) {
        a->unknown++;
        g_strlcpy(a->why, asked->why, sizeof a->why);
    }
}

static void take_address(void *user, const char *interface, bool ipv6, const uint8_t *ip)
{
    struct own_addresses *a = user;
    guint at;
    if (!g_ptr_array_find_with_equal_func(a->interfaces, interface, g_str_equal, &at))
        return;
    if (a->n == ASKED) {
        a->left_out++;
        return;
    }
    a->on[a->n] = a->interfaces->pdata[at];
    a->asked[a->n].ipv6 = ipv6;
    memcpy(a->asked[a->n++].ip, ip, ipv6 ? 16 : 4);
}

static void ask_all(const struct target *t, struct own_addresses *a)
{
    static const struct request q = {.multicast = true, .any = true, .foreign = true};
    a->asked = g_new0(struct asked_address, ASKED);
    host_addresses(take_address, a);
    addresses_ask(t, &q, a->asked, a->n, ASKED_TRIES);
    for (unsigned i = 0; i < a->n; i++)
        note_result(a, a->on[i], &a->asked[i]);
    g_free(a->asked);
}

static void report_taken(struct target *t, const char *id, const struct own_addresses *a)
{
    char *name = records_name_text(t, a->lid);
    results_stage(t->results, id, OUTCOME_FAIL,
                  "two hosts have one address: take it from one of them", "%s%s", a->words->str,
                  name);
    g_free(name);
}

static void report_addresses(struct target *t, const char *id, const struct own_addresses *a)
{
    if (a->taken)
        report_taken(t, id, a);
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
    struct own_addresses a = {.interfaces = host_interfaces(t->link), .words = g_string_new(NULL)};
    GError *why = NULL;
    if (a.interfaces->len == 0)
        results_stage(t->results, id, VERDICT_SKIPPED, "", "no interface of this host is up there");
    else if (!link_open(t, &why))
        results_stage(t->results, id, OUTCOME_INCONCLUSIVE, "", "they cannot be asked for: %s",
                      why->message);
    else {
        ask_all(t, &a);
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

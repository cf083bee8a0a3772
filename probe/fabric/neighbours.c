/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the host's neighbour table with the neighbours' current responses and with the SA's
 * paths. If an address moved, a stale entry makes its host unreachable.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hca/client.h"
#include "probe/exchange/addresses.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/request.h"
#include "probe/exchange/receive.h"
#include "probe/exchange/records.h"
#include "probe/fabric/stages.h"
#include "probe/link/hostif.h"
#include "probe/link/hostneigh.h"
#include "probe/link/link.h"
#include "probe/link/sa.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "probe/run/text.h"

enum { PROBED = 32, REPORTED = 5 };

struct comparison {
    unsigned sent, unanswered, not_sent, wrong;
    unsigned gone;     /* to these the SA has no path, and they do not reply */
    unsigned unrouted; /* to these the SA has no path, and they reply */
    unsigned doubled;  /* of these several stations reply for one address */
    unsigned pathless; /* of these the SA did not say whether there is a path */
    char why[200];     /* why not, for the last one */
    char why_not_sent[VERDICT_TEXT];
    GString *words; /* text about the wrong entries that are reported */
};

/* What is wrong with one neighbour. */
static void G_GNUC_PRINTF(2, 3) add_found(GString *found, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_string_append(found, found->len ? ", and " : "");
    g_string_append_vprintf(found, format, args);
    va_end(args);
}

/* Each neighbour counts once. */
static void add_wrong(struct comparison *t, const GString *found, bool two)
{
    t->doubled += two;
    if (!found->len || ++t->wrong > REPORTED)
        return;
    g_string_append_printf(t->words, "%s%s", t->words->len ? "; " : "", found->str);
}

enum { FLUX_WAIT_MS = 30 };

static bool has_competing_owner(struct target *t, const struct ud_from *from, void *user)
{
    (void)from;
    (void)user;
    return t->peer->has_competing;
}

/* True if another station announces the address too, now or shortly afterwards (ARP flux). */
static bool await_competing(struct target *t)
{
    if (!t->peer->has_competing)
        receive_await(t, FLUX_WAIT_MS, has_competing_owner, NULL);
    return t->peer->has_competing;
}

static bool is_same_port(const uint8_t *a, const uint8_t *b)
{
    enum { GUID = LLADDR_GID + 8 }; /* the SM may have changed the subnet prefix */
    return memcmp(a + GUID, b + GUID, LLADDR_SIZE - GUID) == 0;
}

static void compare_address(struct target *target, GString *found, const struct host_neighbour *n,
                            const struct response *a)
{
    char cached[64], now[64], from[48], to[48];
    text_lladdr(n->lladdr, cached);
    text_lladdr(a->lladdr, now);
    text_ip(true, n->lladdr + LLADDR_GID, from);
    text_ip(true, a->lladdr + LLADDR_GID, to);
    bool two = await_competing(target);
    bool stays = two && lladdr_same_port(n->lladdr, target->peer->competing.lladdr);
    if (!stays && !is_same_port(n->lladdr, a->lladdr))
        add_found(found, "%s moved from port %s to port %s", target->name, from, to);
    else if (!stays && !lladdr_same_port(n->lladdr, a->lladdr))
        add_found(found, "the neighbour table has %s at %s, but its reply says %s", target->name,
                  cached, now);
    if (two) {
        text_lladdr(target->peer->competing.lladdr, cached);
        add_found(found, "two link-layer addresses claim %s: %s and %s", target->name, now, cached);
    }
}

/* Other statuses do not say that there is no path (IBA 15.2.1.3). OpenSM uses both. */
static bool is_without_path(enum sa_result result, uint16_t status)
{
    enum { INVALID_GID = 0x0500 };
    return result == SA_REJECTED && (status == SA_STATUS_NO_RECORDS || status == INVALID_GID);
}

static void compare_path(struct target *target, struct comparison *t, GString *found,
                         const struct host_neighbour *n, const struct response *a)
{
    struct sa_response path;
    char gid[48];
    enum sa_result result = records_get_path(target, n->lladdr + LLADDR_GID, &path);
    text_ip(true, n->lladdr + LLADDR_GID, gid);
    if (is_without_path(result, path.status)) {
        add_found(found,
                  "the neighbour table has %s at GID %s, to which the SA has no path (0x%04x, %s)",
                  target->name, gid, path.status, sa_status_name(path.status));
        t->gone += !a;
        t->unrouted += a != NULL;
    } else if (result != SA_SUCCESS) {
        t->pathless++;
        g_strlcpy(t->why, sa_failure_text(target, result, path.status), sizeof t->why);
    } else if (a && (be16(path.records->data + PATH_DLID) ^ a->lid) >>
                        target->link->transport->facts.lmc)
        add_found(found, "the SA's path to %s leads to LID %u, and it replies from LID %u",
                  target->name, be16(path.records->data + PATH_DLID), a->lid);
    sa_response_clear(&path);
}

/* For fabric.delivery. */
static void note_replier(struct probe_link *l, const struct response *a)
{
    for (unsigned i = 0; i < l->repliers.n; i++)
        if (memcmp(l->repliers.gids[i], a->lladdr + LLADDR_GID, GID_SIZE) == 0)
            return;
    if (l->repliers.n < REPLIERS)
        memcpy(l->repliers.gids[l->repliers.n++], a->lladdr + LLADDR_GID, GID_SIZE);
}

static void compare_neighbour(const struct target *fabric, struct comparison *t,
                              const struct host_neighbour *n, const struct asked_address *asked)
{
    struct peer peer = {.known = false};
    struct target neighbour = {.run = fabric->run,
                               .link = fabric->link,
                               .log = fabric->log,
                               .results = fabric->results,
                               .about_fabric = fabric->about_fabric,
                               .ipv6 = n->ipv6,
                               .peer = &peer},
                  *target = &neighbour;
    memcpy(target->ip, n->ip, 16);
    text_ip(n->ipv6, n->ip, target->name);
    bool answers = asked->outcome == RESPONSE_RECEIVED;
    struct exchange x = {.outcome = asked->outcome};
    if (answers) /* alone: do several stations reply? */
        x = exchange_run(target, &(struct request){.multicast = true}, TRIES);
    answers = x.outcome == RESPONSE_RECEIVED;
    /* Without the solicited-node group no node has the address. */
    bool not_sent = x.outcome == NOT_SENT && !asked->no_group;
    t->sent += !not_sent;
    t->unanswered += !not_sent && !answers;
    if (not_sent) {
        t->not_sent++;
        g_strlcpy(t->why_not_sent, asked->outcome == NOT_SENT ? asked->why : x.received,
                  sizeof t->why_not_sent);
    }
    GString *found = g_string_new(NULL);
    if (answers) {
        peer_set(target, &x.reply);
        if (!target->ipv6)
            note_replier(target->link, &x.reply);
        compare_address(target, found, n, &x.reply);
    }
    /* A path to another port says nothing about this one. */
    if (transport_can(target->link->transport, CAN_QUERY_SA) &&
        (!answers || is_same_port(n->lladdr, x.reply.lladdr)))
        compare_path(target, t, found, n, answers ? &x.reply : NULL);
    add_wrong(t, found, target->peer->has_competing);
    g_string_free(found, TRUE);
}

/* All at once first: those that are silent cost the wait of one. */
static void compare_all(const struct target *fabric, struct comparison *t, const GArray *all)
{
    static const struct request q = {.multicast = true, .any = true};
    struct asked_address *asked = g_new0(struct asked_address, PROBED);
    unsigned n = MIN(all->len, PROBED);
    for (unsigned i = 0; i < n; i++) {
        const struct host_neighbour *of = &g_array_index(all, struct host_neighbour, i);
        asked[i].ipv6 = of->ipv6;
        memcpy(asked[i].ip, of->ip, 16);
    }
    addresses_ask(fabric, &q, asked, n, TRIES);
    for (unsigned i = 0; i < n && !target_ended(fabric); i++)
        compare_neighbour(fabric, t, &g_array_index(all, struct host_neighbour, i), &asked[i]);
    g_free(asked);
}

static void report_wrong(struct target *target, const char *id, const char *interface,
                         const struct comparison *t, const char *not_sent)
{
    char *advice = t->gone == t->wrong
                       ? g_strdup("their ports have left the subnet: check those hosts and cables; "
                                  "saquery NR lists the ports that are there")
                   : t->unrouted == t->wrong
                       ? g_strdup("see the log of the subnet manager: it has no path to hosts that "
                                  "reply; let it sweep again")
                   : t->doubled == t->wrong
                       ? g_strdup("a host with several ports on the link: set arp_ignore and "
                                  "arp_announce to 1 or 2 there; else two hosts have one address")
                       : g_strdup_printf("ip neigh flush dev %s nud all; if the LIDs differ, the "
                                         "kernel keeps an old path: ip link set %s down; ip link "
                                         "set %s up",
                                         interface, interface, interface);
    results_stage(
        target->results, id, OUTCOME_FAIL, advice,
        "%u of %u neighbours are not where the neighbour table has them, reply twice or have no path: "
        "%s%s%s",
        t->wrong, t->sent + t->not_sent, t->words->str, t->wrong > REPORTED ? "; and more" : "",
        not_sent);
    g_free(advice);
}

static void report_neighbours(struct target *target, const char *id, const char *interface,
                              const struct comparison *t)
{
    char not_sent[VERDICT_TEXT + 60] = "";
    if (t->not_sent)
        snprintf(not_sent, sizeof not_sent, "; %u more could not be probed: %s", t->not_sent,
                 t->why_not_sent);
    if (t->wrong)
        report_wrong(target, id, interface, t, not_sent);
    else if (t->pathless)
        results_stage(target->results, id, OUTCOME_INCONCLUSIVE, "",
                      "%u neighbours; of %u the SA does not say whether there is a path: %s%s",
                      t->sent, t->pathless, t->why, not_sent);
    else
        results_stage(target->results, id,
                      t->not_sent || !t->sent ? OUTCOME_INCONCLUSIVE : OUTCOME_PASS, "",
                      "%u neighbours: %u reply from the address in the table; %u do not%s", t->sent,
                      t->sent - t->unanswered, t->unanswered, not_sent);
}

static bool stage_neighbours(struct target *target, const char *id)
{
    char *name = host_interface(target->link);
    GError *why = NULL;
    GArray *all = name ? hostneigh_read(name) : NULL;
    struct comparison t = {.words = g_string_new(NULL)};
    if (name && !all)
        results_stage(target->results, id, OUTCOME_INCONCLUSIVE, "",
                      "the kernel does not list its neighbours");
    else if (!all || all->len == 0)
        results_stage(target->results, id, VERDICT_SKIPPED, "", "%s",
                      all ? "the host's table has no neighbour there"
                          : "no interface of this host is up there");
    else if (!link_open(target, &why))
        results_stage(target->results, id, OUTCOME_INCONCLUSIVE, "", "they cannot be probed: %s",
                      why->message);
    else {
        compare_all(target, &t, all);
        report_neighbours(target, id, name, &t);
        if (all->len > PROBED)
            results_withhold_stage(target->results, "%u more neighbours were not probed",
                                   all->len - PROBED);
    }
    if (all)
        g_array_unref(all);
    g_string_free(t.words, TRUE);
    g_clear_error(&why);
    g_free(name);
    return !target->run->stopped;
}

static const struct stage_of_fabric stages[] = {
    {.id = "fabric.neighbours",
     .looks_at = "the neighbours still have the addresses in the host's table",
     .sends =
         "ARP requests and neighbour solicitations, SA Get PathRecord, of up to 32 of the host's neighbours",
     .run = stage_neighbours,
     .transport = CAN_SEND},
};
const struct stage_table neighbour_stages = {stages, G_N_ELEMENTS(stages)};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the host's neighbour table with the neighbours' current responses and with the SA's
 * paths. If an address moved, a stale entry makes its host unreachable.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hca/client.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/question.h"
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

enum { LOOKED_AT = 32, TOLD = 5 };

struct tour {
    unsigned asked, silent, unasked, wrong;
    GString *words; /* text about the wrong entries that are reported */
};

static void G_GNUC_PRINTF(2, 3) add_wrong(struct tour *t, const char *format, ...)
{
    va_list args;
    if (++t->wrong > TOLD)
        return;
    va_start(args, format);
    g_string_append(t->words, t->words->len ? "; " : "");
    g_string_append_vprintf(t->words, format, args);
    va_end(args);
}

enum { FLUX_WAIT_MS = 30 };

static bool rival_came(struct target *t, const struct ud_from *from, void *user)
{
    (void)from;
    (void)user;
    return t->peer->has_rival;
}

/* True if another station announces the address too, now or shortly afterwards (ARP flux). */
static bool find_rival(struct target *t)
{
    if (!t->peer->has_rival)
        await_packet(t, FLUX_WAIT_MS, rival_came, NULL);
    return t->peer->has_rival;
}

static void compare_address(struct target *target, struct tour *t, const struct host_neighbour *n,
                            const struct answer *a)
{
    char remembered[64], now[64];
    lladdr_text(n->lladdr, remembered);
    lladdr_text(a->lladdr, now);
    if (!lladdr_same(n->lladdr, a->lladdr))
        add_wrong(t, "%s is remembered at %s, and answers that it is at %s", target->name,
                  remembered, now);
    if (find_rival(target)) {
        lladdr_text(target->peer->rival.lladdr, remembered);
        add_wrong(t, "two answer for %s: %s and %s", target->name, now, remembered);
    }
}

static void compare_path(struct target *target, struct tour *t, const struct host_neighbour *n,
                         const struct answer *a)
{
    struct sa_answer path;
    char gid[48];
    enum sa_result result = ask_path(target, n->lladdr + LLADDR_GID, &path);
    ip_text(true, n->lladdr + LLADDR_GID, gid);
    if (result == SA_REFUSED)
        add_wrong(t, "%s is remembered at GID %s, to which the SA has no path (0x%04x, %s)",
                  target->name, gid, path.status, sa_status_name(path.status));
    else if (result == SA_TOLD && a &&
             (be16(path.records->data + PATH_DLID) ^ a->lid) >> target->link->transport->facts.lmc)
        add_wrong(t, "the SA's path to %s leads to LID %u, and it answers from LID %u",
                  target->name, be16(path.records->data + PATH_DLID), a->lid);
    sa_answer_clear(&path);
}

static void visit(const struct target *fabric, struct tour *t, const struct host_neighbour *n)
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
    ip_text(n->ipv6, n->ip, target->name);
    struct exchange x = exchange_run(target, &(struct question){.multicast = true}, TRIES);
    enum came came = x.outcome;
    bool answers = came == CAME_ANSWER;
    t->asked += came != NOT_ASKED;
    t->unasked += came == NOT_ASKED;
    t->silent += came == CAME_NOTHING;
    if (answers) {
        owner_take(target, &x.reply);
        compare_address(target, t, n, &x.reply);
    }
    if (transport_can(target->link->transport, CAN_ASK_SA))
        compare_path(target, t, n, answers ? &x.reply : NULL);
}

static void tell(struct target *target, const char *id, const struct tour *t)
{
    char unasked[60] = "";
    if (t->unasked)
        snprintf(unasked, sizeof unasked, "; %u more could not be asked", t->unasked);
    if (t->wrong)
        results_stage(
            target->results, id, OUTCOME_FAIL,
            "ip neigh flush dev INTERFACE; if the LIDs differ, set the interface down and up: its kernel keeps an old path",
            "%u of %u neighbours are not where they are remembered or answer twice: %s%s%s",
            t->wrong, t->asked + t->unasked, t->words->str, t->wrong > TOLD ? "; and more" : "",
            unasked);
    else
        results_stage(target->results, id, t->asked ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE, "",
                      "%u neighbours: %u answer, from where they are remembered; %u do not%s",
                      t->asked, t->asked - t->silent, t->silent, unasked);
}

static bool stage_neighbours(struct target *target, const char *id)
{
    char *name = host_interface(target->link), why[256];
    GArray *all = name ? neighbours_of(name) : NULL;
    struct tour t = {.words = g_string_new(NULL)};
    if (!all || all->len == 0)
        results_stage(target->results, id, VERDICT_SKIPPED, "", "%s",
                      !name  ? "no interface of this host is up there"
                      : !all ? "the kernel does not tell its neighbours"
                             : "the host's table has no neighbour there");
    else if (!link_open(target, why, sizeof why))
        results_stage(target->results, id, OUTCOME_INCONCLUSIVE, "", "they cannot be asked: %s",
                      why);
    else {
        for (guint i = 0; i < all->len && i < LOOKED_AT && !target_ended(target); i++)
            visit(target, &t, &g_array_index(all, struct host_neighbour, i));
        tell(target, id, &t);
    }
    if (all)
        g_array_unref(all);
    g_string_free(t.words, TRUE);
    g_free(name);
    return !target->run->stopped;
}

static const struct stage_of_fabric stages[] = {
    {.id = "fabric.neighbours",
     .looks_at = "are the neighbours still where the host's table has them?",
     .sends =
         "ARP requests and neighbour solicitations, SA Get PathRecord, of up to 32 of the host's neighbours",
     .run = stage_neighbours},
};
const struct stage_table neighbour_stages = {stages, G_N_ELEMENTS(stages)};

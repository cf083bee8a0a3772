/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See sizes.h. */
#include "probe/checks/sizes.h"

#include "probe/exchange/exchange.h"
#include "probe/exchange/path_mtu.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/request.h"
#include "probe/link/advice.h"
#include "probe/link/known_faults.h"
#include "probe/link/link.h"
#include "probe/run/results.h"

enum { SEARCH_TRIES = 2, FRAGMENT_SMALL = 68 };

uint32_t sizes_bisect(struct target *t, uint32_t good, uint32_t bad, size_try *try, void *user)
{
    while (bad - good > 1 && !target_ended(t)) {
        uint32_t middle = good + (bad - good) / 2;
        if (try(t, middle, user))
            good = middle;
        else
            bad = middle;
    }
    return good;
}

/* MTUs of InfiniBand less 4 (RFC 4391 §7), and those of IPv4, IPv6, Ethernet and connected mode. */
bool sizes_is_no_mtu(uint32_t limit)
{
    static const uint32_t mtus[] = {252,  508,  576,  1020, 1280, 1500,
                                    2000, 2044, 4000, 4092, 9000, 65520};
    for (size_t i = 0; i < G_N_ELEMENTS(mtus); i++)
        if (limit == mtus[i])
            return false;
    return true;
}

/* ---- the ways to try a size */

static bool gets_reply(struct target *t, const struct request *q, unsigned tries)
{
    return exchange_run(t, q, tries).outcome == RESPONSE_RECEIVED;
}

static bool try_echo(struct target *t, uint32_t size, void *tries)
{
    return gets_reply(t, &(struct request){.echo = size, .search = true},
                      tries ? *(unsigned *)tries : SEARCH_TRIES);
}

/* Bytes after a message do not change it: its reply is small, whatever the request's size. */
static bool try_request(struct target *t, uint32_t size, void *unused)
{
    (void)unused;
    return gets_reply(t,
                      &(struct request){.grh = t->peer->needs_grh, .length = size, .search = true},
                      SEARCH_TRIES);
}

/* The request arrives in small fragments; the reply is one packet. */
static bool try_reply(struct target *t, uint32_t size, void *unused)
{
    (void)unused;
    return gets_reply(t,
                      &(struct request){.echo = size, .fragment = FRAGMENT_SMALL, .search = true},
                      SEARCH_TRIES);
}

/* ---- searching */

static uint32_t search_from(struct target *t, uint32_t good, uint32_t link, size_try *try)
{
    return try(t, link, NULL) ? link : sizes_bisect(t, good, link, try, NULL);
}

/* Which direction loses larger packets? Fragments of IPv6 requests are not tried. */
static void search_directions(struct target *t, struct size_limits *s)
{
    if (try_request(t, s->largest, NULL))
        s->request = search_from(t, s->largest, s->link, try_request);
    if (!t->ipv6 && s->request && try_reply(t, s->largest, NULL))
        s->reply = search_from(t, s->largest, s->link, try_reply);
    else if (s->request == s->link)
        s->reply = s->largest;
}

/* Lost packets must not look like a limit. */
static bool confirms(struct target *t, const struct size_limits *s)
{
    unsigned tries = TRIES;
    return try_echo(t, s->largest, &tries) && !try_echo(t, s->largest + 1, &tries) &&
           !try_echo(t, s->link, &tries) && try_echo(t, s->largest, &tries);
}

static const uint32_t sizes[] = {576, 1280, 1500, 2044};

/* The first size that gets no reply; 0: all get one. */
static uint32_t first_without(struct target *t, struct size_limits *s)
{
    for (size_t i = 0; i <= G_N_ELEMENTS(sizes) && !target_ended(t); i++) {
        uint32_t size = i < G_N_ELEMENTS(sizes) ? sizes[i] : s->link;
        if (size <= s->largest || size > s->link)
            continue;
        if (!exchange_echo(t, size))
            return size;
        s->largest = size;
    }
    return 0;
}

struct size_limits sizes_search(struct target *t, uint32_t smallest, uint32_t link)
{
    struct size_limits s = {.link = link};
    t->peer->fragments = false;
    if (!exchange_echo(t, smallest))
        return s;
    s.largest = smallest;
    uint32_t bad = first_without(t, &s);
    s.gone = bad && !target_ended(t) && !exchange_echo(t, s.largest);
    if (!bad || s.gone || target_ended(t))
        return s;
    s.largest = sizes_bisect(t, s.largest, bad, try_echo, NULL);
    s.fragments = t->peer->fragments;
    s.found = confirms(t, &s) && !target_ended(t);
    s.of_path = s.found && !s.fragments && sizes_is_no_mtu(s.largest);
    if (s.of_path)
        search_directions(t, &s);
    return s;
}

/* ---- the stage */

static char *direction_text(const char *what, uint32_t largest, uint32_t link)
{
    return !largest         ? g_strdup("")
           : largest < link ? g_strdup_printf("; %s of up to %u bytes arrive", what, largest)
                            : g_strdup_printf("; %s of %u bytes arrive", what, largest);
}

static void advise_path(struct target *t)
{
    struct port_words w;
    advice_name_port(t->link, &w);
    char *mtus = path_mtu_command(t);
    results_advise(t->results, "%s; iblinkinfo %s: look for a link of another MTU, width or speed",
                   mtus, w.diags);
    g_free(mtus);
}

static void report_path(struct target *t, const struct size_limits *s)
{
    char *requests = direction_text("requests", s->request, s->link),
         *replies = direction_text("replies", s->reply, s->link);
    bool ndr = known_faults_explain_ndr(t->link, s->largest);
    results_stage(t->results, "peer.sizes", OUTCOME_FAIL, ndr ? KNOWN_NDR_ADVICE : "",
                  "packets above %u bytes are lost on the path%s%s%s", s->largest, requests,
                  replies,
                  ndr ? "; this link is NDR, and " KNOWN_NDR " (" KNOWN_NDR_SOURCE ")" : "");
    if (!ndr)
        advise_path(t);
    g_free(replies);
    g_free(requests);
}

void sizes_report(struct target *t, const struct size_limits *s)
{
    if (target_ended(t) || !s->largest || s->gone)
        return;
    if (s->of_path)
        report_path(t, s);
    else if (s->largest == s->link)
        results_stage(t->results, "peer.sizes", OUTCOME_PASS, "",
                      "up to %u bytes, the link's MTU, get a reply over UD", s->link);
    else if (s->fragments)
        results_stage(t->results, "peer.sizes", OUTCOME_NOTED, "",
                      "up to %u bytes get a reply over UD, the peer's MTU: it fragments larger "
                      "replies",
                      s->largest);
    else if (s->found)
        results_stage(t->results, "peer.sizes", OUTCOME_NOTED, "",
                      "up to %u bytes get a reply over UD, which is an MTU", s->largest);
    else
        results_stage(t->results, "peer.sizes", OUTCOME_INCONCLUSIVE,
                      "test again; peer.numbers has the lost packets",
                      "no limit was found: sizes above and below %u bytes get a reply only from "
                      "time to time",
                      s->largest);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports about addresses that do not respond, and about prefixes. See parts.h. */
#include "probe/sweep/parts.h"

#include <stdio.h>
#include <string.h>

#include "cli/plain.h"
#include "probe/link/groups.h"
#include "probe/link/hostnet.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/options.h"
#include "probe/run/text.h"
#include "probe/sweep/baseline.h"
#include "report/swept.h"
#include "wire/put.h"
#include "wire/view.h"

enum { RANGES_REPORTED = 100 };

static void report_range(struct sweep_tally *t, bool ipv6)
{
    char first[48], last[48];
    text_ip(ipv6, t->first, first);
    text_ip(ipv6, t->last, last);
    if (t->ranges > RANGES_REPORTED)
        return;
    g_string_append_printf(t->absent, "%s%s", t->absent->len ? ", " : "", first);
    if (strcmp(first, last) != 0)
        g_string_append_printf(t->absent, "-%s", last);
}

static bool is_next(const uint8_t *ip, const uint8_t *last, bool ipv6)
{
    unsigned at = ipv6 ? 12 : 0;
    return memcmp(ip, last, at) == 0 && be32(ip + at) == be32(last + at) + 1;
}

static void note_absent(struct sweep_tally *t, const struct flight *f)
{
    if (t->ranges && is_next(f->ip, t->last, f->ipv6)) {
        memcpy(t->last, f->ip, 16);
        return;
    }
    if (t->ranges)
        report_range(t, f->ipv6);
    t->ranges++;
    memcpy(t->first, f->ip, 16);
    memcpy(t->last, f->ip, 16);
}

/*
 * Packets that this host sends to its own groups may not reach its interface's queue pair, so its
 * own addresses do not respond.
 */
void sweep_note_no_response(struct sweep_tally *t, const struct flight *f, const char *own)
{
    char ip[48];
    if (!own) {
        note_absent(t, f);
        return;
    }
    text_ip(f->ipv6, f->ip, ip);
    g_string_append_printf(t->own, "%s%s (%s)", t->own->len ? ", " : "", ip, own);
}

void sweep_report_named(struct sweep *s, const struct target_option *t, const char *trouble)
{
    struct checked j = {.name = plain_dup(t->name),
                        .verdict = verdict_new(&s->run->options->selection),
                        .trouble = plain_dup(trouble),
                        .brief = s->brief};
    s->job->ready(s->job->user, &j);
}

static void end_ranges(struct sweep_tally *tally, bool ipv6)
{
    if (tally->ranges)
        report_range(tally, ipv6);
    if (tally->ranges > RANGES_REPORTED)
        g_string_append_printf(tally->absent, " and %u more ranges",
                               tally->ranges - RANGES_REPORTED);
}

static bool is_limited(const struct sweep *s)
{
    return s->link->pkey && !(s->link->pkey & 0x8000);
}

/* Is nobody there, or does nothing arrive? */
static char *silence_text(const struct sweep *s)
{
    const char *limited = is_limited(s) ? "this port is a limited member of the partition, and "
                                          "limited members cannot reply to each other; or "
                                        : "";
    uint8_t gid[GID_SIZE];
    int others = transport_can(s->link->transport, CAN_QUERY_SA) && s->link->opened
                     ? group_other_receivers(s->rest, s->link->group.mgid, gid)
                     : -1;
    return others > 0 ? g_strdup_printf("no reply from any of its addresses, and the SA lists %d "
                                        "other member%s of the broadcast group: %sthey have other "
                                        "addresses, or the packets of this port, or those to it, "
                                        "are lost: see ipoib-probe --why ADDRESS",
                                        others, others == 1 ? "" : "s", limited)
                      : g_strdup("no reply from any of its addresses");
}

/* Why the result of the prefix is missing or incomplete; NULL: it is complete. */
static char *prefix_trouble(const struct sweep *s, const struct target_option *t,
                            const struct sweep_tally *tally)
{
    if (s->run->broken)
        return g_strdup_printf("%u of %u addresses were probed, %u replied; then: %s",
                               tally->requested, t->n, tally->responded, s->link->transport->error);
    if (tally->not_requested)
        return g_strdup_printf(
            "%u of %u addresses were not probed, because their groups are not known: %s",
            tally->not_requested, t->n, s->no_group);
    if (tally->responded && s->run->sa.failures)
        return g_strdup_printf("%u of %u addresses reply; the SA no longer answers, so checks that "
                               "need it did not run",
                               tally->responded, t->n);
    return tally->responded ? sweep_ping_trouble(s, tally) : silence_text(s);
}

/* Its last address is in no network of this host. */
static bool is_partly_outside(const struct target_option *t)
{
    uint8_t last[16];
    memcpy(last, t->ip, sizeof last);
    put32(last + (t->ipv6 ? 12 : 0), be32(last + (t->ipv6 ? 12 : 0)) + t->n - 1);
    char *first_net = hostnet_of(t->ipv6, t->ip), *last_net = hostnet_of(t->ipv6, last);
    bool outside = first_net && !last_net;
    g_free(first_net);
    g_free(last_net);
    return outside;
}

/* Why hosts that are there may be missing, and what was not done with others. */
static char *missing_text(const struct sweep *s, const struct target_option *t,
                          const struct sweep_tally *tally)
{
    bool outside = is_partly_outside(t);
    char *networks = outside ? hostnet_text(t->ipv6) : g_strdup("");
    char *unpinged = tally->not_pinged
                         ? g_strdup_printf("; this host's ping went to the first %u hosts only",
                                           tally->pinged)
                         : g_strdup("");
    char *text = g_strdup_printf(
        "%s%s%s%s",
        is_limited(s) ? "; this port is a limited member of the partition: hosts "
                        "that are limited too cannot reply"
                      : "",
        outside ? "; a part of it is in no network of this host: " : "", networks, unpinged);
    g_free(unpinged);
    g_free(networks);
    return text;
}

static void compare(struct sweep *s, const struct target_option *t, const struct sweep_tally *tally,
                    struct swept *swept)
{
    swept_sort(swept);
    if (!s->run->baseline)
        return;
    sweep_baseline_compare(s->run->baseline, swept, t, !tally->not_requested && !s->run->broken);
    sweep_explain_gone(s, swept);
}

void sweep_report_prefix(struct sweep *s, const struct target_option *t, struct sweep_tally *tally)
{
    char *trouble = prefix_trouble(s, t, tally);
    struct swept *swept = tally->swept ? g_steal_pointer(&tally->swept) : swept_new();
    compare(s, t, tally, swept);
    if (!trouble)
        trouble = sweep_gone_trouble(swept);
    struct checked j = {.name = plain_dup(t->name),
                        .verdict = verdict_new(&s->run->options->selection),
                        .trouble = trouble ? plain_dup(trouble) : NULL,
                        .brief = s->brief,
                        .sweep = true,
                        .swept = swept};
    end_ranges(tally, t->ipv6);
    char *missing = missing_text(s, t, tally);
    char *text = g_strdup_printf("%u of %u addresses reply%s%s%s%s%s", tally->responded, t->n,
                                 tally->own->len ? "; this host: " : "", tally->own->str,
                                 tally->ranges ? "; no reply: " : "", tally->absent->str, missing);
    g_free(missing);
    checked_add_stage(&j, "sweep.answers", OUTCOME_NOTED, text, "");
    sweep_report_proxies(tally, &j);
    if (tally->responded)
        verdict_frame(j.verdict, true);
    g_free(text);
    g_free(trouble);
    s->job->ready(s->job->user, &j);
}

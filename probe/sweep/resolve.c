/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first requests of a sweep. Each address is requested up to three times within the timeout.
 * The rate and the timeout determine how many requests are pending; an upper limit keeps memory
 * constant.
 */
#include "probe/sweep/parts.h"

#include <stdio.h>
#include <string.h>

#include "cli/progress.h"
#include "model/hash.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/request.h"
#include "probe/link/groups.h"
#include "probe/link/hostif.h"
#include "probe/link/link.h"
#include "probe/link/sa.h"
#include "probe/link/send.h"
#include "probe/link/transport.h"
#include "probe/link/wirelog.h"
#include "probe/run/destination.h"
#include "probe/run/options.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "probe/sweep/progress.h"

enum { IN_FLIGHT = 4096, QUEUED = 192, RANGES_REPORTED = 100, BRIEF_FROM = 4 };

static guint hash_ip(gconstpointer key)
{
    return hash_bytes(((const struct flight *)key)->ip, sizeof((const struct flight *)key)->ip);
}

static gboolean same_ip(gconstpointer a, gconstpointer b)
{
    const struct flight *x = a, *y = b;
    return x->ipv6 == y->ipv6 && memcmp(x->ip, y->ip, 16) == 0;
}

static gint64 interval(const struct sweep *s)
{
    return (gint64)s->run->options->timeout_ms * 1000 / TRIES + 1;
}

/* why NULL: the request was sent, but there was no response. */
static void give_up_address(struct sweep *s, struct flight *f, const char *why)
{
    const struct target_option *t = &s->job->targets[f->target];
    char text[200];
    s->done++;
    sweep_leave(s, f->joined, &f->group);
    const char *own = g_hash_table_lookup(s->own, f);
    if (t->prefix) {
        sweep_note_no_response(&s->tallies[f->target], f, own);
        return;
    }
    if (own) {
        snprintf(text, sizeof text, OWN_ADDRESS, own);
        sweep_report_named(s, t, text);
        return;
    }
    snprintf(text, sizeof text, "no reply to %d requests within %u ms%s%s", TRIES,
             s->run->options->timeout_ms, f->unusable ? "; a reply was received that has " : "",
             f->unusable ? f->unusable : "");
    sweep_report_named(s, t, why ? why : text);
}

static void put_in_flight(struct sweep *s, struct flight *f, unsigned tries)
{
    f->next = g_get_monotonic_time() + interval(s);
    g_queue_push_tail(&s->tries[tries], f);
}

static bool send_request(struct sweep *s, struct flight *f)
{
    static const struct request q = {.multicast = true};
    struct pending_request x = {.q = &q, .ipv6 = f->ipv6, .ip = f->ip};
    struct target *t = s->rest;
    uint8_t out[UD_SIZE];
    wirelog_begin(t->log, "sweep");
    bool sent = send_group(t, &f->group, out, request_make(t, &x, t->link->lladdr, out));
    wirelog_end(t->log, sent ? "sent" : "not sent");
    return sent;
}

static void note_no_group(struct sweep *s, enum sa_result result)
{
    g_strlcpy(s->no_group, sa_failure_text(s->rest, result, s->run->sa.status), sizeof s->no_group);
}

/*
 * A node with an IPv6 address is in its solicited-node group: if the group does not exist (*there),
 * no node has the address.
 */
static bool find_destination_group(struct sweep *s, struct flight *f, bool *there)
{
    static const struct request q = {.multicast = true};
    struct pending_request x = {.q = &q, .ipv6 = f->ipv6, .ip = f->ip};
    unsigned before = groups_joined(s->link);
    wirelog_begin(s->rest->log, "sweep");
    enum sa_result result = exchange_find_group(s->rest, &x, &f->group, there);
    bool good = result == SA_SUCCESS;
    if (!good && *there)
        note_no_group(s, result);
    wirelog_end(s->rest->log, good     ? "group joined"
                              : *there ? "the group cannot be joined"
                                       : "no such group");
    f->joined = groups_joined(s->link) > before;
    return good && (!f->ipv6 || s->hears == SA_SUCCESS);
}

/* The address was not requested, so it is not reported as one that does not respond. */
static void skip_address(struct sweep *s, struct flight *f)
{
    const struct target_option *t = &s->job->targets[f->target];
    s->done++;
    sweep_leave(s, f->joined, &f->group);
    s->tallies[f->target].not_requested++;
    char *why = g_strdup_printf("not sent: its group is not known: %s", s->no_group);
    if (!t->prefix && !s->run->stopped)
        sweep_report_named(s, t, s->run->broken ? s->link->transport->error : why);
    g_free(why);
}

static bool is_own_address(const struct sweep *s, const struct flight *f)
{
    const struct own_address *own = &s->link->source;
    return own->usable && own->ipv6 == f->ipv6 && memcmp(own->ip, f->ip, f->ipv6 ? 16 : 4) == 0;
}

static bool has_more(const struct sweep *s)
{
    return s->target < s->job->n;
}

/* Returns false if the address is already pending for another target; it is requested later. */
static void advance(struct sweep *s)
{
    if (++s->number == s->job->targets[s->target].n) {
        s->target++;
        s->number = 0;
    }
}

static bool send_new(struct sweep *s)
{
    const struct target_option *t = &s->job->targets[s->target];
    struct flight *f = g_new0(struct flight, 1);
    bool there;
    f->ipv6 = t->ipv6;
    f->target = s->target;
    destination_address(t, s->number, f->ip);
    if (g_hash_table_contains(s->flights, f)) {
        g_free(f);
        return false;
    }
    advance(s);
    if (is_own_address(s, f)) {
        s->done++;
        g_free(f);
    } else if (!find_destination_group(s, f, &there)) {
        if (there)
            skip_address(s, f);
        else
            give_up_address(s, f,
                            "its solicited-node group does not exist, so no node has the address");
        g_free(f);
    } else {
        s->tallies[f->target].requested += send_request(s, f);
        g_hash_table_add(s->flights, f);
        put_in_flight(s, f, 0);
    }
    return true;
}

/*
 * Returns the first pending request with that number of tries if it is due. Removes addresses that
 * have responded.
 */
static struct flight *due(struct sweep *s, unsigned tries)
{
    struct flight *f;
    while ((f = g_queue_peek_head(&s->tries[tries])) && f->found)
        g_free(g_queue_pop_head(&s->tries[tries]));
    return f && f->next <= g_get_monotonic_time() ? f : NULL;
}

static bool give_up_next(struct sweep *s)
{
    struct flight *f = due(s, TRIES - 1);
    if (!f)
        return false;
    g_queue_pop_head(&s->tries[TRIES - 1]);
    g_hash_table_remove(s->flights, f);
    give_up_address(s, f, NULL);
    g_free(f);
    return true;
}

static bool send_retry(struct sweep *s)
{
    for (unsigned tries = 0; tries + 1 < TRIES; tries++) {
        struct flight *f = due(s, tries);
        if (!f)
            continue;
        g_queue_pop_head(&s->tries[tries]);
        send_request(s, f);
        put_in_flight(s, f, tries + 1);
        return true;
    }
    return false;
}

static bool may_send_new(const struct sweep *s)
{
    return has_more(s) && g_hash_table_size(s->flights) < IN_FLIGHT && s->queue->length < QUEUED;
}

bool sweep_request(struct sweep *s, bool busy)
{
    if (!busy && give_up_next(s))
        return true;
    if (rate_wait(s->run) > 0)
        return false;
    return send_retry(s) || (may_send_new(s) && send_new(s));
}

gint64 sweep_next_request(struct sweep *s, gint64 latest)
{
    gint64 next = may_send_new(s) ? 0 : latest;
    for (unsigned tries = 0; tries < TRIES; tries++) {
        due(s, tries);
        const struct flight *f = g_queue_peek_head(&s->tries[tries]);
        next = f ? MIN(next, f->next) : next;
    }
    return MIN(MAX(next, g_get_monotonic_time() + rate_wait(s->run)), latest);
}

bool sweep_take_response(struct sweep *s, bool ipv6, const uint8_t *ip, const struct ud_from *from)
{
    static const struct request q = {.multicast = true};
    struct flight key = {.ipv6 = ipv6}, *f;
    memcpy(key.ip, ip, ipv6 ? 16 : 4);
    if (!(f = g_hash_table_lookup(s->flights, &key)))
        return false;
    struct response *a = g_new(struct response, 1);
    struct pending_request x = {
        .q = &q, .ipv6 = ipv6, .ip = f->ip, .a = a, .sent = f->next - interval(s)};
    s->rest->unusable = NULL;
    bool answered = request_take_response(s->rest, from, &x);
    f->unusable = s->rest->unusable;
    if (answered) {
        g_hash_table_remove(s->flights, f);
        f->found = true; /* its queue entry is removed when it becomes due */
        s->done++;
        s->tallies[f->target].responded++;
        if (s->job->targets[f->target].prefix)
            sweep_note_place(&s->tallies[f->target], a);
        sweep_found(s, f, a, from);
    }
    g_free(a);
    return answered;
}

bool sweep_requested_all(const struct sweep *s)
{
    return !has_more(s) && g_hash_table_size(s->flights) == 0;
}

static void note_own(void *user, const char *interface, bool ipv6, const uint8_t *ip)
{
    struct flight *f = g_new0(struct flight, 1);
    f->ipv6 = ipv6;
    memcpy(f->ip, ip, ipv6 ? 16 : 4);
    g_hash_table_insert(user, f, g_strdup(interface));
}

void sweep_begin(struct sweep *s)
{
    bool ipv6 = false;
    for (unsigned i = 0; i < s->job->n; i++) {
        s->all += s->job->targets[i].n;
        ipv6 |= s->job->targets[i].ipv6;
    }
    s->brief = s->all >= BRIEF_FROM;
    s->shown = progress_has_terminal() ? g_get_monotonic_time() + SHOW_AFTER_US : 0;
    s->flights = g_hash_table_new(hash_ip, same_ip);
    s->own = g_hash_table_new_full(hash_ip, same_ip, g_free, g_free);
    host_addresses(note_own, s->own);
    s->tallies = g_new0(struct sweep_tally, s->job->n);
    for (unsigned i = 0; i < s->job->n; i++) {
        s->tallies[i].absent = g_string_new(NULL);
        s->tallies[i].own = g_string_new(NULL);
    }
    for (unsigned i = 0; i < TRIES; i++)
        g_queue_init(&s->tries[i]);
    wirelog_begin(s->rest->log, "sweep");
    if (ipv6)
        s->hears = exchange_join_all_nodes(s->rest);
    if (s->hears != SA_SUCCESS)
        note_no_group(s, s->hears);
    wirelog_end(s->rest->log, "started");
    wirelog_settle(s->rest->log);
}

/* The run has failed: reports the addresses that were not requested, or not to the end. */
static void report_not_requested(struct sweep *s)
{
    for (unsigned i = 0; i < s->job->n; i++) {
        const struct target_option *t = &s->job->targets[i];
        struct flight key = {.ipv6 = t->ipv6};
        memcpy(key.ip, t->ip, 16);
        if (!t->prefix && (i >= s->target || g_hash_table_contains(s->flights, &key)))
            sweep_report_named(s, t, s->link->transport->error);
    }
}

void sweep_end(struct sweep *s)
{
    if (s->shown)
        progress_erase();
    if (s->run->broken && !s->run->stopped)
        report_not_requested(s);
    for (unsigned i = 0; i < s->job->n; i++) {
        if (s->job->targets[i].prefix && !s->run->stopped)
            sweep_report_prefix(s, &s->job->targets[i], &s->tallies[i]);
        g_string_free(s->tallies[i].absent, TRUE);
        g_string_free(s->tallies[i].own, TRUE);
        swept_free(s->tallies[i].swept);
        if (s->tallies[i].places)
            g_hash_table_unref(s->tallies[i].places);
    }
    for (unsigned i = 0; i < TRIES; i++)
        while (!g_queue_is_empty(&s->tries[i]))
            g_free(g_queue_pop_head(&s->tries[i]));
    g_hash_table_unref(s->flights);
    g_hash_table_unref(s->own);
    g_free(s->tallies);
}

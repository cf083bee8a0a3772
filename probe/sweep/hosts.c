/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts that have responded: each is checked on its own stack. See parts.h. */
#include "probe/sweep/parts.h"

#include <string.h>

#include "cli/plain.h"
#include "hca/mcgroup.h"
#include "probe/checks/checks.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/request.h"
#include "probe/exchange/receive.h"
#include "probe/link/groups.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/link/wirelog.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/target.h"
#include "probe/run/text.h"
#include "probe/sweep/task.h"

enum { WINDOW = 64 }; /* hosts that are checked at the same time */

void sweep_leave(struct sweep *s, bool joined, const struct mc_group *g)
{
    if (!joined)
        return;
    wirelog_begin(s->rest->log, "sweep");
    group_leave(s->rest, g->mgid, JOIN_SEND_ONLY_NON);
    wirelog_end(s->rest->log, "group left");
}

/* A target_yield function: other hosts run during the wait. */
static bool sweep_await(struct target *t, int ms, packet_match *match, void *user)
{
    struct host *h = (struct host *)t;
    if (target_ended(t))
        return false;
    h->match = match;
    h->match_user = user;
    h->deadline = g_get_monotonic_time() + (gint64)ms * 1000;
    h->waits = true;
    h->matched = false;
    task_wait(h->task);
    h->waits = false;
    return h->matched;
}

static void run_host(void *user)
{
    struct host *h = user;
    checks_run_peer(&h->target, &h->first);
    sweep_ping(h);
    if (h->checked.listed)
        sweep_describe(h);
}

static void free_host(struct host *h)
{
    wirelog_join(h->target.log);
    g_free(h);
}

static void keep_row(struct sweep_tally *t, const struct swept_host *row)
{
    if (!t->swept)
        t->swept = swept_new();
    g_array_append_val(t->swept->hosts, *row);
}

static void deliver_host(struct sweep *s, struct host *h)
{
    if (h->row.address)
        sweep_describe_result(h);
    if (s->run->stopped)
        checked_clear(&h->checked);
    else
        s->job->ready(s->job->user, &h->checked);
    if (h->row.address)
        keep_row(&s->tallies[h->of], &h->row);
}

static bool is_of_prefix(const struct sweep *s, const struct host *h)
{
    return s->job->targets[h->of].prefix;
}

/* Another host answered ping, or all have ended. */
static void deliver_withheld(struct sweep *s)
{
    bool several = s->withheld->len > 1 && !s->any_ping;
    for (guint i = 0; i < s->withheld->len; i++) {
        struct host *h = s->withheld->pdata[i];
        struct sweep_tally *t = &s->tallies[h->of];
        bool by_this_host = several && is_of_prefix(s, h);
        t->silent++;
        t->none_answers |= by_this_host;
        sweep_ping_report(h, by_this_host);
        deliver_host(s, h);
        free_host(h);
    }
    g_ptr_array_set_size(s->withheld, 0);
}

static void finish(struct sweep *s, struct host *h)
{
    sweep_leave(s, h->joined, &h->group);
    g_queue_push_tail(s->idle, h->task);
    g_ptr_array_remove_fast(s->active, h);
    h->checked.seconds = (double)(g_get_monotonic_time() - h->begin) / G_USEC_PER_SEC;
    if (h->ping == PING_SILENT && !s->any_ping && !s->run->stopped) {
        g_ptr_array_add(s->withheld, h);
        return;
    }
    if (s->any_ping)
        deliver_withheld(s);
    sweep_ping_report(h, false);
    deliver_host(s, h);
    free_host(h);
}

void sweep_resume_host(struct sweep *s, struct host *h)
{
    if (!task_resume(h->task))
        finish(s, h);
}

void sweep_found(struct sweep *s, const struct flight *f, const struct response *a,
                 const struct ud_from *from)
{
    struct host *h = g_new0(struct host, 1);
    char name[48];
    text_ip(f->ipv6, f->ip, name);
    h->target = (struct target){.run = s->run,
                                .link = s->link,
                                .log = wirelog_branch(s->rest->log),
                                .results = &h->results,
                                .ipv6 = f->ipv6,
                                .peer = &h->peer,
                                .yield = sweep_await};
    memcpy(h->target.ip, f->ip, 16);
    g_strlcpy(h->target.name, name, sizeof h->target.name);
    h->checked = (struct checked){.name = plain_dup(name),
                                  .verdict = verdict_new(&s->run->options->selection),
                                  .brief = s->brief,
                                  .listed = s->job->targets[f->target].prefix};
    h->of = f->target;
    h->sweep = s;
    h->results = (struct results){.checked = &h->checked, .known = s->rest->results->known};
    h->first = *a;
    h->joined = f->joined;
    h->group = f->group;
    h->begin = g_get_monotonic_time();
    results_begin(&h->results, "resolve");
    wirelog_begin(h->target.log, "resolve");
    peer_set(&h->target, a);
    receive_take(&h->target, from, true);
    g_queue_push_tail(s->queue, h);
}

bool sweep_start_host(struct sweep *s)
{
    if (s->queue->length == 0 || s->active->len == WINDOW)
        return false;
    struct task *task = g_queue_pop_head(s->idle);
    if (!task)
        task = task_new();
    if (!task)
        return false;
    struct host *h = g_queue_pop_head(s->queue);
    h->task = task;
    wirelog_check(h->target.log, h->results.known, results_checked, &h->results);
    task_begin(task, run_host, h);
    g_ptr_array_add(s->active, h);
    sweep_resume_host(s, h);
    return true;
}

/*
 * Called only after all received packets are processed, so that no waiting response counts as late.
 */
bool sweep_expire_host(struct sweep *s)
{
    gint64 now = g_get_monotonic_time();
    for (guint i = 0; i < s->active->len; i++) {
        struct host *h = s->active->pdata[i];
        if (now >= h->deadline) {
            sweep_resume_host(s, h);
            return true;
        }
    }
    return false;
}

gint64 sweep_next_deadline(const struct sweep *s, gint64 least)
{
    for (guint i = 0; i < s->active->len; i++)
        least = MIN(least, ((const struct host *)s->active->pdata[i])->deadline);
    return least;
}

/* The tasks end by themselves when they see that the run was stopped or has failed. */
void sweep_end_hosts(struct sweep *s)
{
    while (s->active->len > 0)
        sweep_resume_host(s, s->active->pdata[0]);
    while (s->queue->length > 0) {
        struct host *h = g_queue_pop_head(s->queue);
        sweep_leave(s, h->joined, &h->group);
        h->checked.trouble = plain_dup(
            s->link->transport->error); /* it responded, but was not checked */
        deliver_host(s, h);
        free_host(h);
    }
    deliver_withheld(s);
}

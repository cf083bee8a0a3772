/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many addresses in one run. See sweep.h; who is asked first, and is silent, is in sweep_ask.c. */
#include "probe/sa.h"
#include "probe/checks.h"
#include "probe/sweep_parts.h"

#include <string.h>

#include "probe/owner.h"
#include "cli/plain.h"
#include "wire/encap.h"

enum { WINDOW = 64 }; /* hosts that are checked at the same time */

struct host {
    struct target target; /* the first member: see sweep_await() */
    struct peer peer;
    struct results results;
    struct judged judged;
    struct answer first;
    struct task *task;
    packet_match *match; /* that it waits for */
    void *match_user;
    gint64 deadline;
    bool waits, matched;
    gint64 begin;
    bool joined; /* its solicited-node group */
    struct mc_group group;
};

/* ---- a host's task */

/* A target_yield: the other hosts go on meanwhile. */
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
    run_peer(&h->target, &h->first);
}

static void free_host(struct host *h)
{
    wirelog_join(h->target.log);
    g_free(h);
}

static void deliver(struct sweep *s, struct host *h)
{
    if (s->run->stopped)
        judged_clear(&h->judged);
    else
        s->job->ready(s->job->user, &h->judged);
}

static void finish(struct sweep *s, struct host *h)
{
    h->judged.seconds = (double)(g_get_monotonic_time() - h->begin) / G_USEC_PER_SEC;
    sweep_leave(s, h->joined, &h->group);
    g_ptr_array_add(s->idle, h->task);
    g_ptr_array_remove_fast(s->active, h);
    deliver(s, h);
    free_host(h);
}

static void resume(struct sweep *s, struct host *h)
{
    if (!task_resume(h->task))
        finish(s, h);
}

/* ---- who answers */

/* The first answer of an address: the host waits in the queue until a task is free. */
void sweep_found(struct sweep *s, const struct flight *f, const struct answer *a,
                 const struct ud_from *from)
{
    struct host *h = g_new0(struct host, 1);
    char name[48];
    ip_text(f->ipv6, f->ip, name);
    h->target = (struct target){.run = s->run,
                                .link = s->link,
                                .log = wirelog_branch(s->rest->log),
                                .results = &h->results,
                                .ipv6 = f->ipv6,
                                .peer = &h->peer,
                                .yield = sweep_await};
    memcpy(h->target.ip, f->ip, 16);
    g_strlcpy(h->target.name, name, sizeof h->target.name);
    h->judged = (struct judged){.name = plain_dup(name),
                                .verdict = verdict_new(&s->run->options->selection),
                                .brief = s->brief};
    h->results = (struct results){.judged = &h->judged, .known = s->rest->results->known};
    h->first = *a;
    h->joined = f->joined;
    h->group = f->group;
    h->begin = g_get_monotonic_time();
    results_begin(&h->results, "resolve");
    wirelog_begin(h->target.log, "resolve");
    owner_take(&h->target, a);
    take_packet(&h->target, from, true);
    g_queue_push_tail(s->queue, h);
}

static bool start_host(struct sweep *s)
{
    if (s->queue->length == 0 || s->active->len == WINDOW)
        return false;
    struct task *task = s->idle->len ? g_ptr_array_steal_index_fast(s->idle, 0) : task_new();
    if (!task)
        return false;
    struct host *h = g_queue_pop_head(s->queue);
    h->task = task;
    wirelog_judge(h->target.log, h->results.known, results_judged, &h->results);
    task_begin(task, run_host, h);
    g_ptr_array_add(s->active, h);
    resume(s, h);
    return true;
}

/* ---- whose packet is it? */

static bool has_address(const struct host *h, bool ipv6, const uint8_t *ip)
{
    return h->target.ipv6 == ipv6 && memcmp(h->target.ip, ip, ipv6 ? 16 : 4) == 0;
}

/* Several hosts may ask for one address: the link-local one of a port that has many. */
static struct host *who_has(struct sweep *s, bool ipv6, const uint8_t *ip,
                            const struct ud_from *from)
{
    struct host *any = NULL;
    for (guint i = 0; i < s->active->len; i++) {
        struct host *h = s->active->pdata[i];
        if (!has_address(h, ipv6, ip))
            continue;
        h->matched = h->waits && h->match(&h->target, from, h->match_user);
        if (h->matched)
            return h;
        any = h;
    }
    return any;
}

/* A second answer, before the host's turn has come. */
static struct host *who_waits(struct sweep *s, bool ipv6, const uint8_t *ip)
{
    for (GList *l = s->queue->head; l; l = l->next)
        if (has_address(l->data, ipv6, ip))
            return l->data;
    return NULL;
}

static struct host *who_matches(struct sweep *s, const struct ud_from *from)
{
    struct host *sender = NULL;
    for (guint i = 0; i < s->active->len; i++) {
        struct host *h = s->active->pdata[i];
        h->matched = h->waits && h->match(&h->target, from, h->match_user);
        if (h->matched)
            return h;
        if (is_from_peer(&h->target, from))
            sender = h;
    }
    return sender;
}

/* Of nobody who is asked. */
static void take_foreign(struct sweep *s, const struct ud_from *from)
{
    wirelog_begin(s->rest->log, "sweep");
    take_packet(s->rest, from, false);
    wirelog_end(s->rest->log, "of another");
}

static void feed(struct sweep *s, const struct ud_from *from)
{
    bool ipv6;
    const uint8_t *ip = announced(from->octets, &ipv6);
    struct host *h = ip ? who_has(s, ipv6, ip, from) : NULL;
    if (!h && ip && sweep_answered(s, ipv6, ip, from))
        return;
    if (!h && ip && (h = who_waits(s, ipv6, ip))) {
        take_packet(&h->target, from, is_of_peer(&h->target, from));
        return;
    }
    if (!h)
        h = who_matches(s, from);
    if (h)
        take_packet(&h->target, from, is_of_peer(&h->target, from));
    else
        take_foreign(s, from);
    if (h && h->waits && h->matched)
        resume(s, h);
}

/* ---- the run */

/* The next packet that is there already. */
static bool take_next(struct sweep *s, int ms)
{
    struct transport *t = s->link->transport;
    struct ud_from from;
    enum transport_result result = t->ops->receive(t, ms, &from);
    s->run->stopped |= result == TRANSPORT_STOPPED;
    s->run->broken |= result == TRANSPORT_ERROR;
    if (result != TRANSPORT_OK)
        return false;
    if (from.qpn != t->qpn || from.lid != t->facts.lid)
        feed(s, &from);
    return true;
}

/* Only when nothing is left to be received: no answer that lies there is late. */
static bool expire_host(struct sweep *s)
{
    gint64 now = g_get_monotonic_time();
    for (guint i = 0; i < s->active->len; i++) {
        struct host *h = s->active->pdata[i];
        if (now >= h->deadline) {
            resume(s, h);
            return true;
        }
    }
    return false;
}

static gint64 next_deadline(const struct sweep *s, gint64 least)
{
    for (guint i = 0; i < s->active->len; i++)
        least = MIN(least, ((const struct host *)s->active->pdata[i])->deadline);
    return least;
}

enum { LONGEST_WAIT_US = 100000, SHORTEST_WAIT_US = 1000 };

static void rest(struct sweep *s)
{
    gint64 now = g_get_monotonic_time();
    gint64 until = next_deadline(s, sweep_next_question(s, now + LONGEST_WAIT_US));
    gint64 left = until - now;
    if (left >= SHORTEST_WAIT_US)
        take_next(s, (int)(left / 1000));
    else if (left > 0)
        /* the transport waits for milliseconds alone: too long for a high rate */
        g_usleep((gulong)left);
}

static void step(struct sweep *s)
{
    bool busy = take_next(s, 0);
    if (s->run->stopped || s->run->broken)
        return;
    busy = busy || expire_host(s);
    busy |= sweep_ask(s, busy);
    busy |= start_host(s);
    sweep_show(s);
    if (!busy)
        rest(s);
}

/* Interrupted, or broken: the tasks end by themselves once they are told. */
static void end_hosts(struct sweep *s)
{
    while (s->active->len > 0)
        resume(s, s->active->pdata[0]);
    while (s->queue->length > 0) {
        struct host *h = g_queue_pop_head(s->queue);
        sweep_leave(s, h->joined, &h->group);
        h->judged.trouble = plain_dup(
            s->link->transport->error); /* it answered, and its turn never came */
        deliver(s, h);
        free_host(h);
    }
}

static void free_task(gpointer task)
{
    task_free(task);
}

void run_sweep(struct target *rest, const struct sweep_job *job)
{
    struct run *run = rest->run;
    struct sweep s = {.run = run,
                      .link = rest->link,
                      .rest = rest,
                      .job = job,
                      .active = g_ptr_array_new(),
                      .idle = g_ptr_array_new_with_free_func(free_task),
                      .queue = g_queue_new()};
    run->sweeps = true;
    sweep_begin(&s);
    while (!target_ended(rest) && (!sweep_asked_all(&s) || s.queue->length || s.active->len))
        step(&s);
    end_hosts(&s);
    sweep_end(&s);
    sa_forget(run);
    run->sweeps = false;
    g_ptr_array_unref(s.active);
    g_ptr_array_unref(s.idle);
    g_queue_free(s.queue);
}

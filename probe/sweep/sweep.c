/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes many addresses in one run. See sweep.h. The first requests are in ask.c. */
#include "probe/sweep/sweep.h"

#include <string.h>

#include "probe/exchange/peer.h"
#include "probe/exchange/receive.h"
#include "probe/link/link.h"
#include "probe/link/sa.h"
#include "probe/link/transport.h"
#include "probe/link/wirelog.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "probe/sweep/parts.h"
#include "probe/sweep/progress.h"
#include "probe/sweep/task.h"

static bool is_host_of(const struct host *h, bool ipv6, const uint8_t *ip)
{
    return h->target.ipv6 == ipv6 && memcmp(h->target.ip, ip, ipv6 ? 16 : 4) == 0;
}

/*
 * Several hosts may have a pending request for one address: the link-local address of a port with
 * many addresses.
 */
static struct host *find_host(struct sweep *s, bool ipv6, const uint8_t *ip,
                              const struct ud_from *from)
{
    struct host *any = NULL;
    for (guint i = 0; i < s->active->len; i++) {
        struct host *h = s->active->pdata[i];
        if (!is_host_of(h, ipv6, ip))
            continue;
        h->matched = h->waits && h->match(&h->target, from, h->match_user);
        if (h->matched)
            return h;
        any = h;
    }
    return any;
}

/* A host that is queued: this is another response from it. */
static struct host *find_queued_host(struct sweep *s, bool ipv6, const uint8_t *ip)
{
    for (GList *l = s->queue->head; l; l = l->next)
        if (is_host_of(l->data, ipv6, ip))
            return l->data;
    return NULL;
}

static struct host *find_host_of_response(struct sweep *s, const struct ud_from *from)
{
    struct host *sender = NULL;
    for (guint i = 0; i < s->active->len; i++) {
        struct host *h = s->active->pdata[i];
        h->matched = h->waits && h->match(&h->target, from, h->match_user);
        if (h->matched)
            return h;
        if (peer_is_sender(&h->target, from))
            sender = h;
    }
    return sender;
}

/* A packet of a station that is not probed. */
static void take_foreign(struct sweep *s, const struct ud_from *from)
{
    wirelog_begin(s->rest->log, "sweep");
    receive_take(s->rest, from, false);
    wirelog_end(s->rest->log, "packet of another port");
}

static void feed(struct sweep *s, const struct ud_from *from)
{
    bool ipv6;
    const uint8_t *ip = receive_announced_ip(from->bytes, &ipv6);
    struct host *h = ip ? find_host(s, ipv6, ip, from) : NULL;
    if (!h && ip && sweep_take_response(s, ipv6, ip, from))
        return;
    if (!h && ip && (h = find_queued_host(s, ipv6, ip))) {
        receive_take(&h->target, from, peer_may_be_sender(&h->target, from));
        return;
    }
    if (!h)
        h = find_host_of_response(s, from);
    if (h)
        receive_take(&h->target, from, peer_may_be_sender(&h->target, from));
    else
        take_foreign(s, from);
    if (h && h->waits && h->matched)
        sweep_resume_host(s, h);
}

/* Waits up to ms milliseconds for a packet and processes it. */
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

enum { LONGEST_WAIT_US = 100000, SHORTEST_WAIT_US = 1000 };

static void pause_sweep(struct sweep *s)
{
    gint64 now = g_get_monotonic_time();
    gint64 until = sweep_next_deadline(s, sweep_next_request(s, now + LONGEST_WAIT_US));
    gint64 left = until - now;
    if (left >= SHORTEST_WAIT_US)
        take_next(s, (int)(left / 1000));
    else if (left > 0)
        /* the transport waits in whole milliseconds: too long for a high rate */
        g_usleep((gulong)left);
}

static void step(struct sweep *s)
{
    bool busy = take_next(s, 0);
    if (s->run->stopped || s->run->broken)
        return;
    busy = busy || sweep_expire_host(s);
    busy |= sweep_request(s, busy);
    busy |= sweep_start_host(s);
    sweep_show(s);
    if (!busy)
        pause_sweep(s);
}

static void free_task(gpointer task)
{
    task_free(task);
}

void sweep_run(struct target *rest, const struct sweep_job *job)
{
    struct run *run = rest->run;
    struct sweep s = {.run = run,
                      .link = rest->link,
                      .rest = rest,
                      .job = job,
                      .active = g_ptr_array_new(),
                      .withheld = g_ptr_array_new(),
                      .idle = g_queue_new(),
                      .queue = g_queue_new()};
    run->sweeps = true;
    sweep_begin(&s);
    sweep_ping_begin(&s);
    while (!target_ended(rest) && (!sweep_requested_all(&s) || s.queue->length || s.active->len))
        step(&s);
    sweep_end_hosts(&s);
    sweep_end(&s);
    sa_cache_clear(run);
    run->sweeps = false;
    sweep_ping_end(&s);
    g_ptr_array_unref(s.active);
    g_ptr_array_unref(s.withheld);
    g_queue_free_full(s.idle, free_task);
    g_queue_free(s.queue);
}

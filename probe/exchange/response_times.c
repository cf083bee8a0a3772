/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Assigns responses to requests by time. An ARP reply and an NA name the requested address, but do
 * not identify the request: a late or duplicated response looks like the response to the next
 * request. Therefore no request is sent before the responses to the previous one should have
 * arrived, judging by the response times of this peer.
 */
#include "probe/exchange/response_times.h"

#include <string.h>

#include "probe/exchange/peer.h"
#include "probe/exchange/request.h"
#include "probe/exchange/receive.h"
#include "probe/link/transport.h"
#include "probe/run/options.h"
#include "probe/run/target.h"

enum {
    MARGIN_US = 100 * 1000,
    LISTEN_US = 9 * (int)G_USEC_PER_SEC / 10, /* if this peer's behaviour is not known yet */
    MOST_US = 10 * (int)G_USEC_PER_SEC,       /* upper limit of the wait before a request */
};

void response_times_sent(struct target *target, bool ipv6, const uint8_t *ip, bool again)
{
    struct response_times *t = &target->peer->response_times;
    t->last_sent = g_get_monotonic_time();
    if (!again)
        t->first_sent = t->last_sent;
    t->ipv6 = ipv6;
    memcpy(t->ip, ip, ipv6 ? 16 : 4);
}

/* The response may belong to any of the tries, so the first one counts. */
static void note_time(struct response_times *t)
{
    t->last_response = g_get_monotonic_time();
    t->longest = MAX(t->longest, t->last_response - t->first_sent);
    t->answered = true;
}

void response_times_received(struct target *t)
{
    note_time(&t->peer->response_times);
    tally_response(&t->peer->tally);
}

void response_times_stray(struct target *t)
{
    response_times_received(t);
    t->peer->response_times.strays++;
}

/* The longest response time of this peer plus a margin. */
static gint64 wait_us(const struct response_times *t)
{
    return MIN(t->longest + MAX(t->longest / 2, MARGIN_US), MOST_US);
}

unsigned response_times_wait_ms(const struct target *target)
{
    const struct response_times *t = &target->peer->response_times;
    return MAX(target->run->options->timeout_ms, t->answered ? (unsigned)(wait_us(t) / 1000) : 0);
}

/* Waits longer once, because the network may duplicate packets, and every time if it does. */
static gint64 settled_at(const struct response_times *t, bool alone)
{
    bool listens = t->answered && (alone || !t->listened || t->strays);
    gint64 last = MAX(t->last_sent, t->last_response);
    return MAX(t->last_sent + wait_us(t), listens ? last + LISTEN_US : 0);
}

static bool take_stray(struct target *t, const struct ud_from *from, void *user)
{
    bool stray = request_take_response(t, from, user);
    if (stray)
        response_times_stray(t);
    return stray;
}

bool response_times_settle(struct target *target, bool alone)
{
    struct response_times *t = &target->peer->response_times;
    struct response *a = g_new(struct response, 1);
    const struct request q = {0};
    struct pending_request x = {.q = &q, .ipv6 = t->ipv6, .ip = t->ip, .a = a};
    gint64 end = g_get_monotonic_time() + MOST_US;
    bool comes = t->last_sent != 0;
    while (comes && g_get_monotonic_time() < end) {
        gint64 wait = settled_at(t, alone) - g_get_monotonic_time();
        comes = receive_await(target, (int)(MAX(wait, 0) + 999) / 1000, take_stray, &x);
    }
    t->listened |= t->answered && !comes;
    g_free(a);
    return !comes;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The requests of a watched peer. See watch.h. */
#include "probe/checks/watch.h"

#include <string.h>

#include "probe/checks/end.h"
#include "probe/checks/numbers.h"
#include "probe/checks/own_duplicate.h"
#include "probe/checks/watch_parts.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/receive.h"
#include "probe/link/link.h"
#include "probe/link/sa.h"
#include "probe/link/wirelog.h"
#include "probe/run/results.h"
#include "probe/run/text.h"
#include "probe/why/why.h"

enum { DEFAULT_INTERVAL = 1 };
/* Every so many requests one goes to the group; then the wait for a second reply. */
enum { GROUP_EVERY = 5, SECOND_MS = 30 };
/* How long a query of the SA may delay the requests. */
enum { SA_MS = 500 };

bool watch_is_wanted(const struct options *o)
{
    return o->count || o->interval;
}

static gint64 interval_us(const struct peer_watch *w)
{
    return (gint64)(w->options.interval ? w->options.interval : DEFAULT_INTERVAL) * G_USEC_PER_SEC;
}

/* ---- a reply */

static char *place_text(const uint8_t *lladdr, uint16_t lid)
{
    char text[64];
    text_lladdr(lladdr, text);
    return lid ? g_strdup_printf("%s, LID %u", text, lid) : g_strdup(text);
}

static bool has_moved(const struct peer *p, const struct response *a)
{
    return p->known &&
           (memcmp(p->lladdr, a->lladdr, LLADDR_SIZE) != 0 || p->lid != a->lid || p->qpn != a->qpn);
}

/* What has changed. Free with g_free(). */
static char *move_text(const struct peer *p, const struct response *a)
{
    uint32_t old = lladdr_read(p->lladdr).qpn, qpn = lladdr_read(a->lladdr).qpn;
    bool same_gid = memcmp(p->lladdr + LLADDR_GID, a->lladdr + LLADDR_GID, GID_SIZE) == 0;
    if (same_gid && p->lid == a->lid && old != qpn)
        return g_strdup_printf("has another queue pair: QPN 0x%06x, and before 0x%06x: its "
                               "interface was made anew",
                               qpn, old);
    char *from = place_text(p->lladdr, p->lid), *to = place_text(a->lladdr, a->lid),
         *text = g_strdup_printf("moved from %s to %s", from, to);
    g_free(to);
    g_free(from);
    return text;
}

static void note_move(struct peer_watch *w, const struct response *a)
{
    watch_note_event(w, CHANGE_MOVED, move_text(w->t->peer, a));
}

static double seconds_since(gint64 time)
{
    return (double)(g_get_monotonic_time() - time) / G_USEC_PER_SEC;
}

/* ", sent 0.6 s late". Free with g_free(). */
static char *late_text(const struct peer_watch *w)
{
    return w->late_us ? g_strdup_printf(", sent %.1f s late", (double)w->late_us / G_USEC_PER_SEC)
                      : g_strdup("");
}

static void say_reply(struct peer_watch *w, double ms)
{
    char *late = late_text(w),
         *text = g_strdup_printf("reply %u after %.2f ms%s", w->w.sent, ms, late);
    watch_say(w, &(struct watch_line){&w->w, WATCH_REPLY, 0, ms, text});
    g_free(text);
    g_free(late);
}

static void take_reply(struct peer_watch *w, const struct response *a)
{
    times_add(&w->t->peer->over_ud, (gint64)(a->ms * 1000 + 0.5));
    watched_reply(&w->w, a->ms);
    say_reply(w, a->ms);
    w->outages += w->missing >= SILENT_AFTER ? w->missing - w->missing_unsent : 0;
    if (w->missing >= SILENT_AFTER && w->last_reply) {
        char text[80];
        w->silent_us += g_get_monotonic_time() - w->last_reply;
        g_snprintf(text, sizeof text, "replies again, after %.1f s", seconds_since(w->last_reply));
        watch_say_change(w, CHANGE_REPLIES_AGAIN, text);
    }
    if (has_moved(w->t->peer, a))
        note_move(w, a);
    peer_set(w->t, a);
    w->missing = w->missing_unsent = 0;
    w->last_unsent = false;
    w->last_reply = g_get_monotonic_time();
}

static bool has_second(struct target *t, const struct ud_from *from, void *user)
{
    (void)from;
    (void)user;
    return t->peer->has_competing;
}

/* Who else has the address shows itself only to requests to the group. */
static void look_for_second(struct peer_watch *w)
{
    struct peer *p = w->t->peer;
    if (!p->has_competing)
        receive_await(w->t, SECOND_MS, has_second, NULL);
    if (!p->has_competing || w->w.changes[CHANGE_SECOND_PORT])
        return;
    char *other = place_text(p->competing.lladdr, p->competing.lid);
    watch_note_event(w, CHANGE_SECOND_PORT,
                     g_strdup_printf("another port has the address too: %s", other));
    g_free(other);
}

static void take_group_reply(struct peer_watch *w, const struct request *q,
                             const struct response *a)
{
    take_reply(w, a);
    if (q->multicast && !target_ended(w->t))
        look_for_second(w);
}

/* ---- no reply */

/* This host first, then the peer. NULL: not known. Free with g_free(). */
static char *find_cause(struct peer_watch *w)
{
    char *own = end_own_reason(w->t);
    return own || target_ended(w->t) ? own : why_silent(w->t);
}

/* A short silence is over while its cause is looked for: then what was found is none. */
static bool replies_meanwhile(struct peer_watch *w)
{
    enum { SOON_MS = 100 };
    struct request q = {.any = true, .foreign = true, .grh = w->t->peer->needs_grh};
    if (!w->t->peer->known || target_ended(w->t))
        return false;
    w->options.timeout_ms = SOON_MS; /* set_wait() sets it for the next request */
    return exchange_run(w->t, &q, 1).outcome == RESPONSE_RECEIVED;
}

static void note_silence(struct peer_watch *w)
{
    char *why = find_cause(w);
    if (why && replies_meanwhile(w))
        g_clear_pointer(&why, g_free);
    if (!target_ended(w->t))
        watch_note_event(w, CHANGE_SILENT,
                         g_strdup_printf("%s%s%s",
                                         w->last_reply ? "no longer replies" : "does not reply",
                                         why ? ": " : "", why ? why : ""));
    g_free(why);
}

static void say_no_reply(struct peer_watch *w, const struct exchange *x)
{
    char *late = late_text(w),
         *text = x->outcome == NO_RESPONSE
                     ? g_strdup_printf("%s to request %u%s", x->received, w->w.sent, late)
                     : g_strdup_printf("request %u was %s%s", w->w.sent, x->received, late);
    watch_say(w, &(struct watch_line){&w->w, WATCH_NO_REPLY, 0, 0, text});
    g_free(text);
    g_free(late);
}

/* A group that does not exist is the peer's silence: it has left it. */
static void take_silence(struct peer_watch *w, const struct exchange *x)
{
    watched_no_reply(&w->w);
    say_no_reply(w, x);
    w->last_unsent = x->outcome == NOT_SENT && !x->no_group;
    w->unsent += w->last_unsent;
    w->missing_unsent += w->last_unsent;
    w->missing++;
    if (w->missing == SILENT_AFTER && !target_ended(w->t))
        note_silence(w);
}

/* ---- the requests */

/*
 * After a missing reply by multicast, from whatever port has the address now; but if that could
 * not be sent, because the SA does not answer, to the port that is known.
 */
static bool goes_to_group(const struct peer_watch *w)
{
    return !w->t->peer->known || (w->missing && !w->last_unsent) ||
           w->w.sent % GROUP_EVERY == GROUP_EVERY - 1;
}

/*
 * A reply that comes before the next request is no lost one. After the last request of a silence
 * that has begun, the cause is looked for, and the next request must not wait for that.
 */
static void set_wait(struct peer_watch *w)
{
    enum { BEFORE_NEXT_MS = 100 };
    bool looks = w->missing + 1 == SILENT_AFTER;
    w->options.timeout_ms = looks ? w->given_ms
                                  : MAX(w->given_ms, 1000 * DEFAULT_INTERVAL - BEFORE_NEXT_MS);
}

/* Less is the wake-up of a busy host. The times that have passed meanwhile are left out. */
static void note_delay(struct peer_watch *w)
{
    gint64 late = MAX(w->t->peer->response_times.last_sent - w->planned, 0), step = interval_us(w);
    w->late_us = late > step / 4 ? late : 0;
    w->late += w->late_us > 0;
    w->latest_us = MAX(w->latest_us, w->late_us);
    w->planned += late - late % step;
}

static void request(struct peer_watch *w)
{
    struct target *t = w->t;
    struct request q = {.any = true, .foreign = true};
    q.multicast = goes_to_group(w);
    q.grh = !q.multicast && t->peer->needs_grh;
    struct exchange *x = g_new(struct exchange, 1);
    results_begin(t->results, "watch");
    wirelog_begin(t->log, "watch");
    *x = exchange_run(t, &q, 1);
    w->w.sent += !target_ended(t);
    note_delay(w);
    if (x->outcome == RESPONSE_RECEIVED)
        take_group_reply(w, &q, &x->reply);
    else if (!target_ended(t))
        take_silence(w, x);
    wirelog_end(t->log, x->outcome == RESPONSE_RECEIVED ? "reply received" : "no reply");
    g_free(x);
}

/* ---- the rounds */

static bool take_nothing(struct target *t, const struct ud_from *from, void *user)
{
    (void)t;
    (void)from;
    (void)user;
    return false;
}

/* Looks at this host every second, and not only before a request. */
static void wait_until(struct peer_watch *w, gint64 time)
{
    gint64 left;
    while ((left = time - g_get_monotonic_time()) > 0 && !target_ended(w->t)) {
        receive_await(w->t, (int)MIN(left / 1000 + 1, 1000), take_nothing, NULL);
        if (left > G_USEC_PER_SEC)
            watch_own_look(w);
    }
}

static void run_rounds(struct peer_watch *w)
{
    const unsigned count = w->options.count;
    w->planned = g_get_monotonic_time();
    for (unsigned i = 0; (!count || i < count) && !target_ended(w->t); i++) {
        wait_until(w, w->planned);
        if (target_ended(w->t))
            break;
        watch_own_look(w);
        sa_limit(w->t->run, SA_MS);
        set_wait(w);
        request(w);
        watch_own_look_at_counters(w);
        w->planned += interval_us(w);
    }
    if (w->t->run->broken) /* an interface that is down ends the watch through it */
        watch_own_look(w);
    sa_limit(w->t->run, 0);
}

void watch_run(struct target *t)
{
    struct peer_watch *w = g_new0(struct peer_watch, 1);
    const struct options *given = t->run->options;
    const GPtrArray *stages = t->results->checked->stages;
    unsigned at = stages ? stages->len : 0;
    w->t = t;
    w->w = (struct watched){.target = t->name};
    w->options = *given;
    w->given_ms = given->timeout_ms;
    watch_own_begin(w);
    numbers_begin(t);
    own_duplicate_request(t);
    t->run->options = &w->options;
    run_rounds(w);
    watch_end(w, at);
    t->run->options = given;
    g_free(w);
}

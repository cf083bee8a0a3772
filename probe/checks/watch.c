/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See watch.h. */
#include "probe/checks/watch.h"

#include <string.h>

#include "probe/checks/end.h"
#include "probe/checks/numbers.h"
#include "probe/checks/own_duplicate.h"
#include "probe/checks/ping.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/records.h"
#include "probe/exchange/receive.h"
#include "probe/link/advice.h"
#include "probe/link/counters.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/link/wirelog.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/text.h"
#include "probe/why/why.h"
#include "wire/smp.h"

/* A single request may be lost: only SILENT_AFTER of them in a row are a change of state. */
enum { SILENT_AFTER = 3, DEFAULT_INTERVAL = 1, KEPT_EVENTS = 4, EVENT_SIZE = 300 };
/* Every so many requests one goes to the group; then the wait for a second reply. */
enum { GROUP_EVERY = 5, SECOND_MS = 30 };

struct peer_watch {
    struct target *t;
    struct watched w;
    unsigned missing;  /* requests without a reply since the last one with a reply */
    unsigned outages;  /* requests without a reply in silences that have ended: no loss on links */
    gint64 last_reply; /* monotonic microseconds; 0: none yet */
    gint64 silent_us;  /* total of the silences that have ended */
    struct port_facts port;
    struct port_counters counters;
    char recent[KEPT_EVENTS][EVENT_SIZE]; /* the last events, in a ring */
};

bool watch_is_wanted(const struct options *o)
{
    return o->count || o->interval;
}

static unsigned events(const struct peer_watch *w)
{
    const unsigned *n = w->w.changes;
    return n[CHANGE_SILENT] + n[CHANGE_MOVED] + n[CHANGE_SECOND_PORT] + n[CHANGE_OWN_PORT] +
           n[CHANGE_COUNTERS];
}

/* ---- lines */

static char *time_text(void)
{
    GDateTime *now = g_date_time_new_now_local();
    char *text = g_date_time_format(now, "%F %T");
    g_date_time_unref(now);
    return text;
}

static void say_line(const struct peer_watch *w, const struct watch_line *l)
{
    const struct run *r = w->t->run;
    char *time = time_text(),
         *line = g_strdup_printf("%s  %s%s: %s", time, l->kind == WATCH_CHANGE ? "EVENT  " : "",
                                 w->t->name, l->text);
    if (r->show)
        r->show(r->say_to, l);
    if (r->say)
        r->say(r->say_to, line);
    g_free(line);
    g_free(time);
}

static void say_change(struct peer_watch *w, enum watch_change change, const char *text)
{
    w->w.changes[change]++;
    say_line(w, &(struct watch_line){&w->w, WATCH_CHANGE, change, 0, text});
}

static void note_event(struct peer_watch *w, enum watch_change change, char *text)
{
    char *time = time_text();
    g_snprintf(w->recent[events(w) % KEPT_EVENTS], EVENT_SIZE, "%s %s", time, text);
    say_change(w, change, text);
    g_free(time);
    g_free(text);
}

/* ---- this port */

static const char *state_name(uint8_t state)
{
    static const char *const names[] = {[PORT_DOWN] = "Down",
                                        [PORT_INIT] = "Initialize",
                                        [PORT_ARMED] = "Armed",
                                        [PORT_ACTIVE] = "Active"};
    return state < G_N_ELEMENTS(names) && names[state] ? names[state] : "unknown";
}

static void look_at_port(struct peer_watch *w)
{
    struct transport *transport = w->t->link->transport;
    struct port_facts now;
    if (!transport->ops->read_port || !transport->ops->read_port(transport, &now))
        return;
    if (now.state != w->port.state)
        note_event(w, CHANGE_OWN_PORT,
                   g_strdup_printf("port %s %u of this host: %s, was %s", now.device, now.port,
                                   state_name(now.state), state_name(w->port.state)));
    if (now.lid != w->port.lid || now.sm_lid != w->port.sm_lid)
        note_event(w, CHANGE_OWN_PORT,
                   g_strdup_printf("this port has LID %u, was %u; the SM has LID %u, was %u",
                                   now.lid, w->port.lid, now.sm_lid, w->port.sm_lid));
    w->port = now;
}

static void look_at_counters(struct peer_watch *w)
{
    struct port_counters now;
    counters_read(w->t->link, &now);
    struct counter_growth g = counters_compare(&w->counters, &now);
    if (g.errors[0])
        note_event(w, CHANGE_COUNTERS, g_strdup(g.errors));
    w->counters = now;
    counters_growth_clear(&g);
}

/* ---- the peer */

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

static void note_move(struct peer_watch *w, const struct response *a)
{
    const struct peer *p = w->t->peer;
    char *from = place_text(p->lladdr, p->lid), *to = place_text(a->lladdr, a->lid);
    note_event(w, CHANGE_MOVED, g_strdup_printf("moved from %s to %s", from, to));
    g_free(to);
    g_free(from);
}

static double seconds_since(gint64 time)
{
    return (double)(g_get_monotonic_time() - time) / G_USEC_PER_SEC;
}

static void take_reply(struct peer_watch *w, const struct response *a)
{
    char text[80];
    times_add(&w->t->peer->over_ud, (gint64)(a->ms * 1000 + 0.5));
    watched_reply(&w->w, a->ms);
    g_snprintf(text, sizeof text, "reply %u after %.2f ms", w->w.sent, a->ms);
    say_line(w, &(struct watch_line){&w->w, WATCH_REPLY, 0, a->ms, text});
    w->outages += w->missing >= SILENT_AFTER ? w->missing : 0;
    if (w->missing >= SILENT_AFTER && w->last_reply) {
        w->silent_us += g_get_monotonic_time() - w->last_reply;
        g_snprintf(text, sizeof text, "replies again, after %.1f s", seconds_since(w->last_reply));
        say_change(w, CHANGE_REPLIES_AGAIN, text);
    }
    if (has_moved(w->t->peer, a))
        note_move(w, a);
    peer_set(w->t, a);
    w->missing = 0;
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
    note_event(w, CHANGE_SECOND_PORT,
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

#define NO_PATH "the SA has no path to its port: its cable is out, or its host is off"

/* The SM has noticed it by then: a switch sends it a trap. */
static bool is_without_path(struct peer_watch *w)
{
    struct sa_response a;
    struct target *t = w->t;
    if (!t->peer->known || !transport_can(t->link->transport, CAN_QUERY_SA))
        return false;
    enum sa_result result = records_get_path(t, t->peer->lladdr + LLADDR_GID, &a);
    sa_response_clear(&a);
    return result == SA_REJECTED;
}

static void take_silence(struct peer_watch *w, const struct exchange *x)
{
    char text[VERDICT_TEXT + 40];
    watched_no_reply(&w->w);
    if (x->outcome == NO_RESPONSE)
        g_snprintf(text, sizeof text, "%s to request %u", x->received, w->w.sent);
    else
        g_snprintf(text, sizeof text, "request %u was %s", w->w.sent, x->received);
    say_line(w, &(struct watch_line){&w->w, WATCH_NO_REPLY, 0, 0, text});
    if (++w->missing != SILENT_AFTER || target_ended(w->t))
        return;
    char *own = end_own_reason(w->t);
    const char *why = own ? own : !target_ended(w->t) && is_without_path(w) ? NO_PATH : NULL;
    note_event(w, CHANGE_SILENT,
               g_strdup_printf("%s%s%s", w->last_reply ? "no longer replies" : "does not reply",
                               why ? ": " : "", why ? why : ""));
    g_free(own);
}

/* After a missing reply by multicast, from whatever port has the address now. */
static void request(struct peer_watch *w)
{
    struct target *t = w->t;
    struct request q = {.any = true, .foreign = true};
    q.multicast = !t->peer->known || w->missing || w->w.sent % GROUP_EVERY == GROUP_EVERY - 1;
    q.grh = !q.multicast && t->peer->needs_grh;
    struct exchange *x = g_new(struct exchange, 1);
    results_begin(t->results, "watch");
    wirelog_begin(t->log, "watch");
    *x = exchange_run(t, &q, 1);
    w->w.sent += !target_ended(t);
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

static void wait_until(struct peer_watch *w, gint64 time)
{
    gint64 left;
    while ((left = time - g_get_monotonic_time()) > 0 && !target_ended(w->t))
        receive_await(w->t, (int)MIN(left / 1000 + 1, 1000), take_nothing, NULL);
}

static void run_rounds(struct peer_watch *w)
{
    const struct options *o = w->t->run->options;
    gint64 step = (gint64)(o->interval ? o->interval : DEFAULT_INTERVAL) * G_USEC_PER_SEC,
           next = g_get_monotonic_time();
    for (unsigned i = 0; (!o->count || i < o->count) && !target_ended(w->t); i++) {
        wait_until(w, next);
        next = MAX(next, g_get_monotonic_time() - step) + step;
        if (target_ended(w->t))
            break;
        look_at_port(w);
        request(w);
        look_at_counters(w);
    }
}

/* ---- the summary */

static void add_recent(const struct peer_watch *w, GString *text)
{
    unsigned n = events(w), first = n > KEPT_EVENTS ? n - KEPT_EVENTS : 0;
    for (unsigned i = first; i < n; i++)
        g_string_append_printf(text, "%s%s", i == first ? "; last: " : "; ",
                               w->recent[i % KEPT_EVENTS]);
}

static void add_silences(const struct peer_watch *w, GString *text)
{
    unsigned n = w->w.changes[CHANGE_SILENT];
    double seconds = (double)w->silent_us / G_USEC_PER_SEC;
    if (n == 1)
        g_string_append_printf(text, "; silent once, for %.1f s", seconds);
    else if (n)
        g_string_append_printf(text, "; silent %u times, for %.1f s in all", n, seconds);
}

static void add_times(GString *text, const char *what, unsigned n)
{
    if (n)
        g_string_append_printf(text, "; %s %u time%s", what, n, n == 1 ? "" : "s");
}

/* What explains a silence stands before it. */
static char *summary_text(const struct peer_watch *w)
{
    const unsigned *n = w->w.changes;
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%u requests, %u answered", w->w.sent, w->w.answered);
    if (!events(w))
        g_string_append(text, "; nothing changed");
    add_times(text, "this host's port changed", n[CHANGE_OWN_PORT]);
    add_times(text, "its error counters grew", n[CHANGE_COUNTERS]);
    add_times(text, "the peer moved", n[CHANGE_MOVED]);
    if (n[CHANGE_SECOND_PORT])
        g_string_append(text, "; two ports have the address");
    if (w->w.answered) /* else it is clear */
        add_silences(w, text);
    add_recent(w, text);
    return g_string_free(text, FALSE);
}

static void count_requests(const struct peer_watch *w)
{
    unsigned missing = w->w.sent - w->w.answered,
             outages = w->outages + (w->missing >= SILENT_AFTER ? w->missing : 0);
    w->t->results->checked->requests = (struct checked_requests){.counted = true,
                                                                 .sent = w->w.sent,
                                                                 .first_try = w->w.answered,
                                                                 .never = missing,
                                                                 .packets = w->w.sent - outages,
                                                                 .lost = missing - outages};
}

/* A peer may reply although the SM died: new hosts and groups then wait. */
static void report_own_side(struct target *t)
{
    struct port_words w;
    char *own = target_ended(t) ? NULL : end_own_reason(t);
    if (own) {
        advice_name_port(t->link, &w);
        results_stage(t->results, "peer.end", OUTCOME_INCONCLUSIVE, "", "the peer replies, but %s",
                      own);
        results_advise(t->results, "ipoib-probe %s fabric", w.probe);
    }
    g_free(own);
}

static void end(struct peer_watch *w, unsigned at)
{
    struct target *t = w->t;
    bool silent = w->missing >= SILENT_AFTER || !w->w.answered;
    if (silent && w->last_reply)
        w->silent_us += g_get_monotonic_time() - w->last_reply;
    char *text = summary_text(w);
    t->results->checked->state = !silent         ? "reachable"
                                 : w->w.answered ? "no longer reachable"
                                                 : "not reachable";
    results_stage(t->results, "peer.watch",
                  events(w) && w->w.answered ? OUTCOME_FAIL
                  : silent                   ? OUTCOME_INCONCLUSIVE
                                             : OUTCOME_PASS,
                  "", "%s", text);
    count_requests(w);
    if (silent && *t->run->stop)
        results_advise(t->results, "ipoib-probe --why %.*s", target_word(t), t->name);
    else if (silent)
        g_free(why_no_reply(t, NULL)); /* the stage after it has the cause */
    else if (why_own_side(t) == OWN_SIDE_GOOD) {
        report_own_side(t);
        own_duplicate_report(t);
        ping_report(t);
    }
    if (w->w.answered) /* nobody there is no loss */
        end_report_loss(t, true);
    numbers_report(t, at);
    g_free(text);
}

/* A reply that comes before the next request is no lost one. */
static struct options wait_longer(const struct options *o)
{
    enum { BEFORE_NEXT_MS = 100 };
    struct options longer = *o;
    longer.timeout_ms = MAX(o->timeout_ms, 1000 * DEFAULT_INTERVAL - BEFORE_NEXT_MS);
    return longer;
}

void watch_run(struct target *t)
{
    struct peer_watch *w = g_new0(struct peer_watch, 1);
    const struct options *given = t->run->options, longer = wait_longer(given);
    const GPtrArray *stages = t->results->checked->stages;
    unsigned at = stages ? stages->len : 0;
    w->t = t;
    w->w = (struct watched){.target = t->name};
    w->port = t->link->transport->facts;
    if (t->link->transport->ops->read_port)
        t->link->transport->ops->read_port(t->link->transport, &w->port);
    counters_read(t->link, &w->counters);
    numbers_begin(t);
    own_duplicate_request(t);
    t->run->options = &longer;
    run_rounds(w);
    end(w, at);
    t->run->options = given;
    g_free(w);
}

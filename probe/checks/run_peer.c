/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the checks of a peer in order. */
#include <string.h>

#include "cli/plain.h"
#include "compat/glib.h"
#include "probe/checks/checks.h"
#include "probe/checks/end.h"
#include "probe/checks/numbers.h"
#include "probe/checks/own_duplicate.h"
#include "probe/checks/owner.h"
#include "probe/checks/ping.h"
#include "probe/checks/reachable.h"
#include "probe/checks/watch.h"
#include "probe/exchange/connection.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/records.h"
#include "probe/exchange/response_times.h"
#include "probe/link/counters_stage.h"
#include "probe/link/hostif.h"
#include "probe/link/hostports.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/link/wirelog.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/target.h"
#include "probe/run/text.h"
#include "probe/why/why.h"

static const char *why_not_run(const struct target *t, const struct check *c)
{
    if (t->peer->cut_off || (t->peer->deaf && !c->of_deaf))
        return "no unicast reaches it (peer.reachable)";
    if (!transport_can(t->link->transport, c->transport))
        return t->link->transport->ops->lacks;
    if ((c->needs & NEEDS_CONNECTIONS) && t->yield)
        return "no connections are made in a sweep: name the address";
    const char *none = (c->needs & NEEDS_CONNECTIONS) ? connection_obstacle(t) : NULL;
    if (none)
        return none;
    if ((c->needs & NEEDS_DISRUPTIVE) && !t->run->options->disruptive)
        return "it disturbs the link: needs --disruptive";
    if ((c->needs & NEEDS_IPV4) && t->ipv6)
        return "it uses ARP: needs an IPv4 target";
    if ((c->needs & NEEDS_IPV6) && !t->ipv6)
        return "it uses NS: needs an IPv6 target";
    if (!(c->needs & NEEDS_SOURCE))
        return NULL;
    if (!transport_can(t->link->transport, HAS_OWN_QP))
        return "through a network interface the probe has no address of its own: it needs ib_uverbs and ib_umad";
    if (!t->link->source.given)
        return "it needs an address of the probe: use --source";
    if (t->link->source.ipv6 != t->ipv6)
        return "--source has the other IP version";
    return t->link->source.usable
               ? NULL
               : "the address of --source is in use, or the probe could not find out";
}

static bool of_family(const struct target *t, const struct check *c)
{
    return !(c->needs & (t->ipv6 ? NEEDS_IPV4 : NEEDS_IPV6));
}

/*
 * True if the check is for the other IP family and a check for the peer's family covers the same
 * rule. The rule is then not reported as skipped.
 */
static bool is_checked_for_peer_family(const struct target *t, const struct check *c,
                                       enum rule_number rule)
{
    const struct check *other;
    for (unsigned i = 0; !of_family(t, c) && (other = check_at(i)); i++)
        for (unsigned k = 0; k < other->n_rules; k++)
            if (other->rules[k] == rule && of_family(t, other))
                return true;
    return false;
}

static void run_check(struct target *t, const struct check *c)
{
    const char *why = why_not_run(t, c);
    gint64 begin = g_get_monotonic_time();
    results_begin(t->results, c->name);
    wirelog_begin(t->log, c->name);
    if (!why) {
        results_hold(t->results);
        c->run(t);
        owner_confirm(t, begin);
    }
    for (unsigned i = 0; why && i < c->n_rules; i++)
        /* Results of other checks and findings in packets remain. */
        if (!is_checked_for_peer_family(t, c, c->rules[i]))
            results_skip(t->results, c->rules[i], why);
    wirelog_end(t->log, results_outcome(t->results));
}

/* Tries unicast in one of the two forms. */
static struct exchange reach(struct target *t)
{
    struct exchange x = exchange_run(t, &(struct request){.alone = true}, TRIES);
    bool plain = x.outcome == RESPONSE_RECEIVED;
    if (!plain)
        x = exchange_run(t, &(struct request){.grh = true, .alone = true}, TRIES);
    t->peer->needs_grh = !plain && x.outcome == RESPONSE_RECEIVED;
    return x;
}

/* Finds the form of unicast that reaches the peer, after its first response. */
static void reach_found(struct target *t)
{
    struct exchange x = reach(t);
    if (x.outcome != RESPONSE_RECEIVED && peer_swap(t))
        x = reach(t);
    if (x.outcome != RESPONSE_RECEIVED)
        return;
    t->peer->by_unicast = compat_memdup(&x.reply, sizeof x.reply);
    peer_settle(t, &x.reply);
}

static double ms_since(gint64 time)
{
    return (double)(g_get_monotonic_time() - time) / 1000;
}

/* At once: the test takes some seconds. */
static void say_first_line(const struct target *t, const struct exchange *x)
{
    const struct run *r = t->run;
    char *own = host_has_address(t->ipv6, t->ip), lid[24] = "";
    if (x->reply.lid)
        g_snprintf(lid, sizeof lid, ", LID %u", x->reply.lid);
    char *line = t->peer->response_times.first_sent < t->peer->response_times.last_sent
                     ? g_strdup_printf("%s: replies %.0f ms after the first of several requests%s; "
                                       "testing it",
                                       t->name, ms_since(t->peer->response_times.first_sent), lid)
                     : g_strdup_printf("%s: replies after %.2f ms%s; testing it", t->name,
                                       x->reply.ms, lid);
    if (r->say && !own && !r->options->why)
        r->say(r->say_to, line);
    g_free(line);
    g_free(own);
}

/* Finds the peer. */
static struct exchange resolve_peer(struct target *t, const struct response *first)
{
    struct exchange x = {.outcome = RESPONSE_RECEIVED};
    results_begin(t->results, "resolve");
    wirelog_begin(t->log, "resolve");
    results_hold(t->results);
    if (!first)
        x = exchange_run(t, &(struct request){.multicast = true}, TRIES);
    if (!first && x.outcome == RESPONSE_RECEIVED) {
        peer_set(t, &x.reply);
        say_first_line(t, &x);
    }
    if (first) { /* the time of that request is not stored */
        response_times_sent(t, t->ipv6, t->ip, false);
        response_times_received(t);
    }
    if (x.outcome == RESPONSE_RECEIVED && !t->yield) {
        own_duplicate_request(t);
        owner_request_unused(t);
    }
    if (x.outcome == RESPONSE_RECEIVED)
        reach_found(t);
    owner_sort(t, x.outcome == RESPONSE_RECEIVED);
    wirelog_end(t->log, x.outcome == RESPONSE_RECEIVED ? "reply received"
                        : x.outcome == NO_RESPONSE     ? "no reply"
                                                       : "not sent");
    return x;
}

/* Through which port, and why. */
static void report_port(struct target *t)
{
    const struct choice *c = t->link->choice;
    const struct port_facts *f = &t->link->transport->facts;
    if (!c)
        return;
    bool limited = t->link->transport->interface != NULL;
    char *port = limited ? g_strdup(f->device)
                         : g_strdup_printf("%s%s%s port %u%s", c->interface,
                                           c->interface[0] ? " (" : "", f->device, f->port,
                                           c->interface[0] ? ")" : "");
    /* a device that is there and cannot be opened is something that was not tested */
    bool undone = limited && !t->yield && !t->run->options->device,
         hidden = limited && host_device_is_hidden(c->device);
    results_stage(t->results, "peer.port", undone ? OUTCOME_INCONCLUSIVE : OUTCOME_NOTED,
                  hidden && !t->yield ? "rdma system; ip netns list; run it where rdma dev lists "
                                        "the device"
                  : limited && !t->yield ? "ls -l /dev/infiniband; modprobe ib_uverbs; modprobe "
                                           "ib_umad  # or run it as root"
                                         : "",
                  "through %s, P_Key 0x%04x: %s%s%s", port, t->link->pkey, c->why,
                  c->other_route ? "; the kernel's route does not lead through it" : "",
                  hidden    ? "; its RDMA device is in another network namespace, so only address "
                              "resolution is tested, and applications here cannot use RDMA"
                  : limited ? "; no RDMA device can be opened, so only address resolution is tested"
                            : "");
    g_free(port);
}

/* Where the peer is. */
static void report_address(struct target *t)
{
    char lladdr[64];
    text_lladdr(t->peer->lladdr, lladdr);
    if (t->peer->lid)
        results_stage(t->results, "peer.address", OUTCOME_NOTED, "", "%s is at %s, LID %u", t->name,
                      lladdr, t->peer->lid);
    else
        results_stage(t->results, "peer.address", OUTCOME_NOTED, "", "%s is at %s, seen through %s",
                      t->name, lladdr, t->link->transport->interface->name);
}

static bool is_on_link(const struct target *t, const char *interface)
{
    GPtrArray *all = host_interfaces(t->link);
    bool is = g_ptr_array_find_with_equal_func(all, interface, g_str_equal, NULL);
    g_ptr_array_unref(all);
    return is;
}

/* This host has the address too. It may be on another network, where that is no fault. */
static void report_own_address(struct target *t, const char *interface)
{
    bool fault = is_on_link(t, interface);
    char *name = records_name_text(t, t->peer->lid);
    results_stage(t->results, "peer.own-address", fault ? OUTCOME_FAIL : OUTCOME_INCONCLUSIVE,
                  fault ? "two hosts have one address: take it from one of them"
                        : "test another address of the peer",
                  "this host has %s too, at %s%s%s", t->name, interface,
                  *name ? "; the other one is" : "", name);
    g_free(name);
}

/* The user asked for checks that need the address; or does not know what is not done without. */
static void report_unused_source(struct target *t)
{
    const struct own_address *s = &t->link->source;
    if (!s->given && !t->run->options->why && !t->yield &&
        transport_can(t->link->transport, HAS_OWN_QP)) {
        results_stage(t->results, "peer.source", OUTCOME_NOTED, "",
                      "not tested: the probe's own IP packets, and whether this port receives what "
                      "the peer sends to the group");
        results_advise(t->results, "ipoib-probe --source ADDRESS %.*s  # an unused address",
                       target_word(t), t->name);
    }
    bool other = s->ipv6 != t->ipv6;
    if (s->given && (!s->usable || other) && transport_can(t->link->transport, HAS_OWN_QP))
        results_stage(t->results, "peer.source", OUTCOME_INCONCLUSIVE,
                      other ? "name an address of the peer's IP version"
                            : "name an address of this network that no host has",
                      "the address of --source %s: checks that need it did not run",
                      other ? "has the other IP version" : "cannot be used");
}

/* The checks send few requests that a peer must answer: too few to see that some packets are lost.
 */
static void measure_loss(struct target *t)
{
    enum { REQUESTS = 20, TO_GROUP = 8 };
    if (!t->peer->by_unicast || target_ended(t))
        return;
    results_begin(t->results, "loss");
    wirelog_begin(t->log, "loss");
    exchange_burst(t, false, REQUESTS);
    if (!target_ended(t)) /* a second owner of the address may show itself seldom */
        exchange_burst(t, true, TO_GROUP);
    wirelog_end(t->log, "ended");
}

/* If most packets are lost, no check has a result, and each waits for its time. */
static bool takes_too_long(struct target *t, gint64 begin)
{
    enum { PATIENCE_S = 20 };
    t->peer->loses_most = !t->yield &&
                          g_get_monotonic_time() - begin > (gint64)PATIENCE_S * G_USEC_PER_SEC &&
                          (numbers_is_slow(t) || end_loses_most(t));
    return t->peer->loses_most;
}

static void leave_out(struct target *t, const struct check *c)
{
    const char *why = why_not_run(t, c);
    results_begin(t->results, c->name);
    for (unsigned i = 0; i < c->n_rules; i++)
        if (is_checked_for_peer_family(t, c, c->rules[i]))
            continue;
        else if (why)
            results_skip(t->results, c->rules[i], why);
        else
            results_add(t->results, c->rules[i], OUTCOME_INCONCLUSIVE, "",
                        "not run: most packets are lost or late");
}

static void run_all(struct target *t)
{
    gint64 begin = g_get_monotonic_time();
    const struct check *c;
    for (unsigned i = 0; (c = check_at(i)) && !target_ended(t) && end_port_is_active(t); i++)
        if (!check_selected(c, t->run->options))
            continue;
        else if (t->peer->loses_most || takes_too_long(t, begin))
            leave_out(t, c);
        else
            run_check(t, c);
}

/* What fails for the same reason is one problem. */
static void follow_unresolved(struct target *t)
{
    static const char *const causes[] = {"peer.own-side", "peer.ping"};
    for (size_t i = 0; i < G_N_ELEMENTS(causes); i++)
        checked_follow_stage(t->results->checked, "peer.rdma-cm", causes[i]);
}

/* own: the interface of this host that has the address; NULL: none. */
static void run_checks(struct target *t, const char *own)
{
    const GPtrArray *stages = t->results->checked->stages;
    unsigned at = stages ? stages->len : 0;
    numbers_begin(t);
    report_address(t);
    if (own)
        report_own_address(t, own);
    enum own_side side = t->yield ? OWN_SIDE_GOOD : why_own_side(t);
    report_unused_source(t);
    if (!t->peer->by_unicast)
        reachable_report(t);
    if (!t->run->options->why)
        run_all(t);
    if (!t->yield)
        measure_loss(t);
    owner_report(t);
    own_duplicate_report(t);
    if (side != OWN_SIDE_FAILS && t->peer->by_unicast)
        ping_report(t);
    if (t->peer->cm_unresolved || side == OWN_SIDE_FAILS)
        follow_unresolved(t); /* the kernel needs the same address and path for all of them */
    results_begin(t->results, "end");
    wirelog_begin(t->log, "end");
    end_report(t);
    wirelog_end(t->log, "ended");
    numbers_report(t, at);
}

/* The transport's error, after the reason for it if this port shows one. */
static void report_broken(struct target *t)
{
    char *own = end_own_reason(t);
    char *text = own ? g_strdup_printf("%s; %s", own, t->link->transport->error)
                     : g_strdup(t->link->transport->error);
    t->results->checked->trouble = plain_dup(text);
    g_free(text);
    g_free(own);
}

/* NULL: the run ended. */
static char *explain_no_reply(struct target *t, const struct exchange *x)
{
    const char *requests = t->ipv6 ? "neighbour solicitations" : "ARP requests";
    unsigned ms = t->run->options->timeout_ms;
    char *cause = t->yield ? NULL : why_no_reply(t, NULL);
    if (target_ended(t)) {
        g_free(cause);
        return NULL;
    }
    char *sent = x->outcome == NOT_SENT ? g_strdup(x->received)
                                        : g_strdup_printf("no reply from %s to %d %s, %u ms each",
                                                          t->name, TRIES, requests, ms);
    char *text = g_strdup_printf("%s%s%s", sent, cause ? ": " : "", cause ? cause : "");
    g_free(sent);
    g_free(cause);
    return text;
}

/* Why there are no checks; NULL: the run ended. */
static char *why_not_tested(struct target *t, const struct exchange *x, const char *own)
{
    if (t->run->broken)
        return NULL;
    if (x->outcome == NOT_SENT && !x->no_group) {
        if (!t->yield && t->run->sa.failures)
            g_free(why_no_reply(t, x->received));
        return g_strdup(x->received);
    }
    return own ? g_strdup_printf(OWN_ADDRESS, own) : explain_no_reply(t, x);
}

static void watch_peer(struct target *t, const struct port_counters *before)
{
    watch_run(t);
    counters_report(t, "peer.counters", before);
    if (t->run->broken)
        report_broken(t);
    results_keep_selected(t->results, t->run->options, NULL);
    wirelog_check(t->log, NULL, NULL, NULL);
}

/* Nothing that was not done is called good. */
static const char *state_of_reachable(const struct target *t)
{
    return t->link->transport->interface ? "reachable (only address resolution is tested)"
                                         : "reachable";
}

void checks_run_peer(struct target *t, const struct response *first)
{
    if (!first)
        wirelog_check(t->log, t->results->known, results_checked, t->results);
    struct port_counters counters;
    why_begin(t);
    counters_read(t->link, &counters);
    report_port(t);
    if (watch_is_wanted(t->run->options)) {
        watch_peer(t, &counters);
        return;
    }
    struct exchange x = resolve_peer(t, first);
    char *own = host_has_address(t->ipv6, t->ip);
    /* this host's own port may reply too: nothing is tested then */
    bool replies = x.outcome == RESPONSE_RECEIVED && !(own && host_has_port(t->peer->lladdr));
    bool silent = x.outcome == NO_RESPONSE || x.no_group;
    t->results->checked->state = replies          ? state_of_reachable(t)
                                 : silent && !own ? "not reachable"
                                                  : "not tested";
    if (replies)
        run_checks(t, own);
    else
        t->results->checked->trouble = why_not_tested(t, &x, own);
    if (!t->yield && !t->run->options->why)
        counters_report(t, "peer.counters", &counters);
    if (t->run->broken && !t->results->checked->trouble)
        report_broken(t);
    results_keep_selected(t->results, t->run->options, NULL);
    wirelog_check(t->log, NULL, NULL, NULL);
    g_free(own);
    g_free(t->peer->by_unicast);
    t->peer->by_unicast = NULL;
}

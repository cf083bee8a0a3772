/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ipoib-probe: tests a peer or a fabric and reports which requirements of IP over InfiniBand it
 * meets.
 */
#include <stdio.h>
#include <string.h>

#include "cli/environment.h"
#include "cli/fail.h"
#include "cli/plain.h"
#include "cli/save.h"
#include "cli/say.h"
#include "cli/privileges.h"
#include "probe/checks/checks.h"
#include "probe/checks/watch.h"
#include "probe/collect.h"
#include "probe/device.h"
#include "probe/exchange/peer.h"
#include "probe/fabric/stages.h"
#include "probe/link/groups.h"
#include "probe/link/guard.h"
#include "probe/link/link.h"
#include "probe/link/sa.h"
#include "probe/link/transport.h"
#include "probe/link/wirelog.h"
#include "probe/list.h"
#include "probe/plan.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/target.h"
#include "probe/sweep/sweep.h"
#include "probe/why/why.h"
#include "report/explain.h"

enum { EXIT_NO_MEANS = 3 }; /* missing privilege or device */

static volatile int stop;

struct program {
    const struct options *o;
    struct run run;
    struct probe_link link; /* on the port of the part that runs */
    struct guard *guard;    /* NULL: it could not be started */
    struct peer no_peer;
    struct target rest; /* packets and findings of the run itself, before the first target */
    struct link_state link_state;
    struct collection *collection;
    bool at_last_targets; /* of a port: the last one's report waits until the groups are left */
    bool watched;         /* --count or --interval: the requests have begun */
    bool no_means;        /* a device or a privilege is missing */
};

/* ---- targets */

/* A watched peer is reported after a signal too. */
static bool interrupted(const struct program *r)
{
    return stop && !r->watched;
}

static void say_line(void *user, const char *line)
{
    struct program *r = user;
    collection_release(r->collection);
    collection_say(r->collection, line);
}

static struct checked begin_target(const struct program *r, const struct target_option *t)
{
    return (struct checked){.name = plain_dup(t->name), .verdict = verdict_new(&r->o->selection)};
}

static void ready(void *user, struct checked *j)
{
    struct program *r = user;
    if (interrupted(r))
        checked_clear(j);
    else if (r->at_last_targets)
        collection_hold(r->collection, j);
    else
        collection_add(r->collection, j);
}

/* Leaves the groups; a leave that fails is a stage of the last target. */
static void leave_groups(struct program *r)
{
    if (r->link.transport)
        link_close(&r->rest);
    struct checked *last = collection_held(r->collection);
    if (last)
        link_report_not_left(&r->link, last);
    collection_release(r->collection);
}

/* Ports that are not tested must not be passed over in silence. */
static void report_unused(struct results *r, const struct options *o, const char *unused)
{
    if (unused && probe_options_select_stage(o, "fabric.unused-ports"))
        results_stage(r, "fabric.unused-ports", OUTCOME_NOTED, "ipoib-probe --all-ports fabric",
                      "down, and no interface is up there, so not tested: %s", unused);
}

/* Runs one target alone. */
static void run_alone(struct program *r, const struct plan_part *part,
                      const struct target_option *o)
{
    struct checked j = begin_target(r, o);
    struct results results = {.checked = &j, .known = r->rest.results->known};
    struct peer peer = {.known = false};
    struct target t = {.run = &r->run,
                       .link = &r->link,
                       .log = r->rest.log,
                       .results = &results,
                       .ipv6 = o->ipv6,
                       .peer = &peer};
    gint64 begin = g_get_monotonic_time();
    if (part->name) { /* one of several ports */
        g_free(j.name);
        j.name = plain_dup(part->name);
        j.brief = true;
    }
    g_strlcpy(t.name, j.name, sizeof t.name);
    memcpy(t.ip, o->ip, 16);
    if (o->fabric) {
        fabric_run(&t, r->link_state.opening, r->link_state.why);
        report_unused(&results, r->o, part->unused);
    } else {
        r->watched = watch_is_wanted(r->o);
        checks_run_peer(&t, NULL);
    }
    j.seconds = (double)(g_get_monotonic_time() - begin) / G_USEC_PER_SEC;
    ready(r, &j);
}

static void report_untried(struct program *r, const struct plan_part *p, const char *why)
{
    for (unsigned i = 0; i < p->n && !stop; i++) {
        struct checked j = begin_target(r, &p->targets[i]);
        j.trouble = plain_dup(why);
        if (p->advice)
            checked_add_stage(&j, "peer.port", OUTCOME_INCONCLUSIVE, why, p->advice);
        ready(r, &j);
    }
}

enum { TOGETHER_FROM = 4 };

/* For a few addresses there is time for all checks, including connections. */
static bool are_few(const struct target_option *targets, unsigned n)
{
    bool prefix = false;
    for (unsigned i = 0; i < n; i++)
        prefix |= targets[i].prefix;
    return !prefix && n < TOGETHER_FROM;
}

/* The link could not be opened: each target has the cause. */
static void report_no_link(struct program *r, const struct plan_part *p, const char *error)
{
    for (unsigned i = 0; i < p->n && !stop; i++) {
        struct checked j = begin_target(r, &p->targets[i]);
        struct results results = {.checked = &j, .known = r->rest.results->known};
        struct peer peer = {.known = false};
        struct target t = r->rest;
        t.results = &results;
        t.peer = &peer;
        t.ipv6 = p->targets[i].ipv6;
        memcpy(t.ip, p->targets[i].ip, 16);
        g_strlcpy(t.name, j.name, sizeof t.name);
        char *cause = why_no_reply(&t, error);
        j.trouble = plain_dup(error);
        g_free(cause);
        ready(r, &j);
    }
}

/* Runs consecutive addresses of the command line. */
static void run_addresses(struct program *r, const struct plan_part *p)
{
    struct sweep_job job = {p->targets, p->n, ready, r};
    if (r->link_state.opening != OPENED)
        report_untried(r, p, r->link_state.why->message);
    else if (!probe_open_link(&r->link_state, &r->rest))
        report_no_link(r, p, r->link_state.why_not->message);
    else if (!are_few(p->targets, p->n))
        sweep_run(&r->rest, &job);
    else
        for (unsigned i = 0; i < p->n && !r->run.stopped && !stop; i++)
            run_alone(r, p, &p->targets[i]);
}

/* ---- the port of a part */

static void open_port(struct program *r, const struct plan_part *p)
{
    groups_open(&r->link);
    r->link.guard = r->guard;
    r->link.choice = &p->choice;
    probe_open_device(&r->link_state, &r->rest);
}

/* What is known about the SA and the link is that of the port. */
static void close_port(struct program *r)
{
    const struct link_state *s = &r->link_state;
    r->no_means |= s->opening != OPENED || (s->tried && !s->opened && r->link.transport->denied);
    if (!r->link.choice)
        return;
    leave_groups(r);
    if (r->link.transport)
        r->link.transport->ops->close(r->link.transport);
    g_clear_error(&r->link_state.why);
    g_clear_error(&r->link_state.why_not);
    groups_close(&r->link);
    sa_cache_clear(&r->run);
    r->link = (struct probe_link){.choice = NULL};
    r->link_state = (struct link_state){.opening = OPENED};
    r->run.sa = (struct sa_cache){.failures = 0};
    r->run.broken = false;
}

/* The text report about a fabric begins with the reason why a device could not be opened. */
static void say_not_opened(const struct program *r)
{
    bool reported = probe_options_only_fabric(r->o) && r->o->format == FORMAT_TEXT && !r->o->output;
    if (r->link_state.opening != OPENED && !reported)
        say("%s", r->link_state.why->message);
}

/* Opens the port of the part, unless it is open or the part has none. */
static void begin_port(struct program *r, const struct plan_part *p)
{
    if (p->why || r->link.choice)
        return;
    open_port(r, p);
    say_not_opened(r);
}

static void run_part(struct program *r, const struct plan_part *p)
{
    if (p->why)
        report_untried(r, p, p->why);
    else if (p->targets->fabric)
        run_alone(r, p, p->targets);
    else
        run_addresses(r, p);
}

static void run_parts(struct program *r, const GArray *parts)
{
    for (guint i = 0; i < parts->len && !r->run.stopped && !stop; i++) {
        const struct plan_part *p = &g_array_index(parts, struct plan_part, i);
        begin_port(r, p);
        r->at_last_targets = !p->why && plan_port_ends(parts, i);
        run_part(r, p);
        if (r->at_last_targets)
            close_port(r);
    }
}

static int exit_status(const struct program *r, bool delivered)
{
    if (interrupted(r))
        return 128 + stop;
    if (!delivered)
        return EXIT_UNJUDGED;
    return r->no_means ? EXIT_NO_MEANS : collection_exit_status(r->collection);
}

/* Keeps in reserve the privileges to write a report to a file. */
static bool drop_privileges(const struct options *o)
{
    GError *error = NULL;
    unsigned of_files = PRIVILEGE_FILES | PRIVILEGE_OWNER | PRIVILEGE_GIVE;
    bool dropped = privileges_drop(PRIVILEGE_RAW | PRIVILEGE_LOCK, o->output ? of_files : 0u,
                                   &error);
    say_error(NULL, &error);
    return dropped;
}

/* A signal also ends a write, and the wait for a FIFO, with an error that says no more. */
static void say_failure(GError **error)
{
    if (!stop) {
        say_error(NULL, error);
        return;
    }
    g_clear_error(error);
    say("interrupted: there is no complete report");
}

static bool end_log(struct program *r)
{
    GError *error = NULL;
    if (wirelog_keeps_old(r->rest.log))
        say("%s: no packet was sent or received: the file keeps its old contents", r->o->capture);
    bool whole = wirelog_free(r->rest.log, &error);
    say_error(NULL, &error);
    return whole;
}

static bool deliver_reports(struct program *r)
{
    GError *error = NULL;
    bool good = collection_deliver(r->collection, &error);
    if (!good)
        say_failure(&error);
    return good;
}

/* The first port is opened with all privileges. */
static bool run_ports(struct program *r, const GArray *parts)
{
    begin_port(r, &g_array_index(parts, struct plan_part, 0));
    bool dropped = drop_privileges(r->o);
    if (dropped)
        run_parts(r, parts);
    close_port(r);
    bool whole = end_log(r);
    return dropped && !interrupted(r) && deliver_reports(r) && whole;
}

static int probe(const struct options *o, const struct deviations *known)
{
    /*
     * Start the guard before any file is open: otherwise it would keep a pipe of -w open, and its
     * reader would wait for it.
     */
    struct guard guard;
    bool guarded = guard_start(&guard);
    GError *error = NULL;
    /* Findings before the first target (is the source address unused?) belong to no target. */
    struct checked no_target = {.name = NULL, .verdict = verdict_new(NULL)};
    struct results idle = {.checked = &no_target, .known = known};
    struct program r = {.o = o,
                        .run = {.options = o,
                                .say = say_line,
                                .say_to = &r,
                                .stop = &stop,
                                .subnets = g_array_new(FALSE, FALSE, sizeof(struct seen_subnet))},
                        .collection = collection_new(o, IPOIB_VERSION, &error)};
    r.rest = (struct target){.run = &r.run,
                             .link = &r.link,
                             .log = r.collection ? wirelog_new(o->capture, &error) : NULL,
                             .results = &idle,
                             .peer = &r.no_peer};
    if (error)
        say_failure(&error);
    r.guard = guarded ? &guard : NULL;
    GArray *parts = plan_make(o);
    bool delivered = r.rest.log && run_ports(&r, parts);
    int status = exit_status(&r, delivered);
    guard_end(&guard);
    g_array_unref(parts);
    g_array_unref(r.run.subnets);
    collection_free(r.collection);
    verdict_free(no_target.verdict);
    return status;
}

/* ---- options that need no device */

static int print(const struct options *o, GString *text)
{
    GError *error = NULL;
    bool good = save(text, o->output, &error);
    g_string_free(text, TRUE);
    if (!good)
        say_failure(&error);
    return good ? EXIT_CONFORMANT : stop ? 128 + stop : EXIT_UNJUDGED;
}

static int explain(const struct options *o)
{
    GString *text = g_string_new(NULL);
    GError *error = NULL;
    const char *id = explain_rule(text, o->explain, &error);
    if (id) {
        list_how(text, id);
        return print(o, text);
    }
    say_error(NULL, &error);
    g_string_free(text, TRUE);
    return EXIT_UNJUDGED;
}

static int run(const struct options *o)
{
    GError *error = NULL;
    if (o->explain)
        return explain(o);
    if (o->list)
        return print(o, o->format == FORMAT_JSON ? list_checks_json(o, IPOIB_VERSION)
                                                 : list_checks_text(o));
    if (o->dry_run)
        return print(o, list_dry_run(o));
    struct deviations *known = deviations_open(o->deviations, &error);
    if (!known) {
        say_failure(&error);
        return stop ? 128 + stop : EXIT_UNJUDGED;
    }
    int status = probe(o, known);
    deviations_free(known);
    return status;
}

int main(int argc, char **argv)
{
    static char name[] = "ipoib-probe";
    struct options o;
    environment_secure();
    say_as(name);
    program_begin(argv, name, &stop);
    int status = probe_options_read(&o, argc, argv);
    if (status < 0)
        status = run(&o);
    probe_options_clear(&o);
    return status;
}

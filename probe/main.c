/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ipoib-probe: tests a peer or a fabric and reports which requirements of IP over InfiniBand it
 * meets.
 */
#include <stdio.h>

#include "cli/environment.h"
#include "cli/fail.h"
#include "cli/save.h"
#include "cli/say.h"
#include "cli/privileges.h"
#include "probe/link/wirelog.h"
#include "probe/choose.h"
#include "probe/list.h"
#include "probe/node/line.h"
#include "probe/node/run_node.h"
#include "probe/parts.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/sweep/baseline.h"
#include "report/explain.h"

enum { EXIT_NO_MEANS = 3 }; /* missing privilege or device */
enum { NAGIOS_UNKNOWN = 3 };

static volatile int stop;

static int exit_status(const struct program *r, bool delivered)
{
    if (parts_interrupted(r))
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
    if (!good && !stop && r->o->output) { /* a test may have taken minutes */
        say("the report follows on standard output");
        collection_print(r->collection);
    }
    return good;
}

/* The first port is opened with all privileges. */
static bool run_ports(struct program *r, const GArray *parts)
{
    parts_begin_port(r, &g_array_index(parts, struct plan_part, 0));
    bool dropped = drop_privileges(r->o);
    if (dropped)
        parts_run(r, parts);
    parts_close_port(r);
    bool whole = end_log(r);
    return dropped && !parts_interrupted(r) && deliver_reports(r) && whole;
}

static int probe(const struct options *o, const struct deviations *known,
                 const struct sweep_baseline *baseline)
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
                                .say = parts_say,
                                .show = parts_show,
                                .say_to = &r,
                                .stop = &stop,
                                .baseline = baseline,
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

/* Reads the baseline first: without it nothing is tested. */
static int probe_beyond_baseline(const struct options *o, const struct deviations *known)
{
    GError *error = NULL;
    if (!o->baseline)
        return probe(o, known, NULL);
    struct sweep_baseline *b = sweep_baseline_open(o->baseline, &error);
    if (!b) {
        say_failure(&error);
        return stop ? 128 + stop : EXIT_UNJUDGED;
    }
    int status = probe(o, known, b);
    sweep_baseline_free(b);
    return status;
}

/* ---- this node */

/* The line follows on standard output if the file cannot be written. */
static bool deliver_node(const struct node_run *n)
{
    const struct options *o = n->o;
    GError *error = NULL;
    GString *report = node_report(n, use_colours(o->output));
    const struct save_parts parts = {.head = report, .replaces = o->format == FORMAT_PROMETHEUS};
    bool good = save_file(&parts, o->output, &access_unlimited, &error);
    if (!good)
        say_failure(&error);
    if (!good && !stop && o->output) {
        GString *line = node_line(n);
        fputs(line->str, stdout);
        g_string_free(line, TRUE);
    }
    g_string_free(report, TRUE);
    return good;
}

static int end_node(struct node_run *n)
{
    GError *error = NULL;
    if (!node_run_keep(n, &error))
        say_error(NULL, &error);
    node_state_release(&n->state);
    bool delivered = deliver_node(n);
    if (stop)
        return 128 + stop;
    if (n->o->nagios)
        return delivered ? node_nagios_status(n) : NAGIOS_UNKNOWN;
    return delivered ? node_exit_status(n) : EXIT_UNJUDGED;
}

static int run_node(const struct options *o)
{
    struct node_run n;
    char *unused;
    int status = o->nagios ? NAGIOS_UNKNOWN : EXIT_UNJUDGED;
    node_delay(o, &stop);
    GArray *choices = choose_for_fabric(o, &unused);
    node_run_begin(&n, o, IPOIB_VERSION, choices, unused);
    if (drop_privileges(o) && node_run_judge(&n, &stop))
        status = end_node(&n);
    else if (stop)
        status = 128 + stop;
    node_run_end(&n);
    g_array_unref(choices);
    g_free(unused);
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
    if (probe_options_only_node(o))
        return run_node(o);
    struct deviations *known = deviations_open(o->deviations, &error);
    if (!known) {
        say_failure(&error);
        return stop ? 128 + stop : EXIT_UNJUDGED;
    }
    int status = probe_beyond_baseline(o, known);
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
    else if (o.nagios && status == EXIT_UNJUDGED)
        status = NAGIOS_UNKNOWN;
    probe_options_clear(&o);
    return status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the parts of the command line, each on its port. See parts.h. */
#include "probe/parts.h"

#include <string.h>

#include "cli/plain.h"
#include "cli/say.h"
#include "probe/checks/checks.h"
#include "probe/checks/watch.h"
#include "probe/device.h"
#include "probe/exchange/peer.h"
#include "probe/fabric/stages.h"
#include "probe/link/groups.h"
#include "probe/link/sa.h"
#include "probe/run/results.h"
#include "probe/sweep/sweep.h"
#include "probe/why/why.h"

/* ---- targets */

bool parts_interrupted(const struct program *r)
{
    return *r->run.stop && !r->watched;
}

void parts_say(void *user, const char *line)
{
    struct program *r = user;
    collection_release(r->collection);
    collection_say(r->collection, line);
}

void parts_show(void *user, const struct watch_line *line)
{
    struct program *r = user;
    collection_release(r->collection);
    collection_show(r->collection, line);
}

static struct checked begin_target(const struct program *r, const struct target_option *t)
{
    return (struct checked){.name = plain_dup(t->name), .verdict = verdict_new(&r->o->selection)};
}

static void ready(void *user, struct checked *j)
{
    struct program *r = user;
    if (parts_interrupted(r))
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
    for (unsigned i = 0; i < p->n && !*r->run.stop; i++) {
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
    for (unsigned i = 0; i < p->n && !*r->run.stop; i++) {
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
        for (unsigned i = 0; i < p->n && !r->run.stopped && !*r->run.stop; i++)
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
void parts_close_port(struct program *r)
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

void parts_begin_port(struct program *r, const struct plan_part *p)
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

void parts_run(struct program *r, const GArray *parts)
{
    for (guint i = 0; i < parts->len && !r->run.stopped && !*r->run.stop; i++) {
        const struct plan_part *p = &g_array_index(parts, struct plan_part, i);
        parts_begin_port(r, p);
        r->at_last_targets = !p->why && plan_port_ends(parts, i);
        run_part(r, p);
        if (r->at_last_targets)
            parts_close_port(r);
    }
}

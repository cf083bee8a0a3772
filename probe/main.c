/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ipoib-probe: asks a peer, or a fabric, and tells which requirements of IP over InfiniBand it keeps. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/list.h"
#include "probe/probe.h"
#include "verdict/plain.h"
#include "verdict/save.h"
#include "verdict/say.h"

enum { EXIT_NO_MEANS = 3 }; /* a privilege or the device is missing */

static volatile int stop;

static void on_signal(int number)
{
    stop = number;
}

static void catch_signals(void)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal}, before;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < G_N_ELEMENTS(caught); i++)
        if (caught[i] != SIGHUP || sigaction(SIGHUP, NULL, &before) != 0 || before.sa_handler != SIG_IGN)
            sigaction(caught[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* a write error is told; and what was joined has to be left */
}

/* A report that goes to a descriptor of the adapter's would be harm: 0 to 2 are never free. */
static void occupy_standard_files(void)
{
    while (true) {
        int fd = open("/dev/null", O_RDWR);
        if (fd < 0 || fd > STDERR_FILENO) {
            if (fd > STDERR_FILENO)
                close(fd);
            return;
        }
    }
}

/* ---- the report */

struct run {
    const struct options *o;
    struct probe probe;
    struct judged *judged;
    struct report report;
    bool streams; /* text on stdout: each target's part as it is ready */
    bool no_means;
    bool told;
    bool bad_output;
};

static void stream(struct run *r, const struct judged *j)
{
    GString *text = g_string_new(r->told ? "\n" : "");
    report_text_of(text, &r->report, j, isatty(STDOUT_FILENO));
    r->bad_output |= fputs(text->str, stdout) < 0 || fflush(stdout) != 0;
    r->told = true;
    g_string_free(text, TRUE);
}

static bool deliver(struct run *r)
{
    static GString *(*const writers[])(const struct report *) = {
        [PROBE_JSON] = report_json, [PROBE_JUNIT] = report_junit, [PROBE_TAP] = report_tap};
    if (r->streams) {
        GString *total = g_string_new(NULL);
        report_text_total(total, &r->report);
        r->bad_output |= fputs(total->str, stdout) < 0 || fflush(stdout) != 0;
        g_string_free(total, TRUE);
        if (r->bad_output)
            say("standard output: cannot be written");
        return !r->bad_output;
    }
    GString *text =
        r->o->format == PROBE_TEXT ? report_text(&r->report, false) : writers[r->o->format](&r->report);
    bool good = save(text, r->o->output);
    g_string_free(text, TRUE);
    return good;
}

/* ---- targets */

static void prepare(struct probe *p, const struct target *t)
{
    p->peer = (struct peer){.ipv6 = t->ipv6};
    g_strlcpy(p->peer.name, t->name, sizeof p->peer.name);
    memcpy(p->peer.ip, t->ip, 16);
}

struct standing {
    enum opening opening;
    char why[300]; /* why there is no device */
    bool tried, stands;
    char why_not[300]; /* why the probe does not stand on the link */
};

static void open_source(struct probe *p)
{
    const struct options *o = p->options;
    char why[160];
    if (!o->has_source)
        return;
    p->source = (struct source){.given = true, .ipv6 = o->source_ipv6};
    memcpy(p->source.ip, o->source, 16);
    wirelog_begin(p->log, "source");
    if (!station_open(p, why, sizeof why) && !p->stopped)
        say("--source: %s; what needs an address is skipped", p->broken ? p->t->error : why);
    wirelog_end(p->log, p->source.usable ? "unused" : "not usable");
}

/* Only where a peer is asked; the fabric is looked at without. */
static bool stand(struct probe *p, struct standing *s)
{
    if (!s->tried) {
        s->tried = true;
        wirelog_begin(p->log, "link");
        s->stands = link_open(p, s->why_not, sizeof s->why_not);
        wirelog_end(p->log, s->stands ? "ready" : "not to be had");
        if (s->stands)
            open_source(p);
    }
    return s->stands;
}

static void run_target(struct run *r, const struct target *t, struct judged *j, struct standing *s)
{
    struct probe *p = &r->probe;
    struct results results = {.judged = j, .known = NULL};
    gint64 begin = g_get_monotonic_time();
    *j = (struct judged){.name = plain_dup(t->name), .verdict = verdict_new(&r->o->selection)};
    results.known = p->results->known;
    struct results *before = p->results;
    p->results = &results;
    prepare(p, t);
    if (t->fabric)
        run_fabric(p, s->opening, s->why);
    else if (s->opening != OPENED)
        j->trouble = plain_dup(s->why);
    else if (!stand(p, s))
        j->trouble = plain_dup(s->why_not);
    else
        run_peer(p);
    j->seconds = (double)(g_get_monotonic_time() - begin) / G_USEC_PER_SEC;
    p->results = before;
}

static void run_targets(struct run *r, struct standing *s)
{
    for (guint i = 0; i < r->o->targets->len && !r->probe.stopped && !stop; i++) {
        struct judged *j = &r->judged[i];
        run_target(r, &g_array_index(r->o->targets, struct target, i), j, s);
        r->report.n = i + 1;
        if (r->streams && !stop)
            stream(r, j);
    }
    r->no_means = s->opening != OPENED || (s->tried && !s->stands && r->probe.t->denied);
}

static void clear_judged(struct run *r)
{
    for (guint i = 0; i < r->o->targets->len; i++) {
        g_free(r->judged[i].name);
        g_free(r->judged[i].trouble);
        verdict_free(r->judged[i].verdict);
        if (r->judged[i].stages)
            g_ptr_array_unref(r->judged[i].stages);
    }
    g_free(r->judged);
}

static int exit_status(struct run *r, bool delivered)
{
    if (stop)
        return 128 + stop;
    if (!delivered)
        return EXIT_UNJUDGED;
    return r->no_means ? EXIT_NO_MEANS : report_exit_status(&r->report);
}

static int probe(const struct options *o, const struct deviations *known)
{
    /* Findings before the first target (is the source address unused?) are nobody's. */
    struct judged nobody = {.name = NULL, .verdict = verdict_new(NULL)};
    struct results idle = {.judged = &nobody, .known = known};
    struct run r = {.o = o,
                    .streams = o->format == PROBE_TEXT && !o->output,
                    .judged = g_new0(struct judged, o->targets->len)};
    struct standing s = {.opening = OPEN_NO_DEVICE};
    r.report =
        (struct report){"ipoib-probe", IPOIB_VERSION, o->deviations, (const char *const *)o->only->pdata,
                        o->strict,     true,          r.judged,      0};
    r.probe = (struct probe){.options = o, .results = &idle, .stop = &stop, .log = wirelog_new(o->capture)};
    groups_open(&r.probe);
    bool delivered = false;
    if (r.probe.log) {
        s.opening = verbs_open(&r.probe.t, o->device, o->port, &stop, s.why, sizeof s.why);
        if (s.opening != OPENED)
            say("%s", s.why);
        run_targets(&r, &s);
        if (r.probe.t) {
            link_close(&r.probe);
            r.probe.t->ops->close(r.probe.t);
        }
        bool whole = wirelog_free(r.probe.log);
        delivered = !stop && deliver(&r) && whole;
    }
    int status = exit_status(&r, delivered);
    groups_close(&r.probe);
    clear_judged(&r);
    verdict_free(nobody.verdict);
    return status;
}

/* ---- what needs no device */

static int print(const struct options *o, GString *text)
{
    bool good = save(text, o->output);
    g_string_free(text, TRUE);
    return good ? EXIT_CONFORMANT : EXIT_UNJUDGED;
}

static int run(const struct options *o)
{
    GError *error = NULL;
    if (o->help || o->version)
        return print(&(struct options){0},
                     g_string_new(o->help ? options_help : "ipoib-probe " IPOIB_VERSION "\n"));
    if (o->list)
        return print(o, o->format == PROBE_JSON ? list_checks_json(o, IPOIB_VERSION) : list_checks_text(o));
    if (o->dry_run)
        return print(o, list_dry_run(o));
    struct deviations *known = deviations_open(o->deviations, &error);
    if (!known) {
        say("%s", error->message);
        g_error_free(error);
        return EXIT_UNJUDGED;
    }
    int status = probe(o, known);
    deviations_free(known);
    return status;
}

int main(int argc, char **argv)
{
    struct options o;
    occupy_standard_files();
    catch_signals();
    int status = options_read(&o, argc, argv) ? run(&o) : EXIT_UNJUDGED;
    options_clear(&o);
    return status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Report that grows during the run. See collect.h. */
#include "probe/collect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/fail.h"
#include "cli/plain.h"
#include "cli/progress.h"
#include "cli/save.h"
#include "probe/checks/checks.h"
#include "probe/metrics.h"
#include "probe/run/options.h"
#include "report/report_jsonl.h"

struct collection {
    char *node, *deviations; /* as in the report; node: NULL if not given */
    const struct options *o;
    const struct report_parts *parts;
    struct report report;
    GArray *all; /* struct checked, closed */
    struct written_so_far reported;
    bool said;                     /* a line of the next target is printed already */
    bool streams;                  /* text and JSON Lines go directly to stdout */
    FILE *spool;                   /* otherwise: spool file for the parts */
    struct probe_metrics *metrics; /* instead of parts; NULL: another format */
    gint64 saved;  /* monotonic microseconds: when the metrics of a watched peer were written */
    GError *error; /* the first error of writing; NULL: none */
    bool holds;
    struct checked held; /* the last target, if holds is set */
};

static void clear(gpointer checked)
{
    checked_clear(checked);
}

struct collection *collection_new(const struct options *o, const char *version, GError **error)
{
    struct collection *c = g_new0(struct collection, 1);
    c->o = o;
    if (o->format == FORMAT_PROMETHEUS)
        c->metrics = probe_metrics_new(o, version);
    else
        c->parts = format_parts(o->format);
    c->streams = (o->format == FORMAT_TEXT || o->format == FORMAT_JSONL) && !o->output;
    c->node = o->node ? plain_dup(o->node) : NULL;
    c->deviations = plain_dup(o->deviations);
    c->report = (struct report){.tool = "ipoib-probe",
                                .version = version,
                                .node = c->node,
                                .deviations = c->deviations,
                                .only = (const char *const *)o->only->pdata,
                                .strict = o->strict,
                                .verbose = o->verbose,
                                .advice = check_advice,
                                .causes_only = o->why,
                                .probed = true};
    c->all = g_array_new(FALSE, FALSE, sizeof(struct checked));
    g_array_set_clear_func(c->all, clear);
    if (c->streams || c->metrics || (c->spool = tmpfile()))
        return c;
    fail_with(error, "no temporary file for the report in " P_tmpdir ": %s", strerror(errno));
    collection_free(c);
    return NULL;
}

void collection_free(struct collection *c)
{
    if (!c)
        return;
    if (c->spool)
        fclose(c->spool);
    probe_metrics_free(c->metrics);
    g_clear_error(&c->error);
    g_array_unref(c->all);
    g_free(c->deviations);
    g_free(c->node);
    g_free(c);
}

static GString *make_part(struct collection *c, const struct checked *j)
{
    if (!c->streams || c->o->format == FORMAT_JSONL)
        return c->parts->part(&c->report, j, &c->reported);
    bool apart = c->report.n && !j->brief && !c->report.causes_only && !c->said;
    GString *text = g_string_new(apart ? "\n" : "");
    c->said = false;
    report_text_of(text, &c->report, j, use_colours(NULL));
    return text;
}

/* Keeps the first error of writing. */
static void fail_part(struct collection *c)
{
    if (!c->error)
        fail_with(&c->error, "%s: %s",
                  c->streams ? "standard output" : "a temporary file for the report, in " P_tmpdir,
                  strerror(errno));
}

static void write_part(struct collection *c, const GString *text)
{
    FILE *to = c->streams ? stdout : c->spool;
    if (c->error)
        return;
    if (c->streams)
        progress_erase();
    if (fwrite(text->str, 1, text->len, to) != text->len || (c->streams && fflush(to) != 0))
        fail_part(c);
}

void collection_say(struct collection *c, const char *line)
{
    bool watches = c->o->count || c->o->interval;
    if (c->o->format != FORMAT_TEXT || (!c->streams && !watches))
        return;
    progress_erase();
    if (printf("%s%s\n", c->report.n && !c->said ? "\n" : "", line) < 0 || fflush(stdout) != 0)
        fail_part(c);
    c->said = true;
}

static const char *const line_types[] = {
    [WATCH_REPLY] = "reply", [WATCH_NO_REPLY] = "no_reply", [WATCH_CHANGE] = "change"};

static void put_line(struct collection *c, const struct watch_line *l)
{
    char *plain = plain_dup(l->text);
    json_t *members = json_pack("{ss si}", "target", l->watched->target, "request",
                                (int)l->watched->sent);
    GString *line = g_string_new(NULL);
    if (l->kind == WATCH_REPLY)
        json_object_set_new(members, "time_us", json_integer((json_int_t)(l->ms * 1000 + 0.5)));
    if (l->kind == WATCH_CHANGE)
        json_object_set_new(members, "change", json_string(watch_change_name(l->change)));
    json_object_set_new(members, "text", json_string(plain));
    report_jsonl_line(line, &c->report, line_types[l->kind], members);
    write_part(c, line);
    g_string_free(line, TRUE);
    g_free(plain);
}

static bool save_metrics(struct collection *c, GError **error)
{
    GString *text = probe_metrics_text(c->metrics);
    const struct save_parts parts = {.head = text, .replaces = true};
    bool good = save_file(&parts, c->o->output, &access_unlimited, error);
    g_string_free(text, TRUE);
    return good;
}

/* A failure is the end's to report: the next line may have room again. */
static void save_watched(struct collection *c, const struct watched *w)
{
    enum { SAVE_EVERY = 5 * G_USEC_PER_SEC };
    gint64 now = g_get_monotonic_time();
    probe_metrics_watch(c->metrics, w);
    if (!c->o->output || (c->saved && now - c->saved < SAVE_EVERY))
        return;
    c->saved = now;
    save_metrics(c, NULL);
}

void collection_show(struct collection *c, const struct watch_line *l)
{
    if (c->o->format == FORMAT_JSONL)
        put_line(c, l);
    else if (c->metrics)
        save_watched(c, l->watched);
}

static void write_target(struct collection *c, const struct checked *j)
{
    GString *text = make_part(c, j);
    write_part(c, text);
    g_string_free(text, TRUE);
}

static void add(struct collection *c, struct checked *j)
{
    if (c->metrics)
        probe_metrics_add(c->metrics, &c->report, j);
    else
        write_target(c, j);
    checked_close(&c->report, j);
    g_array_append_val(c->all, *j);
    c->report.captures = (struct checked *)(void *)c->all->data;
    c->report.n = c->all->len;
}

void collection_release(struct collection *c)
{
    if (c->holds)
        add(c, &c->held);
    c->holds = false;
}

void collection_add(struct collection *c, struct checked *j)
{
    collection_release(c);
    add(c, j);
}

void collection_hold(struct collection *c, struct checked *j)
{
    collection_release(c);
    c->held = *j;
    c->holds = true;
}

struct checked *collection_held(struct collection *c)
{
    return c->holds ? &c->held : NULL;
}

static void print_metrics(const struct collection *c)
{
    GString *text = probe_metrics_text(c->metrics);
    fwrite(text->str, 1, text->len, stdout);
    fflush(stdout);
    g_string_free(text, TRUE);
}

static void print_parts(struct collection *c)
{
    GString *head = c->parts->head(&c->report, &c->reported), *tail = c->parts->tail(&c->report);
    char bytes[4096];
    size_t n;
    if (c->spool)
        rewind(c->spool);
    fwrite(head->str, 1, head->len, stdout);
    while (c->spool && (n = fread(bytes, 1, sizeof bytes, c->spool)) > 0)
        fwrite(bytes, 1, n, stdout);
    fwrite(tail->str, 1, tail->len, stdout);
    fflush(stdout);
    g_string_free(head, TRUE);
    g_string_free(tail, TRUE);
}

void collection_print(struct collection *c)
{
    if (c->metrics)
        print_metrics(c);
    else
        print_parts(c);
}

static bool deliver_whole(struct collection *c, GError **error)
{
    GString *head = c->parts->head(&c->report, &c->reported), *tail = c->parts->tail(&c->report);
    bool good = save_file(&(struct save_parts){.head = head, .middle = c->spool, .tail = tail},
                          c->o->output, &access_unlimited, error);
    g_string_free(head, TRUE);
    g_string_free(tail, TRUE);
    return good;
}

static void write_total(struct collection *c)
{
    bool lines = c->o->format == FORMAT_JSONL;
    GString *total = lines ? c->parts->tail(&c->report) : g_string_new(NULL);
    if (!lines)
        report_text_total(total, &c->report);
    write_part(c, total);
    g_string_free(total, TRUE);
}

bool collection_deliver(struct collection *c, GError **error)
{
    if (c->metrics)
        return save_metrics(c, error);
    if (c->streams)
        write_total(c);
    else if (fflush(c->spool) != 0)
        fail_part(c);
    if (!c->error)
        return c->streams || deliver_whole(c, error);
    g_propagate_error(error, g_steal_pointer(&c->error));
    return false;
}

int collection_exit_status(const struct collection *c)
{
    return report_exit_status(&c->report);
}

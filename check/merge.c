/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ipoib-check --merge: the reports are read one by one, and each is written before the next is
 * read.
 */
#include "check/merge.h"

#include <errno.h>
#include <string.h>

#include "cli/save.h"
#include "cli/say.h"

/*
 * ---- JUnit and TAP: the tests of a capture are the same as in its own report, with the node's
 * name before the capture's
 */

static const struct report_parts *tests_of;

static void part_of_tests(struct merge *m, const struct restored *r, const struct merge_entry *e,
                          const char *node, const char *file)
{
    (void)e;
    (void)node;
    (void)file;
    GString *text = tests_of->part(&r->report, &r->checked, &m->written);
    fwrite(text->str, 1, text->len, m->spool);
    g_string_free(text, TRUE);
}

static void end_of_tests(struct merge *m)
{
    GString *tail = tests_of->tail(&(struct report){.tool = m->tool, .version = m->version});
    fwrite(tail->str, 1, tail->len, m->spool);
    g_string_free(tail, TRUE);
}

static const struct merge_writer *writer_of(enum format format)
{
    static const struct merge_writer tests = {part_of_tests, end_of_tests};
    tests_of = format_parts(format);
    return format == FORMAT_TEXT   ? &merge_writer_text
           : format == FORMAT_JSON ? &merge_writer_json
                                   : &tests;
}

/* The head of the report, which needs the totals and so is made last: TAP's number of tests. */
static GString *head_of(enum format format, const struct merge *m)
{
    if (format == FORMAT_TEXT || format == FORMAT_JSON)
        return g_string_new(NULL);
    return format_parts(format)->head(&(struct report){.tool = m->tool, .version = m->version},
                                      &m->written);
}

/* ---- one report */

/* Can all entries of the report be restored? Called before any of it is written. */
static bool is_good(const struct merge *m, const struct merge_report *given, char **why)
{
    bool good = true;
    for (guint i = 0; good && i < given->entries->len; i++) {
        struct restored r;
        good = restore(&r, &g_array_index(given->entries, struct merge_entry, i), m->version, why);
        restored_clear(&r);
    }
    return good;
}

static void write_entry(struct merge *m, const struct merge_writer *w, const struct merge_entry *e)
{
    struct restored r;
    char *why = NULL;
    if (restore(&r, e, m->version, &why)) { /* always true, because is_good() was */
        tally_add(m->tally, e->node, &r);
        w->part(m, &r, e, e->node, e->file);
    }
    g_free(why);
    restored_clear(&r);
}

static void report_unreadable(struct merge *m, const struct merge_writer *w,
                              const struct merge_report *given, const char *why)
{
    struct restored r;
    say("%s: %s", given->file, why);
    restore_nothing(&r, given->node, given->file, m->version, why);
    tally_add(m->tally, given->node, &r);
    w->part(m, &r, NULL, given->node, given->file);
    restored_clear(&r);
}

static void add_report(struct merge *m, const struct merge_writer *w, const char *path)
{
    struct merge_report given;
    char *why = NULL;
    if (merge_report_open(&given, path, &why) && is_good(m, &given, &why)) {
        m->tally->reports += given.reports;
        for (guint i = 0; i < given.entries->len; i++)
            write_entry(m, w, &g_array_index(given.entries, struct merge_entry, i));
    } else if (!*m->stop) { /* a signal also interrupts reading */
        m->tally->reports++;
        report_unreadable(m, w, &given, why);
    }
    g_free(why);
    merge_report_clear(&given);
}

/* ---- all reports */

static bool spool_is_good(FILE *file)
{
    if (file && fflush(file) == 0 && !ferror(file))
        return true;
    say("a temporary file for the report: %s", strerror(errno));
    return false;
}

static int deliver_merged(struct merge *m, const struct options *o)
{
    writer_of(o->format)->end(m);
    if (!spool_is_good(m->spool) || !spool_is_good(m->entries[0]) || !spool_is_good(m->entries[1]))
        return EXIT_UNJUDGED;
    GString *head = head_of(o->format, m), *tail = g_string_new(NULL);
    bool good = save_parts(head, m->spool, tail, o->output);
    g_string_free(head, TRUE);
    g_string_free(tail, TRUE);
    return good ? exit_status_of(tally_status(m->tally->by_status)) : EXIT_UNJUDGED;
}

static int merge_all(struct merge *m, const struct options *o, const volatile int *stop)
{
    const struct merge_writer *w = writer_of(o->format);
    for (int i = 0; i < o->n_captures && !*stop; i++)
        add_report(m, w, o->captures[i]);
    if (!*stop)
        return deliver_merged(m, o);
    say("interrupted: there is no report");
    return 128 + *stop;
}

int merge_reports(const struct options *o, const char *tool, const char *version,
                  const volatile int *stop)
{
    struct merge m = {
        .tool = tool, .version = version, .stop = stop, .colours = use_colours(o->output)};
    FILE **const files[] = {&m.spool, &m.entries[0], &m.entries[1]};
    bool good = true;
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
        good = good && spool_is_good(*files[i] = tmpfile());
    m.tally = tally_new();
    int status = good ? merge_all(&m, o, stop) : EXIT_UNJUDGED;
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
        if (*files[i])
            fclose(*files[i]);
    tally_free(m.tally);
    return status;
}

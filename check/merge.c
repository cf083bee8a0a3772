/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ipoib-check --merge: the reports are read one by one, and each is written before the next is
 * read.
 */
#include "check/merge.h"

#include <errno.h>
#include <string.h>

#include "cli/fail.h"
#include "cli/save.h"

/*
 * ---- JUnit and TAP: the tests of a capture are the same as in its own report, with the node's
 * name before the capture's
 */

static const struct report_parts *tests_of;

static void part_of_tests(struct report_merge *m, const struct restored *r,
                          const struct merge_entry *e, const char *node, const char *file)
{
    (void)e;
    (void)node;
    (void)file;
    GString *text = tests_of->part(&r->report, &r->checked, &m->written);
    fwrite(text->str, 1, text->len, m->spool);
    g_string_free(text, TRUE);
}

static void end_of_tests(struct report_merge *m)
{
    GString *tail = tests_of->tail(&(struct report){.tool = m->tool, .version = m->version});
    fwrite(tail->str, 1, tail->len, m->spool);
    g_string_free(tail, TRUE);
}

static const struct merge_writer *writer_of(enum format format)
{
    static const struct merge_writer tests = {part_of_tests, end_of_tests};
    tests_of = format_parts(format);
    return format == FORMAT_TEXT    ? &merge_writer_text
           : format == FORMAT_JSON  ? &merge_writer_json
           : format == FORMAT_JSONL ? &merge_writer_jsonl
                                    : &tests;
}

/* The head of the report, which needs the totals and so is made last: TAP's number of tests. */
static GString *head_of(enum format format, const struct report_merge *m)
{
    if (format == FORMAT_TEXT || format == FORMAT_JSON || format == FORMAT_JSONL)
        return g_string_new(NULL);
    return format_parts(format)->head(&(struct report){.tool = m->tool, .version = m->version},
                                      &m->written);
}

/* ---- one report */

/* Can all entries of the report be restored? Called before any of it is written. */
static bool is_good(const struct report_merge *m, const struct merge_report *given, GError **error)
{
    bool good = true;
    for (guint i = 0; good && i < given->entries->len; i++) {
        struct restored r;
        good = restore(&r, &g_array_index(given->entries, struct merge_entry, i), m->version,
                       error);
        restored_clear(&r);
    }
    return good;
}

static void write_entry(struct report_merge *m, const struct merge_writer *w,
                        const struct merge_entry *e)
{
    struct restored r;
    if (restore(&r, e, m->version, NULL)) { /* always true, because is_good() was */
        tally_add(m->tally, e->node, &r);
        w->part(m, &r, e, e->node, e->file);
    }
    restored_clear(&r);
}

/* Writes that the report cannot be read. */
static void write_unreadable(struct report_merge *m, const struct merge_writer *w,
                             const struct merge_report *given, const char *why)
{
    struct restored r;
    m->tally->reports++;
    restore_nothing(&r, given->node, given->file, m->version, why);
    tally_add(m->tally, given->node, &r);
    w->part(m, &r, NULL, given->node, given->file);
    restored_clear(&r);
}

static void write_entries(struct report_merge *m, const struct merge_writer *w,
                          const struct merge_report *given)
{
    m->tally->reports += given->reports;
    for (guint i = 0; i < given->entries->len; i++)
        write_entry(m, w, &g_array_index(given->entries, struct merge_entry, i));
    for (guint i = 0; i < given->required->len; i++)
        tally_add_required(m->tally, &g_array_index(given->required, struct merge_required, i));
}

bool merge_add(struct report_merge *m, const char *path, GError **error)
{
    const struct merge_writer *w = writer_of(m->format);
    struct merge_report given;
    GError *why = NULL;
    bool good = merge_report_open(&given, path, &why) && is_good(m, &given, &why);
    if (given.opened)
        access_narrow(&m->limit, &given.readers);
    if (good) {
        write_entries(m, w, &given);
    } else {
        if (!*m->stop) /* a signal also interrupts reading */
            write_unreadable(m, w, &given, why->message);
        g_propagate_prefixed_error(error, why, "%s: ", given.file);
    }
    merge_report_clear(&given);
    return good;
}

/* ---- all reports */

static bool spool_is_good(FILE *file, GError **error)
{
    return (file && fflush(file) == 0 && !ferror(file)) ||
           fail_with(error, "a temporary file for the report, in " P_tmpdir ": %s",
                     strerror(errno));
}

bool merge_begin(struct report_merge *m, GError **error)
{
    FILE **const files[] = {&m->spool, &m->entries[0], &m->entries[1]};
    bool good = true;
    m->tally = tally_new();
    m->limit = access_unlimited;
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
        good = good && spool_is_good(*files[i] = tmpfile(), error);
    return good;
}

bool merge_deliver(struct report_merge *m, const char *path, GError **error)
{
    writer_of(m->format)->end(m);
    if (!spool_is_good(m->spool, error) || !spool_is_good(m->entries[0], error) ||
        !spool_is_good(m->entries[1], error))
        return false;
    GString *head = head_of(m->format, m);
    bool good = save_file(&(struct save_parts){.head = head, .middle = m->spool}, path, &m->limit,
                          error);
    g_string_free(head, TRUE);
    return good;
}

void merge_end(struct report_merge *m)
{
    FILE *const files[] = {m->spool, m->entries[0], m->entries[1]};
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
        if (files[i])
            fclose(files[i]);
    tally_free(m->tally);
}

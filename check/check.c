/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ipoib-check: verdicts on captures, for users and for CI. */
#include "check/capture.h"
#include "report/explain.h"
#include "report/list.h"
#include "report/required.h"
#include "check/merge.h"
#include "check/options.h"
#include "cli/confine.h"
#include "cli/environment.h"
#include "cli/fail.h"
#include "cli/plain.h"
#include "cli/save.h"
#include "cli/say.h"

static char tool[] = "ipoib-check";

static volatile int interrupted; /* number of the signal */

static GString *write_report(const struct options *o, const struct report *r)
{
    if (o->format == FORMAT_TEXT)
        return report_text(r, use_colours(o->output));
    return report_whole(format_parts(o->format), r);
}

/* Prints the error and frees it. Returns the exit status. */
static int give_up(GError **error)
{
    say_error(NULL, error);
    return EXIT_UNJUDGED;
}

static int say_interrupted(const char *missing)
{
    say("interrupted: %s", missing);
    return 128 + interrupted;
}

/* Prints why an output is not complete: a signal also ends a write, and the wait for a FIFO. */
static int fail_output(GError **error, const char *missing)
{
    if (!interrupted)
        return give_up(error);
    g_clear_error(error);
    return say_interrupted(missing);
}

static const char no_report[] = "there is no complete report";

/* Writes the text to its destination. Returns the exit status. */
static int deliver_report(const struct options *o, GString *text, int status)
{
    GError *error = NULL;
    bool good = save(text, o->output, &error);
    g_string_free(text, TRUE);
    return good ? status : fail_output(&error, no_report);
}

static int list(const struct options *o)
{
    bool json = o->format == FORMAT_JSON;
    return deliver_report(
        o, json ? list_json(&o->selection, tool, IPOIB_VERSION) : list_text(&o->selection),
        EXIT_CONFORMANT);
}

static int explain(const struct options *o)
{
    GString *text = g_string_new(NULL);
    GError *error = NULL;
    if (explain_rule(text, o->explain, &error))
        return deliver_report(o, text, EXIT_CONFORMANT);
    g_string_free(text, TRUE);
    return give_up(&error);
}

/* ---- --merge */

/* Returns the exit status. */
static int merge_all(const struct options *o, struct report_merge *m)
{
    GError *error = NULL;
    for (int i = 0; i < o->n_captures && !interrupted; i++) {
        if (!merge_add(m, o->captures[i], &error) && !interrupted)
            say_error(NULL, &error);
        g_clear_error(&error);
    }
    if (interrupted)
        return say_interrupted("there is no report");
    return merge_deliver(m, o->output, &error) ? tally_exit_status(m->tally)
                                               : fail_output(&error, no_report);
}

static int merge(const struct options *o)
{
    GError *error = NULL;
    struct report_merge m = {.tool = tool,
                             .version = IPOIB_VERSION,
                             .format = o->format,
                             .stop = &interrupted,
                             .colours = use_colours(o->output)};
    int status = merge_begin(&m, &error) ? merge_all(o, &m) : give_up(&error);
    merge_end(&m);
    return status;
}

/* ---- captures */

/* Returns false if interrupted. */
static bool check_each_capture(const struct options *o, struct report *r,
                               const struct check_settings *by)
{
    for (int i = 0; i < o->n_captures; i++) {
        struct checked *j = &r->captures[r->n++];
        GError *error = NULL;
        bool whole = check_capture(j, o->captures[i], by, &interrupted, &error);
        if (!whole && interrupted) {
            g_error_free(error);
            return false;
        }
        say_error(NULL, &error);
    }
    return true;
}

/*
 * Prints the required rules that were not decided and writes the report. Returns the exit status.
 */
static int conclude_report(const struct options *o, struct report *r)
{
    GArray *required = required_find(r, o->require);
    r->required = required->len ? required : NULL;
    for (guint i = 0; i < required->len; i++) {
        const struct required *one = &g_array_index(required, struct required, i);
        if (one->why)
            say("--require %s: never judged: %s", one->selector, one->why);
    }
    for (unsigned i = 0; i < r->n; i++)
        if (checked_judges_too_few(r, &r->captures[i]))
            say("--min-judged %u: %s: %u rules judged", r->min_judged, r->captures[i].name,
                checked_summary(r, &r->captures[i]).judged);
    int status = deliver_report(o, write_report(o, r), report_exit_status(r));
    r->required = NULL;
    g_array_unref(required);
    return status;
}

static const char no_verdict[] = "there is no verdict and no report";

/* Writes the annotated capture. STATUS: the exit status so far. Returns the exit status. */
static int deliver_annotation(const struct options *o, struct annotation *annotation,
                              const struct report *r, int status)
{
    static const char missing[] = "OUT of --annotate is not written";
    GError *error = NULL;
    if (status > 128)
        return status;
    if (interrupted)
        return say_interrupted(missing);
    return annotation_save(annotation, r, o->annotate, &error) ? status
                                                               : fail_output(&error, missing);
}

static int check_captures(const struct options *o, const struct check_settings *by)
{
    char *baseline = o->baseline ? plain_dup(o->baseline) : NULL;
    char *node = o->node ? plain_dup(o->node) : NULL, *deviations = plain_dup(o->deviations);
    struct report r = {.tool = tool,
                       .version = IPOIB_VERSION,
                       .node = node,
                       .deviations = deviations,
                       .only = (const char *const *)o->only->pdata,
                       .baseline = baseline,
                       .strict = o->strict,
                       .verbose = o->verbose,
                       .fail_on_suspected = o->fail_on == FAIL_ON_SUSPECTED,
                       .min_judged = o->min_judged,
                       .captures = g_new0(struct checked, (gsize)o->n_captures)};
    bool whole = check_each_capture(o, &r, by);
    int status = whole ? conclude_report(o, &r) : say_interrupted(no_verdict);
    if (whole && by->annotation)
        status = deliver_annotation(o, by->annotation, &r, status);
    for (unsigned i = 0; i < r.n; i++)
        checked_clear(&r.captures[i]);
    g_free(r.captures);
    g_free(deviations);
    g_free(node);
    g_free(baseline);
    return status;
}

static int check_annotated(const struct options *o, struct check_settings *by)
{
    if (!o->annotate)
        return check_captures(o, by);
    GError *error = NULL;
    by->annotation = annotation_new(&error);
    int status = by->annotation ? check_captures(o, by) : give_up(&error);
    annotation_free(by->annotation);
    return status;
}

/* Reads the baseline first: without it nothing is checked. Returns the exit status. */
static int check_beyond_baseline(const struct options *o, const struct deviations *known)
{
    GError *error = NULL;
    int status = EXIT_UNJUDGED;
    struct baseline *b = o->baseline ? baseline_open(o->baseline, IPOIB_VERSION, &error) : NULL;
    if (interrupted) { /* a signal also interrupts reading */
        status = say_interrupted(no_verdict);
    } else if (o->baseline && !b) {
        g_prefix_error(&error, "--baseline %s: ", o->baseline);
        status = give_up(&error);
    } else {
        if (b && baseline_incomplete_rules(b))
            say("--baseline %s: %u rules have further cases, which a report does not name and "
                "which count as new",
                o->baseline, baseline_incomplete_rules(b));
        status = check_annotated(
            o, &(struct check_settings){&o->selection, known, b, o->interfaces, NULL});
    }
    g_clear_error(&error);
    baseline_free(b);
    return status;
}

/* Returns false and sets ERROR if an output would overwrite an input or the other output. */
static bool outputs_are_safe(const struct options *o, GError **error)
{
    if (!save_is_safe(o->output, o->captures, o->n_captures,
                      o->merge ? "a report to be merged" : "a capture to be checked", error))
        return false;
    if (o->baseline && (!save_is_safe(o->output, &o->baseline, 1, "the baseline", error) ||
                        !save_is_safe(o->annotate, &o->baseline, 1, "the baseline", error)))
        return false;
    return !o->annotate || (save_is_safe(o->annotate, o->captures, o->n_captures,
                                         "the capture to be checked", error) &&
                            save_are_distinct(o->annotate, o->output, "the report", error));
}

/*
 * Before the first byte of a capture or report is read. The user's list of known deviations is read
 * before: it is no input of others.
 */
static bool confine_program(const struct options *o, GError **error)
{
    struct confined_files files = {.output = o->output, .other_output = o->annotate};
    GPtrArray *inputs = g_ptr_array_new();
    for (int i = 0; i < o->n_captures; i++)
        g_ptr_array_add(inputs, o->captures[i]);
    if (o->baseline)
        g_ptr_array_add(inputs, (gpointer)o->baseline);
    files.inputs = (char *const *)inputs->pdata;
    files.n_inputs = (int)inputs->len;
    bool good = confine(&files, error);
    g_ptr_array_unref(inputs);
    return good;
}

static int check_or_merge(const struct options *o, const struct deviations *known)
{
    GError *error = NULL;
    if (!confine_program(o, &error))
        return give_up(&error);
    return o->merge ? merge(o) : check_beyond_baseline(o, known);
}

static int run(const struct options *o)
{
    GError *error = NULL;
    if (o->explain)
        return explain(o);
    if (o->list)
        return list(o);
    if (!outputs_are_safe(o, &error))
        return give_up(&error);
    if (o->merge)
        return check_or_merge(o, NULL);
    struct deviations *known = deviations_open(o->deviations, &error);
    if (!known)
        return fail_output(&error, no_verdict);
    int status = check_or_merge(o, known);
    deviations_free(known);
    return status;
}

int main(int argc, char **argv)
{
    struct options o;
    environment_secure();
    say_as(tool);
    program_begin(argv, tool, &interrupted);
    int status = check_options_read(&o, argc, argv);
    if (status < 0)
        status = run(&o);
    check_options_clear(&o);
    return status;
}

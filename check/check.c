/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ipoib-check: a verdict on captures, for people and for CI. */
#include "check/judging.h"
#include "report/list.h"
#include "check/merge.h"
#include "check/options.h"
#include "cli/environment.h"
#include "cli/plain.h"
#include "cli/save.h"
#include "cli/say.h"

static char tool[] = "ipoib-check";

static volatile int interrupted; /* the signal's number */

static GString *write_report(const struct options *o, const struct report *r)
{
    if (o->format == FORMAT_TEXT)
        return report_text(r, use_colours(o->output));
    return report_whole(format_parts(o->format), r);
}

/* The exit status after the text has been written where it belongs. */
static int deliver(const struct options *o, GString *text, int status)
{
    bool good = save(text, o->output);
    g_string_free(text, TRUE);
    return good ? status : EXIT_UNJUDGED;
}

static int list(const struct options *o)
{
    bool json = o->format == FORMAT_JSON;
    return deliver(o,
                   json ? list_json(&o->selection, tool, IPOIB_VERSION) : list_text(&o->selection),
                   EXIT_CONFORMANT);
}

/* False: interrupted. */
static bool judge_all(const struct options *o, struct report *r, const struct deviations *known)
{
    for (int i = 0; i < o->n_captures; i++) {
        struct judged *j = &r->captures[r->n++];
        if (!judge_capture(j, o->captures[i], &o->selection, known, o->interfaces, &interrupted))
            return false;
    }
    return true;
}

static int judge(const struct options *o, const struct deviations *known)
{
    int status;
    char *node = o->node ? plain_dup(o->node) : NULL, *deviations = plain_dup(o->deviations);
    struct report r = {.tool = tool,
                       .version = IPOIB_VERSION,
                       .node = node,
                       .deviations = deviations,
                       .only = (const char *const *)o->only->pdata,
                       .strict = o->strict,
                       .captures = g_new0(struct judged, (gsize)o->n_captures)};
    if (judge_all(o, &r, known)) {
        status = deliver(o, write_report(o, &r), report_exit_status(&r));
    } else {
        say("interrupted: there is no verdict and no report");
        status = 128 + interrupted;
    }
    for (unsigned i = 0; i < r.n; i++)
        judged_clear(&r.captures[i]);
    g_free(r.captures);
    g_free(deviations);
    g_free(node);
    return status;
}

static int run(const struct options *o)
{
    GError *error = NULL;
    if (o->help || o->version) {
        GString *text = g_string_new(o->help ? options_help : "ipoib-check " IPOIB_VERSION "\n");
        return deliver(&(struct options){0}, text, EXIT_CONFORMANT);
    }
    if (o->list)
        return list(o);
    if (!save_is_safe(o->output, o->captures, o->n_captures,
                      o->merge ? "a report to be merged" : "a capture to be judged"))
        return EXIT_UNJUDGED;
    if (o->merge)
        return merge(o, tool, IPOIB_VERSION, &interrupted);
    struct deviations *known = deviations_open(o->deviations, &error);
    if (!known) {
        say("%s", error->message);
        g_error_free(error);
        return EXIT_UNJUDGED;
    }
    int status = judge(o, known);
    deviations_free(known);
    return status;
}

int main(int argc, char **argv)
{
    struct options o;
    environment_secure();
    program_begin(argv, tool, &interrupted);
    int status = options_read(&o, argc, argv) ? run(&o) : EXIT_UNJUDGED;
    options_clear(&o);
    return status;
}

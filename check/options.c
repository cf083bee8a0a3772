/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of ipoib-check. */
#include "check/options.h"

#include <getopt.h>
#include <string.h>

#include "cli/say.h"
#include "report/required.h"

static const char help_start[] =
    "Usage: ipoib-check [OPTION]... CAPTURE...\n"
    "       ipoib-check --merge [--format FORMAT] [-o FILE] REPORT...\n"
    "       ipoib-check --list [--only SELECTOR]... [--format text|json] [-o FILE]\n"
    "       ipoib-check --explain RULE\n"
    "\n"
    "Checks captures of IP over InfiniBand against RFC 4391 and RFC 4755. A CAPTURE\n"
    "is a pcap, pcapng or ERF file, also compressed by gzip; - is standard input.\n"
    "Each capture is checked separately.\n"
    "\n";

static const char help_end[] =
    "\n"
    "Exit status: 1 if a capture violates a MUST (with --strict also a SHOULD), or a\n"
    "stage of a merged report failed; otherwise 2 if a capture could not be\n"
    "checked to its end, has no IPoIB or nothing that decides a MUST, if a required\n"
    "rule was not decided, if a report or the baseline could not be read or written,\n"
    "or if the usage was wrong; otherwise 0. 128 plus the number of the signal that\n"
    "interrupted it: there is no report.\n";

static bool read_interfaces(enum interfaces_mode *mode, const char *argument)
{
    static const char *const modes[] = {
        [INTERFACES_AUTO] = "auto", [INTERFACES_ONE] = "one", [INTERFACES_EACH] = "each"};
    for (unsigned i = 0; i < G_N_ELEMENTS(modes); i++)
        if (strcmp(argument, modes[i]) == 0) {
            *mode = (enum interfaces_mode)i;
            return true;
        }
    say("--interfaces is auto, one or each, not %s", argument);
    return false;
}

static bool take_format(void *options, const char *value)
{
    struct options *o = options;
    GError *error = NULL;
    return format_read(&o->format, value, &error) || say_error(NULL, error);
}

static bool take_interfaces(void *options, const char *value)
{
    struct options *o = options;
    return read_interfaces(&o->interfaces, value);
}

static bool take_only(void *options, const char *value)
{
    struct options *o = options;
    GError *error = NULL;
    return only_read(o->only, &o->selection, value, &error) || say_error(NULL, error);
}

static bool take_required(void *options, const char *value)
{
    struct options *o = options;
    g_ptr_array_add(o->require, (gpointer)value); /* in argv */
    return true;
}

/* Group of the options for checking captures. */
enum { OF_CHECKING = 1 };

static const struct cli_option table[] = {
    {REPORT_OPTION_FORMAT, CLI_CALLS(take_format)},
    {REPORT_OPTION_STRICT, CLI_SETS(options, strict), .group = OF_CHECKING},
    {REPORT_OPTION_DEVIATIONS, CLI_STORES(options, deviations), .group = OF_CHECKING},
    {.name = "interfaces",
     .argument = "auto|one|each",
     .help = "select which interfaces of a capture, and ports of an ERF card, belong to the same "
             "subnet (default: auto)",
     CLI_CALLS(take_interfaces),
     .group = OF_CHECKING},
    {REPORT_OPTION_ONLY, CLI_CALLS(take_only)},
    {.name = "require",
     .argument = "SELECTOR",
     .help = "exit with status 2 if no capture decides this rule, unless the status is 1; may be "
             "given several times",
     CLI_CALLS(take_required),
     .group = OF_CHECKING},
    {.name = "baseline",
     .argument = "REPORT",
     .help = "do not count violations that REPORT contains, a JSON report of ipoib-check",
     CLI_STORES(options, baseline),
     .group = OF_CHECKING},
    {.letter = 'm',
     .name = "merge",
     .help = "merge JSON reports of ipoib-check and ipoib-probe into one, by node and by rule",
     CLI_SETS(options, merge)},
    {.name = "node",
     .argument = "NAME",
     .help = "set the name of the node that these captures are from; needs --format json",
     CLI_STORES(options, node)},
    {.name = "annotate",
     .argument = "OUT",
     .help = "also write the capture to OUT, as pcapng, with each finding as a comment of its "
             "packet and the verdict as the comment of the section",
     CLI_STORES(options, annotate),
     .group = OF_CHECKING},
    {REPORT_OPTION_OUTPUT, CLI_STORES(options, output)},
    {.letter = 'l', .name = "list", .help = "print the rules and exit", CLI_SETS(options, list)},
    {REPORT_OPTION_EXPLAIN, CLI_STORES(options, explain)},
    {CLI_OPTION_HELP},
    {CLI_OPTION_VERSION},
    {.kind = CLI_END},
};

const struct cli_program check_program = {"ipoib-check", help_start, table, help_end};

static bool read_all(struct options *o, int argc, char **argv)
{
    unsigned groups = 0;
    enum cli_result result = cli_read(&check_program, argc, argv, o, &groups);
    o->help = result == CLI_ASKED_HELP;
    o->version = result == CLI_ASKED_VERSION;
    o->checks = groups & OF_CHECKING;
    o->captures = argv + optind;
    o->n_captures = argc - optind;
    return result != CLI_REFUSED;
}

/* Can a capture decide each of the required rules? */
static bool can_be_judged(const struct options *o)
{
    for (guint i = 0; i < o->require->len; i++) {
        const char *selector = o->require->pdata[i];
        struct selection named = {0};
        if (!selection_add(&named, selector))
            say("no rule is named '%s' or begins with it: see ipoib-check --list", selector);
        else if (!required_is_possible(selector, NULL))
            say("--require %s: no capture can show a MUST or SHOULD of it: see ipoib-check --list",
                selector);
        else if (!required_is_possible(selector, o->only->len ? &o->selection : NULL))
            say("--require %s: the rules of --only have none of it", selector);
        else
            continue;
        return false;
    }
    return true;
}

/* Checks combinations of options. */
static bool is_sensible(const struct options *o)
{
    if (o->node && (o->merge || o->list || o->format != FORMAT_JSON || !o->node[0]))
        say("--node names a node in a report of --format json");
    else if (o->merge && (o->list || o->checks || o->only->len > 0))
        say("--merge checks no capture: it takes no option about checking");
    else if (o->merge && o->n_captures == 0)
        say("no report given: try 'ipoib-check --help'");
    else if (o->list && (o->n_captures > 0 || o->checks))
        say("--list checks no capture: it takes no capture and no option about checking");
    else if (o->list && o->format != FORMAT_TEXT && o->format != FORMAT_JSON)
        say("--list prints text or json");
    else if (!o->list && o->n_captures == 0)
        say("no capture given: try 'ipoib-check --help'");
    else if (o->annotate && o->n_captures != 1)
        say("--annotate takes one capture");
    else if (o->annotate && strcmp(o->annotate, "-") == 0 && !o->output)
        say("--annotate -: write the report to a file, with -o");
    else if (!o->list && o->only->len > 0 && selection_in_capture(&o->selection) == 0)
        say("no capture can show the selected rules: see ipoib-check --list");
    else
        return can_be_judged(o);
    return false;
}

bool check_options_read(struct options *o, int argc, char **argv)
{
    *o = (struct options){.deviations = "linux"};
    o->only = g_ptr_array_new();
    o->require = g_ptr_array_new();
    bool good = read_all(o, argc, argv) && (o->help || o->version || o->explain || is_sensible(o));
    only_end(o->only, &o->selection);
    return good;
}

void check_options_clear(struct options *o)
{
    g_ptr_array_unref(o->only);
    g_ptr_array_unref(o->require);
}

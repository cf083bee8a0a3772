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
    "Checks captures of IP over InfiniBand against RFC 4391, RFC 4755 and RFC 4390.\n"
    "A CAPTURE is a pcap, pcapng or ERF file, also compressed by gzip; - is standard\n"
    "input. Each capture is checked separately.\n"
    "\n";

static const char help_end[] =
    "\n"
    "RULE is the identifier of a rule, such as rfc4391.6.type, or a prefix that only\n"
    "one identifier has. SELECTOR is an identifier, or a prefix of several, such as\n"
    "rfc4391.6 or rfc4755. --list prints the identifiers. A stage is a step of\n"
    "ipoib-probe, such as fabric.join: only merged reports have stages.\n"
    "\n"
    "Exit status: 1 if a capture violates a MUST (with --strict also a SHOULD), or a\n"
    "stage of a merged report failed; with --fail-on suspected also if something is\n"
    "suspected; otherwise 2 if a capture could not be\n"
    "checked to its end, has no IPoIB or nothing that decides a MUST, if it fills a\n"
    "table of the checker, if a required rule, or fewer rules than required, were\n"
    "judged, if a report or the baseline could not be read or written, or if the\n"
    "usage was wrong; otherwise 0. If a signal interrupts the program, the report or\n"
    "OUT is not written, and the exit status is 128 plus the signal's number.\n";

static bool take_only(void *options, const char *value)
{
    struct options *o = options;
    GError *error = NULL;
    return only_read(o->only, &o->selection, value, "rule", &error) || say_error(NULL, &error);
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
    {REPORT_OPTION_FORMAT, CLI_CHOOSES(options, format)},
    {REPORT_OPTION_STRICT, CLI_SETS(options, strict), .group = OF_CHECKING},
    {REPORT_OPTION_DEVIATIONS, CLI_STORES(options, deviations), .group = OF_CHECKING},
    {.name = "interfaces",
     .argument = "auto|one|each",
     .help = "set which interfaces share a subnet (default: auto)",
     .details =
         "Each port of an ERF card counts as an interface. "
         "What the frames of one interface show also applies to the other interfaces of its "
         "subnet. "
         "For example, a card with two ports writes the two directions of a cable as two "
         "interfaces: the response to a request is then on the other interface."
         "\n\n"
         "With `auto`, two interfaces are in one subnet if a response on one answers a request on "
         "the other, or if both show the same port GUID at the same LID. "
         "With `one`, all interfaces are in one subnet. "
         "With `each`, each interface is in its own subnet."
         "\n\n"
         "The program keeps what it knows about two subnets apart, even if they use the same LIDs. "
         "With `auto`, two interfaces can seem to be in one subnet until a later frame shows that "
         "they are not. "
         "Then the program prints a message and discards what the frames before showed about the "
         "two.",
     CLI_CHOOSES(options, interfaces),
     .group = OF_CHECKING},
    {REPORT_OPTION_ONLY, CLI_CALLS(take_only)},
    {.name = "require",
     .argument = "SELECTOR",
     .help = "exit with status 2 if no capture decides this rule",
     .details =
         "The option may be given several times. "
         "If a capture violates a MUST, the exit status is 1 all the same. "
         "A capture decides a rule if the rule's result in it is pass, fail, known or deviation. "
         "Rules of level INFO and DRAFT are only noted, which decides nothing: they cannot be "
         "required. "
         "SELECTOR is a rule's identifier, or a prefix of the identifiers of several rules, one of "
         "which must be decided. "
         "A message names each SELECTOR that no capture decides.",
     CLI_CALLS(take_required),
     .group = OF_CHECKING},
    {.name = "min-judged",
     .argument = "N",
     .help = "exit with status 2 if a capture judges fewer rules",
     .details =
         "N is a number of rules of level MUST and SHOULD, from 1 on. "
         "The last line of the text report says how many rules each capture judged, and of how "
         "many. "
         "If a capture violates a MUST, the exit status is 1 all the same.",
     CLI_COUNTS(options, min_judged, 1, RULE_COUNT),
     .group = OF_CHECKING},
    {.name = "fail-on",
     .argument = "violated|suspected",
     .help = "set what gives exit status 1 (default: violated)",
     .details =
         "With `suspected`, a suspicion gives exit status 1 too, and is a failed test in the formats "
         "junit and tap. "
         "It does not change the verdict. "
         "A suspicion is a value that contradicts that of another packet; a packet that was not "
         "captured may explain it.",
     CLI_CHOOSES(options, fail_on),
     .group = OF_CHECKING},
    {.name = "baseline",
     .argument = "REPORT",
     .help = "do not count violations that REPORT has",
     .details =
         "REPORT is a JSON report of ipoib-check. "
         "Two violations are the same if they have the same rule, the same actual value, and the "
         "same entity: the group, address, port or connection that the violation is about. "
         "The new report lists them as known from the baseline. "
         "A suspicion is known if REPORT has the same violation or suspicion.",
     CLI_STORES(options, baseline),
     .group = OF_CHECKING},
    {.letter = 'm',
     .name = "merge",
     .help = "merge JSON reports into one, by node and by rule",
     .details = "The reports come from ipoib-check and ipoib-probe. "
                "They keep the options that they were created with, so options that control the "
                "checks cannot be given with --merge. "
                "A file of -o has no mode bit that one of the reports does not have, and no access "
                "control list.",
     CLI_SETS(options, merge)},
    {.name = "node",
     .argument = "NAME",
     .help = "set the node's name in a report of json or jsonl",
     .details = "It is the node that the captures are from. "
                "--merge uses this name.",
     CLI_STORES(options, node)},
    {.name = "annotate",
     .argument = "OUT",
     .help = "write the capture to OUT, with results as comments",
     .details =
         "OUT is a pcapng file: each finding and event is a comment of its packet, and the verdict is the "
         "comment of the section. "
         "Wireshark shows them without the plugin. "
         "Frames of LINKTYPE_INFINIBAND (247) become ERF records, which Wireshark opens. "
         "Frames, times, interfaces, comments, drop counts and interface statistics do not "
         "change. "
         "A capture with several sections becomes one section. "
         "If the section has comments, the verdict is added after them. "
         "Only one capture may be given. "
         "If it cannot be opened, OUT is not written. "
         "OUT has no mode bit that the capture does not have, and no access control list, so it never "
         "has more readers. "
         "- is standard output, if -o names a file for the report.",
     CLI_STORES(options, annotate),
     .group = OF_CHECKING},
    {REPORT_OPTION_OUTPUT, CLI_STORES(options, output)},
    {.letter = 'v',
     .name = "verbose",
     .help = "list all events, each on its own line",
     .details = "Events are what happened on the link, such as a join that the SA refused. "
                "They are notes: they change neither the verdict nor the exit status. "
                "A report of --format json always has all of them.",
     CLI_SETS(options, verbose),
     .group = OF_CHECKING},
    {.letter = 'l', .name = "list", .help = "print the rules", CLI_SETS(options, list)},
    {REPORT_OPTION_EXPLAIN, CLI_STORES(options, explain)},
    {CLI_OPTION_HELP},
    {CLI_OPTION_VERSION},
    {.kind = CLI_END},
};

const struct cli_program check_program = {"ipoib-check", help_start, table, help_end};

/* Can a capture decide each of the required rules? */
static bool can_be_judged(const struct options *o)
{
    for (guint i = 0; i < o->require->len; i++) {
        const char *selector = o->require->pdata[i];
        struct rule_selection named = {0};
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

static bool names_nodes(const struct options *o)
{
    return o->format == FORMAT_JSON || o->format == FORMAT_JSONL;
}

/* Checks combinations of options. */
static bool is_sensible(const struct options *o)
{
    if (o->node && (o->merge || o->list || !names_nodes(o) || !o->node[0]))
        say("--node names a node in a report of --format json or jsonl");
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
    else if (o->annotate && strcmp(o->annotate, "-") == 0 &&
             (!o->output || strcmp(o->output, "-") == 0))
        say("--annotate -: write the report to a file, with -o");
    else if (!o->list && o->only->len > 0 && selection_in_capture(&o->selection) == 0)
        say("no capture can show the selected rules: see ipoib-check --list");
    else
        return can_be_judged(o);
    return false;
}

static int read_all(struct options *o, int argc, char **argv)
{
    unsigned groups = 0;
    enum cli_result result = cli_read(&check_program, argc, argv, o, &groups);
    if (result != CLI_READ)
        return cli_end(&check_program, result, EXIT_UNJUDGED);
    o->checks = groups & OF_CHECKING;
    o->captures = argv + optind;
    o->n_captures = argc - optind;
    return o->explain || is_sensible(o) ? -1 : EXIT_UNJUDGED;
}

int check_options_read(struct options *o, int argc, char **argv)
{
    *o = (struct options){.deviations = "linux"};
    o->only = g_ptr_array_new();
    o->require = g_ptr_array_new();
    int status = read_all(o, argc, argv);
    only_end(o->only, &o->selection);
    return status;
}

void check_options_clear(struct options *o)
{
    g_ptr_array_unref(o->only);
    g_ptr_array_unref(o->require);
}

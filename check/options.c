/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of ipoib-check. */
#include "check/options.h"

#include <getopt.h>
#include <string.h>

#include "cli/refused_option.h"
#include "cli/say.h"
#include "report/required.h"

const char check_options_help[] =
    "Usage: ipoib-check [OPTION]... CAPTURE...\n"
    "       ipoib-check --merge [--format text|json|junit|tap] [-o FILE] REPORT...\n"
    "       ipoib-check --list [--only SELECTOR]... [--format text|json] [-o FILE]\n"
    "       ipoib-check --explain RULE\n"
    "\n"
    "Judges captures of IP over InfiniBand by what RFC 4391 and RFC 4755 demand. A\n"
    "CAPTURE is a pcap, pcapng or ERF file, also compressed by gzip; - is standard\n"
    "input. Each is judged by itself.\n"
    "\n"
    "  --format text|json|junit|tap  the report's format; text if not given\n"
    "  --strict             a violated SHOULD counts as a violated MUST does\n"
    "  --deviations NAME    known deviations, which are noted and not counted: linux\n"
    "                       (Linux and OpenSM; if not given), none, or a file's path\n"
    "  --interfaces auto|one|each  which interfaces of a capture see the same subnet:\n"
    "                       those that show it, all, or none; auto if not given\n"
    "  --only SELECTOR      judge by these rules alone: an identifier, or a beginning\n"
    "                       of it (rfc4755, rfc4391.6); may be given several times\n"
    "  --require SELECTOR   exit status 2 if no capture judges this rule, or any rule\n"
    "                       with this beginning; may be given several times\n"
    "  --baseline REPORT    do not count violations that this JSON report of\n"
    "                       ipoib-check has: the same rule, subject and value\n"
    "  -m, --merge          judge nothing: make one report of JSON reports of ipoib-check\n"
    "                       and ipoib-probe, by node (the name of the report's file) and\n"
    "                       by rule; - is standard input\n"
    "  --node NAME          the node that --merge is to list it under; with --format json\n"
    "  --annotate OUT       write the capture to OUT (pcapng) with each finding as a comment\n"
    "                       of its packet, which any Wireshark shows; of one CAPTURE\n"
    "  -o, --output FILE    write the report to FILE, not to standard output\n"
    "  -l, --list           print the rules, judge nothing\n"
    "  --explain RULE       print what a rule means, what evidence it needs, how to\n"
    "                       see it and what to do\n"
    "  -h, --help           print this text\n"
    "  -V, --version        print the version\n"
    "\n"
    "Exit status: 1 if any capture is violated; else 2 if any could not be judged\n"
    "(to its end), has no IPoIB in it or nothing to judge a MUST by, a required rule\n"
    "was not judged, or the usage was wrong; else 0: conformant.\n"
    "128 and the signal's number if it was interrupted: then there is no report.\n";

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

static bool read_option(struct options *o, int option, char *argument)
{
    switch (option) {
    case 'f':
        return format_read(&o->format, argument);
    case 'O':
        return only_read(o->only, &o->selection, argument);
    case 'R':
        g_ptr_array_add(o->require, argument);
        o->judges = true;
        return true;
    case 'b':
        o->baseline = argument;
        o->judges = true;
        return true;
    case 's':
        o->judges = o->strict = true;
        return true;
    case 'd':
        o->deviations = argument;
        o->judges = true;
        return true;
    case 'i':
        o->judges = true;
        return read_interfaces(&o->interfaces, argument);
    case 'n':
        o->node = argument;
        return true;
    case 'm':
        o->merge = true;
        return true;
    case 'o':
        o->output = argument;
        return true;
    case 'A':
        o->annotate = argument;
        o->judges = true;
        return true;
    case 'e':
        o->explain = argument;
        return true;
    case 'l':
        o->list = true;
        return true;
    case 'h':
        o->help = true;
        return true;
    case 'V':
        o->version = true;
        return true;
    default: /* refuse() has printed the error */
        say("try 'ipoib-check --help'");
        return false;
    }
}

/* Prints a cleaned message; those of getopt_long would print the user's input unchanged. */
static void refuse(int why, char **argv, const char *shorts)
{
    char letter[REFUSED_OPTION_LEN];
    const char *option = refused_option(argv, shorts, letter);
    if (why == ':')
        say("%s needs a value", option);
    else
        say("unrecognized option %s", option);
}

static bool read_all(struct options *o, int argc, char **argv)
{
    static const char shorts[] = ":o:mlhV";
    static const struct option known[] = {{"format", required_argument, NULL, 'f'},
                                          {"strict", no_argument, NULL, 's'},
                                          {"deviations", required_argument, NULL, 'd'},
                                          {"interfaces", required_argument, NULL, 'i'},
                                          {"only", required_argument, NULL, 'O'},
                                          {"require", required_argument, NULL, 'R'},
                                          {"baseline", required_argument, NULL, 'b'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"node", required_argument, NULL, 'n'},
                                          {"merge", no_argument, NULL, 'm'},
                                          {"list", no_argument, NULL, 'l'},
                                          {"annotate", required_argument, NULL, 'A'},
                                          {"explain", required_argument, NULL, 'e'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, 'V'},
                                          {NULL, 0, NULL, 0}};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, shorts, known, NULL)) != -1) {
        if (option == '?' || option == ':')
            refuse(option, argv, shorts);
        if (!read_option(o, option, optarg))
            return false;
    }
    o->captures = argv + optind;
    o->n_captures = argc - optind;
    return true;
}

/* Can a capture decide each of the required rules? */
static bool can_be_judged(const struct options *o)
{
    for (guint i = 0; i < o->require->len; i++) {
        const char *selector = o->require->pdata[i];
        struct selection named = {0};
        if (!selection_add(&named, selector))
            say("no rule is named '%s', or begins so: see ipoib-check --list", selector);
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
    else if (o->merge && (o->list || o->judges || o->only->len > 0))
        say("--merge judges nothing: the reports keep what they were judged by");
    else if (o->merge && o->n_captures == 0)
        say("no report given: try 'ipoib-check --help'");
    else if (o->list && (o->n_captures > 0 || o->judges))
        say("--list judges nothing: no capture and no option about judging with it");
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command line of a capture. See live_options.h. */
#include "capture/live_options.h"

#include <getopt.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "capture/live_table.h"
#include "cli/say.h"

/* Default values. */
static struct live_options defaults(void)
{
    return (struct live_options){.port = 1, .log2_buffers = 15, .erf = -1, .hold = HOLD_DEFAULT};
}

static int wrong_usage(void)
{
    cli_advise_help(&live_program);
    return 2;
}

/* Returns which options contradict each other, or NULL. */
static const char *contradiction(const struct live_options *o, bool writer_requested)
{
    bool limits = o->ring_bytes || o->ring_packets || o->ring_time;

    if (o->read && strcmp(o->read, "-") == 0 && isatty(STDIN_FILENO))
        return "stdin is a terminal: pipe a capture into it, or name a file with -r";
    if (o->memory && writer_requested)
        return "-M and -p exclude each other: -M writes at the end";
    if (o->memory && limits)
        return "-M writes one file at the end: no --ring-size, --ring-packets or --ring-time with it";
    if (o->ring_files && !limits)
        return "--ring-files needs --ring-size, --ring-packets or --ring-time, which set the end of a file";
    if (limits && strcmp(o->file, "-") == 0)
        return "several files cannot go to standard output: name a file with -w";
    if (o->comment && !o->pcapng)
        return "--comment needs --format pcapng: the other format cannot store it";
    return NULL;
}

static void report_of_no_effect(const struct live_options *o)
{
    if (o->read && (o->device || o->sniffer != SNIFFER_AUTO || o->mode != MODE_SNIFFER))
        say("-d, --mode and --sniffer have no effect with -r, which captures from no device");
    if (o->mode == MODE_MULTICAST && o->sniffer != SNIFFER_AUTO)
        say("--sniffer has no effect in multicast mode, which needs none");
    if (o->mode == MODE_SNIFFER && o->pkey)
        say("--pkey has no effect in sniffer mode: frames of all partitions are captured");
    if (o->mode == MODE_SNIFFER && o->broadcast_only)
        say("--groups has no effect in sniffer mode: frames to all groups are captured");
    if (o->mode == MODE_MULTICAST && o->decap)
        say("--decap has no effect in multicast mode, where no mirrored frames come");
}

static int complete_options(struct live_options *o, bool writer_requested)
{
    const char *fault;

    if (!o->file)
        o->file = o->pcapng ? "sniffer.pcapng" : "sniffer.pcap";
    o->series = o->ring_bytes || o->ring_packets || o->ring_time;
    if (strcmp(o->file, "-") == 0)
        o->silent = true;
    fault = contradiction(o, writer_requested);
    if (!fault && !o->list && strcmp(o->file, "-") == 0 && isatty(STDOUT_FILENO))
        fault = "stdout is a terminal: name a file with -w, or pipe it";
    if (!fault)
        report_of_no_effect(o);
    if (!fault)
        return -1;
    say("%s", fault);
    return wrong_usage();
}

int live_parse_options(int argc, char **argv, struct live_options *o)
{
    unsigned groups = 0;
    enum cli_result result;

    *o = defaults();
    result = cli_read(&live_program, argc, argv, o, &groups);
    if (result != CLI_READ)
        return cli_end(&live_program, result, 1);
    o->buffers_requested = groups & OF_BUFFERS;
    if (groups & OF_WRITER)
        o->hold *= 2;
    if (optind < argc) {
        say("unknown argument %s: name the output file with -w", argv[optind]);
        return wrong_usage();
    }
    if (o->list && (groups & ~(unsigned)OF_LIST))
        say("with --list no option but -d and --mstflint-library has an effect");
    return complete_options(o, groups & OF_WRITER);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command line of "convert". See convert_options.h. */
#include "capture/convert_options.h"

#include <getopt.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "cli/say.h"

static const char help_start[] =
    "Usage: ipoib-capture convert [OPTION]... IN OUT\n"
    "\n"
    "Converts a capture of InfiniBand frames (LINKTYPE_INFINIBAND, 247) to ERF\n"
    "records (LINKTYPE_ERF, 197), or back. Wireshark opens every ERF file, but no\n"
    "classic pcap file of 247.\n"
    "\n"
    "IN   pcap, pcapng or raw ERF, also compressed by gzip; - is standard input.\n"
    "OUT  is created or overwritten; - is standard output. Without --format, a 247\n"
    "     file becomes ERF, and an ERF file becomes 247 (with --share it stays ERF).\n"
    "     Other link types do not change. The name gives the file format: .pcapng\n"
    "     is pcapng, .erf is raw ERF records (so an ERF file stays ERF), any other\n"
    "     name is classic pcap.\n"
    "\n";

static const char help_end[] =
    "\n"
    "Words of --format:\n"
    "  erf  ERF records          pcap    classic pcap\n"
    "  247  InfiniBand frames    pcapng  pcapng, times in nanoseconds\n"
    "                            raw     ERF records without a container\n"
    "\"erf,pcap\" is ibdump's file format. If IN and OUT have the same content, each\n"
    "record is copied unchanged (not with --share).\n"
    "\n"
    "All formats have nanosecond times. In classic pcap with ERF records, the ERF\n"
    "record has them, and the packet header has microseconds. Captured and original\n"
    "lengths do not change. 247 cannot express ERF records of other types, extension\n"
    "headers and loss counters: these are left out and counted. From pcapng to\n"
    "pcapng, sections, interfaces, comments, drop counts and statistics are copied;\n"
    "--share leaves out all texts.\n"
    "\n"
    "If IN ends within a record, OUT cannot be written, or a signal ends the\n"
    "program, OUT keeps the packets converted so far, and the exit status is 1. A\n"
    "signal before OUT is open gives 128 plus its number, and OUT does not change.\n"
    "\n"
    "Exit status: 0 all packets are in OUT, 1 some are not or an error, 2 wrong\n"
    "usage.\n"
    "The last line on standard error has the numbers of packets, octets and drops.\n";

/* Options as parsed so far. */
struct format {
    uint32_t linktype; /* 0: not given */
    bool has_container, share;
    enum container container;
    const char *share_key; /* NULL: not given */
};

static bool set_linktype(struct format *format, uint32_t linktype)
{
    if (format->linktype && format->linktype != linktype)
        return false;
    format->linktype = linktype;
    return true;
}

static bool set_container(struct format *format, enum container container)
{
    if (format->has_container && format->container != container)
        return false;
    format->has_container = true;
    format->container = container;
    return true;
}

/* Parses the LEN characters at WORD. Returns NULL, or what is wrong with them. */
static const char *take_word(struct format *format, const char *word, size_t len)
{
    static const struct {
        const char *word;
        uint32_t linktype; /* 0: the word is a container */
        enum container container;
    } words[] = {
        {"erf", LINKTYPE_ERF, 0},    {"247", LINKTYPE_INFINIBAND, 0},
        {"pcap", 0, CONTAINER_PCAP}, {"pcapng", 0, CONTAINER_PCAPNG},
        {"raw", 0, CONTAINER_RAW},
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        bool good;

        if (strlen(words[i].word) != len || strncmp(words[i].word, word, len) != 0)
            continue;
        good = words[i].linktype ? set_linktype(format, words[i].linktype)
                                 : set_container(format, words[i].container);
        return good ? NULL : "contradicts itself";
    }
    return "is unknown";
}

static bool take_format(void *options, const char *arg)
{
    struct format *format = options;

    for (const char *word = arg;; word++) {
        size_t len = strcspn(word, ",");
        const char *fault = take_word(format, word, len);

        if (fault) {
            say("--format %s %s: name erf or 247, and pcap, pcapng or raw", arg, fault);
            return false;
        }
        word += len;
        if (*word == '\0')
            return true;
    }
}

static const struct cli_option table[] = {
    {.letter = 'f',
     .name = "format",
     .argument = "WORD[,WORD]",
     .help = "set the content, the file format, or both",
     .details = "The content is `erf` (ERF records) or `247` (InfiniBand frames). "
                "The file format is `pcap`, `pcapng` or `raw` (ERF records without a container).",
     CLI_CALLS(take_format)},
    {.name = "share",
     .help = "anonymise the capture, to share it",
     .details =
         "Payload, and everything else that is not known to be needed, becomes zeros. "
         "IP addresses, GIDs, GUIDs and names are replaced, each by the same replacement "
         "everywhere. "
         "Checksums and CRCs are recomputed. "
         "The mapping depends on a random key that is not kept, unless --share-key is given."
         "\n\n"
         "Two addresses that start with the same bits still do afterwards, so that subnets can be "
         "recognised. "
         "The kind of an address does not change: multicast and its scope, link-local, private, "
         "broadcast of a /16 or /24 network. "
         "Neither do the values that the rules of IPoIB check: ipoib-check(1) reports the same "
         "findings. "
         "LIDs, QPNs, P_Keys, Q_Keys, ports and times do not change."
         "\n\n"
         "The output of a capture of link type 247 is ERF, unless --format `247` is given.",
     CLI_SETS(format, share)},
    {.name = "share-key",
     .argument = "FILE",
     .help = "anonymise the capture, with the key in FILE",
     .details =
         "Captures that are shared with one key have the same replacements. "
         "FILE is created if it does not exist. "
         "A new file has a random key (32 hexadecimal digits) and mode 0600. "
         "A file that other users can access, or that belongs to another user, is refused."
         "\n\n"
         "Keep the key secret: whoever has it can undo the mapping of addresses and GUIDs, and can "
         "test guesses of names. "
         "Do not send it with the captures, and delete it after the last of them.",
     CLI_STORES(format, share_key)},
    {CLI_OPTION_HELP},
    {.kind = CLI_END},
};

const struct cli_program convert_program = {"ipoib-capture convert", help_start, table, help_end};

static int wrong_usage(void)
{
    cli_advise_help(&convert_program);
    return 2;
}

static bool ends_in(const char *name, const char *suffix)
{
    size_t len = strlen(name), suffix_len = strlen(suffix);

    return len > suffix_len && strcasecmp(name + len - suffix_len, suffix) == 0;
}

/* Fills in what --format does not give from the name of the output file. */
static bool complete_options(const struct format *format, struct convert_options *options)
{
    if (format->has_container)
        options->container = format->container;
    else if (ends_in(options->out, ".pcapng"))
        options->container = CONTAINER_PCAPNG;
    else
        options->container = ends_in(options->out, ".erf") ? CONTAINER_RAW : CONTAINER_PCAP;

    options->linktype = format->linktype;
    if (options->container != CONTAINER_RAW)
        return true;
    if (options->linktype == LINKTYPE_INFINIBAND) {
        say("%s: a raw ERF file cannot have the content 247; name it otherwise or say --format 247,pcap",
            options->out);
        return false;
    }
    options->linktype = LINKTYPE_ERF;
    return true;
}

int convert_parse_options(int argc, char **argv, struct convert_options *options)
{
    struct format format = {0};
    enum cli_result result = cli_read(&convert_program, argc, argv, &format, NULL);

    if (result != CLI_READ)
        return cli_end(&convert_program, result, 1);
    if (argc - optind != 2) {
        say("convert needs two file names, IN and OUT");
        return wrong_usage();
    }
    /* a key without --share must not give a capture with all addresses */
    options->share = format.share || format.share_key;
    options->share_key = format.share_key;
    options->in = argv[optind];
    options->out = argv[optind + 1];
    return complete_options(&format, options) ? -1 : wrong_usage();
}

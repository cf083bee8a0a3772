/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command line of "convert". See convert_options.h. */
#include "capture/convert_options.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/say.h"
#include "cli/refused_option.h"

static const char usage[] =
    "Usage: ipoib-capture convert [--format WORD[,WORD]] [--share] IN OUT\n"
    "\n"
    "Turns a capture of InfiniBand frames (LINKTYPE_INFINIBAND, 247), which Wireshark\n"
    "does not open, into one of ERF records (LINKTYPE_ERF, 197), which it does, and back.\n"
    "\n"
    "IN    pcap, pcapng or raw ERF, told apart by its content; - is standard input.\n"
    "OUT   is created or overwritten; - is standard output. Without --format:\n"
    "        its content is the other one than IN's: ERF for a 247 file, 247 for ERF;\n"
    "        its name says the file format: .pcapng is pcapng, .erf is raw ERF records\n"
    "        (of an ERF file too), anything else is classic pcap.\n"
    "\n"
    "-f, --format WORD[,WORD]   overrules that, the content, the file format or both:\n"
    "        erf      ERF records        pcap     classic pcap\n"
    "        247      InfiniBand frames  pcapng   pcapng, times in nanoseconds\n"
    "                                    raw      ERF records alone, without a container\n"
    "      \"erf,pcap\" is the file that ibdump writes. With IN's own content only the\n"
    "      file format changes and every record is kept as it is.\n"
    "--share                    make OUT a capture that may leave the company: payload\n"
    "      becomes zeros, IP addresses, GIDs, GUIDs and names are replaced, each by the\n"
    "      same one wherever it is, checksums and CRCs are made to fit. What the rules\n"
    "      of IPoIB look at stays. ERF, if --format does not say 247.\n"
    "-h, --help                 shows this text.\n"
    "\n"
    "Nanoseconds are kept in every format: in ERF in a classic pcap they are in the\n"
    "record, whose own time Wireshark shows; the packet header has microseconds.\n"
    "Captured and original lengths are kept. 247 has no place for ERF records of other\n"
    "types, extension headers and loss counters: what is left out is counted and told.\n"
    "Comments, names and statistics of a pcapng IN are not carried over.\n"
    "\n"
    "If IN is cut short or OUT cannot be written on, what was converted until then stays\n"
    "in OUT and the exit status is 1.\n"
    "\n"
    "Exit status: 0 all packets are in OUT, 1 not all of them or an error, 2 wrong usage.\n"
    "The last line on standard error tells packets, octets and drops.\n";

static int wrong(void)
{
    say("try 'ipoib-capture convert --help'");
    return 2;
}

/* --format as parsed so far. */
struct format {
    uint32_t linktype; /* 0: not given */
    bool has_container;
    enum container container;
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

static bool take_format(struct format *format, const char *arg)
{
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

static bool ends_in(const char *name, const char *suffix)
{
    size_t len = strlen(name), suffix_len = strlen(suffix);

    return len > suffix_len && strcasecmp(name + len - suffix_len, suffix) == 0;
}

/* Fills in what --format does not give from the name of the output file. */
static bool settle(const struct format *format, struct convert_options *options)
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
    static const struct option known[] = {{"format", required_argument, NULL, 'f'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"share", no_argument, NULL, 'S'},
                                          {NULL, 0, NULL, 0}};
    static const char shorts[] = ":f:h";
    char letter[REFUSED_OPTION_LEN];
    struct format format = {0};
    int c;

    options->share = false;

    opterr = 0; /* own messages: getopt's have the subcommand's name in place of the program's */
    while ((c = getopt_long(argc, argv, shorts, known, NULL)) != -1) {
        if (c == 'h') {
            fputs(usage, stdout);
            return fflush(stdout) == 0 ? 0 : 1;
        }
        if (c == 'S') {
            options->share = true;
            continue;
        }
        if (c == 'f' && take_format(&format, optarg))
            continue;
        if (c == ':')
            say("convert: %s needs a value", refused_option(argv, shorts, letter));
        else if (c == '?')
            say("convert: the command line has the unknown option %s",
                refused_option(argv, shorts, letter));
        return wrong();
    }
    if (argc - optind != 2) {
        say("convert needs two file names, IN and OUT");
        return wrong();
    }
    options->in = argv[optind];
    options->out = argv[optind + 1];
    return settle(&format, options) ? -1 : wrong();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command line of a capture. See live_options.h. */
#include "capture/live_options.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/selection.h"
#include "cli/say.h"
#include "cli/numbers.h"
#include "cli/refused_option.h"

static const char usage[] =
    "Usage: ipoib-capture [OPTION]...         captures from an RDMA device's port\n"
    "       ipoib-capture --list              lists the devices, their ports and what they can\n"
    "       ipoib-capture convert IN OUT      turns 247 captures into ERF and back\n"
    "\n"
    "ibdump's options, with ibdump's meaning:\n"
    "  -d, --ib-dev=DEV         the RDMA device (default: the first one)\n"
    "  -i, --ib-port=PORT       its port (default 1)\n"
    "  -w, --write=FILE         the file (default sniffer.pcap, or sniffer.pcapng);\n"
    "  -o, --output=FILE        - is standard output\n"
    "  -b, --max-burst=LOG2     log2 of the buffers: so many frames may come at once\n"
    "                           (default 15, or as many as the device has; multicast: 12)\n"
    "  -s, --silent             no progress on standard output\n"
    "  -T, --conti              buffers in huge pages\n"
    "  -M, --mem-mode=SIZE      keep SIZE octets in memory, stop then, and write\n"
    "  -p, --writer-thread=SIZE octets that wait for the writer: twice SIZE (default 128M)\n"
    "  -E, --decap              take off a mirroring switch's headers\n"
    "  -I, --direction=tx|rx    frames sent, or received, by this port only\n"
    "  -j, --jumbo-mtu          buffers of 16 KiB\n"
    "      --erf=0|1            1 puts Ethernet frames into ERF records too; 0 is refused\n"
    "                           where the port is InfiniBand: its frames have no other form\n"
    "  -q, --src_qp=QP          these three are taken, but of no effect: a warning says what\n"
    "  -m, --mst-dev=DEV        happens instead\n"
    "      --a0-mode\n"
    "  -h, --help               shows this text\n"
    "  -v, --version            shows the version\n"
    "\n"
    "What is new:\n"
    "      --format=erf|pcapng  ibdump's file (default), or pcapng with nanoseconds,\n"
    "                           directions, drop counts and statistics\n"
    "      --mode=sniffer       all frames of the port, as the device sees them (default)\n"
    "      --mode=multicast     what is sent to the link's IPoIB groups, by all: ARP,\n"
    "                           Neighbour Discovery, IP multicast; any InfiniBand device\n"
    "      --pkey=P_KEY         multicast: the partition (default: the port's first)\n"
    "      --groups=all|broadcast\n"
    "                           multicast: all IPoIB groups of the partition, those too\n"
    "                           that come later (default), or the broadcast group alone\n"
    "      --count=N            stop after N packets\n"
    "      --duration=SECONDS   stop after that time\n"
    "      --only=KIND[,KIND]   capture only ipoib, cm, sa or smp, by the headers; other\n"
    "                           packets are counted and left out (default: all packets)\n"
    "      --snaplen=N          keep the first N octets of each frame\n"
    "      --ring-size=SIZE     begin a new file before one has more octets, ...\n"
    "      --ring-packets=N     ... with so many packets, ...\n"
    "      --ring-time=SECONDS  ... or after that time\n"
    "      --ring-files=N       keep the last N of these files\n"
    "      --comment=TEXT       into the pcapng's interface description\n"
    "      --list               shows the devices, or the one of -d, as said above\n"
    "SIZE takes K, M and G.\n"
    "\n"
    "It ends by SIGINT, SIGTERM or SIGHUP. The last line on standard error tells packets,\n"
    "octets and drops.\n"
    "Exit status: 0, 1 (an error, or frames were lost), 2 (wrong usage).\n";

enum {
    OPT_ERF = 1000,
    OPT_A0,
    OPT_FORMAT,
    OPT_MODE,
    OPT_COUNT,
    OPT_DURATION,
    OPT_SNAPLEN,
    OPT_RING_SIZE,
    OPT_RING_PACKETS,
    OPT_RING_TIME,
    OPT_RING_FILES,
    OPT_COMMENT,
    OPT_PKEY,
    OPT_GROUPS,
    OPT_ONLY,
    OPT_LIST,
};

static const struct option known[] = {
    {"ib-dev", required_argument, NULL, 'd'},
    {"mst-dev", required_argument, NULL, 'm'},
    {"ib-port", required_argument, NULL, 'i'},
    {"output", required_argument, NULL, 'o'},
    {"write", required_argument, NULL, 'w'},
    {"max-burst", required_argument, NULL, 'b'},
    {"mem-mode", required_argument, NULL, 'M'},
    {"writer-thread", required_argument, NULL, 'p'},
    {"direction", required_argument, NULL, 'I'},
    {"decap", no_argument, NULL, 'E'},
    {"src_qp", required_argument, NULL, 'q'},
    {"silent", no_argument, NULL, 's'},
    {"conti", no_argument, NULL, 'T'},
    {"jumbo-mtu", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'v'},
    {"erf", required_argument, NULL, OPT_ERF},
    {"a0-mode", no_argument, NULL, OPT_A0},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"mode", required_argument, NULL, OPT_MODE},
    {"count", required_argument, NULL, OPT_COUNT},
    {"duration", required_argument, NULL, OPT_DURATION},
    {"snaplen", required_argument, NULL, OPT_SNAPLEN},
    {"ring-size", required_argument, NULL, OPT_RING_SIZE},
    {"ring-packets", required_argument, NULL, OPT_RING_PACKETS},
    {"ring-time", required_argument, NULL, OPT_RING_TIME},
    {"ring-files", required_argument, NULL, OPT_RING_FILES},
    {"comment", required_argument, NULL, OPT_COMMENT},
    {"pkey", required_argument, NULL, OPT_PKEY},
    {"groups", required_argument, NULL, OPT_GROUPS},
    {"only", required_argument, NULL, OPT_ONLY},
    {"list", no_argument, NULL, OPT_LIST},
    {NULL, 0, NULL, 0},
};

enum { LOG2_MAX = 20, SNAPLEN_MAX = 65535 };

/* Default values. */
static struct live_options defaults(void)
{
    return (struct live_options){.port = 1, .log2_buffers = 15, .erf = -1, .hold = HOLD_DEFAULT};
}

static int wrong(void)
{
    say("try 'ipoib-capture --help'");
    return 2;
}

static int print(const char *text)
{
    fputs(text, stdout);
    if (fflush(stdout) == 0)
        return 0;
    say("standard output: cannot be written");
    return 1;
}

/* Reports what an option expects, unless GOOD. */
static bool want(bool good, const char *option, const char *arg, const char *wanted)
{
    if (!good)
        say("%s needs %s, not '%s'", option, wanted, arg);
    return good;
}

static bool one_of(const char *arg, const char *first, const char *second, bool *is_second)
{
    *is_second = strcmp(arg, second) == 0;
    return *is_second || strcmp(arg, first) == 0;
}

static bool take_mode(struct live_options *o, const char *arg)
{
    bool second;

    if (!want(one_of(arg, "sniffer", "multicast", &second), "--mode", arg, "sniffer or multicast"))
        return false;
    o->mode = second ? MODE_MULTICAST : MODE_SNIFFER;
    return true;
}

/* With or without the full-member bit (0x8000). */
static bool take_pkey(struct live_options *o, const char *arg)
{
    uint64_t n;

    if (!want(parse_number(arg, 1, 0xffff, &n) && (n & 0x7fff) != 0, "--pkey", arg,
              "a P_Key, such as 0xffff or 0x8001"))
        return false;
    o->pkey = (unsigned)n;
    return true;
}

static bool take_file_limit(struct live_options *o, int c, const char *arg)
{
    uint64_t n;

    switch (c) {
    case OPT_RING_SIZE:
        return want(parse_size(arg, 1024, UINT64_MAX / 2, &o->ring_octets), "--ring-size", arg,
                    "a number of bytes, 1K or more");
    case OPT_RING_PACKETS:
        return want(parse_number(arg, 1, UINT64_MAX / 2, &o->ring_packets), "--ring-packets", arg,
                    "a number of packets");
    case OPT_RING_TIME:
        return want(parse_seconds(arg, &o->ring_time), "--ring-time", arg, "a number of seconds");
    default:
        if (!want(parse_number(arg, 1, 100000, &n), "--ring-files", arg,
                  "a number of files, 1 to 100000"))
            return false;
        o->ring_files = (uint32_t)n;
        return true;
    }
}

static bool take_limit(struct live_options *o, int c, const char *arg)
{
    uint64_t n;

    switch (c) {
    case OPT_COUNT:
        return want(parse_number(arg, 1, UINT64_MAX, &o->count), "--count", arg,
                    "a number of packets");
    case OPT_DURATION:
        return want(parse_seconds(arg, &o->duration), "--duration", arg, "a number of seconds");
    case OPT_SNAPLEN:
        if (!want(parse_number(arg, 1, SNAPLEN_MAX, &n), "--snaplen", arg,
                  "a number of bytes, 1 to 65535"))
            return false;
        o->snaplen = (uint32_t)n;
        return true;
    default:
        return take_file_limit(o, c, arg);
    }
}

static bool take_memory(struct live_options *o, int c, const char *arg)
{
    uint64_t n;

    switch (c) {
    case 'M':
        return want(parse_size(arg, 1, UINT64_C(1) << 46, &o->memory), "-M", arg,
                    "a number of bytes");
    case 'p':
        if (!want(parse_size(arg, 1, UINT64_C(1) << 45, &n), "-p", arg, "a number of bytes"))
            return false;
        o->hold = 2 * n;
        return true;
    default:
        if (!want(parse_number(arg, 0, LOG2_MAX, &n), "-b", arg,
                  "the log2 of the number of buffers, 0 to 20"))
            return false;
        o->log2_buffers = (unsigned)n;
        o->buffers_asked = true;
        return true;
    }
}

/* ibdump's options that only have a meaning with vendor tools. */
static bool take_obsolete(int c)
{
    if (c == 'q')
        say("-q has no effect: frames of all queue pairs are captured; filter them when reading, by "
            "infiniband.bth.destqp or infiniband.deth.srcqp");
    else if (c == 'm')
        say("-m has no effect: no firmware tools are needed, and so no MST device");
    else
        say("--a0-mode has no effect: the sniffer is set up by the kernel's driver");
    return true;
}

static bool take_words(struct live_options *o, int c, const char *arg)
{
    bool second;

    switch (c) {
    case 'I':
        if (!want(one_of(arg, "tx", "rx", &second), "-I", arg, "tx or rx"))
            return false;
        o->direction = second ? DIRECTION_RX : DIRECTION_TX;
        return true;
    case OPT_ERF:
        if (!want(one_of(arg, "0", "1", &second), "--erf", arg, "0 or 1"))
            return false;
        o->erf = second;
        return true;
    case OPT_FORMAT:
        return want(one_of(arg, "erf", "pcapng", &o->pcapng), "--format", arg, "erf or pcapng");
    case OPT_MODE:
        return take_mode(o, arg);
    case OPT_PKEY:
        return take_pkey(o, arg);
    case OPT_ONLY:
        return want(selection_parse(arg, &o->only), "--only", arg,
                    "some of ipoib, cm, sa and smp, with commas between them");
    case OPT_GROUPS:
        return want(one_of(arg, "all", "broadcast", &o->broadcast_only), "--groups", arg,
                    "all or broadcast");
    default:
        return take_obsolete(c);
    }
}

static bool take_port(struct live_options *o, const char *arg)
{
    uint64_t n;

    if (!want(parse_number(arg, 1, 255, &n), "-i", arg, "a port, counted from 1"))
        return false;
    o->port = (unsigned)n;
    return true;
}

static bool take(struct live_options *o, int c, const char *arg)
{
    switch (c) {
    case 'd':
        o->device = arg;
        return true;
    case 'i':
        return take_port(o, arg);
    case 'w':
    case 'o':
        o->file = arg;
        return true;
    case 's':
        o->silent = true;
        return true;
    case 'T':
        o->huge_pages = true;
        return true;
    case 'j':
        o->jumbo = true;
        return true;
    case 'E':
        o->decap = true;
        return true;
    case OPT_LIST:
        o->list = true;
        return true;
    case OPT_COMMENT:
        o->comment = arg;
        return want(strlen(arg) <= 512, "--comment", arg, "a text of at most 512 bytes");
    case 'M':
    case 'p':
    case 'b':
        return take_memory(o, c, arg);
    case 'I':
    case OPT_ERF:
    case OPT_FORMAT:
    case OPT_MODE:
    case OPT_PKEY:
    case OPT_GROUPS:
    case OPT_ONLY:
    case OPT_A0:
    case 'q':
    case 'm':
        return take_words(o, c, arg);
    default:
        return take_limit(o, c, arg);
    }
}

/* Returns which options contradict each other, or NULL. */
static const char *contradiction(const struct live_options *o, bool writer_asked)
{
    bool limits = o->ring_octets || o->ring_packets || o->ring_time;

    if (o->memory && writer_asked)
        return "-M and -p exclude each other: -M writes at the end";
    if (o->memory && limits)
        return "-M writes one file at the end: no --ring-size, --ring-packets or --ring-time with it";
    if (o->ring_files && !limits)
        return "--ring-files needs --ring-size, --ring-packets or --ring-time, which say where a file ends";
    if (limits && strcmp(o->file, "-") == 0)
        return "several files cannot go to standard output: name a file with -w";
    if (o->comment && !o->pcapng)
        return "--comment needs --format pcapng: the other format has no place for it";
    return NULL;
}

static void tell_of_no_effect(const struct live_options *o)
{
    if (o->mode == MODE_SNIFFER && o->pkey)
        say("--pkey has no effect in sniffer mode: frames of all partitions are captured");
    if (o->mode == MODE_SNIFFER && o->broadcast_only)
        say("--groups has no effect in sniffer mode: frames to all groups are captured");
    if (o->mode == MODE_MULTICAST && o->decap)
        say("--decap has no effect in multicast mode, where no mirrored frames come");
}

static int settle(struct live_options *o, bool writer_asked)
{
    const char *fault;

    if (!o->file)
        o->file = o->pcapng ? "sniffer.pcapng" : "sniffer.pcap";
    o->series = o->ring_octets || o->ring_packets || o->ring_time;
    if (strcmp(o->file, "-") == 0)
        o->silent = true;
    fault = contradiction(o, writer_asked);
    if (!fault && !o->list && strcmp(o->file, "-") == 0 && isatty(STDOUT_FILENO))
        fault = "stdout is a terminal: name a file with -w, or pipe it";
    if (!fault)
        tell_of_no_effect(o);
    if (!fault)
        return -1;
    say("%s", fault);
    return wrong();
}

int live_parse_options(int argc, char **argv, struct live_options *o)
{
    static const char shorts[] = ":p:w:d:i:o:b:hM:vEI:q:sm:jT";
    bool writer_asked = false, not_for_list = false;
    char letter[REFUSED_OPTION_LEN];
    int c;

    *o = defaults();
    opterr = 0; /* own messages, with the program's name as it is */
    while ((c = getopt_long(argc, argv, shorts, known, NULL)) != -1) {
        if (c == 'h')
            return print(usage);
        if (c == 'v')
            return print("ipoib-capture " IPOIB_VERSION "\n");
        if (c == ':' || c == '?') {
            say("%s %s",
                c == ':' ? "a value is missing after" : "the command line has the unknown option",
                refused_option(argv, shorts, letter));
            return wrong();
        }
        if (!take(o, c, optarg))
            return wrong();
        writer_asked = writer_asked || c == 'p';
        not_for_list = not_for_list || (c != OPT_LIST && c != 'd');
    }
    if (optind < argc) {
        say("this argument is unknown: %s; -w names the file", argv[optind]);
        return wrong();
    }
    if (o->list && not_for_list)
        say("with --list no option but -d has an effect");
    return settle(o, writer_asked);
}

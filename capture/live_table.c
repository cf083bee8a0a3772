/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of a live capture. See live_table.h. */
#include "capture/live_table.h"

#include <string.h>

#include "capture/live_options.h"
#include "capture/receive/selection.h"
#include "cli/numbers.h"
#include "cli/say.h"

static const char help_start[] =
    "Usage: ipoib-capture [OPTION]...         captures from an RDMA device's port\n"
    "       ipoib-capture --list              lists devices, ports and their modes\n"
    "       ipoib-capture convert IN OUT      converts captures of InfiniBand frames\n"
    "\n";

static const char help_end[] =
    "\n"
    "SIZE accepts the suffixes K, M and G.\n"
    "\n"
    "SIGINT, SIGTERM and SIGHUP end a capture. The last line on standard error has\n"
    "the numbers of packets, octets and drops.\n"
    "Exit status: 0, 1 (an error, or frames were lost), 2 (wrong usage).\n";

enum { LOG2_MAX = 20, SNAPLEN_MAX = 65535 };

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

static bool take_port(void *options, const char *value)
{
    struct live_options *o = options;
    uint64_t n;

    if (!want(parse_number(value, 1, 255, &n), "-i", value, "a port, counted from 1"))
        return false;
    o->port = (unsigned)n;
    return true;
}

static bool take_burst(void *options, const char *value)
{
    struct live_options *o = options;
    uint64_t n;

    if (!want(parse_number(value, 0, LOG2_MAX, &n), "-b", value,
              "the log2 of the number of buffers, 0 to 20"))
        return false;
    o->log2_buffers = (unsigned)n;
    o->buffers_requested = true;
    return true;
}

static bool take_memory(void *options, const char *value)
{
    struct live_options *o = options;

    return want(parse_size(value, 1, UINT64_C(1) << 46, &o->memory), "-M", value,
                "a number of bytes");
}

static bool take_hold(void *options, const char *value)
{
    struct live_options *o = options;
    uint64_t n;

    if (!want(parse_size(value, 1, UINT64_C(1) << 45, &n), "-p", value, "a number of bytes"))
        return false;
    o->hold = 2 * n;
    return true;
}

static bool take_direction(void *options, const char *value)
{
    struct live_options *o = options;
    bool second;

    if (!want(one_of(value, "tx", "rx", &second), "-I", value, "tx or rx"))
        return false;
    o->direction = second ? DIRECTION_RX : DIRECTION_TX;
    return true;
}

static bool take_erf(void *options, const char *value)
{
    struct live_options *o = options;
    bool second;

    if (!want(one_of(value, "0", "1", &second), "--erf", value, "0 or 1"))
        return false;
    o->erf = second;
    return true;
}

/* ibdump's options that only have a meaning with vendor tools. */
static bool take_src_qp(void *options, const char *value)
{
    (void)options;
    (void)value;
    say("-q has no effect: frames of all queue pairs are captured; filter them when reading, by "
        "infiniband.bth.destqp or infiniband.deth.srcqp");
    return true;
}

static bool take_mst_device(void *options, const char *value)
{
    (void)options;
    (void)value;
    say("-m has no effect: no firmware tools are needed, and so no MST device");
    return true;
}

static bool take_a0_mode(void *options, const char *value)
{
    (void)options;
    (void)value;
    say("--a0-mode has no effect: the sniffer is set up by the kernel's driver");
    return true;
}

static bool take_format(void *options, const char *value)
{
    struct live_options *o = options;

    return want(one_of(value, "erf", "pcapng", &o->pcapng), "--format", value, "erf or pcapng");
}

static bool take_mode(void *options, const char *value)
{
    struct live_options *o = options;
    bool second;

    if (!want(one_of(value, "sniffer", "multicast", &second), "--mode", value,
              "sniffer or multicast"))
        return false;
    o->mode = second ? MODE_MULTICAST : MODE_SNIFFER;
    return true;
}

/* With or without the full-member bit (0x8000). */
static bool take_pkey(void *options, const char *value)
{
    struct live_options *o = options;
    uint64_t n;

    if (!want(parse_number(value, 1, 0xffff, &n) && (n & 0x7fff) != 0, "--pkey", value,
              "a P_Key, such as 0xffff or 0x8001"))
        return false;
    o->pkey = (unsigned)n;
    return true;
}

static bool take_groups(void *options, const char *value)
{
    struct live_options *o = options;

    return want(one_of(value, "all", "broadcast", &o->broadcast_only), "--groups", value,
                "all or broadcast");
}

static bool take_count(void *options, const char *value)
{
    struct live_options *o = options;

    return want(parse_number(value, 1, UINT64_MAX, &o->count), "--count", value,
                "a number of packets");
}

static bool take_duration(void *options, const char *value)
{
    struct live_options *o = options;

    return want(parse_seconds(value, &o->duration), "--duration", value, "a number of seconds");
}

static bool take_only(void *options, const char *value)
{
    struct live_options *o = options;

    return want(selection_parse(value, &o->only), "--only", value,
                "some of ipoib, cm, sa and smp, with commas between them");
}

static bool take_snaplen(void *options, const char *value)
{
    struct live_options *o = options;
    uint64_t n;

    if (!want(parse_number(value, 1, SNAPLEN_MAX, &n), "--snaplen", value,
              "a number of bytes, 1 to 65535"))
        return false;
    o->snaplen = (uint32_t)n;
    return true;
}

static bool take_ring_size(void *options, const char *value)
{
    struct live_options *o = options;

    return want(parse_size(value, 1024, UINT64_MAX / 2, &o->ring_bytes), "--ring-size", value,
                "a number of bytes, 1K or more");
}

static bool take_ring_packets(void *options, const char *value)
{
    struct live_options *o = options;

    return want(parse_number(value, 1, UINT64_MAX / 2, &o->ring_packets), "--ring-packets", value,
                "a number of packets");
}

static bool take_ring_time(void *options, const char *value)
{
    struct live_options *o = options;

    return want(parse_seconds(value, &o->ring_time), "--ring-time", value, "a number of seconds");
}

static bool take_ring_files(void *options, const char *value)
{
    struct live_options *o = options;
    uint64_t n;

    if (!want(parse_number(value, 1, 100000, &n), "--ring-files", value,
              "a number of files, 1 to 100000"))
        return false;
    o->ring_files = (uint32_t)n;
    return true;
}

static bool take_comment(void *options, const char *value)
{
    struct live_options *o = options;

    o->comment = value;
    return want(strlen(value) <= 512, "--comment", value, "a text of at most 512 bytes");
}

static const struct cli_option table[] = {
    {.kind = CLI_HEADING, .help = "ibdump's options"},
    {.letter = 'd',
     .name = "ib-dev",
     .argument = "DEV",
     .help = "capture from this RDMA device (default: the first one)",
     CLI_STORES(live_options, device),
     .group = OF_LIST},
    {.letter = 'i',
     .name = "ib-port",
     .argument = "PORT",
     .help = "capture from this port of the device (default: 1)",
     CLI_CALLS(take_port)},
    {.letter = 'w',
     .name = "write",
     .argument = "FILE",
     .help = "write to FILE (default: sniffer.pcap or sniffer.pcapng); - is standard output",
     CLI_STORES(live_options, file)},
    {.letter = 'o',
     .name = "output",
     .argument = "FILE",
     .help = "the same as --write",
     CLI_STORES(live_options, file)},
    {.letter = 'b',
     .name = "max-burst",
     .argument = "LOG2",
     .help = "use 2^LOG2 buffers, one for each frame of the largest burst (default: 15, or as "
             "many buffers as the device supports; in multicast mode 12)",
     CLI_CALLS(take_burst)},
    {.letter = 's',
     .name = "silent",
     .help = "do not print progress on standard output",
     CLI_SETS(live_options, silent)},
    {.letter = 'T',
     .name = "conti",
     .help = "report a kernel without huge pages; the buffers are in huge pages if it has them",
     CLI_SETS(live_options, huge_pages)},
    {.letter = 'M',
     .name = "mem-mode",
     .argument = "SIZE",
     .help = "capture SIZE bytes into memory, then stop and write the file",
     CLI_CALLS(take_memory)},
    {.letter = 'p',
     .name = "writer-thread",
     .argument = "SIZE",
     .help = "hold up to twice SIZE bytes in memory for the writing thread (default: 128M)",
     CLI_CALLS(take_hold),
     .group = OF_WRITER},
    {.letter = 'E',
     .name = "decap",
     .help = "remove the headers that a mirroring switch adds",
     CLI_SETS(live_options, decap)},
    {.letter = 'I',
     .name = "direction",
     .argument = "tx|rx",
     .help = "capture only the frames that this port sends (tx) or receives (rx)",
     CLI_CALLS(take_direction)},
    {.letter = 'j',
     .name = "jumbo-mtu",
     .help = "use buffers of 16 KiB",
     CLI_SETS(live_options, jumbo)},
    {.name = "erf",
     .argument = "0|1",
     .help = "write Ethernet frames in ERF records too (1), or frames without ERF records (0), "
             "which is refused on InfiniBand ports",
     CLI_CALLS(take_erf)},
    {.letter = 'q',
     .name = "src_qp",
     .argument = "QP",
     .help = "no effect; prints a warning: frames of all queue pairs are captured",
     CLI_CALLS(take_src_qp)},
    {.letter = 'm',
     .name = "mst-dev",
     .argument = "DEV",
     .help = "no effect; prints a warning: no firmware tools are needed",
     CLI_CALLS(take_mst_device)},
    {.name = "a0-mode",
     .help = "no effect; prints a warning: the kernel's driver sets up the sniffer",
     CLI_CALLS(take_a0_mode)},
    {CLI_OPTION_HELP},
    {.letter = 'v', .name = "version", .help = "print the version", .kind = CLI_VERSION},
    {.kind = CLI_HEADING, .help = "New options"},
    {.name = "format",
     .argument = "erf|pcapng",
     .help = "set the file format: ibdump's (erf, the default), or pcapng with nanoseconds, "
             "directions, drop counts and statistics",
     CLI_CALLS(take_format)},
    {.name = "mode",
     .argument = "sniffer|multicast",
     .help = "capture all frames of the port, as the device's sniffer copies them (sniffer, the "
             "default), or frames from other senders to the link's IPoIB groups (multicast), on "
             "any InfiniBand device",
     CLI_CALLS(take_mode)},
    {.name = "pkey",
     .argument = "P_KEY",
     .help = "use this partition in multicast mode (default: the first in the port's table)",
     CLI_CALLS(take_pkey)},
    {.name = "groups",
     .argument = "all|broadcast",
     .help = "capture in multicast mode all IPoIB groups of the partition, new groups included "
             "(all, the default), or only the broadcast group",
     CLI_CALLS(take_groups)},
    {.name = "count", .argument = "N", .help = "stop after N packets", CLI_CALLS(take_count)},
    {.name = "duration",
     .argument = "SECONDS",
     .help = "stop after this time",
     CLI_CALLS(take_duration)},
    {.name = "only",
     .argument = "KIND[,KIND]",
     .help = "capture only packets of these kinds: ipoib, cm, sa, smp (default: all packets)",
     CLI_CALLS(take_only)},
    {.name = "snaplen",
     .argument = "N",
     .help = "keep the first N bytes of each frame",
     CLI_CALLS(take_snaplen)},
    {.name = "ring-size",
     .argument = "SIZE",
     .help = "start a new file before the current one is larger than SIZE",
     CLI_CALLS(take_ring_size)},
    {.name = "ring-packets",
     .argument = "N",
     .help = "start a new file when the current one has N packets",
     CLI_CALLS(take_ring_packets)},
    {.name = "ring-time",
     .argument = "SECONDS",
     .help = "start a new file after this time",
     CLI_CALLS(take_ring_time)},
    {.name = "ring-files",
     .argument = "N",
     .help = "keep the last N of these files",
     CLI_CALLS(take_ring_files)},
    {.name = "comment",
     .argument = "TEXT",
     .help = "write a comment into the pcapng's interface description",
     CLI_CALLS(take_comment)},
    {.name = "list",
     .help = "list the devices, or the one of -d, their ports, the modes that each port supports, "
             "and the memory that a capture takes",
     CLI_SETS(live_options, list),
     .group = OF_LIST},
    {.kind = CLI_END},
};

const struct cli_program live_program = {"ipoib-capture", help_start, table, help_end};

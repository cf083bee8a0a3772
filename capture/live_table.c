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
    "       ipoib-capture -r - [OPTION]...    takes the frames of another program\n"
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

enum { LOG2_MAX = 20, SNAPLEN_MAX = 65535, COMMENT_MAX = 512 };

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
    say("-m has no effect: the program finds the adapter by its PCI address");
    return true;
}

static bool take_a0_mode(void *options, const char *value)
{
    (void)options;
    (void)value;
    say("--a0-mode has no effect: only ConnectX-2 had this mode");
    return true;
}

static bool take_pkey(void *options, const char *value)
{
    struct live_options *o = options;
    uint64_t pkey;
    bool good = parse_pkey(value, &pkey);

    if (good)
        o->pkey = (unsigned)pkey;
    return good;
}

static bool take_only(void *options, const char *value)
{
    struct live_options *o = options;

    return selection_parse(value, &o->only);
}

static bool take_comment(void *options, const char *value)
{
    struct live_options *o = options;

    o->comment = value;
    return strlen(value) <= COMMENT_MAX;
}

/* Values of an option in Wireshark's dialog. */
#define LABELS(...)                                                                                \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const struct cli_option table[] = {
    {.kind = CLI_HEADING, .help = "ibdump's options"},
    {.letter = 'd',
     .name = "ib-dev",
     .argument = "DEV",
     .help = "capture from this RDMA device (default: the first)",
     CLI_STORES(live_options, device),
     .group = OF_LIST},
    {.letter = 'i',
     .name = "ib-port",
     .argument = "PORT",
     .help = "capture from this port of the device (default: 1)",
     .wanted = "a port, counted from 1",
     CLI_COUNTS(live_options, port, 1, 255)},
    {.letter = 'w',
     .name = "write",
     .argument = "FILE",
     .help = "write to FILE, - is stdout (default: sniffer.pcap)",
     .details =
         "If FILE is -, no progress is printed. "
         "With --format `pcapng` the default is sniffer.pcapng. "
         "An existing file is overwritten after the device has accepted the capture, and keeps its "
         "mode. "
         "A new file has mode 0600, less the umask. "
         "The program refuses a file that another program has locked, such as a capture, and a file, link or FIFO that "
         "another user has put into a folder that others can write to, such as /tmp.",
     CLI_STORES(live_options, file)},
    {.letter = 'o',
     .name = "output",
     .argument = "FILE",
     .help = "write to FILE, like --write",
     CLI_STORES(live_options, file)},
    {.letter = 'b',
     .name = "max-burst",
     .argument = "LOG2",
     .help = "use 2^LOG2 buffers (default: 15; multicast: 12)",
     .details = "Each frame of a burst takes one buffer. "
                "The program never uses more buffers than the device supports.",
     .label = "Buffers (log2)",
     .wanted = "the log2 of the number of buffers, 0 to 20",
     CLI_COUNTS(live_options, log2_buffers, 0, LOG2_MAX),
     .group = OF_BUFFERS},
    {.letter = 's',
     .name = "silent",
     .help = "do not print progress on standard output",
     CLI_SETS(live_options, silent)},
    {.letter = 'T',
     .name = "conti",
     .help = "report a kernel without huge pages",
     .details = "If the kernel has huge pages, the buffers are in huge pages, with or without this "
                "option.",
     CLI_SETS(live_options, huge_pages)},
    {.letter = 'M',
     .name = "mem-mode",
     .argument = "SIZE",
     .help = "capture SIZE bytes into memory, then write the file",
     .details = "The capture stops when the memory is full.",
     .wanted = "a number of bytes",
     CLI_MEASURES(live_options, memory, 1, UINT64_C(1) << 46)},
    {.letter = 'p',
     .name = "writer-thread",
     .argument = "SIZE",
     .help = "buffer up to 2 x SIZE bytes (default: 128M)",
     .details =
         "This memory holds the frames that wait for the writing thread: by default at most 256 MiB. "
         "In addition, the capture registers buffers of 134 MiB (142 MiB if the MTU is 4096; the "
         "firmware's sniffer: 128 MiB, or 256 MiB): more or less with -b, and less if the memlock "
         "limit requires it. "
         "--list shows both numbers for each port.",
     .wanted = "a number of bytes",
     CLI_MEASURES(live_options, hold, 1, UINT64_C(1) << 45),
     .group = OF_WRITER},
    {.letter = 'E',
     .name = "decap",
     .help = "remove the headers that a mirroring switch adds",
     CLI_SETS(live_options, decap)},
    {.letter = 'I',
     .name = "direction",
     .argument = "tx|rx",
     .help = "capture only frames sent (tx) or received (rx)",
     .details = "A frame of unknown direction is captured. "
                "The last line on standard error counts the frames that were left out.",
     CLI_CHOOSES(live_options, direction),
     .low = DIRECTION_TX},
    {.letter = 'j',
     .name = "jumbo-mtu",
     .help = "use buffers of 16 KiB",
     .details = "They are for frames that are longer than the MTU.",
     .label = "Buffers of 16 KiB",
     CLI_SETS(live_options, jumbo)},
    {.name = "erf",
     .argument = "0|1",
     .help = "write Ethernet frames in ERF records (1) or not (0)",
     .details = "By default, Ethernet frames are written without ERF records. "
                "0 is refused on InfiniBand ports.",
     CLI_CHOOSES(live_options, erf)},
    {.letter = 'q',
     .name = "src_qp",
     .argument = "QP",
     .help = "ignore this option, and print a warning",
     .details = "Frames of all queue pairs are captured.",
     CLI_CALLS(take_src_qp)},
    {.letter = 'm',
     .name = "mst-dev",
     .argument = "DEV",
     .help = "ignore this option, and print a warning",
     .details = "The program finds the adapter by its PCI address.",
     CLI_CALLS(take_mst_device)},
    {.name = "a0-mode",
     .help = "ignore this option, and print a warning",
     .details = "Only ConnectX-2 had this mode.",
     CLI_CALLS(take_a0_mode)},
    {CLI_OPTION_HELP},
    {.letter = 'v', .name = "version", .help = "print the version", .kind = CLI_VERSION},
    {.kind = CLI_HEADING, .help = "New options"},
    {.name = "format",
     .argument = "erf|pcapng",
     .help = "write ERF in classic pcap, or pcapng (default: erf)",
     .details = "`erf` is the format of ibdump: classic pcap with microseconds and ERF records. "
                "`pcapng` also has nanoseconds, directions, drop counts and statistics.",
     CLI_CHOOSES(live_options, pcapng)},
    {.name = "mode",
     .argument = "sniffer|multicast",
     .help = "set what is captured (default: sniffer)",
     .details = "`sniffer` captures all frames of the port, as the device's sniffer copies them. "
                "`multicast` captures frames from other senders to the link's IPoIB groups, on any "
                "InfiniBand device.",
     .label = "Mode",
     .labels = LABELS("Sniffer: all that the port sends and receives",
                      "Multicast: frames sent to the link's IPoIB groups"),
     CLI_CHOOSES(live_options, mode)},
    {.name = "sniffer",
     .argument = "auto|verbs|firmware|ibdump",
     .help = "set how the sniffer is started (default: auto)",
     .details = "`verbs` asks the kernel's driver for it. "
                "`firmware` sends a command to the adapter's firmware, by the library of mstflint: "
                "only root can, and only InfiniBand ports of mlx5 devices have it. "
                "`auto` is `firmware` on these ports, and `verbs` on all others. "
                "`ibdump` runs the installed ibdump, and takes the frames that it writes.",
     CLI_CHOOSES(live_options, sniffer)},
    {.name = "mstflint-library",
     .argument = "FILE",
     .help = "load mstflint's library (ccmdif.so) from FILE",
     .details = "By default, the program looks where the packages of mstflint have it. "
                "The file and all folders on the way to it must belong to root, and nobody else "
                "may be able to write to them.",
     CLI_STORES(live_options, mstflint),
     .group = OF_LIST},
    {.name = "ibdump",
     .argument = "FILE",
     .help = "run this program for --sniffer ibdump",
     .details = "By default, it is ibdump in /usr/bin or /usr/sbin. "
                "What holds for the library of --mstflint-library holds for it too.",
     CLI_STORES(live_options, ibdump)},
    {.letter = 'r',
     .name = "read",
     .argument = "FILE",
     .help = "read another program's capture, - is stdin",
     .details = "The frames come from FILE instead of a device, in any format that ipoib-check "
                "reads: for example those of ibdump on another host, by ssh. "
                "The capture ends when FILE ends. "
                "Frames of IPoIB interfaces without InfiniBand headers keep their link type.",
     CLI_STORES(live_options, read)},
    {.name = "pkey",
     .argument = "P_KEY",
     .help = "use this P_Key in multicast mode (default: first)",
     .details = "The default is the first P_Key in the port's table. "
                "The membership bit may be set or not.",
     .label = "Partition (multicast)",
     .wanted = "the P_Key of a partition, such as 0x8001",
     CLI_CALLS(take_pkey)},
    {.name = "groups",
     .argument = "all|broadcast",
     .help = "set the groups of multicast mode (default: all)",
     .details =
         "`all` is all IPoIB groups of the partition. "
         "The program queries the subnet administration (SA) for new groups every two seconds, or "
         "less often if the SA is slow. "
         "`broadcast` is the broadcast group only.",
     .label = "Groups (multicast)",
     .labels = LABELS("All IPoIB groups of the partition", "Only the broadcast group"),
     CLI_CHOOSES(live_options, broadcast_only)},
    {.name = "count",
     .argument = "N",
     .help = "stop after N packets",
     .wanted = "a number of packets",
     CLI_COUNTS(live_options, count, 1, UINT64_MAX)},
    {.name = "duration",
     .argument = "SECONDS",
     .help = "stop after this time",
     CLI_TIMES(live_options, duration)},
    {.name = "only",
     .argument = "KIND[,KIND]",
     .help = "capture only these packets: ipoib, cm, sa, smp",
     .details =
         "`ipoib` is IPoIB datagrams and connections, `cm` communication management, `sa` subnet "
         "administration, and `smp` subnet management, sent to QP 0. "
         "By default, all packets are captured. "
         "The program looks at the headers before it copies a packet. "
         "The last line on standard error counts the packets that were left out, by kind."
         "\n\n"
         "RC and UC packets are of kind `ipoib` if the REQ of their connection has an IPoIB "
         "Service-ID. "
         "If a connection was set up before the capture, its packets are captured from the first "
         "one that starts an IP datagram. "
         "Acknowledgements to a queue pair are captured only if the queue pair has received such a "
         "packet too.",
     .label = "Packets",
     .labels = LABELS("IPoIB: datagrams and connections", "Communication management",
                      "Subnet administration", "Subnet management (QP 0)"),
     .wanted = "some of ipoib, cm, sa and smp, with commas between them",
     CLI_CALLS(take_only)},
    {.name = "snaplen",
     .argument = "N",
     .help = "keep the first N bytes of each frame",
     .label = "Bytes of each frame",
     .wanted = "a number of bytes, 1 to 65535",
     CLI_COUNTS(live_options, snaplen, 1, SNAPLEN_MAX)},
    {.name = "ring-size",
     .argument = "SIZE",
     .help = "start a new file before this one exceeds SIZE",
     .details = "The files of a series have names such as sniffer_00001_20240131235959.pcap, with "
                "a number and the time. "
                "The program never overwrites a file with such a name: it takes the next number.",
     .wanted = "a number of bytes, 1K or more",
     CLI_MEASURES(live_options, ring_bytes, 1024, UINT64_MAX / 2)},
    {.name = "ring-packets",
     .argument = "N",
     .help = "start a new file after N packets",
     .wanted = "a number of packets",
     CLI_COUNTS(live_options, ring_packets, 1, UINT64_MAX / 2)},
    {.name = "ring-time",
     .argument = "SECONDS",
     .help = "start a new file after this time",
     CLI_TIMES(live_options, ring_time)},
    {.name = "ring-files",
     .argument = "N",
     .help = "keep the last N of these files",
     .details = "The program removes only files that it has created itself in this run.",
     .wanted = "a number of files, 1 to 100000",
     CLI_COUNTS(live_options, ring_files, 1, 100000)},
    {.name = "comment",
     .argument = "TEXT",
     .help = "set the interface comment of a pcapng file",
     .wanted = "a text of at most 512 bytes",
     CLI_CALLS(take_comment)},
    {.name = "list",
     .help = "list the devices, their ports and their modes",
     .details = "Each port is listed with its state, link layer, LID, GID and P_Keys, the modes "
                "that it supports, and the memory that a capture takes. "
                "-d selects one device.",
     CLI_SETS(live_options, list),
     .group = OF_LIST},
    {.kind = CLI_END},
};

const struct cli_program live_program = {"ipoib-capture", help_start, table, help_end};

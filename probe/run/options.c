/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of ipoib-probe. */
#include "probe/run/options.h"

#include <getopt.h>
#include <string.h>

#include "cli/numbers.h"
#include "cli/save.h"
#include "cli/say.h"
#include "probe/run/address.h"
#include "probe/run/destination.h"
#include "probe/run/text.h"
#include "report/explain.h"
#include "wire/view.h"

static const char help_start[] =
    "Usage: ipoib-probe [OPTION]... TARGET...\n"
    "       ipoib-probe --list\n"
    "       ipoib-probe --explain RULE\n"
    "\n"
    "Sends requests to a peer on an IP over InfiniBand link, and reports which\n"
    "requirements of RFC 4391 and RFC 4755 it obeys. A TARGET is a host name; an\n"
    "IPv4 or IPv6 address; a prefix (10.0.0.0/24, at most a /16, or a /116 of IPv6),\n"
    "all of whose hosts are tested; or the word fabric, which tests this port and\n"
    "the subnet administration (SA) instead of a peer; or the word node, a quick\n"
    "look at this host that may run on every node every minute. By default the\n"
    "probe sends nothing that a peer remembers.\n"
    "\n";

static const char help_end[] =
    "\n"
    "Exit status: 3 if a privilege or the device is missing and no network interface\n"
    "can be used instead, whatever the report says; otherwise 1 if a target violates\n"
    "a MUST (with --strict also a SHOULD), or a stage fails; otherwise 2 if a target\n"
    "could not be tested; otherwise 0. It is 2 too if the usage was wrong or the\n"
    "report could not be written. If a signal\n"
    "interrupts the probe, it leaves the groups that it joined and writes no report,\n"
    "and the exit status is 128 plus the signal's number, but with --count or\n"
    "--interval it ends with the summary.\n";

enum {
    RATE_MAX = 100000,
    TIMEOUT_MAX = 60000,
    COUNT_MAX = 1000000000,
    INTERVAL_MAX = 86400,
    DELAY_MAX = 86400
};

static bool read_source(struct options *o, const char *text)
{
    bool mapped;
    o->has_source = address_read(text, &o->source_ipv6, &mapped, o->source);
    if (!o->has_source) {
        say("--source is an IPv4 or IPv6 address of one host, not '%s'", text);
        return false;
    }
    const char *why = address_is_no_host(o->source_ipv6, o->source);
    if (why)
        say("--source is an address of one host, and '%s' is %s", text, why);
    return !why;
}

static bool read_family(struct options *o, bool ipv6)
{
    bool both = o->family != (ipv6 ? FAMILY_IPV6 : FAMILY_IPV4) && o->family != FAMILY_ANY;
    o->family = ipv6 ? FAMILY_IPV6 : FAMILY_IPV4;
    if (both)
        say("-4 and -6 exclude each other");
    return !both;
}

/* cppcheck-suppress memleak ; the array has t */
static bool read_target(struct options *o, const char *text)
{
    struct target_option t;
    GError *error = NULL;
    char ip[48];
    if (!destination_read(&t, text, o->family, &error))
        return say_error(NULL, &error);
    if (strcmp(t.name, text) != 0) { /* a host name: its address was chosen */
        text_ip(t.ipv6, t.ip, ip);
        say("%s is %s", text, ip);
    }
    g_array_append_val(o->targets, t);
    return true;
}

static bool take_pkey(void *options, const char *value)
{
    struct options *o = options;
    uint64_t pkey;
    bool good = parse_pkey(value, &pkey);
    if (good)
        o->pkey = (uint16_t)pkey;
    return good;
}

static bool take_source(void *options, const char *value)
{
    struct options *o = options;
    return read_source(o, value);
}

static bool take_only(void *options, const char *value)
{
    struct options *o = options;
    GError *error = NULL;
    bool selectable = g_str_has_prefix(value, "fabric") || g_str_has_prefix(value, "peer");
    if (!selectable || !explain_has_stage(value))
        return only_read(o->only, &o->selection, value, "rule or stage", &error) ||
               say_error(NULL, &error);
    g_ptr_array_add(o->only, (gpointer)value); /* in argv */
    g_ptr_array_add(o->stages, (gpointer)value);
    return true;
}

static bool take_ipv4(void *options, const char *unused)
{
    (void)unused;
    struct options *o = options;
    return read_family(o, false);
}

static bool take_ipv6(void *options, const char *unused)
{
    (void)unused;
    struct options *o = options;
    return read_family(o, true);
}

static const struct cli_option table[] = {
    {.letter = 'd',
     .name = "device",
     .argument = "DEV",
     .help = "use this InfiniBand device or IPoIB interface",
     .details =
         "For example, `mlx5_0`, `ib0` or `bond0`: an interface names its device, port and "
         "partition, a bond those of its active interface. "
         "By default the probe uses the interface of the kernel's route to the target, and tests "
         "the target `fabric` through every IPoIB interface and port of this host. "
         "Without an IPoIB interface the default is the first active port. "
         "If the device cannot be opened with libibverbs, the probe sends and receives through "
         "the network interface. "
         "The interface does not show queue pairs, InfiniBand headers and the subnet "
         "administration: checks that need these are skipped, and the report says why.",
     CLI_STORES(options, device)},
    {.letter = 'p',
     .name = "port",
     .argument = "PORT",
     .help = "use this port of the device",
     .details = "A network interface implies its port.",
     CLI_COUNTS(options, port, 1, 254)},
    {.name = "all-ports",
     .help = "with fabric: also test ports that are not in use",
     .details = "Without it, the target `fabric` only names ports that are down and on which no "
                "interface is up, and a port needs no IPoIB interface if another one has one.",
     CLI_SETS(options, all_ports)},
    {.name = "pkey",
     .argument = "K",
     .help = "use this partition (default: the interface's)",
     .details =
         "For example, `0x8001`. Without an interface the default is the port's first P_Key.",
     .wanted = "the P_Key of a partition, such as 0x8001",
     CLI_CALLS(take_pkey)},
    {.letter = '4',
     .help = "use the IPv4 address of a host name",
     .details = "IPv6 targets are rejected.",
     CLI_CALLS(take_ipv4)},
    {.letter = '6',
     .help = "use the IPv6 address of a host name",
     .details = "IPv4 targets are rejected.",
     CLI_CALLS(take_ipv6)},
    {.name = "source",
     .argument = "IP",
     .help = "use this unused address for the probe",
     .details =
         "It enables the checks that need an address, such as echo requests of all sizes. "
         "The peer remembers the address for some time. "
         "The target `fabric` has no such check. "
         "If another node uses the address, the probe does not use it. "
         "The probe replies to duplicate address detection for its IPv6 address. "
         "If another node advertises that address during the run, the run ends with an error that "
         "names the node.",
     CLI_CALLS(take_source)},
    {.name = "only",
     .argument = "SELECTOR",
     .help = "test only these rules or stages; may be repeated",
     .details = "SELECTOR is the identifier of a rule or stage, or a prefix of several "
                "identifiers, such as `rfc4755`, `rfc4391.6` or `fabric.join`. "
                "The stages of the target `fabric` that come before it run too, because it rests "
                "on them, but only those that end the diagnosis are reported. "
                "If only rules are selected, all stages are reported.",
     CLI_CALLS(take_only)},
    {.name = "why",
     .help = "only find out whether a peer replies, and why not",
     .details = "It prints the cause, its evidence and a command, and runs no checks of rules.",
     CLI_SETS(options, why)},
    {.name = "disruptive",
     .help = "also run checks that cause errors or log entries",
     .details =
         "These checks send wrong Q_Keys and P_Keys, which the peer's port counts and may report "
         "by a trap. "
         "They open connections of a mode that the peer does not announce: Linux logs a warning "
         "about such a connection. "
         "For the target `fabric`, they request groups with wrong attributes: the SM logs such a "
         "request as an error.",
     CLI_SETS(options, disruptive)},
    {REPORT_OPTION_STRICT, CLI_SETS(options, strict)},
    {REPORT_OPTION_DEVIATIONS, CLI_STORES(options, deviations)},
    {.name = "format",
     .argument = "text|json|junit|tap|jsonl|prometheus",
     .help = "set the report's format (default: text)",
     .details = "`jsonl` has one JSON object a line, for programs that collect logs. "
                "`prometheus` has metrics in Prometheus' text format, as the textfile collector of "
                "node_exporter reads them. "
                "With --count and --interval, the file of -o is replaced every five seconds.",
     CLI_CHOOSES(options, format)},
    {.letter = 'v',
     .name = "verbose",
     .help = "list every stage and rule, also those that passed",
     .details = "Without it, the text report of a target fits on a screen of 80 columns and 24 "
                "lines: what failed and what to do, and the number of passes. "
                "The other formats are always complete.",
     CLI_SETS(options, verbose)},
    {.name = "node",
     .argument = "NAME",
     .help = "set the node's name in a report of json or jsonl",
     .details = "`ipoib-check --merge` lists the report under this name.",
     CLI_STORES(options, node)},
    {REPORT_OPTION_OUTPUT, CLI_STORES(options, output)},
    {.letter = 'w',
     .name = "write",
     .argument = "FILE",
     .help = "write the packets sent and received to FILE",
     .details =
         "FILE is a pcapng file for Wireshark. "
         "Each packet has a comment that names the check and its outcome, and one for each event of "
         "ipoib-check, such as a refused join, that is first seen in it. "
         "FILE must be neither the report's file nor a file that another program has locked, "
         "such as a running capture, nor one that another user has put into a folder that "
         "others can write to. "
         "An old FILE is overwritten at the first packet. "
         "A new file has mode 0600, less the umask.",
     CLI_STORES(options, capture)},
    {.name = "rate",
     .argument = "N",
     .help = "send at most N packets a second (default: 200)",
     .details = "N is a number from 1 to 100000. "
                "In a sweep, requests to the subnet administration count too.",
     CLI_COUNTS(options, rate, 1, RATE_MAX)},
    {.name = "timeout",
     .argument = "MS",
     .help = "wait MS milliseconds for each reply (default: 500)",
     .details = "MS is a number from 1 to 60000. "
                "If a peer has replied more slowly, the probe waits longer for it. "
                "doc/probe.md, section Timing, says how long the probe waits after each request.",
     CLI_COUNTS(options, timeout_ms, 1, TIMEOUT_MAX)},
    {.name = "count",
     .argument = "N",
     .help = "only send N plain requests to a peer, a line each",
     .details = "Each line has the time and the reply. "
                "Changes have lines of their own (EVENT): the peer no longer replies, replies "
                "again or moved; the state of this port, the SM or the error counters changed. "
                "N is a number from 1 to 1000000000. "
                "Without --interval, a request is sent every second.",
     CLI_COUNTS(options, count, 1, COUNT_MAX)},
    {.name = "interval",
     .argument = "S",
     .help = "the same every S seconds, until Ctrl-C or --count",
     .details = "S is a number from 1 to 86400. "
                "Ctrl-C (SIGINT) and SIGTERM end with the summary, and its exit status. "
                "The memory does not grow.",
     CLI_COUNTS(options, interval, 1, INTERVAL_MAX)},
    {.name = "baseline",
     .argument = "REPORT",
     .help = "with a prefix: name the hosts that differ from REPORT",
     .details =
         "REPORT is a report of --format json of the same prefix. "
         "The new report lists the hosts that are new or gone, and those whose name, GID, LID "
         "or result changed. "
         "The exit status does not change.",
     CLI_STORES(options, baseline)},
    {.name = "nagios",
     .help = "with node: exit as a Nagios plugin, 0, 1, 2 or 3",
     .details = "0 is ok, 1 degraded, 2 a fault, and 3 unknown: not judged, or a wrong usage.",
     CLI_SETS(options, nagios)},
    {.name = "state",
     .argument = "FOLDER",
     .help = "with node: keep what the next run compares in FOLDER",
     .details = "The default is `/run/ipoib-probe`, or `/run/user/UID/ipoib-probe` of a user who "
                "is not root. "
                "FOLDER is created if it does not exist, and is refused if another user may write "
                "to it.",
     CLI_STORES(options, state)},
    {.name = "delay-up-to",
     .argument = "SECONDS",
     .help = "with node: wait a random time first, at most SECONDS",
     .details = "So that not all nodes of a cluster ask the subnet administration in the same "
                "second. SECONDS is a number from 1 to 86400.",
     CLI_COUNTS(options, delay, 1, DELAY_MAX)},
    {.letter = 'n',
     .name = "dry-run",
     .help = "print what would be sent, and send nothing",
     CLI_SETS(options, dry_run)},
    {.letter = 'l',
     .name = "list",
     .help = "print the checks: request, expected reply and rules",
     CLI_SETS(options, list)},
    {REPORT_OPTION_EXPLAIN, CLI_STORES(options, explain)},
    {CLI_OPTION_HELP},
    {CLI_OPTION_VERSION},
    {.kind = CLI_END},
};

const struct cli_program probe_program = {"ipoib-probe", help_start, table, help_end};

static bool is_own_source(const struct options *o)
{
    for (guint i = 0; o->has_source && i < o->targets->len; i++) {
        const struct target_option *t = &g_array_index(o->targets, struct target_option, i);
        if (!t->fabric && !t->node && !t->prefix && t->ipv6 == o->source_ipv6 &&
            memcmp(t->ip, o->source, t->ipv6 ? 16 : 4) == 0)
            return true;
    }
    return false;
}

bool probe_options_select_stage(const struct options *o, const char *id)
{
    bool selected = !o->stages || o->stages->len == 0;
    for (guint i = 0; !selected && i < o->stages->len; i++)
        selected = id_selected(id, o->stages->pdata[i]);
    return selected;
}

bool probe_options_only_node(const struct options *o)
{
    return o->targets->len == 1 && g_array_index(o->targets, struct target_option, 0).node;
}

bool probe_options_only_fabric(const struct options *o)
{
    bool only = o->targets->len > 0;
    for (guint i = 0; i < o->targets->len; i++)
        only &= g_array_index(o->targets, struct target_option, i).fabric;
    return only;
}

static bool is_one_peer(const struct options *o)
{
    const struct target_option *t = o->targets->len == 1
                                        ? &g_array_index(o->targets, struct target_option, 0)
                                        : NULL;
    return t && !t->fabric && !t->node && !t->prefix && !o->why;
}

static bool can_save(const struct options *o)
{
    GError *error = NULL;
    return save_is_possible(o->output, &error) || say_error(NULL, &error);
}

/* The report must not overwrite the packets. */
static bool files_differ(const struct options *o)
{
    GError *error = NULL;
    return !o->capture || save_are_distinct(o->capture, o->output, "the report's file", &error) ||
           say_error(NULL, &error);
}

/* The report must not overwrite the one that it is compared with. */
static bool keeps_baseline(const struct options *o)
{
    GError *error = NULL;
    char *baseline = (char *)o->baseline;
    return !baseline ||
           (save_is_safe(o->output, &baseline, 1, "the baseline", &error) &&
            save_is_safe(o->capture, &baseline, 1, "the baseline", &error)) ||
           say_error(NULL, &error);
}

static bool are_hosts(const struct options *o)
{
    for (guint i = 0; i < o->targets->len; i++) {
        const struct target_option *t = &g_array_index(o->targets, struct target_option, i);
        if (t->fabric || t->node || t->prefix)
            return false;
    }
    return true;
}

static bool has_prefix(const struct options *o)
{
    for (guint i = 0; i < o->targets->len; i++)
        if (g_array_index(o->targets, struct target_option, i).prefix)
            return true;
    return false;
}

static bool has_node(const struct options *o)
{
    for (guint i = 0; i < o->targets->len; i++)
        if (g_array_index(o->targets, struct target_option, i).node)
            return true;
    return false;
}

static bool has_options_of_node(const struct options *o)
{
    return o->nagios || o->state || o->delay;
}

/* The target node and its options. */
static bool is_sensible_node(const struct options *o)
{
    bool node = probe_options_only_node(o);
    if (has_options_of_node(o) && !node)
        say("--nagios, --state and --delay-up-to are for the target node");
    else if (has_node(o) && !node)
        say("the target node is tested alone: run the other targets separately");
    else if (node && (o->capture || o->only->len || o->has_source || o->disruptive))
        say("-w, --only, --source and --disruptive are not for the target node");
    else if (node && o->port && !o->device)
        say("--port is a port of a device: name it with --device");
    else
        return true;
    return false;
}

static bool names_nodes(const struct options *o)
{
    return o->format == FORMAT_JSON || o->format == FORMAT_JSONL;
}

/* Checks combinations of options. */
static bool is_sensible(const struct options *o)
{
    if (o->list && o->targets->len > 0)
        say("--list probes nothing: give no target with it");
    else if (o->list && o->format != FORMAT_TEXT && o->format != FORMAT_JSON)
        say("--list prints text or json");
    else if (!o->list && o->targets->len == 0)
        say("no target is given: try 'ipoib-probe --help'");
    else if (o->node && (o->list || !names_nodes(o) || !o->node[0]))
        say("--node names a node in a report of --format json or jsonl");
    else if (is_own_source(o))
        say("--source is the probe's own address: it cannot be a target too");
    else if (o->has_source && probe_options_only_fabric(o))
        say("--source is for peers: leave it out for the target fabric");
    else if ((o->count || o->interval) && !is_one_peer(o))
        say("--count and --interval are for one peer, without --why");
    else if (o->baseline && !has_prefix(o))
        say("--baseline is for a prefix: name the one that the report is about");
    else if (o->why && !are_hosts(o))
        say("--why is for the addresses of hosts: 'ipoib-probe fabric' finds its causes without it");
    else if (o->all_ports && (o->device || o->port || o->targets->len == 0))
        say("--all-ports is for the target fabric without --device and --port");
    else if (o->capture && strcmp(o->capture, "-") == 0)
        say("-w writes to a file: standard output is the report's");
    else
        return is_sensible_node(o) && files_differ(o) && keeps_baseline(o) && can_save(o);
    return false;
}

static int read_all(struct options *o, int argc, char **argv)
{
    enum cli_result result = cli_read(&probe_program, argc, argv, o, NULL);
    if (result != CLI_READ)
        return cli_end(&probe_program, result, EXIT_UNJUDGED);
    for (int i = optind; i < argc; i++)
        if (!read_target(o, argv[i]))
            return EXIT_UNJUDGED;
    return o->explain || is_sensible(o) ? -1 : EXIT_UNJUDGED;
}

int probe_options_read(struct options *o, int argc, char **argv)
{
    *o = (struct options){.deviations = "linux", .rate = 200, .timeout_ms = 500};
    o->only = g_ptr_array_new();
    o->stages = g_ptr_array_new();
    o->targets = g_array_new(FALSE, TRUE, sizeof(struct target_option));
    int status = read_all(o, argc, argv);
    only_end(o->only, &o->selection);
    return status;
}

void probe_options_clear(struct options *o)
{
    for (guint i = 0; i < o->targets->len; i++)
        g_free(g_array_index(o->targets, struct target_option, i).name);
    g_array_unref(o->targets);
    g_ptr_array_unref(o->only);
    g_ptr_array_unref(o->stages);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of ipoib-probe. */
#include "probe/run/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/refused_option.h"
#include "cli/save.h"
#include "cli/say.h"
#include "probe/run/address.h"
#include "probe/run/destination.h"
#include "wire/view.h"

const char probe_options_help[] =
    "Usage: ipoib-probe [OPTION]... TARGET...\n"
    "       ipoib-probe --list\n"
    "       ipoib-probe --explain RULE\n"
    "\n"
    "Asks a peer on an IP over InfiniBand link, and says which requirements of RFC 4391\n"
    "and RFC 4755 it keeps. A TARGET is a host name; an IPv4 or IPv6 address; a prefix\n"
    "(10.0.0.0/24, at most /16, of IPv6 /116), whose hosts are all asked; or the word\n"
    "fabric: then this port and the subnet administrator are looked at, from the bottom up.\n"
    "By default nothing is sent that a peer remembers.\n"
    "\n"
    "  -d, --device DEV     the InfiniBand device (ibv_devices); the first if not given.\n"
    "                       Or a network interface (ib0), which shows less, where\n"
    "                       libibverbs or libibumad cannot be had\n"
    "  -p, --port PORT      its port; the first active one if not given\n"
    "      --pkey K         the partition (0x8001); the port's first P_Key if not given\n"
    "  -4                   take the IPv4 address of a host name\n"
    "  -6                   take the IPv6 address of a host name\n"
    "      --source IP      an unused address for the probe: allows the checks that need\n"
    "                       one (echo requests of all sizes). The peer will remember it\n"
    "                       for some time. It is tested first whether anybody has it\n"
    "      --only SELECTOR  these rules alone: an identifier, or a beginning of it\n"
    "                       (rfc4755, rfc4391.6); may be given several times\n"
    "      --disruptive     also what disturbs: wrong Q_Keys and P_Keys (the peer's port counts\n"
    "                       them and may send a trap), connections of a mode that the peer\n"
    "                       does not announce (Linux logs a warning), and, of a fabric,\n"
    "                       groups with wrong attributes (errors in the SM's log)\n"
    "      --strict         a violated SHOULD counts as a violated MUST does\n"
    "      --deviations NAME  known deviations, which are shown and not counted: linux\n"
    "                       (Linux and OpenSM; if not given), none, or a file's path\n"
    "      --format text|json|junit|tap   the report's format; text if not given\n"
    "      --node NAME      the node that ipoib-check --merge is to list the report under;\n"
    "                       with --format json\n"
    "  -o, --output FILE    write the report to FILE, not to standard output\n"
    "  -w, --write FILE     every packet sent and received, as pcapng for Wireshark\n"
    "      --rate N         at most N packets a second (1 to 100000); 200 if not given\n"
    "      --timeout MS     how long each answer is awaited; 500 if not given\n"
    "  -n, --dry-run        print what would be sent, as text; send nothing\n"
    "  -l, --list           print the checks\n"
    "      --explain RULE   print what a rule means, what evidence it needs, how to\n"
    "                       see it and what to do\n"
    "  -h, --help           print this text\n"
    "  -V, --version        print the version\n"
    "\n"
    "Exit status: 1 if a target violates a MUST (with --strict a SHOULD), or the fabric\n"
    "has a fault; else 2 if one could not be tested, or the usage was wrong; 3 if a\n"
    "privilege or the device is missing; else 0. 128 and the signal's number if it was\n"
    "interrupted: everything is undone then, and there is no report.\n";

enum {
    LONG_PKEY = 256,
    LONG_SOURCE,
    LONG_ONLY,
    LONG_DISRUPTIVE,
    LONG_STRICT,
    LONG_DEVIATIONS,
    LONG_FORMAT,
    LONG_NODE,
    LONG_RATE,
    LONG_TIMEOUT,
    LONG_EXPLAIN
};
enum { RATE_MAX = 100000, TIMEOUT_MAX = 60000 };

static bool read_number(const char *text, unsigned min, unsigned max, const char *what,
                        unsigned *out)
{
    char *end;
    unsigned long n = strtoul(text, &end, 0);
    if (end == text || *end || text[0] == '-' || n < min || n > max) {
        say("%s is a number from %u to %u, not '%s'", what, min, max, text);
        return false;
    }
    *out = (unsigned)n;
    return true;
}

static bool read_pkey(struct options *o, const char *text)
{
    unsigned n;
    if (!read_number(text, 1, 0xffff, "--pkey", &n))
        return false;
    if (n == 0x8000) {
        say("P_Key 0x8000 is no partition");
        return false;
    }
    o->pkey = (uint16_t)n;
    return true;
}

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
    bool good = destination_read(&t, text, o->family);
    if (good)
        g_array_append_val(o->targets, t);
    return good;
}

static bool read_option(struct options *o, int option, char *argument)
{
    switch (option) {
    case 'd':
        o->device = argument;
        return true;
    case 'p':
        return read_number(argument, 1, 254, "--port", &o->port);
    case LONG_PKEY:
        return read_pkey(o, argument);
    case LONG_SOURCE:
        return read_source(o, argument);
    case LONG_ONLY:
        return only_read(o->only, &o->selection, argument);
    case LONG_DISRUPTIVE:
        o->disruptive = true;
        return true;
    case LONG_STRICT:
        o->strict = true;
        return true;
    case LONG_DEVIATIONS:
        o->deviations = argument;
        return true;
    case LONG_FORMAT:
        return format_read(&o->format, argument);
    case LONG_NODE:
        o->node = argument;
        return true;
    case LONG_RATE:
        return read_number(argument, 1, RATE_MAX, "--rate", &o->rate);
    case LONG_TIMEOUT:
        return read_number(argument, 1, TIMEOUT_MAX, "--timeout", &o->timeout_ms);
    case '4':
    case '6':
        return read_family(o, option == '6');
    case 'o':
        o->output = argument;
        return true;
    case 'w':
        o->capture = argument;
        return true;
    case 'n':
        o->dry_run = true;
        return true;
    case LONG_EXPLAIN:
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
    default: /* refuse() has printed the message */
        say("try 'ipoib-probe --help'");
        return false;
    }
}

/* getopt_long's own messages would print the user's text to the terminal unescaped. */
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
    static const char shorts[] = ":d:p:o:w:nlhV46";
    static const struct option known[] = {{"device", required_argument, NULL, 'd'},
                                          {"port", required_argument, NULL, 'p'},
                                          {"pkey", required_argument, NULL, LONG_PKEY},
                                          {"source", required_argument, NULL, LONG_SOURCE},
                                          {"only", required_argument, NULL, LONG_ONLY},
                                          {"disruptive", no_argument, NULL, LONG_DISRUPTIVE},
                                          {"strict", no_argument, NULL, LONG_STRICT},
                                          {"deviations", required_argument, NULL, LONG_DEVIATIONS},
                                          {"format", required_argument, NULL, LONG_FORMAT},
                                          {"node", required_argument, NULL, LONG_NODE},
                                          {"rate", required_argument, NULL, LONG_RATE},
                                          {"timeout", required_argument, NULL, LONG_TIMEOUT},
                                          {"output", required_argument, NULL, 'o'},
                                          {"write", required_argument, NULL, 'w'},
                                          {"dry-run", no_argument, NULL, 'n'},
                                          {"list", no_argument, NULL, 'l'},
                                          {"explain", required_argument, NULL, LONG_EXPLAIN},
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
    for (int i = optind; i < argc; i++)
        if (!read_target(o, argv[i]))
            return false;
    return true;
}

static bool is_own_source(const struct options *o)
{
    for (guint i = 0; o->has_source && i < o->targets->len; i++) {
        const struct target_option *t = &g_array_index(o->targets, struct target_option, i);
        if (!t->fabric && !t->prefix && t->ipv6 == o->source_ipv6 &&
            memcmp(t->ip, o->source, t->ipv6 ? 16 : 4) == 0)
            return true;
    }
    return false;
}

bool options_only_fabric(const struct options *o)
{
    bool only = o->targets->len > 0;
    for (guint i = 0; i < o->targets->len; i++)
        only &= g_array_index(o->targets, struct target_option, i).fabric;
    return only;
}

/*
 * The report must not overwrite the packets. A file that does not exist yet can only be compared by
 * name.
 */
static bool files_differ(const struct options *o)
{
    char *capture = (char *)o->capture;
    if (!o->capture || !o->output)
        return true;
    if (g_file_test(o->output, G_FILE_TEST_EXISTS))
        return save_is_safe(o->output, &capture, 1, "what -w writes the packets to");
    char *one = g_canonicalize_filename(o->output, NULL),
         *other = g_canonicalize_filename(o->capture, NULL);
    bool differ = strcmp(one, other) != 0;
    g_free(one);
    g_free(other);
    if (!differ)
        say("-w and -o are one file: the report would take the packets' place");
    return differ;
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
    else if (o->node && (o->list || o->format != FORMAT_JSON || !o->node[0]))
        say("--node names a node in a report of --format json");
    else if (is_own_source(o))
        say("--source is the probe's own address: it cannot be a target too");
    else if (o->has_source && options_only_fabric(o))
        say("--source is for addresses that are probed: the fabric is looked at without");
    else if (o->capture && strcmp(o->capture, "-") == 0)
        say("-w writes to a file: standard output is the report's");
    else
        return files_differ(o);
    return false;
}

bool probe_options_read(struct options *o, int argc, char **argv)
{
    *o = (struct options){.deviations = "linux", .rate = 200, .timeout_ms = 500};
    o->only = g_ptr_array_new();
    o->targets = g_array_new(FALSE, TRUE, sizeof(struct target_option));
    bool good = read_all(o, argc, argv) && (o->help || o->version || o->explain || is_sensible(o));
    only_end(o->only, &o->selection);
    return good;
}

void probe_options_clear(struct options *o)
{
    for (guint i = 0; i < o->targets->len; i++)
        g_free(g_array_index(o->targets, struct target_option, i).name);
    g_array_unref(o->targets);
    g_ptr_array_unref(o->only);
}

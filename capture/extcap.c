/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Extcap interface for Wireshark. See extcap.h. */
#include "capture/extcap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/live.h"
#include "cli/say.h"
#include "pcapio/packet.h"
#include "capture/receive/sniffer.h"

#define PREFIX "ipoib-" /* prefix of an interface name: ipoib-mlx5_0-1 */

struct extcap {
    bool interfaces, dlts, config, capture, version;
    const char *interface, *fifo, *filter;
    int rest_count;
    char **rest; /* options for the capture itself */
};

/* --- arguments from Wireshark */

/* Wireshark's options with a value: "--name value" or "--name=value". */
static const char **value_place(struct extcap *e, const char *name, size_t len)
{
    /* options of other Wireshark versions, and options that have no effect here */
    static const char *ignored;
    static const char *const names[] = {"--extcap-interface",      "--fifo",
                                        "--extcap-capture-filter", "--extcap-control-in",
                                        "--extcap-control-out",    "--extcap-reload-option"};
    const char **places[] = {&e->interface, &e->fifo, &e->filter, &ignored, &ignored, &ignored};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i]) == len && strncmp(name, names[i], len) == 0)
            return places[i];
    return NULL;
}

static bool take_flag(struct extcap *e, const char *arg)
{
    static const char version[] = "--extcap-version";

    if (strcmp(arg, "--extcap-interfaces") == 0)
        return e->interfaces = true;
    if (strcmp(arg, "--extcap-dlts") == 0)
        return e->dlts = true;
    if (strcmp(arg, "--extcap-config") == 0)
        return e->config = true;
    if (strcmp(arg, "--capture") == 0)
        return e->capture = true;
    /* with or without Wireshark's version as a value */
    if (strncmp(arg, version, sizeof(version) - 1) == 0)
        return e->version = true;
    return false;
}

static void take_rest(struct extcap *e, char *option, char *value)
{
    /* an empty field in Wireshark's dialog counts as not given */
    if (value && value[0] == '\0')
        return;
    e->rest[e->rest_count++] = option;
    if (value)
        e->rest[e->rest_count++] = value;
}

static void parse_options(struct extcap *e, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *equals = strchr(argv[i], '='),
             *next = i + 1 < argc && argv[i + 1][0] != '-' ? argv[i + 1] : NULL;
        const char **place = value_place(e, argv[i],
                                         equals ? (size_t)(equals - argv[i]) : strlen(argv[i]));

        if (place && (equals || i + 1 < argc))
            *place = equals ? equals + 1 : argv[++i];
        else if (!place && !take_flag(e, argv[i])) {
            take_rest(e, argv[i], equals ? NULL : next);
            i += !equals && next;
        }
    }
}

/* Splits "ipoib-mlx5_0-1" into device and port. */
static bool split_name(const char *name, char *device, size_t size, unsigned *port)
{
    const char *dash = name ? strrchr(name, '-') : NULL;
    char *end;

    if (!dash || strncmp(name, PREFIX, sizeof(PREFIX) - 1) != 0 || dash < name + sizeof(PREFIX))
        return false;
    *port = (unsigned)strtoul(dash + 1, &end, 10);
    snprintf(device, size, "%.*s", (int)(dash - name - (sizeof(PREFIX) - 1)),
             name + sizeof(PREFIX) - 1);
    return end != dash + 1 && *end == '\0' && *port > 0;
}

/* --- responses to Wireshark */

static void report_port(const char *device, unsigned port)
{
    printf("interface {value=" PREFIX "%s-%u}{display=ipoib-capture: %s port %u}\n", device, port,
           device, port);
}

/*
 * Lists the ports with link layer InfiniBand. A device that the user may not open is listed too:
 * the capture then reports the missing permission.
 */
static void report_device(const struct device_list *list, int number)
{
    const char *name = ibv_get_device_name(list->devices[number]);
    struct ibv_context *context = ibv_open_device(list->devices[number]);
    struct ibv_device_attr attr;
    struct ibv_port_attr port;

    if (list->devices[number]->transport_type == IBV_TRANSPORT_IWARP) {
        if (context)
            ibv_close_device(context);
        return;
    }
    if (!context) {
        report_port(name, 1);
        return;
    }
    for (unsigned i = 1; ibv_query_device(context, &attr) == 0 && i <= attr.phys_port_cnt; i++)
        if (ibv_query_port(context, (uint8_t)i, &port) == 0 &&
            port.link_layer != IBV_LINK_LAYER_ETHERNET)
            report_port(name, i);
    ibv_close_device(context);
}

/* No device is not an error: Wireshark calls this on every machine. */
static int report_interfaces(void)
{
    struct device_list list = {0};

    list.devices = ibv_get_device_list(&list.count);
    for (int i = 0; list.devices && i < list.count; i++)
        report_device(&list, i);
    device_list_free(&list);
    return 0;
}

static bool can_sniff(const char *name, unsigned port)
{
    struct device_list list = {0};
    struct device device;
    bool can = true;
    char why[400];

    list.devices = ibv_get_device_list(&list.count);
    if (list.devices && device_open(&device, &list, name, port, why, sizeof(why))) {
        can = sniffer_try(&device).step == REFUSED_NOT;
        device_close(&device);
    }
    device_list_free(&list);
    return can;
}

static void report_selector(int number, const char *call, const char *display, const char *tip)
{
    printf("arg {number=%d}{call=%s}{display=%s}{type=selector}{tooltip=%s}{group=Capture}\n",
           number, call, display, tip);
}

static void report_value(int number, const char *value, const char *display, bool is_default)
{
    printf("value {arg=%d}{value=%s}{display=%s}{default=%s}\n", number, value, display,
           is_default ? "true" : "false");
}

/* The default mode is sniffer if the port supports it, else multicast. */
static int report_config(const char *device, unsigned port)
{
    bool sniffer = can_sniff(device, port);

    report_selector(0, "--mode", "Mode", "What is captured");
    report_value(0, "sniffer", "Sniffer: all that the port sends and receives", sniffer);
    report_value(0, "multicast", "Multicast: frames sent to the link's IPoIB groups", !sniffer);
    printf("arg {number=1}{call=--pkey}{display=Partition (multicast)}{type=string}{required=false}"
           "{placeholder=the port's first P_Key}{validation=^(0[xX][0-9a-fA-F]+|[0-9]+)?$}"
           "{tooltip=P_Key, such as 0x8001}{group=Capture}\n");
    report_selector(2, "--groups", "Groups (multicast)", "Which of the partition's groups");
    report_value(2, "all", "All IPoIB groups, also new ones", true);
    report_value(2, "broadcast", "Only the broadcast group", false);
    printf(
        "arg {number=6}{call=--only}{display=Packets}{type=multicheck}{required=false}"
        "{tooltip=Selected by their headers; none: all packets, also those of other protocols}{group=Capture}\n");
    report_value(6, "ipoib", "IPoIB: datagrams and connections", false);
    report_value(6, "cm", "Communication management", false);
    report_value(6, "sa", "Subnet administration", false);
    report_value(6, "smp", "Subnet management (QP 0)", false);
    printf(
        "arg {number=3}{call=--snaplen}{display=Bytes of each frame}{type=unsigned}{required=false}{range=1,65535}"
        "{tooltip=Empty: all}{group=Limits}\n");
    printf(
        "arg {number=4}{call=--max-burst}{display=Buffers (log2)}{type=unsigned}{required=false}{range=0,20}"
        "{tooltip=Largest burst of frames; empty: 15, or as many as the device has}{group=Limits}\n");
    printf(
        "arg {number=5}{call=--jumbo-mtu}{display=Buffers of 16 KiB}{type=boolflag}{default=false}"
        "{tooltip=For frames longer than the MTU}{group=Limits}\n");
    return 0;
}

static int report_dlts(void)
{
    printf("dlt {number=%d}{name=ERF}{display=InfiniBand frames in ERF records}\n", LINKTYPE_ERF);
    return 0;
}

static const char no_filters[] =
    "there are no capture filters for InfiniBand: capture without one, and use a display "
    "filter, such as ipoib or infiniband.lrh.slid == 7";

/* Wireshark shows any output as the error of the filter. */
static int check_filter(const char *filter)
{
    if (filter[0] != '\0')
        printf("ipoib-capture: %s\n", no_filters);
    return 0;
}

/* --- the capture */

static int capture(const struct extcap *e, const char *device, unsigned port)
{
    char name[] = "ipoib-capture", format[] = "--format=pcapng", silent[] = "-s", d[80], i[24],
         *w = NULL;
    char **argv = calloc((size_t)e->rest_count + 8, sizeof(*argv));
    char *own[] = {name, format, silent, d, i, NULL};
    struct live_options options;
    int argc = 0, status = 1;

    snprintf(d, sizeof(d), "--ib-dev=%s", device);
    snprintf(i, sizeof(i), "--ib-port=%u", port);
    if (asprintf(&w, "--write=%s", e->fifo) < 0 || !argv) {
        say("out of memory");
    } else {
        for (; own[argc]; argc++)
            argv[argc] = own[argc];
        argv[argc++] = w;
        for (int n = 0; n < e->rest_count; n++)
            argv[argc++] = e->rest[n];
        status = live_parse_options(argc, argv, &options);
        options.reader_may_leave = true;
        status = status >= 0 ? status : live_run(&options);
    }
    free(w);
    free(argv);
    return status;
}

static int begin_capture(const struct extcap *e, const char *device, unsigned port)
{
    if (e->filter && e->filter[0] != '\0') {
        say("%s", no_filters);
        return 2;
    }
    if (e->fifo)
        return capture(e, device, port);
    say("--capture needs --fifo");
    return 2;
}

static int answer_query(const struct extcap *e)
{
    char device[64] = "";
    unsigned port = 0;

    if (e->interfaces || (e->version && !e->interface)) {
        printf("extcap {version=" IPOIB_VERSION "}{display=ipoib-capture: InfiniBand}\n");
        return e->interfaces ? report_interfaces() : 0;
    }
    if (!split_name(e->interface, device, sizeof(device), &port)) {
        if (e->interface)
            say("there is no interface %s; --extcap-interfaces lists them", e->interface);
        else
            say("--extcap-interface is missing");
        return 2;
    }
    if (e->capture)
        return begin_capture(e, device, port);
    if (e->dlts)
        return report_dlts();
    if (e->config)
        return report_config(device, port);
    if (e->filter)
        return check_filter(e->filter);
    say("--extcap-interface needs --capture, --extcap-dlts or --extcap-config");
    return 2;
}

bool extcap_is_requested(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "--extcap-", strlen("--extcap-")) == 0 ||
            strcmp(argv[i], "--capture") == 0)
            return true;
    return false;
}

int extcap_main(int argc, char **argv)
{
    struct extcap e = {.rest = calloc((size_t)argc + 1, sizeof(*e.rest))};
    int status = 1;

    if (e.rest) {
        parse_options(&e, argc, argv);
        status = answer_query(&e);
    }
    free(e.rest);
    if (fflush(stdout) == 0)
        return status;
    say("standard output: cannot be written");
    return 1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Extcap interface for Wireshark. See extcap.h. */
#include "capture/extcap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/choice.h"
#include "capture/live.h"
#include "capture/live_table.h"
#include "capture/receive/selection.h"
#include "cli/create.h"
#include "cli/say.h"
#include "pcapio/capture_record.h"

#define PREFIX "ipoib-" /* prefix of an interface name: ipoib-mlx5_0-1 */

struct extcap {
    bool interfaces, dlts, config, capture, version;
    const char *interface, *fifo, *filter;
    int fifo_fd;
    GPtrArray *rest; /* options for the capture itself; in argv */
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
    g_ptr_array_add(e->rest, option);
    if (value)
        g_ptr_array_add(e->rest, value);
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

    list.devices = ibv_get_device_list(&list.count);
    if (list.devices && device_open(&device, &list, name, port, NULL)) {
        can = choice_try(&device, NULL, NULL);
        device_close(&device);
    }
    device_list_free(&list);
    return can;
}

static void report_value(int number, const char *value, const char *display, bool is_default)
{
    printf("value {arg=%d}{value=%s}{display=%s}{default=%s}\n", number, value, display,
           is_default ? "true" : "false");
}

/* An option of the live capture: its texts come from the option table. MORE: more of {key=value}.
 */
static const struct cli_option *report_option(int number, const char *name, const char *type,
                                              const char *more)
{
    const struct cli_option *o = cli_option_named(&live_program, name);

    printf("arg {number=%d}{call=--%s}{display=%s}{type=%s}{tooltip=%c%s}%s\n", number, name,
           o->label, type, g_ascii_toupper(o->help[0]), o->help + 1, more);
    return o;
}

static void report_choice(int number, const char *name, const char *chosen)
{
    const struct cli_option *o = report_option(number, name, "selector", "{group=Capture}");
    char **values = g_strsplit(o->argument, "|", -1);

    for (int i = 0; values[i]; i++)
        report_value(number, values[i], o->labels[i], strcmp(values[i], chosen) == 0);
    g_strfreev(values);
}

static void report_kinds(int number)
{
    const struct cli_option *o = report_option(number, "only", "multicheck",
                                               "{required=false}{group=Capture}");

    for (int kind = 0; kind < KIND_OTHER; kind++)
        report_value(number, selection_name((enum packet_kind)kind), o->labels[kind], false);
}

/* An empty field leaves the default. */
static void report_number(int number, const char *name)
{
    const struct cli_option *o = cli_option_named(&live_program, name);
    char *more = g_strdup_printf("{required=false}{range=%" PRIu64 ",%" PRIu64 "}{group=Limits}",
                                 o->low, o->high);

    report_option(number, name, "unsigned", more);
    g_free(more);
}

/* The default mode is sniffer if the port supports it, else multicast. */
static int report_config(const char *device, unsigned port)
{
    report_choice(0, "mode", can_sniff(device, port) ? "sniffer" : "multicast");
    report_option(1, "pkey", "string",
                  "{required=false}{placeholder=the port's first P_Key}"
                  "{validation=^(0[xX][0-9a-fA-F]+|[0-9]+)?$}{group=Capture}");
    report_choice(2, "groups", "all");
    report_kinds(6);
    report_number(3, "snaplen");
    report_number(4, "max-burst");
    report_option(5, "jumbo-mtu", "boolflag", "{default=false}{group=Limits}");
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

/*
 * Opens the FIFO, before anything that can fail. Wireshark waits for the FIFO's end, and shows
 * messages only then: it would wait for ever for a program that ends without having opened it.
 * open() waits for Wireshark; a signal ends the program. The FIFO stays open until the program
 * ends.
 */
static bool open_fifo(struct extcap *e)
{
    GError *error = NULL;
    struct stat st = {0};

    if (!e->fifo) {
        say("--capture needs --fifo");
        return false;
    }
    if (stat(e->fifo, &st) != 0 || !S_ISFIFO(st.st_mode)) {
        say("%s: %s", e->fifo,
            S_ISREG(st.st_mode) ? "is a regular file, not a FIFO" : "there is no such FIFO");
        return false;
    }
    e->fifo_fd = create_file(e->fifo, &access_unlimited, &error);
    say_error(e->fifo, &error);
    return e->fifo_fd >= 0;
}

static int capture(const struct extcap *e, const char *device, unsigned port)
{
    GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);
    struct live_options options;
    int status;

    g_ptr_array_add(argv, g_strdup("ipoib-capture"));
    g_ptr_array_add(argv, g_strdup("--format=pcapng"));
    g_ptr_array_add(argv, g_strdup("-s"));
    g_ptr_array_add(argv, g_strdup_printf("--ib-dev=%s", device));
    g_ptr_array_add(argv, g_strdup_printf("--ib-port=%u", port));
    g_ptr_array_add(argv, g_strdup_printf("--write=%s", e->fifo));
    for (guint i = 0; i < e->rest->len; i++)
        g_ptr_array_add(argv, g_strdup(e->rest->pdata[i]));
    g_ptr_array_add(argv, NULL);
    /* the options point into argv */
    status = live_parse_options((int)argv->len - 1, (char **)argv->pdata, &options);
    options.fifo = e->fifo_fd;
    if (status < 0)
        status = live_run(&options);
    g_ptr_array_unref(argv);
    return status;
}

static int begin_capture(const struct extcap *e, const char *device, unsigned port)
{
    if (e->filter && e->filter[0] != '\0') {
        say("%s", no_filters);
        return 2;
    }
    return capture(e, device, port);
}

static int answer_query(struct extcap *e)
{
    char device[64] = "";
    unsigned port = 0;

    if (e->interfaces || (e->version && !e->interface)) {
        printf("extcap {version=" IPOIB_VERSION "}{display=ipoib-capture: InfiniBand}\n");
        return e->interfaces ? report_interfaces() : 0;
    }
    if (e->capture && !open_fifo(e))
        return 2;
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
    struct extcap e = {.rest = g_ptr_array_new()};
    int status;

    parse_options(&e, argc, argv);
    status = answer_query(&e);
    g_ptr_array_unref(e.rest);
    return cli_print("") ? status : 1;
}

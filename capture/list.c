/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --list. See list.h. */
#include "capture/list.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

#include "capture/choice.h"
#include "hca/device.h"
#include "capture/live_options.h"
#include "cli/say.h"
#include "capture/multicast/multicast.h"
#include "capture/receive/refusal.h"
#include "capture/receive/rxring.h"

static const char *link_layer(const struct device *device)
{
    switch (device->port_attr.link_layer) {
    case IBV_LINK_LAYER_ETHERNET:
        return "Ethernet";
    case IBV_LINK_LAYER_INFINIBAND:
        return "InfiniBand";
    default:
        return "InfiniBand (link layer not reported)";
    }
}

static void show_gid(const struct device *device)
{
    char text[INET6_ADDRSTRLEN];
    union ibv_gid gid;

    if (ibv_query_gid(device->context, device->port, 0, &gid) == 0 &&
        inet_ntop(AF_INET6, gid.raw, text, sizeof(text)))
        printf("    GID       %s\n", text);
}

static void show_pkeys(const struct device *device)
{
    int shown = 0;

    for (int i = 0; i < device->port_attr.pkey_tbl_len; i++) {
        uint16_t pkey = device_pkey(device->context, device->port, (unsigned)i);

        if (pkey != 0)
            printf("%s0x%04x", shown++ ? " " : "    P_Keys    ", pkey);
    }
    if (shown)
        printf("\n");
}

static bool show_sniffer(struct device *device, const char *library)
{
    const char *name = choice_name(choice_of_sniffer(device, SNIFFER_AUTO));
    GError *error = NULL;
    bool good = choice_try(device, library, &error);

    if (good && choice_of_sniffer(device, SNIFFER_AUTO) == SNIFFER_FIRMWARE)
        printf("    sniffer   can be opened (%s): the command itself is not tried\n", name);
    else if (good)
        printf("    sniffer   yes (%s)\n", name);
    else
        printf("    sniffer   no (%s): %s\n", name, error->message);
    g_clear_error(&error);
    return good;
}

static bool show_multicast(struct device *device)
{
    struct refusal refusal = multicast_try(device);
    char cause[400];

    if (refusal.step == REFUSED_NOT) {
        printf("    multicast yes\n");
        return true;
    }
    refusal_cause(device, refusal, cause, sizeof(cause));
    printf("    multicast no: %s\n", cause);
    return false;
}

static void show_modes(struct device *device, const char *library)
{
    bool sniffer = show_sniffer(device, library), multicast = show_multicast(device);

    if (!sniffer && multicast)
        printf(
            "    instead   --mode multicast: ARP, Neighbour Discovery and IP multicast of the link\n");
    if (choice_has_sm(device))
        printf("    note      a subnet manager runs on this port: a sniffer can disturb it\n");
}

/* Prints the memory that a capture without -b, -j, -M and -p uses. */
static void show_memory(struct device *device)
{
    const struct rx_plan plan = {.entries = RX_ENTRIES,
                                 .entry_len = rxring_entry_len(device, false),
                                 .whole_pages = choice_of_sniffer(device, SNIFFER_AUTO) ==
                                                SNIFFER_FIRMWARE};
    struct rx_memory memory = rxring_try_memory(device, &plan);

    if (memory.entries == 0)
        printf("    memory    no buffers can be registered\n");
    else
        printf("    memory    %" PRIu64 " MiB registered (%u buffers), up to %" PRIu64
               " MiB held for the file\n",
               memory.bytes >> 20, memory.entries, (uint64_t)HOLD_DEFAULT >> 20);
}

static void show_port(struct device *device, const char *library)
{
    printf("%s port %u: %s, %s", device_name(device), device->port,
           ibv_port_state_str(device->port_attr.state), link_layer(device));
    if (!device_is_ethernet(device))
        printf(", LID %u", device->port_attr.lid);
    printf(", MTU %u\n", device_mtu(device));
    show_gid(device);
    if (!device_is_ethernet(device))
        show_pkeys(device);
    show_modes(device, library);
    if (device->context->device->transport_type != IBV_TRANSPORT_IWARP)
        show_memory(device);
}

/* Prints every port of a device. Returns false after a message if the device cannot be opened. */
static bool show_device(const struct device_list *list, const char *name, const char *library)
{
    unsigned ports = 1;

    for (unsigned port = 1; port <= ports; port++) {
        struct device device;
        GError *error = NULL;

        if (!device_open(&device, list, name, port, &error))
            return say_error(NULL, &error);
        ports = device.attr.phys_port_cnt;
        show_port(&device, library);
        device_close(&device);
    }
    return true;
}

int list_devices(const char *name, const char *library)
{
    struct device_list list;
    GError *error = NULL;
    bool good = true;

    if (!device_list_get(&list, &error)) {
        say_error(NULL, &error);
        return 1;
    }
    if (name)
        good = show_device(&list, name, library);
    for (int i = 0; !name && i < list.count; i++)
        good = show_device(&list, ibv_get_device_name(list.devices[i]), library) && good;
    device_list_free(&list);
    if (fflush(stdout) == 0)
        return good ? 0 : 1;
    say("standard output: cannot be written");
    return 1;
}

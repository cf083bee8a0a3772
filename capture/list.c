/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --list. See list.h. */
#include "capture/list.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

#include "hca/device.h"
#include "capture/live_options.h"
#include "cli/say.h"
#include "capture/multicast/multicast.h"
#include "capture/receive/refusal.h"
#include "capture/receive/rxring.h"
#include "capture/receive/sniffer.h"

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

static void show_mode(const struct device *device, const char *mode, struct refusal refusal)
{
    char cause[400];

    if (refusal.step == REFUSED_NOT) {
        printf("    %-9s yes\n", mode);
        return;
    }
    refusal_cause(device, refusal, cause, sizeof(cause));
    printf("    %-9s no: %s\n", mode, cause);
}

/* Prints the memory that a capture without -b, -j, -M and -p uses. */
static void show_memory(struct device *device)
{
    const struct rx_plan plan = {.entries = RX_ENTRIES,
                                 .entry_len = rxring_entry_len(device, false)};
    struct rx_memory memory = rxring_try_memory(device, &plan);

    if (memory.entries == 0)
        printf("    memory    no buffers can be registered\n");
    else
        printf("    memory    %" PRIu64 " MiB registered (%u buffers), up to %" PRIu64
               " MiB held for the file\n",
               memory.bytes >> 20, memory.entries, (uint64_t)HOLD_DEFAULT >> 20);
}

static void show_port(struct device *device)
{
    printf("%s port %u: %s, %s", device_name(device), device->port,
           ibv_port_state_str(device->port_attr.state), link_layer(device));
    if (!device_is_ethernet(device))
        printf(", LID %u", device->port_attr.lid);
    printf(", MTU %u\n", device_mtu(device));
    show_gid(device);
    if (!device_is_ethernet(device))
        show_pkeys(device);
    show_mode(device, "sniffer", sniffer_try(device));
    show_mode(device, "multicast", multicast_try(device));
    if (device->context->device->transport_type != IBV_TRANSPORT_IWARP)
        show_memory(device);
}

/* Prints every port of a device. Returns false after a message if the device cannot be opened. */
static bool show_device(const struct device_list *list, const char *name)
{
    unsigned ports = 1;

    for (unsigned port = 1; port <= ports; port++) {
        struct device device;
        GError *error = NULL;

        if (!device_open(&device, list, name, port, &error))
            return say_error(NULL, &error);
        ports = device.attr.phys_port_cnt;
        show_port(&device);
        device_close(&device);
    }
    return true;
}

int list_devices(const char *name)
{
    struct device_list list;
    GError *error = NULL;
    bool good = true;

    if (!device_list_get(&list, &error)) {
        say_error(NULL, &error);
        return 1;
    }
    if (name)
        good = show_device(&list, name);
    for (int i = 0; !name && i < list.count; i++)
        good = show_device(&list, ibv_get_device_name(list.devices[i])) && good;
    device_list_free(&list);
    if (fflush(stdout) == 0)
        return good ? 0 : 1;
    say("standard output: cannot be written");
    return 1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RDMA devices and their ports. See device.h. */
#include "capture/receive/device.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/say.h"

bool device_list_get(struct device_list *list)
{
    list->devices = ibv_get_device_list(&list->count);
    if (list->devices && list->count > 0)
        return true;
    if (!list->devices && errno != ENOSYS)
        say("the RDMA devices cannot be listed: %s", strerror(errno));
    else if (!list->devices)
        say("this kernel has no user access to RDMA devices: load the module ib_uverbs (modprobe ib_uverbs)");
    else
        say("there is no RDMA device here: is the HCA's driver loaded (ls /sys/class/infiniband; modprobe mlx5_ib "
            "ib_uverbs), and its library installed (Debian: ibverbs-providers)?");
    device_list_free(list);
    return false;
}

void device_list_free(struct device_list *list)
{
    if (list->devices)
        ibv_free_device_list(list->devices);
    list->devices = NULL;
}

/* Reports that the device NAME does not exist, and lists those that do. */
static void report_names(const struct device_list *list, const char *name)
{
    char names[512] = "";
    size_t at = 0;

    for (int i = 0; i < list->count && at < sizeof(names); i++)
        at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "",
                               ibv_get_device_name(list->devices[i]));
    say("there is no RDMA device %s; there is %s", name, names);
}

static struct ibv_device *find_device(const struct device_list *list, const char *name)
{
    for (int i = 0; i < list->count; i++)
        if (!name || strcmp(ibv_get_device_name(list->devices[i]), name) == 0)
            return list->devices[i];
    report_names(list, name);
    return NULL;
}

static void report_open(struct ibv_device *device)
{
    if (errno == EACCES || errno == EPERM)
        say("%s cannot be opened: permission denied: /dev/infiniband/%s: run as root, or grant access to it",
            ibv_get_device_name(device), device->dev_name);
    else
        say("%s cannot be opened: %s", ibv_get_device_name(device), strerror(errno));
}

bool device_refresh(struct device *device)
{
    return ibv_query_port(device->context, device->port, &device->port_attr) == 0;
}

static bool query(struct device *device)
{
    int error = ibv_query_device(device->context, &device->attr);

    if (error != 0) {
        say("%s: cannot query the device: %s", device_name(device), strerror(error));
        return false;
    }
    if (device->port == 0 || device->port > device->attr.phys_port_cnt) {
        say("%s has no port %u: it has %u, counted from 1", device_name(device), device->port,
            device->attr.phys_port_cnt);
        return false;
    }
    if (device_refresh(device))
        return true;
    say("%s port %u does not answer: %s", device_name(device), device->port, strerror(errno));
    return false;
}

bool device_open(struct device *device, const struct device_list *list, const char *name,
                 unsigned port)
{
    struct ibv_device *found = find_device(list, name);

    memset(device, 0, sizeof(*device));
    if (!found)
        return false;
    device->port = port > UINT8_MAX ? 0 : (uint8_t)port;
    device->context = ibv_open_device(found);
    if (!device->context) {
        report_open(found);
        return false;
    }
    if (query(device))
        return true;
    device_close(device);
    return false;
}

void device_close(struct device *device)
{
    if (device->context)
        ibv_close_device(device->context);
    device->context = NULL;
}

const char *device_name(const struct device *device)
{
    return ibv_get_device_name(device->context->device);
}

bool device_is_ethernet(const struct device *device)
{
    return device->port_attr.link_layer == IBV_LINK_LAYER_ETHERNET;
}

unsigned device_mtu(const struct device *device)
{
    unsigned code = device->port_attr.active_mtu;

    return code >= 1 && code <= 5 ? 128u << code : 4096;
}

bool device_has_driver(const struct ibv_device *device, const char *prefix)
{
    char path[sizeof(device->ibdev_path) + sizeof("/device/driver")], driver[PATH_MAX];
    const char *base;
    ssize_t len;

    snprintf(path, sizeof(path), "%s/device/driver", device->ibdev_path);
    len = readlink(path, driver, sizeof(driver) - 1);
    if (len < 0) /* no sysfs: compare the device's name, which contains the driver's unless it was
                    changed */
        return strncmp(device->name, prefix, strlen(prefix)) == 0;
    driver[len] = '\0';
    base = strrchr(driver, '/');
    return strncmp(base ? base + 1 : driver, prefix, strlen(prefix)) == 0;
}

bool device_owns_lid(const struct device *device, uint16_t lid)
{
    uint16_t base = device->port_attr.lid, mask = (uint16_t)(0xffffu << device->port_attr.lmc);

    return base != 0 && (lid & mask) == (base & mask);
}

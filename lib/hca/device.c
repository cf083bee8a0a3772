/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RDMA devices and their ports. See device.h. */
#include "hca/device.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/fail.h"

/* A container may see the devices of its host without their files. */
static void fail_no_device(GError **error)
{
    GDir *all = g_dir_open("/sys/class/infiniband", 0, NULL);
    if (all && g_dir_read_name(all))
        fail_with(error, "the RDMA devices cannot be used here: /dev/infiniband/uverbs* is missing "
                         "(modprobe ib_uverbs; a container must be given the files)");
    else
        fail_with(error,
                  "there is no RDMA device here: is the HCA's driver loaded (ls "
                  "/sys/class/infiniband; modprobe mlx5_ib ib_uverbs), and its library installed "
                  "(Debian: ibverbs-providers)?");
    if (all)
        g_dir_close(all);
}

bool device_list_get(struct device_list *list, GError **error)
{
    list->devices = ibv_get_device_list(&list->count);
    if (list->devices && list->count > 0)
        return true;
    if (!list->devices && errno != ENOSYS)
        fail_with(error, "the RDMA devices cannot be listed: %s", strerror(errno));
    else if (!list->devices)
        fail_with(
            error,
            "this kernel has no user access to RDMA devices: load the module ib_uverbs (modprobe ib_uverbs)");
    else
        fail_no_device(error);
    device_list_free(list);
    return false;
}

void device_list_free(struct device_list *list)
{
    if (list->devices)
        ibv_free_device_list(list->devices);
    list->devices = NULL;
}

struct ibv_device *device_find(const struct device_list *list, const char *name, GError **error)
{
    GString *names;

    for (int i = 0; i < list->count; i++)
        if (!name || strcmp(ibv_get_device_name(list->devices[i]), name) == 0)
            return list->devices[i];
    names = g_string_new(NULL);
    for (int i = 0; i < list->count; i++)
        g_string_append_printf(names, "%s%s", i ? ", " : "", ibv_get_device_name(list->devices[i]));
    fail_with(error, "there is no RDMA device %s; there is %s", name, names->str);
    g_string_free(names, TRUE);
    return NULL;
}

const char *device_advice(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return "run as root, or grant access to the device";
    case ENOMEM:
        return "end other programs that use memory or the device, or raise the limit of locked memory (ulimit -l)";
    case EMFILE:
    case ENFILE:
        return "raise the limit of open files (ulimit -n)";
    default:
        return "look for errors of the device's driver in dmesg, and reload the driver or reset the device";
    }
}

struct ibv_context *device_context(struct ibv_device *device, GError **error)
{
    struct ibv_context *context;
    int number;

    errno = 0;
    context = ibv_open_device(device);
    number = errno ? errno : ENODEV; /* libibverbs does not always set it */
    if (context)
        return context;
    if (number == EACCES || number == EPERM)
        fail_with(
            error,
            "%s cannot be opened: permission denied: /dev/infiniband/%s: run as root, or grant access to it",
            ibv_get_device_name(device), device->dev_name);
    else
        fail_with(error, "%s cannot be opened: %s: %s", ibv_get_device_name(device),
                  strerror(number), device_advice(number));
    errno = number;
    return NULL;
}

uint16_t device_pkey(struct ibv_context *context, unsigned port, unsigned index)
{
    __be16 pkey;

    return ibv_query_pkey(context, (uint8_t)port, (int)index, &pkey) == 0 ? ntohs(pkey) : 0;
}

bool device_refresh(struct device *device)
{
    return ibv_query_port(device->context, device->port, &device->port_attr) == 0;
}

static bool query_device(struct device *device, GError **error)
{
    int number = ibv_query_device(device->context, &device->attr);

    if (number != 0)
        return fail_with(error, "%s: cannot query the device: %s: %s", device_name(device),
                         strerror(number), device_advice(number));
    if (device->port == 0 || device->port > device->attr.phys_port_cnt)
        return fail_with(error, "%s has no port %u: it has %u, counted from 1", device_name(device),
                         device->port, device->attr.phys_port_cnt);
    return device_refresh(device) ||
           fail_with(error, "%s port %u: cannot query the port: %s: %s", device_name(device),
                     device->port, strerror(errno), device_advice(errno));
}

bool device_open(struct device *device, const struct device_list *list, const char *name,
                 unsigned port, GError **error)
{
    struct ibv_device *found = device_find(list, name, error);

    memset(device, 0, sizeof(*device));
    if (!found)
        return false;
    device->port = port > UINT8_MAX ? 0 : (uint8_t)port;
    device->context = device_context(found, error);
    if (!device->context)
        return false;
    if (query_device(device, error))
        return true;
    device_close(device);
    return false;
}

void device_close(struct device *device)
{
    if (device->context && !device->stays_open)
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

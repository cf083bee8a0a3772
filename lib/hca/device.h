/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RDMA devices and their ports: listing, opening, attributes. */
#ifndef IPOIB_HCA_DEVICE_H
#define IPOIB_HCA_DEVICE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

struct device_list {
    struct ibv_device **devices; /* from ibv_get_device_list() */
    int count;
};

/* Lists the devices. Returns false and sets ERROR if there is none. */
bool device_list_get(struct device_list *list, GError **error);
/* Does nothing if already called. */
void device_list_free(struct device_list *list);
/* The device NAME (NULL: the first one). Returns NULL and sets ERROR if there is none. */
struct ibv_device *device_find(const struct device_list *list, const char *name, GError **error);
/*
 * Opens a device. Returns NULL with errno and sets ERROR if that fails; EACCES and EPERM: a
 * privilege is missing.
 */
struct ibv_context *device_context(struct ibv_device *device, GError **error);

/* What to do if a call to an RDMA device fails with this errno value. */
const char *device_advice(int error);

/* An open device and one of its ports. */
struct device {
    struct ibv_context *context;
    struct ibv_device_attr attr;
    struct ibv_port_attr port_attr;
    uint8_t port;
    bool stays_open; /* until the process ends: a queue pair must not be destroyed */
};

/*
 * Opens the device NAME (NULL: the first one), port PORT. Returns false and sets ERROR if that
 * fails.
 */
bool device_open(struct device *device, const struct device_list *list, const char *name,
                 unsigned port, GError **error);
/* Does nothing if already called. */
void device_close(struct device *device);

/* The P_Key at INDEX of a port's table; 0: none. */
uint16_t device_pkey(struct ibv_context *context, unsigned port, unsigned index);

/* Queries the port's attributes again. Returns false if the query fails. */
bool device_refresh(struct device *device);

/* Returns the device name from libibverbs, such as "mlx5_0". */
const char *device_name(const struct device *device);
/* Whether the link layer of the port is Ethernet. */
bool device_is_ethernet(const struct device *device);
unsigned device_mtu(const struct device *device); /* active MTU of the port in bytes */

/*
 * Whether the name of the kernel driver starts with PREFIX ("mlx5"). Without sysfs, the device's
 * name is compared instead.
 */
bool device_has_driver(const struct ibv_device *device, const char *prefix);

/* Whether LID is one of the port's LIDs: the base LID and the range given by the LMC. */
bool device_owns_lid(const struct device *device, uint16_t lid);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The InfiniBand ports of this host and the IPoIB interfaces on them, from sysfs. */
#ifndef IPOIB_PROBE_HOSTPORTS_H
#define IPOIB_PROBE_HOSTPORTS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct host_port {
    char device[64];
    unsigned port;
    uint8_t state; /* PORT_DOWN ... PORT_ACTIVE from wire/smp.h */
    char gid[48];  /* its first GID, as the kernel writes it */
};

/*
 * The InfiniBand ports, as struct host_port, by name and number. Ethernet ports are left out, and
 * so are devices that only carry SMPs for another one (ConnectX-8: smi1 beside mlx5_0).
 */
GArray *host_ports(void);

/*
 * True if the kernel does not list the device of an IPoIB interface: it is in another network
 * namespace (rdma(8): netns exclusive). device: its name; "": unknown.
 */
bool host_device_is_hidden(const char *device);

struct host_ipoib {
    char name[32];
    char device[64]; /* "": this kernel does not export it */
    unsigned port;
    uint16_t pkey;
    bool up; /* set up by the administrator */
};

/* The IPoIB interfaces of this network namespace, as struct host_ipoib, by name. */
GArray *host_ipoib_all(void);
/* Finds one by its name; for a bond, its active interface. Returns false if it is none. */
bool host_ipoib_find(const char *name, struct host_ipoib *out);
/* "mlx5_0, mlx5_1, ib0": what the user may name; "": nothing. Free with g_free(). */
char *host_names(void);

#endif

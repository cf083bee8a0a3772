/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Network interfaces of this host. */
#ifndef IPOIB_PROBE_HOSTIF_H
#define IPOIB_PROBE_HOSTIF_H

#include "probe/link/link.h"
#include "probe/link/transport.h"

/*
 * Name of an interface of this host that is up on this port and partition (in this network
 * namespace), or NULL. Free with g_free().
 */
char *host_interface(const struct probe_link *l);
char *host_interface_on(const struct port_facts *port, uint16_t pkey);
/* The same, but if none is up, one that is down. */
char *host_interface_in_any_state(const struct port_facts *port, uint16_t pkey);
/* Name of an interface of the port, in any partition, that is no child of another one; or NULL. */
char *host_parent_of_port(const struct port_facts *port);
/* Name of the interface whose child this one is, or NULL. */
char *host_parent(const char *name);
bool host_is_up(const char *name);
/*
 * True if the interface listens to the group according to the kernel (dev_mcast), or if that file
 * cannot be read.
 */
bool host_wants(const char *interface, const uint8_t *mgid);
#define WANTED_GROUPS "/proc/net/dev_mcast"
/*
 * Reads the group from one line of that file: index, name, users, global users, and the 20-byte
 * address in hexadecimal digits. Returns false if the line is not about the interface.
 */
bool host_wanted_group_read(const char *line, const char *interface, uint8_t mgid[16]);
/* The names of all interfaces that are up in this partition, on any port. */
GPtrArray *host_interfaces(const struct probe_link *l);
/*
 * Name of the host's interface that has this address (in this network namespace), or NULL. Free
 * with g_free().
 */
char *host_has_address(bool ipv6, const uint8_t *ip);
/* True if an IPoIB interface of this host has the port of that link-layer address. */
bool host_has_port(const uint8_t *lladdr);
/* Calls take for each address of the host's interfaces. */
#define OWN_ADDRESS "this host has the address itself, at %s: probe it from another"
typedef void host_address_take(void *user, const char *interface, bool ipv6, const uint8_t *ip);
void host_addresses(host_address_take *take, void *user);

/* True if the module ib_ipoib, which makes the interfaces, is loaded. */
bool host_has_ipoib_driver(void);

#endif

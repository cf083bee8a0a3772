/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Network interfaces of this host. */
#ifndef IPOIB_PROBE_HOSTIF_H
#define IPOIB_PROBE_HOSTIF_H

#include "probe/link/link.h"
#include "probe/link/transport.h"

/*
 * Has the host an interface up on this port and partition (in this network namespace)? Its name, or
 * NULL; g_free.
 */
char *host_interface(const struct probe_link *l);
char *host_interface_on(const struct port_facts *port, uint16_t pkey);
/*
 * Does it listen to the group, as far as the kernel lists (dev_mcast)? True also where that cannot
 * be read.
 */
bool host_wants(const char *interface, const uint8_t *mgid);
#define WANTED_GROUPS "/proc/net/dev_mcast"
/*
 * The group of one line of that file: index, name, users, global users, the 20-octet address in
 * hexadecimal digits. False: it is not the interface's.
 */
bool wanted_group_read(const char *line, const char *interface, uint8_t mgid[16]);
/* The names of all that are up in this partition, whatever their port. */
GPtrArray *host_interfaces(const struct probe_link *l);
/*
 * Has an interface of the host this address (in this network namespace)? Its name, or NULL; g_free.
 */
char *host_has_address(bool ipv6, const uint8_t *ip);
/* All that its interfaces have. */
#define OWN_ADDRESS "this host has the address itself, at %s: probe it from another"
typedef void host_address_take(void *user, const char *interface, bool ipv6, const uint8_t *ip);
void host_addresses(host_address_take *take, void *user);

#endif

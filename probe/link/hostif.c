/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's own IPoIB interfaces, from sysfs. */
#include "probe/link/hostif.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/link/link.h"
#include "probe/link/sysfs.h"
#include "probe/link/transport.h"
#include "wire/arp.h"
#include "wire/mgid.h"

enum { INTERFACE_UP = 1, GUID_AT = LLADDR_SIZE - 8 }; /* IFF_UP; offset of the port GUID */

static unsigned long read_attribute(const char *name, const char *attribute)
{
    char *text = sysfs_interface(name, attribute);
    unsigned long value = strtoul(text, NULL, 0);
    g_free(text);
    return value;
}

/* "80:00:00:48:fe:80:..." */
static bool has_guid(const char *name, const uint8_t *guid)
{
    char *text = sysfs_interface(name, "address"), **parts = g_strsplit(text, ":", -1);
    bool same = g_strv_length(parts) == LLADDR_SIZE;
    for (unsigned i = 0; same && i < 8; i++)
        same = strtoul(parts[GUID_AT + i], NULL, 16) == guid[i];
    g_strfreev(parts);
    g_free(text);
    return same;
}

/* The 20-byte broadcast address contains the link's P_Key in its MGID (RFC 4391 §4). */
static unsigned long pkey_of_broadcast(const char *name)
{
    enum { PKEY_AT = LLADDR_GID + MGID_PKEY };
    char *text = sysfs_interface(name, "broadcast"), **parts = g_strsplit(text, ":", -1);
    unsigned long pkey = 0;
    if (g_strv_length(parts) == LLADDR_SIZE)
        pkey = strtoul(parts[PKEY_AT], NULL, 16) << 8 | strtoul(parts[PKEY_AT + 1], NULL, 16);
    g_strfreev(parts);
    g_free(text);
    return pkey;
}

static bool is_ipoib(const char *name)
{
    return read_attribute(name, "type") == ARP_HRD_INFINIBAND;
}

bool host_is_up(const char *name)
{
    return read_attribute(name, "flags") & INTERFACE_UP;
}

static bool is_in_partition(const char *name, uint16_t pkey)
{
    return is_ipoib(name) && (((read_attribute(name, "pkey") ^ pkey) & 0x7fff) == 0 ||
                              ((pkey_of_broadcast(name) ^ pkey) & 0x7fff) == 0);
}

/* Compares the device and port number; child interfaces have those of their parent. */
static bool is_of_device(const char *name, const struct port_facts *port)
{
    char *path = g_strdup_printf("device/infiniband/%s/node_type", port->device),
         *type = sysfs_interface(name, path), *number = sysfs_interface(name, "dev_port");
    bool is = *type && *number && strtoul(number, NULL, 0) + 1 == port->port;
    g_free(number);
    g_free(type);
    g_free(path);
    return is;
}

GPtrArray *host_interfaces(const struct probe_link *l)
{
    GDir *dir = g_dir_open("/sys/class/net", 0, NULL);
    const char *name;
    GPtrArray *found = g_ptr_array_new_with_free_func(g_free);
    while (dir && (name = g_dir_read_name(dir)))
        if (is_in_partition(name, l->pkey) && host_is_up(name))
            g_ptr_array_add(found, g_strdup(name));
    if (dir)
        g_dir_close(dir);
    return found;
}

struct wanted_interface {
    const struct port_facts *port;
    uint16_t pkey;
    unsigned long index;
    const uint8_t *guid;
};

/* The first interface that is wanted, in alphabetical order; NULL: none. */
static char *find_interface(bool (*is_wanted)(const char *name, const struct wanted_interface *w),
                            const struct wanted_interface *w)
{
    GDir *dir = g_dir_open("/sys/class/net", 0, NULL);
    const char *name;
    char *found = NULL;
    while (dir && (name = g_dir_read_name(dir)))
        if ((!found || strcmp(name, found) < 0) && is_wanted(name, w)) {
            g_free(found);
            found = g_strdup(name);
        }
    if (dir)
        g_dir_close(dir);
    return found;
}

static bool is_of_port(const char *name, const struct port_facts *port)
{
    return has_guid(name, port->gid + 8) || is_of_device(name, port);
}

static bool is_on(const char *name, const struct wanted_interface *w)
{
    return is_in_partition(name, w->pkey) && is_of_port(name, w->port);
}

static bool is_on_and_up(const char *name, const struct wanted_interface *w)
{
    return is_on(name, w) && host_is_up(name);
}

char *host_interface_on(const struct port_facts *port, uint16_t pkey)
{
    return find_interface(is_on_and_up, &(struct wanted_interface){.port = port, .pkey = pkey});
}

char *host_interface_in_any_state(const struct port_facts *port, uint16_t pkey)
{
    char *up = host_interface_on(port, pkey);
    return up ? up : find_interface(is_on, &(struct wanted_interface){.port = port, .pkey = pkey});
}

/* The kernel gives the parent's index as that of the lower device. */
static bool is_child(const char *name)
{
    return read_attribute(name, "iflink") != read_attribute(name, "ifindex");
}

static bool is_parent_on(const char *name, const struct wanted_interface *w)
{
    return is_ipoib(name) && is_of_port(name, w->port) && !is_child(name);
}

char *host_parent_of_port(const struct port_facts *port)
{
    return find_interface(is_parent_on, &(struct wanted_interface){.port = port});
}

static bool has_index(const char *name, const struct wanted_interface *w)
{
    return read_attribute(name, "ifindex") == w->index;
}

char *host_parent(const char *name)
{
    const struct wanted_interface w = {.index = read_attribute(name, "iflink")};
    return is_child(name) ? find_interface(has_index, &w) : NULL;
}

static bool has_port(const char *name, const struct wanted_interface *w)
{
    return is_ipoib(name) && has_guid(name, w->guid);
}

bool host_has_port(const uint8_t *lladdr)
{
    char *name = find_interface(has_port, &(struct wanted_interface){.guid = lladdr + GUID_AT});
    bool has = name != NULL;
    g_free(name);
    return has;
}

char *host_interface(const struct probe_link *l)
{
    return host_interface_on(&l->transport->facts, l->pkey);
}

/* ---- multicast groups */

bool host_wanted_group_read(const char *line, const char *interface, uint8_t mgid[16])
{
    char name[64], address[80];
    if (sscanf(line, "%*d %63s %*d %*d %79s", name, address) != 2 || strcmp(name, interface) != 0 ||
        strlen(address) != (size_t)2 * LLADDR_SIZE)
        return false;
    for (size_t i = 0; i < 16; i++) {
        const char digits[3] = {address[2 * (LLADDR_GID + i)], address[2 * (LLADDR_GID + i) + 1],
                                '\0'};
        mgid[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return true;
}

bool host_wants(const char *interface, const uint8_t *mgid)
{
    char *text = NULL;
    uint8_t listed[16];
    if (!g_file_get_contents(WANTED_GROUPS, &text, NULL, NULL))
        return true;
    bool wants = false;
    char **lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line && !wants; line++)
        wants = host_wanted_group_read(*line, interface, listed) && memcmp(listed, mgid, 16) == 0;
    g_strfreev(lines);
    g_free(text);
    return wants;
}

/* ---- addresses */

/* NULL: not an IP address. */
static const uint8_t *ip_of_interface(const struct ifaddrs *i, bool *ipv6)
{
    int family = i->ifa_addr ? i->ifa_addr->sa_family : AF_UNSPEC;
    *ipv6 = family == AF_INET6;
    if (*ipv6)
        return ((const struct sockaddr_in6 *)(const void *)i->ifa_addr)->sin6_addr.s6_addr;
    return family == AF_INET
               ? (const uint8_t *)&((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr
               : NULL;
}

void host_addresses(host_address_take *take, void *user)
{
    struct ifaddrs *list = NULL;
    bool ipv6;
    if (getifaddrs(&list) != 0)
        return;
    for (const struct ifaddrs *i = list; i; i = i->ifa_next) {
        const uint8_t *ip = ip_of_interface(i, &ipv6);
        if (ip)
            take(user, i->ifa_name, ipv6, ip);
    }
    freeifaddrs(list);
}

struct wanted_address {
    bool ipv6;
    const uint8_t *ip;
    char *interface;
};

static void match_address(void *user, const char *interface, bool ipv6, const uint8_t *ip)
{
    struct wanted_address *w = user;
    if (!w->interface && ipv6 == w->ipv6 && memcmp(ip, w->ip, ipv6 ? 16 : 4) == 0)
        w->interface = g_strdup(interface);
}

char *host_has_address(bool ipv6, const uint8_t *ip)
{
    struct wanted_address w = {ipv6, ip, NULL};
    host_addresses(match_address, &w);
    return w.interface;
}

bool host_has_ipoib_driver(void)
{
    char *size = sysfs_read("/sys/module/ib_ipoib/parameters", "send_queue_size");
    bool loaded = *size != '\0';
    g_free(size);
    return loaded;
}

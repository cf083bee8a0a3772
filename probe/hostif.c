/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's own IPoIB interfaces, as sysfs shows them. */
#include "probe/probe.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "probe/sysfs.h"
#include "wire/arp.h"

enum { INTERFACE_UP = 1, GUID_AT = LLADDR_SIZE - 8 }; /* IFF_UP; the port GUID ends the address */

static unsigned long read_value(const char *name, const char *attribute)
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

static bool is_in_partition(const struct probe *p, const char *name)
{
    return read_value(name, "type") == ARP_HRD_INFINIBAND && ((read_value(name, "pkey") ^ p->pkey) & 0x7fff) == 0 &&
           (read_value(name, "flags") & INTERFACE_UP);
}

GPtrArray *host_interfaces(const struct probe *p)
{
    GDir *dir = g_dir_open("/sys/class/net", 0, NULL);
    const char *name;
    GPtrArray *found = g_ptr_array_new_with_free_func(g_free);
    while (dir && (name = g_dir_read_name(dir)))
        if (is_in_partition(p, name))
            g_ptr_array_add(found, g_strdup(name));
    if (dir)
        g_dir_close(dir);
    return found;
}

char *host_interface(const struct probe *p)
{
    GDir *dir = g_dir_open("/sys/class/net", 0, NULL);
    const char *name;
    char *found = NULL;
    while (dir && !found && (name = g_dir_read_name(dir)))
        if (is_in_partition(p, name) && has_guid(name, p->t->facts.gid + 8))
            found = g_strdup(name);
    if (dir)
        g_dir_close(dir);
    return found;
}

static bool is_address(const struct ifaddrs *i, bool ipv6, const uint8_t *ip)
{
    if (!i->ifa_addr || i->ifa_addr->sa_family != (ipv6 ? AF_INET6 : AF_INET))
        return false;
    return ipv6 ? memcmp(&((const struct sockaddr_in6 *)(const void *)i->ifa_addr)->sin6_addr, ip, 16) == 0
                : memcmp(&((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr, ip, 4) == 0;
}

char *host_has_address(bool ipv6, const uint8_t *ip)
{
    struct ifaddrs *list = NULL;
    char *found = NULL;
    if (getifaddrs(&list) != 0)
        return NULL;
    for (const struct ifaddrs *i = list; i && !found; i = i->ifa_next)
        if (is_address(i, ipv6, ip))
            found = g_strdup(i->ifa_name);
    freeifaddrs(list);
    return found;
}

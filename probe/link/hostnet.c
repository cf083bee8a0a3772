/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The networks of this host's IPoIB interfaces. See hostnet.h. */
#include "probe/link/hostnet.h"

#include <glib.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "probe/link/hostports.h"
#include "probe/run/text.h"

static const uint8_t *bytes_of(const struct sockaddr *a, bool ipv6)
{
    return ipv6 ? ((const struct sockaddr_in6 *)(const void *)a)->sin6_addr.s6_addr
                : (const uint8_t *)&((const struct sockaddr_in *)(const void *)a)->sin_addr;
}

static unsigned prefix_length(const uint8_t *mask, unsigned bytes)
{
    unsigned bits = 0;
    while (bits < bytes * 8 && mask[bits / 8] >> (7 - bits % 8) & 1)
        bits++;
    return bits;
}

static bool contains(const uint8_t *own, const uint8_t *mask, const uint8_t *ip, unsigned bytes)
{
    bool all = true;
    for (unsigned i = 0; i < bytes; i++)
        all &= ((own[i] ^ ip[i]) & mask[i]) == 0;
    return all;
}

/* A network of an IPoIB interface, or of the active one of a bond. */
static bool is_network(const struct ifaddrs *i, bool ipv6)
{
    struct host_ipoib unused;
    return i->ifa_addr && i->ifa_netmask && i->ifa_addr->sa_family == (ipv6 ? AF_INET6 : AF_INET) &&
           host_ipoib_find(i->ifa_name, &unused);
}

char *hostnet_of(bool ipv6, const uint8_t *ip)
{
    return hostnet_other(ipv6, ip, "");
}

char *hostnet_other(bool ipv6, const uint8_t *ip, const char *interface)
{
    struct ifaddrs *list = NULL;
    char *name = NULL;
    if (getifaddrs(&list) != 0)
        return NULL;
    for (const struct ifaddrs *i = list; i && !name; i = i->ifa_next)
        if (is_network(i, ipv6) && strcmp(i->ifa_name, interface) != 0 &&
            contains(bytes_of(i->ifa_addr, ipv6), bytes_of(i->ifa_netmask, ipv6), ip,
                     ipv6 ? 16 : 4))
            name = g_strdup(i->ifa_name);
    freeifaddrs(list);
    return name;
}

/* interface: NULL for all, which are then named. */
static char *list_networks(const char *interface, bool ipv6)
{
    struct ifaddrs *list = NULL;
    GString *text = g_string_new(NULL);
    char ip[48];
    for (const struct ifaddrs *i = getifaddrs(&list) == 0 ? list : NULL; i; i = i->ifa_next) {
        if (!is_network(i, ipv6) || (interface && strcmp(i->ifa_name, interface) != 0))
            continue;
        text_ip(ipv6, bytes_of(i->ifa_addr, ipv6), ip);
        g_string_append_printf(text, "%s%s%s%s/%u", text->len ? ", " : "",
                               interface ? "" : i->ifa_name, interface ? "" : " ", ip,
                               prefix_length(bytes_of(i->ifa_netmask, ipv6), ipv6 ? 16 : 4));
    }
    if (list)
        freeifaddrs(list);
    return g_string_free(text, FALSE);
}

char *hostnet_text(bool ipv6)
{
    return list_networks(NULL, ipv6);
}

char *hostnet_text_of(const char *interface, bool ipv6)
{
    return list_networks(interface, ipv6);
}

/* The host part is zero. */
static bool is_first(const uint8_t *mask, const uint8_t *ip)
{
    bool zero = prefix_length(mask, 4) <= 30;
    for (unsigned i = 0; i < 4; i++)
        zero &= (ip[i] & ~mask[i]) == 0;
    return zero;
}

bool hostnet_is_network_address(const char *interface, const uint8_t *ip)
{
    struct ifaddrs *list = NULL;
    bool is = false;
    for (const struct ifaddrs *i = getifaddrs(&list) == 0 ? list : NULL; i; i = i->ifa_next)
        if (is_network(i, false) && strcmp(i->ifa_name, interface) == 0) {
            const uint8_t *mask = bytes_of(i->ifa_netmask, false);
            is |= contains(bytes_of(i->ifa_addr, false), mask, ip, 4) && is_first(mask, ip);
        }
    if (list)
        freeifaddrs(list);
    return is;
}

char *hostnet_dad_failed(const char *interface, bool link_local)
{
    enum { LINK_LOCAL = 0x20, DAD_FAILED = 0x08 }; /* ipv6(7), IFA_F_DADFAILED */
    char line[128], name[32], digits[33], ip[48];
    unsigned scope, flags;
    bool usable = false;
    GString *failed = g_string_new(NULL);
    FILE *f = fopen("/proc/net/if_inet6", "re");
    while (f && fgets(line, sizeof line, f)) {
        uint8_t address[16];
        if (sscanf(line, "%32s %*x %*x %x %x %31s", digits, &scope, &flags, name) != 4 ||
            strcmp(name, interface) != 0 || (scope == LINK_LOCAL) != link_local)
            continue;
        usable |= !(flags & DAD_FAILED);
        for (unsigned i = 0; i < sizeof address; i++)
            address[i] = (uint8_t)(g_ascii_xdigit_value(digits[2 * i]) << 4 |
                                   g_ascii_xdigit_value(digits[2 * i + 1]));
        text_ip(true, address, ip);
        if (flags & DAD_FAILED)
            g_string_append_printf(failed, "%s%s", failed->len ? ", " : "", ip);
    }
    if (f)
        fclose(f);
    return g_string_free(failed, usable || !failed->len);
}

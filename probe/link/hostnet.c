/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The networks of this host's IPoIB interfaces. See hostnet.h. */
#include "probe/link/hostnet.h"

#include <glib.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
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

bool hostnet_is_wide(const char *interface, bool ipv6, const uint8_t *ip)
{
    enum { USUAL4 = 24, USUAL6 = 64 };
    struct ifaddrs *list = NULL;
    bool wide = false;
    unsigned bytes = ipv6 ? 16 : 4, usual = ipv6 ? USUAL6 : USUAL4;
    for (const struct ifaddrs *i = getifaddrs(&list) == 0 ? list : NULL; i; i = i->ifa_next) {
        if (!is_network(i, ipv6) || strcmp(i->ifa_name, interface) != 0)
            continue;
        const uint8_t *own = bytes_of(i->ifa_addr, ipv6), *mask = bytes_of(i->ifa_netmask, ipv6);
        wide |= contains(own, mask, ip, bytes) && prefix_length(mask, bytes) < usual &&
                memcmp(own, ip, usual / 8) != 0;
    }
    if (list)
        freeifaddrs(list);
    return wide;
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

/* ---- addresses that the kernel does not use */

/* A line of /proc/net/if_inet6: address, index, prefix length, scope, flags, name. */
struct own_ipv6 {
    uint8_t ip[16];
    bool link_local, failed;
};

static bool read_own_ipv6(const char *line, const char *interface, struct own_ipv6 *a)
{
    enum { LINK_LOCAL = 0x20, DAD_FAILED = 0x08 }; /* IFA_F_DADFAILED, rtnetlink(7) */
    char digits[33], scope[8], flags[8], name[32];
    if (sscanf(line, "%32s %*s %*s %7s %7s %31s", digits, scope, flags, name) != 4 ||
        strcmp(name, interface) != 0 || strlen(digits) != 2 * sizeof a->ip)
        return false;
    for (size_t i = 0; i < sizeof a->ip; i++)
        a->ip[i] = (uint8_t)(g_ascii_xdigit_value(digits[2 * i]) << 4 |
                             g_ascii_xdigit_value(digits[2 * i + 1]));
    a->link_local = strtoul(scope, NULL, 16) == LINK_LOCAL;
    a->failed = strtoul(flags, NULL, 16) & DAD_FAILED;
    return true;
}

char *hostnet_dad_failed(const char *interface, bool link_local)
{
    char line[128], ip[48];
    bool usable = false;
    struct own_ipv6 a;
    GString *failed = g_string_new(NULL);
    FILE *f = fopen("/proc/net/if_inet6", "re");
    while (f && fgets(line, sizeof line, f)) {
        if (!read_own_ipv6(line, interface, &a) || a.link_local != link_local)
            continue;
        usable |= !a.failed;
        text_ip(true, a.ip, ip);
        if (a.failed)
            g_string_append_printf(failed, "%s%s", failed->len ? ", " : "", ip);
    }
    if (f)
        fclose(f);
    return g_string_free(failed, usable || !failed->len);
}

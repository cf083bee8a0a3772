/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See hostsocket.h. */
#include "probe/link/hostsocket.h"

#include <net/if.h>
#include <string.h>

#include "probe/link/sysfs.h"

struct host_address host_address(bool ipv6, const uint8_t *ip, const char *interface, uint16_t port)
{
    struct host_address a = {.size = ipv6 ? sizeof a.to.v6 : sizeof a.to.v4};
    a.to.any.sa_family = ipv6 ? AF_INET6 : AF_INET;
    if (ipv6) {
        memcpy(&a.to.v6.sin6_addr, ip, 16);
        a.to.v6.sin6_port = htons(port);
        a.to.v6.sin6_scope_id = if_nametoindex(interface);
    } else {
        memcpy(&a.to.v4.sin_addr, ip, 4);
        a.to.v4.sin_port = htons(port);
    }
    return a;
}

int host_socket(bool ipv6, int type, int protocol, const char *interface)
{
    int fd = socket(ipv6 ? AF_INET6 : AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
    if (fd >= 0 && sysfs_is_in_vrf(interface))
        setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface, (socklen_t)strlen(interface) + 1);
    return fd;
}

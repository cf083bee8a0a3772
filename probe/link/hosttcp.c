/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See hosttcp.h. */
#include "probe/link/hosttcp.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe/link/sysfs.h"

enum { TCPMUX = 1 };

union tcp_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static bool answers(int fd, int ms)
{
    struct pollfd p = {fd, POLLOUT, 0};
    int error = 0;
    socklen_t size = sizeof error;
    return poll(&p, 1, ms) > 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 &&
           (error == 0 || error == ECONNREFUSED);
}

bool host_tcp_answers(bool ipv6, const uint8_t *ip, const char *interface, int ms)
{
    union tcp_address to = {.v6 = {0}};
    int fd = socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    to.any.sa_family = ipv6 ? AF_INET6 : AF_INET;
    if (ipv6) {
        memcpy(&to.v6.sin6_addr, ip, 16);
        to.v6.sin6_port = htons(TCPMUX);
        to.v6.sin6_scope_id = if_nametoindex(interface);
    } else {
        memcpy(&to.v4.sin_addr, ip, 4);
        to.v4.sin_port = htons(TCPMUX);
    }
    if (sysfs_is_in_vrf(interface))
        setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface, (socklen_t)strlen(interface) + 1);
    bool begun = connect(fd, &to.any, ipv6 ? sizeof to.v6 : sizeof to.v4) == 0 ||
                 errno == EINPROGRESS;
    bool is = begun && answers(fd, ms);
    close(fd);
    return is;
}

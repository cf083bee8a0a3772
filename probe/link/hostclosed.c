/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See hostclosed.h. */
#include "probe/link/hostclosed.h"

#include <errno.h>
#include <glib.h>
#include <poll.h>
#include <unistd.h>

#include "probe/link/hostsocket.h"

enum { TCPMUX = 1 };

/* The error that arrives with one of these events, or 0; < 0: nothing arrives. */
static int await_error(int fd, short events, int ms)
{
    struct pollfd p = {fd, events, 0};
    int error = 0;
    socklen_t size = sizeof error;
    if (poll(&p, 1, ms) <= 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
        return -1;
    return error;
}

static bool answers(int fd, int ms)
{
    int error = await_error(fd, POLLOUT, ms);
    return error == 0 || error == ECONNREFUSED;
}

bool host_tcp_answers(bool ipv6, const uint8_t *ip, const char *interface, int ms)
{
    const struct host_address a = host_address(ipv6, ip, interface, TCPMUX);
    int fd = host_socket(ipv6, SOCK_STREAM, 0, interface);
    if (fd < 0)
        return false;
    bool begun = connect(fd, &a.to.any, a.size) == 0 || errno == EINPROGRESS;
    bool is = begun && answers(fd, ms);
    close(fd);
    return is;
}

bool host_udp_is_refused(bool ipv6, const uint8_t *ip, const char *interface, uint32_t data, int ms)
{
    const struct host_address a = host_address(ipv6, ip, interface, TCPMUX);
    int fd = host_socket(ipv6, SOCK_DGRAM, 0, interface);
    if (fd < 0)
        return false;
    char *zeros = g_malloc0(data + 1);
    bool is = connect(fd, &a.to.any, a.size) == 0 && send(fd, zeros, data, 0) == (ssize_t)data &&
              await_error(fd, POLLERR, ms) == ECONNREFUSED;
    g_free(zeros);
    close(fd);
    return is;
}

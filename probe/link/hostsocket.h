/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses for sockets of this host's kernel. */
#ifndef IPOIB_PROBE_HOSTSOCKET_H
#define IPOIB_PROBE_HOSTSOCKET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct host_address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } to;
    socklen_t size;
};

/* interface: the zone of a link-local address; the route decides otherwise. port: of TCP or UDP. */
struct host_address host_address(bool ipv6, const uint8_t *ip, const char *interface,
                                 uint16_t port);
/* Opens a socket that does not block. In a VRF it is bound to the interface. < 0: errno says why.
 */
int host_socket(bool ipv6, int type, int protocol, const char *interface);

#endif

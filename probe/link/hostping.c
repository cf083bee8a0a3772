/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See hostping.h. */
#include "probe/link/hostping.h"

#include <errno.h>
#include <glib.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "probe/link/hostsocket.h"
#include "wire/checksum.h"
#include "wire/put.h"
#include "wire/view.h"

enum {
    REQUESTS = 4,
    ECHO_SIZE = 8, /* of the header */
    ECHO4_REQUEST = 8,
    ECHO4_REPLY = 0,
    ECHO6_REQUEST = 128,
    ECHO6_REPLY = 129,
    STEP_MS = 100,
};

struct ping_request {
    int fd;
    bool ipv6, raw; /* raw: the kernel gives all messages, with the IPv4 header */
    uint16_t id, sequence;
    uint32_t data; /* octets, all 0 */
    struct host_address address;
};

/* The port of ICMP is 0. */
static bool open_socket(struct ping_request *p, const uint8_t *ip, const char *interface)
{
    int protocol = p->ipv6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
    p->address = host_address(p->ipv6, ip, interface, 0);
    p->fd = host_socket(p->ipv6, SOCK_DGRAM, protocol, interface);
    p->raw = p->fd < 0;
    if (p->raw)
        p->fd = host_socket(p->ipv6, SOCK_RAW, protocol, interface);
    return p->fd >= 0;
}

/* The kernel computes the checksum of ICMPv6, and sets identifiers of ping sockets. */
static bool send_request(const struct ping_request *p)
{
    size_t n = ECHO_SIZE + p->data;
    uint8_t *echo = g_malloc0(n);
    echo[0] = p->ipv6 ? ECHO6_REQUEST : ECHO4_REQUEST;
    put16(echo + 4, p->id);
    put16(echo + 6, p->sequence);
    if (!p->ipv6)
        put16(echo + 2, checksum_fold(checksum_add(0, echo, n)));
    bool sent = sendto(p->fd, echo, n, 0, &p->address.to.any, p->address.size) == (ssize_t)n;
    int error = errno;
    g_free(echo);
    errno = error;
    return sent;
}

static bool is_sender(const struct ping_request *p, const struct host_address *from)
{
    return p->ipv6 ? memcmp(&from->to.v6.sin6_addr, &p->address.to.v6.sin6_addr, 16) == 0
                   : from->to.v4.sin_addr.s_addr == p->address.to.v4.sin_addr.s_addr;
}

static bool is_reply(const struct ping_request *p, const uint8_t *bytes, size_t n)
{
    size_t header = p->raw && !p->ipv6 && n ? (size_t)(bytes[0] & 0xf) * 4 : 0;
    const uint8_t *echo = bytes + header;
    if (n < header + ECHO_SIZE || echo[0] != (p->ipv6 ? ECHO6_REPLY : ECHO4_REPLY))
        return false;
    return be16(echo + 6) == p->sequence && (!p->raw || be16(echo + 4) == p->id);
}

static bool take_reply(const struct ping_request *p)
{
    uint8_t bytes[256];
    struct host_address from = {.size = sizeof from.to};
    ssize_t n;
    while ((n = recvfrom(p->fd, bytes, sizeof bytes, 0, &from.to.any, &from.size)) > 0) {
        if (is_sender(p, &from) && is_reply(p, bytes, (size_t)n))
            return true;
        from.size = sizeof from.to;
    }
    return false;
}

static bool await_reply(const struct ping_request *p, int ms, const volatile int *stop)
{
    gint64 end = g_get_monotonic_time() + (gint64)ms * 1000;
    struct pollfd fd = {p->fd, POLLIN, 0};
    for (gint64 left = ms; left > 0 && !*stop; left = (end - g_get_monotonic_time()) / 1000)
        if (poll(&fd, 1, (int)MIN(left, STEP_MS)) > 0 && take_reply(p))
            return true;
    return false;
}

struct host_ping host_ping(bool ipv6, const uint8_t *ip, const char *interface, uint32_t data,
                           int ms, const volatile int *stop)
{
    struct ping_request p = {.ipv6 = ipv6, .id = (uint16_t)getpid(), .data = data};
    struct host_ping result = {.sent = false};
    result.permitted = open_socket(&p, ip, interface);
    if (!result.permitted) {
        result.error = errno;
        return result;
    }
    for (; p.sequence < REQUESTS && !result.answered && !*stop; p.sequence++) {
        gint64 begin = g_get_monotonic_time();
        if (!send_request(&p)) {
            result.error = errno;
            break;
        }
        result.sent = true;
        result.answered = await_reply(&p, ms, stop);
        result.ms = (double)(g_get_monotonic_time() - begin) / 1000;
    }
    close(p.fd);
    return result;
}

unsigned host_ping_count_lost(bool ipv6, const uint8_t *ip, const char *interface, unsigned n,
                              int ms, const volatile int *stop)
{
    struct ping_request p = {.ipv6 = ipv6, .id = (uint16_t)getpid()};
    unsigned lost = 0;
    if (!open_socket(&p, ip, interface))
        return 0;
    for (; p.sequence < n && lost < PINGS_LOST_ENOUGH && !*stop; p.sequence++)
        lost += send_request(&p) && !await_reply(&p, ms, stop) && !*stop;
    close(p.fd);
    return lost;
}

struct ping_request *host_ping_open(bool ipv6, const uint8_t *ip, const char *interface,
                                    uint32_t data)
{
    struct ping_request *p = g_new0(struct ping_request, 1);
    p->ipv6 = ipv6;
    p->id = (uint16_t)getpid();
    p->data = data;
    if (open_socket(p, ip, interface))
        return p;
    int error = errno;
    g_free(p);
    errno = error;
    return NULL;
}

bool host_ping_request(const struct ping_request *p)
{
    return send_request(p);
}

bool host_ping_has_reply(const struct ping_request *p)
{
    return take_reply(p);
}

/* Frees it if it cannot be sent. */
static struct ping_request *send_or_free(struct ping_request *p)
{
    if (!p || send_request(p))
        return p;
    int error = errno;
    close(p->fd);
    g_free(p);
    errno = error;
    return NULL;
}

struct ping_request *host_ping_send(bool ipv6, const uint8_t *ip, const char *interface)
{
    return send_or_free(host_ping_open(ipv6, ip, interface, 0));
}

struct ping_request *host_ping_send_through(bool ipv6, const uint8_t *ip, const char *interface)
{
    struct ping_request *p = host_ping_open(ipv6, ip, interface, 0);
    if (p)
        setsockopt(p->fd, SOL_SOCKET, SO_BINDTODEVICE, interface, (socklen_t)strlen(interface) + 1);
    return send_or_free(p);
}

void host_ping_port_address(const uint8_t *gid, uint8_t ip[16])
{
    enum { UNIVERSAL = 2 }; /* of an EUI-64, inverted (RFC 4291 §2.5.1) */
    memset(ip, 0, 8);
    ip[0] = 0xfe;
    ip[1] = 0x80;
    memcpy(ip + 8, gid + 8, 8);
    ip[8] ^= UNIVERSAL;
}

struct ping_request *host_ping_send_to_port(const uint8_t *gid, const char *interface)
{
    uint8_t ip[16];
    host_ping_port_address(gid, ip);
    return host_ping_send(true, ip, interface);
}

bool host_ping_end(struct ping_request *p)
{
    bool answered = take_reply(p);
    close(p->fd);
    g_free(p);
    return answered;
}

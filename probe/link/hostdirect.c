/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See hostdirect.h. */
#include "probe/link/hostdirect.h"

#include <arpa/inet.h>
#include <glib.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe/link/hostneigh.h"
#include "probe/link/hostroute.h"
#include "probe/link/message.h"
#include "wire/encap.h"
#include "wire/ip.h"
#include "wire/put.h"
#include "wire/view.h"

enum { ECHO_BYTES = 84, ID = 0x1b0c, ICMP_HEADER = 8, ECHO4_REPLY = 0, ECHO6_REPLY = 129 };

struct direct_question {
    int fd;
    bool ipv6;
    unsigned index; /* of the interface */
    const uint8_t *ip, *from;
};

/* A link-layer address of IPoIB is longer than the field of struct sockaddr_ll. */
union link_address {
    struct sockaddr any;
    struct sockaddr_ll of;
    uint8_t bytes[offsetof(struct sockaddr_ll, sll_addr) + LLADDR_SIZE];
};

/* number: which neighbour is asked. */
static bool ask(const struct direct_question *q, const uint8_t *lladdr, uint16_t number)
{
    uint8_t out[ENCAP_SIZE + ECHO_BYTES];
    struct echo_message m = {0, ID, number, q->from, q->ip, ECHO_BYTES};
    union link_address to = {.of = {.sll_family = AF_PACKET,
                                    .sll_protocol = htons(q->ipv6 ? TYPE_IPV6 : TYPE_IPV4),
                                    .sll_ifindex = (int)q->index,
                                    .sll_halen = LLADDR_SIZE}};
    memcpy(to.bytes + offsetof(struct sockaddr_ll, sll_addr), lladdr, LLADDR_SIZE);
    uint32_t n = (q->ipv6 ? message_echo6(out, &m) : message_echo4(out, &m)) - ENCAP_SIZE;
    return sendto(q->fd, out + ENCAP_SIZE, n, 0, &to.any, sizeof to.bytes) == (ssize_t)n;
}

/* Hosts send with one of these; each router subtracts one (RFC 1812 §5.3.1). */
static bool is_forwarded(uint8_t ttl)
{
    return ttl != 32 && ttl != 64 && ttl != 128 && ttl != 255;
}

/* The number of the neighbour that took the request of this reply; -1: it is another packet. */
static int number_in(const struct direct_question *q, struct view ip, struct direct_reply *r)
{
    uint32_t size = q->ipv6 ? IPV6_ADDRESS_SIZE : IPV4_ADDRESS_SIZE,
             source = q->ipv6 ? IPV6_SOURCE : IPV4_SOURCE,
             header = q->ipv6  ? IPV6_SIZE
                      : ip.cap ? (ip.p[0] & 0xfu) * 4
                               : 0;
    if (header < IPV4_SIZE || view_has(ip, header, ICMP_HEADER) != WIRE_OK)
        return -1;
    const uint8_t *icmp = ip.p + header;
    r->forwarded = is_forwarded(ip.p[q->ipv6 ? IPV6_HOP_LIMIT : IPV4_TTL]);
    bool is = memcmp(ip.p + source, q->ip, size) == 0 &&
              icmp[0] == (q->ipv6 ? ECHO6_REPLY : ECHO4_REPLY) && be16(icmp + 4) == ID;
    return is ? be16(icmp + 6) : -1;
}

static int await_number(const struct direct_question *q, unsigned ms, struct direct_reply *r)
{
    gint64 end = g_get_monotonic_time() + (gint64)ms * 1000;
    struct pollfd fd = {q->fd, POLLIN, 0};
    int number = -1;
    for (gint64 left = ms; number < 0 && left > 0; left = (end - g_get_monotonic_time()) / 1000) {
        uint8_t bytes[128];
        ssize_t n = poll(&fd, 1, (int)left) > 0 ? recv(q->fd, bytes, sizeof bytes, MSG_DONTWAIT)
                                                : 0;
        if (n > 0)
            number = number_in(q, (struct view){bytes, (uint32_t)n, (uint32_t)n}, r);
    }
    return number;
}

/* Each once: a port has several addresses. */
static unsigned choose_neighbours(const struct direct_question *q, const char *interface,
                                  uint8_t (*list)[LLADDR_SIZE])
{
    GArray *all = hostneigh_read(interface);
    unsigned n = 0;
    for (guint i = 0; all && i < all->len && n < DIRECT_ASKED; i++) {
        const struct host_neighbour *one = &g_array_index(all, struct host_neighbour, i);
        bool again = memcmp(one->ip, q->ip, one->ipv6 ? 16 : 4) == 0 && (bool)one->ipv6 == q->ipv6;
        for (unsigned k = 0; k < n && !again; k++)
            again = lladdr_same(list[k], one->lladdr);
        if (!again)
            memcpy(list[n++], one->lladdr, LLADDR_SIZE);
    }
    if (all)
        g_array_unref(all);
    return n;
}

static bool open_socket(struct direct_question *q)
{
    struct sockaddr_ll own = {.sll_family = AF_PACKET,
                              .sll_protocol = htons(q->ipv6 ? TYPE_IPV6 : TYPE_IPV4),
                              .sll_ifindex = (int)q->index};
    q->fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return q->fd >= 0 && bind(q->fd, (const struct sockaddr *)(const void *)&own, sizeof own) == 0;
}

struct direct_reply host_direct_ask(bool ipv6, const uint8_t *ip, const char *interface,
                                    unsigned ms)
{
    struct host_route route = host_route_get(ipv6, ip, interface);
    struct direct_question q = {-1, ipv6, if_nametoindex(interface), ip, route.source};
    struct direct_reply r = {.found = false};
    uint8_t list[DIRECT_ASKED][LLADDR_SIZE];
    unsigned n = route.has_source ? choose_neighbours(&q, interface, list) : 0, sent = 0;
    int number = -1;
    if (n && open_socket(&q)) {
        for (unsigned i = 0; i < n; i++)
            sent += ask(&q, list[i], (uint16_t)i);
        number = sent ? await_number(&q, ms, &r) : -1;
    }
    if (q.fd >= 0)
        close(q.fd);
    r.found = number >= 0 && number < (int)n;
    if (r.found)
        memcpy(r.lladdr, list[number], LLADDR_SIZE);
    return r;
}

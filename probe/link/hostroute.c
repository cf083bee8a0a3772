/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The route of this host to an address. See hostroute.h. */
#include "probe/link/hostroute.h"

#include <errno.h>
#include <glib.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct route_request {
    struct nlmsghdr head;
    struct rtmsg body;
    uint8_t attributes[64];
};

static void add_attribute(struct route_request *m, unsigned short type, const void *value,
                          size_t size)
{
    struct rtattr *a = (struct rtattr *)(void *)((uint8_t *)m + NLMSG_ALIGN(m->head.nlmsg_len));
    a->rta_type = type;
    a->rta_len = (unsigned short)RTA_LENGTH(size);
    memcpy(RTA_DATA(a), value, size);
    m->head.nlmsg_len = NLMSG_ALIGN(m->head.nlmsg_len) + RTA_ALIGN(a->rta_len);
}

static bool request_route(int fd, bool ipv6, const uint8_t *ip, unsigned index)
{
    const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    unsigned char bytes = ipv6 ? 16 : 4;
    struct route_request m = {
        .head = {.nlmsg_len = NLMSG_LENGTH(sizeof m.body),
                 .nlmsg_type = RTM_GETROUTE,
                 .nlmsg_flags = NLM_F_REQUEST,
                 .nlmsg_seq = 1},
        .body = {.rtm_family = ipv6 ? AF_INET6 : AF_INET, .rtm_dst_len = bytes * 8}};
    add_attribute(&m, RTA_DST, ip, bytes);
    if (index)
        add_attribute(&m, RTA_OIF, &index, sizeof index);
    return sendto(fd, &m, m.head.nlmsg_len, 0, (const struct sockaddr *)(const void *)&kernel,
                  sizeof kernel) == (ssize_t)m.head.nlmsg_len;
}

static enum route_kind kind_of(unsigned char type)
{
    switch (type) {
    case RTN_UNICAST:
        return ROUTE_LINK;
    case RTN_LOCAL:
    case RTN_ANYCAST:
        return ROUTE_LOCAL;
    case RTN_BROADCAST:
    case RTN_MULTICAST:
        return ROUTE_BROADCAST;
    default: /* unreachable, prohibited, dropped */
        return ROUTE_NONE;
    }
}

/* The words of ip-route(8). For IPv4 the kernel has only an error. */
static const struct {
    unsigned char type;
    int error;
    const char *words;
} forbidding[] = {{RTN_BLACKHOLE, -EINVAL, "blackhole"},
                  {RTN_PROHIBIT, -EACCES, "prohibit"},
                  {RTN_UNREACHABLE, -EHOSTUNREACH, "unreachable"}};

static const char *find_forbidding(unsigned char type, int error)
{
    for (size_t i = 0; i < G_N_ELEMENTS(forbidding); i++)
        if (forbidding[i].type == type || forbidding[i].error == error)
            return forbidding[i].words;
    return NULL;
}

static void take_attribute(struct host_route *r, const struct rtattr *a)
{
    size_t size = MIN(RTA_PAYLOAD(a), 16);
    unsigned index;
    switch (a->rta_type) {
    case RTA_OIF:
        memcpy(&index, RTA_DATA(a), sizeof index);
        if (!if_indextoname(index, r->interface))
            r->interface[0] = '\0';
        break;
    case RTA_PREFSRC:
        memcpy(r->source, RTA_DATA(a), size);
        r->has_source = true;
        break;
    case RTA_VIA:
    case RTA_GATEWAY:
        if (a->rta_type == RTA_GATEWAY)
            memcpy(r->gateway, RTA_DATA(a), size);
        r->kind = r->kind == ROUTE_LINK ? ROUTE_GATEWAY : r->kind;
        break;
    default:
        break;
    }
}

static struct host_route read_route(struct nlmsghdr *head, size_t size)
{
    struct host_route r = {.kind = ROUTE_UNKNOWN};
    const struct rtmsg *m = NLMSG_DATA(head);
    if (!NLMSG_OK(head, size))
        return r;
    if (head->nlmsg_type == NLMSG_ERROR) {
        r.kind = ROUTE_NONE;
        r.forbids = find_forbidding(RTN_UNSPEC, ((const struct nlmsgerr *)NLMSG_DATA(head))->error);
    }
    if (head->nlmsg_type != RTM_NEWROUTE)
        return r;
    r.kind = kind_of(m->rtm_type);
    r.forbids = find_forbidding(m->rtm_type, 0);
    int left = (int)RTM_PAYLOAD(head);
    for (const struct rtattr *a = RTM_RTA(m); RTA_OK(a, left); a = RTA_NEXT(a, left))
        take_attribute(&r, a);
    return r;
}

struct host_route host_route_get(bool ipv6, const uint8_t *ip, const char *interface)
{
    struct host_route r = {.kind = ROUTE_UNKNOWN};
    union {
        struct nlmsghdr head;
        uint8_t bytes[4096];
    } answer;
    unsigned index = *interface ? if_nametoindex(interface) : 0;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0)
        return r;
    ssize_t n = request_route(fd, ipv6, ip, index) ? recv(fd, &answer, sizeof answer, 0) : -1;
    if (n > 0)
        r = read_route(&answer.head, (size_t)n);
    close(fd);
    return r;
}

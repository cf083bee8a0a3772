/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's neighbour table, by rtnetlink(7). See hostneigh.h. */
#include "probe/link/hostneigh.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ANSWER_SIZE = 32 << 10,
    KNOWN = NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT
};

static gboolean request_dump(int fd)
{
    struct {
        struct nlmsghdr head;
        struct ndmsg body;
    } m = {.head = {.nlmsg_len = sizeof m,
                    .nlmsg_type = RTM_GETNEIGH,
                    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                    .nlmsg_seq = 1},
           .body = {.ndm_family = AF_UNSPEC}};
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    return sendto(fd, &m, sizeof m, 0, (const struct sockaddr *)(const void *)&kernel,
                  sizeof kernel) == sizeof m;
}

static gboolean copy_attribute(uint8_t *out, const struct rtattr *a, size_t size)
{
    if (RTA_PAYLOAD(a) != size)
        return FALSE;
    memcpy(out, RTA_DATA(a), size);
    return TRUE;
}

static gboolean read_neighbour(struct host_neighbour *n, struct nlmsghdr *head, unsigned index)
{
    struct ndmsg *m = NLMSG_DATA(head);
    gboolean has_ip = FALSE, has_lladdr = FALSE;
    int left = (int)NLMSG_PAYLOAD(head, sizeof *m);
    *n = (struct host_neighbour){.ipv6 = m->ndm_family == AF_INET6,
                                 .permanent = m->ndm_state & NUD_PERMANENT};
    if ((unsigned)m->ndm_ifindex != index || !(m->ndm_state & KNOWN) ||
        (m->ndm_family != AF_INET && m->ndm_family != AF_INET6))
        return FALSE;
    struct rtattr *a = (struct rtattr *)(void *)((char *)m + NLMSG_ALIGN(sizeof *m));
    for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if (a->rta_type == NDA_DST)
            has_ip = copy_attribute(n->ip, a, n->ipv6 ? 16 : 4);
        else if (a->rta_type == NDA_LLADDR)
            has_lladdr = copy_attribute(n->lladdr, a, LLADDR_SIZE);
    }
    return has_ip && has_lladdr;
}

/* Returns false at the end or after an error. */
static gboolean read_message(GArray *out, uint8_t *buffer, ssize_t size, unsigned index)
{
    struct host_neighbour n;
    unsigned left = (unsigned)size;
    struct nlmsghdr *head = (struct nlmsghdr *)(void *)buffer;
    for (; NLMSG_OK(head, left); head = NLMSG_NEXT(head, left)) {
        if (head->nlmsg_type == NLMSG_DONE || head->nlmsg_type == NLMSG_ERROR)
            return FALSE;
        if (head->nlmsg_type == RTM_NEWNEIGH && read_neighbour(&n, head, index))
            g_array_append_val(out, n);
    }
    return TRUE;
}

GArray *hostneigh_read(const char *interface)
{
    unsigned index = if_nametoindex(interface);
    int fd = index ? socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE) : -1;
    if (fd < 0)
        return NULL;
    GArray *out = g_array_new(FALSE, FALSE, sizeof(struct host_neighbour));
    uint8_t *buffer = g_malloc(ANSWER_SIZE);
    ssize_t n;
    if (request_dump(fd))
        while ((n = recv(fd, buffer, ANSWER_SIZE, 0)) > 0 && read_message(out, buffer, n, index))
            ;
    g_free(buffer);
    close(fd);
    return out;
}

bool hostneigh_find(const char *interface, bool ipv6, const uint8_t *ip, struct host_neighbour *out)
{
    GArray *all = hostneigh_read(interface);
    bool found = false;
    for (guint i = 0; all && i < all->len && !found; i++) {
        *out = g_array_index(all, struct host_neighbour, i);
        found = (bool)out->ipv6 == ipv6 && memcmp(out->ip, ip, ipv6 ? 16 : 4) == 0;
    }
    if (all)
        g_array_unref(all);
    return found;
}

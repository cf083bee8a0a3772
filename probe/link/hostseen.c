/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See hostseen.h. */
#include "probe/link/hostseen.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <stdlib.h>
#include <unistd.h>

#include <glib.h>

#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/ip.h"
#include "wire/nd.h"
#include "wire/view.h"

/* The column "table_fulls" of all processors, in hexadecimal digits. */
static unsigned long table_overflows(bool ipv6)
{
    enum { COLUMN = 13 };
    char *text = NULL;
    unsigned long n = 0;
    if (!g_file_get_contents(ipv6 ? "/proc/net/stat/ndisc_cache" : "/proc/net/stat/arp_cache",
                             &text, NULL, NULL))
        return 0;
    char **lines = g_strsplit(text, "\n", -1);
    for (guint i = 1; lines[0] && lines[i]; i++) {
        char **columns = g_strsplit_set(g_strstrip(lines[i]), " \t", -1);
        unsigned at = 0;
        for (guint k = 0; columns[k]; k++)
            if (*columns[k] && ++at == COLUMN)
                n += strtoul(columns[k], NULL, 16);
        g_strfreev(columns);
    }
    g_strfreev(lines);
    g_free(text);
    return n;
}

void host_seen_open(struct host_seen *t, bool ipv6, const uint8_t *ip, const char *interface)
{
    struct sockaddr_ll own = {.sll_family = AF_PACKET,
                              .sll_protocol = htons(ETH_P_ALL),
                              .sll_ifindex = (int)if_nametoindex(interface)};
    *t = (struct host_seen){.fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0),
                            .ipv6 = ipv6,
                            .overflows = table_overflows(ipv6)};
    memcpy(t->ip, ip, ipv6 ? IPV6_ADDRESS_SIZE : IPV4_ADDRESS_SIZE);
    if (t->fd >= 0 && bind(t->fd, (const struct sockaddr *)(const void *)&own, sizeof own) != 0) {
        close(t->fd);
        t->fd = -1;
    }
}

static bool is_peer(const struct host_seen *t, const uint8_t *ip)
{
    return memcmp(ip, t->ip, t->ipv6 ? IPV6_ADDRESS_SIZE : IPV4_ADDRESS_SIZE) == 0;
}

enum { PROTOCOL_ICMP = 1, ECHO4_REPLY = 0, ECHO4_REQUEST = 8, ECHO6_REQUEST = 128, ECHO6_REPLY };

static void count_ipv4(struct host_seen *t, struct view ip, bool out)
{
    if (t->ipv6 || view_has(ip, 0, IPV4_SIZE) != WIRE_OK || ip.p[IPV4_PROTOCOL] != PROTOCOL_ICMP ||
        !is_peer(t, ip.p + (out ? IPV4_DESTINATION : IPV4_SOURCE)))
        return;
    uint32_t header = (ip.p[0] & 0xfu) * 4;
    if (view_has(ip, header, 1) != WIRE_OK)
        return;
    if (!out && (be16(ip.p + IPV4_FRAGMENT) & IPV4_FRAGMENTED) == IPV4_MORE_FRAGMENTS)
        t->fragment = MAX(t->fragment, be16(ip.p + IPV4_TOTAL_LENGTH));
    t->echo_requests += out && ip.p[header] == ECHO4_REQUEST;
    t->echo_replies += !out && ip.p[header] == ECHO4_REPLY;
}

static void count_arp(struct host_seen *t, struct view v, bool out)
{
    struct arp a;
    bool fixed;
    if (t->ipv6 || arp_decode(v, &a, &fixed) != WIRE_OK || a.pln != IPV4_ADDRESS_SIZE)
        return;
    bool request = a.op == ARP_REQUEST, reply = a.op == ARP_REPLY,
         of_peer = is_peer(t, v.p + (out ? a.tpa : a.spa));
    t->own_requests += out && request && of_peer;
    t->own_replies += out && reply && of_peer;
    t->peer_requests += !out && request && of_peer;
    t->peer_replies += !out && reply && of_peer;
}

/* Solicitations to a group have the address as their target. */
static void count_nd(struct host_seen *t, struct view nd, bool to_peer, bool from_peer)
{
    bool of_peer = nd.cap >= ND_TARGET + IPV6_ADDRESS_SIZE && is_peer(t, nd.p + ND_TARGET);
    t->own_requests += !from_peer && nd.p[0] == ND_NS && of_peer;
    t->own_replies += to_peer && nd.p[0] == ND_NA;
    t->peer_requests += from_peer && nd.p[0] == ND_NS;
    t->peer_replies += from_peer && nd.p[0] == ND_NA && of_peer;
}

/* RFC 8200 §4.5. */
static void note_fragment6(struct host_seen *t, struct view ip)
{
    enum { NEXT_FRAGMENT = 44, HEADER = 8, OFFSET_MORE = 0xfff9, MORE_FIRST = 1 };
    if (view_has(ip, IPV6_SIZE, HEADER) == WIRE_OK && ip.p[IPV6_NEXT_HEADER] == NEXT_FRAGMENT &&
        is_peer(t, ip.p + IPV6_SOURCE) && (be16(ip.p + IPV6_SIZE + 2) & OFFSET_MORE) == MORE_FIRST)
        t->fragment = MAX(t->fragment, IPV6_SIZE + be16(ip.p + IPV6_PAYLOAD_LENGTH));
}

static void count_ipv6(struct host_seen *t, struct view ip, bool out)
{
    struct view icmpv6;
    if (t->ipv6 && !out)
        note_fragment6(t, ip);
    if (!t->ipv6 || view_has(ip, 0, IPV6_SIZE) != WIRE_OK || !nd_in_ipv6(ip, &icmpv6) ||
        !icmpv6.cap)
        return;
    bool to_peer = out && is_peer(t, ip.p + IPV6_DESTINATION),
         from_peer = !out && is_peer(t, ip.p + IPV6_SOURCE);
    t->echo_requests += to_peer && icmpv6.p[0] == ECHO6_REQUEST;
    t->echo_replies += from_peer && icmpv6.p[0] == ECHO6_REPLY;
    if (out || from_peer)
        count_nd(t, icmpv6, to_peer, from_peer);
}

static void count(struct host_seen *t, struct view v, const struct sockaddr_ll *of)
{
    bool out = of->sll_pkttype == PACKET_OUTGOING;
    uint16_t type = ntohs(of->sll_protocol);
    if (type == TYPE_IPV4)
        count_ipv4(t, v, out);
    else if (type == TYPE_ARP)
        count_arp(t, v, out);
    else if (type == TYPE_IPV6)
        count_ipv6(t, v, out);
    else if (!out && type != TYPE_RARP) {
        t->foreign++;
        t->type = type;
    }
}

/* A busy interface may fill the socket: then what was not seen may have passed. */
static bool has_lost(const struct host_seen *t)
{
    struct tpacket_stats lost = {0};
    socklen_t size = sizeof lost;
    return getsockopt(t->fd, SOL_PACKET, PACKET_STATISTICS, &lost, &size) != 0 || lost.tp_drops;
}

bool host_seen_close(struct host_seen *t)
{
    uint8_t bytes[256]; /* the headers */
    struct sockaddr_ll of;
    socklen_t size = sizeof of;
    ssize_t n;
    t->overflows = table_overflows(t->ipv6) - t->overflows;
    if (t->fd < 0)
        return false;
    while ((n = recvfrom(t->fd, bytes, sizeof bytes, MSG_TRUNC, (struct sockaddr *)(void *)&of,
                         &size)) >= 0) {
        uint32_t cap = (uint32_t)(n > (ssize_t)sizeof bytes ? (ssize_t)sizeof bytes : n);
        count(t, (struct view){.p = bytes, .cap = cap, .len = (uint32_t)n}, &of);
        size = sizeof of;
    }
    bool whole = !has_lost(t);
    close(t->fd);
    t->fd = -1;
    return whole;
}

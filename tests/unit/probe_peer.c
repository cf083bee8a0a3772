/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See probe_peer.h. The peer follows the RFCs; it does not depend on what the probe sends. */
#include "probe_peer.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>

#include "probe/checks/checks.h"
#include "wire/port_records.h"
#include "probe/link/message.h"
#include "sa_answer.h"
#include "wire/put.h"
#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/smp.h"
#include "probe/link/groups.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/link/wirelog.h"
#include "probe/run/target.h"

#define QKEY 0x0b1bu

const uint8_t peer_ip[4] = {10, 0, 0, 2}, own_ip[4] = {10, 0, 0, 77};
static const uint8_t peer_gid[16] = {0xfe, 0x80, [8] = 0x00, 0x02, 0xc9, 0x03, 0, 0, 0x18, 0x95};
static const uint8_t changed_gid[16] = {0xfe, 0x80, [8] = 0x00, 0x02, 0xc9, 0x03, 0, 0, 0x18, 0x9d},
                     second_gid[16] = {0xfe, 0x80, [8] = 0x00, 0x02, 0xc9, 0x03, 0, 0, 0x18, 0xa1};
static const uint8_t own_gid[16] = {0xfe, 0x80, [8] = 0x00, 0x02, 0xc9, 0x03, 0, 0, 0x18, 0x96};

/* ---- time */

static gint64 now = G_USEC_PER_SEC;

gint64 simulated_now(void)
{
    return now;
}

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): the linker sets these names */
gint64 __wrap_g_get_monotonic_time(void);
gint64 __wrap_g_get_monotonic_time(void)
{
    return now;
}

void __wrap_g_usleep(gulong microseconds);
void __wrap_g_usleep(gulong microseconds)
{
    now += (gint64)microseconds;
}
/* NOLINTEND(clang-diagnostic-reserved-identifier) */

/* ---- the host's addresses, independent of the machine that runs the test */

bool host_has_own;

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): the linker sets these names */
int __wrap_getifaddrs(struct ifaddrs **list);
int __wrap_getifaddrs(struct ifaddrs **list)
{
    static struct sockaddr_in ip = {.sin_family = AF_INET};
    static char name[] = "ib0";
    static struct ifaddrs bare = {.ifa_name = name},
                          own = {.ifa_name = name, .ifa_addr = (struct sockaddr *)&ip};
    ip.sin_addr.s_addr = htonl(0x0a000005);
    bare.ifa_next = &own; /* bare: an interface without addresses */
    *list = host_has_own ? &bare : NULL;
    return 0;
}

void __wrap_freeifaddrs(struct ifaddrs *list);
void __wrap_freeifaddrs(struct ifaddrs *list)
{
    (void)list;
}
/* NOLINTEND(clang-diagnostic-reserved-identifier) */

/* ---- the peer's addresses */

struct place {
    uint16_t lid;
    uint32_t qpn;
    const uint8_t *gid;
};

static struct place place_of(const struct fake *f)
{
    bool changed = f->change.after && f->sent > f->change.after;
    return (struct place){changed && f->change.lid ? CHANGED_LID : PEER_LID,
                          changed && f->change.qpn ? CHANGED_QPN : PEER_QPN,
                          changed && f->change.gid ? changed_gid : peer_gid};
}

static struct place place_of_second(const struct fake *f)
{
    return (struct place){f->second.same_lid ? PEER_LID : SECOND_LID,
                          f->second.same_qpn ? PEER_QPN : SECOND_QPN, second_gid};
}

static bool is_after(const struct fake *f, unsigned packets)
{
    return packets && f->sent > packets;
}

static bool is_away(const struct fake *f)
{
    return f->change.after && f->sent > f->change.after &&
           f->sent <= f->change.after + f->change.silent;
}

/* ---- the peer */

static void put_from(struct fake *f, const uint8_t *bytes, uint32_t n, uint32_t to_qpn, gint64 due,
                     const struct place *place)
{
    bool multicast = to_qpn == QPN_MULTICAST;
    if (f->n == QUEUE)
        return;
    while (f->due[f->next])
        f->next = (f->next + 1) % QUEUE;
    unsigned slot = f->next;
    f->next = (f->next + 1) % QUEUE; /* keeps the slot of the last received packet */
    f->n++;
    f->due[slot] = due;
    memcpy(f->bytes[slot], bytes, n);
    f->queue[slot] = (struct ud_from){.bytes = view_make(f->bytes[slot], n, n),
                                      .grh = multicast ? f->grh : NULL,
                                      .qpn = place->qpn,
                                      .to_qpn = multicast ? OWN_QPN : to_qpn,
                                      .lid = place->lid};
}

static void put_in_queue(struct fake *f, uint8_t *bytes, uint32_t n, uint32_t to_qpn, gint64 due)
{
    struct place place = place_of(f);
    if (f->fault == OTHER_SENDER_QPN)
        place.qpn++;
    if (f->fault == SENDS_RESERVED)
        bytes[ENCAP_RESERVED] = 0x12;
    put_from(f, bytes, n, to_qpn, due, &place);
}

/* A pseudo-random number from 0 to below - 1, the same in each run (Knuth's MMIX). */
static unsigned chance(struct fake *f, unsigned below)
{
    f->dice = f->dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(f->dice >> 33) % below;
}

/* Loses 15 % of the packets; duplicates 30 % of the others, up to 0.9 s later. */
static void push_at_random(struct fake *f, uint8_t *bytes, uint32_t n, uint32_t to_qpn)
{
    gint64 due = now + ROUND_TRIP_US + chance(f, f->network.late_ms + 1) * INT64_C(1000);
    if (chance(f, 100) < 15)
        return;
    put_in_queue(f, bytes, n, to_qpn, due);
    if (chance(f, 100) < 30)
        put_in_queue(f, bytes, n, to_qpn, due + chance(f, 900) * INT64_C(1000));
}

static void push(struct fake *f, uint8_t *bytes, uint32_t n, uint32_t to_qpn)
{
    if (f->loses_replies && n - ENCAP_SIZE > f->loses_replies)
        return;
    if (f->network.seed) {
        f->dice = f->dice ? f->dice : f->network.seed;
        push_at_random(f, bytes, n, to_qpn);
        return;
    }
    gint64 due = now + ROUND_TRIP_US + (gint64)f->network.late_ms * 1000;
    f->pushed++;
    if ((f->network.loses_half && f->pushed % 2 == 0) ||
        (f->network.ends_after && f->pushed > f->network.ends_after))
        return;
    put_in_queue(f, bytes, n, to_qpn, due);
    if (f->network.doubles)
        put_in_queue(f, bytes, n, to_qpn, due + (gint64)f->network.doubled_after_ms * 1000);
}

static void put_lladdr(const struct fake *f, uint8_t *p)
{
    struct place place = place_of(f);
    p[0] = f->fault == SENDS_FLAGS ? 0x01 : 0;
    put24(p + LLADDR_QPN, f->fault == ANNOUNCES_OTHER_QPN ? place.qpn + 2 : place.qpn);
    memcpy(p + LLADDR_GID, place.gid, 16);
}

static void respond_arp(struct fake *f, const uint8_t *arp)
{
    static const uint8_t wrong[4] = {10, 9, 9, 9};
    uint8_t out[UD_SIZE], lladdr[LLADDR_SIZE];
    const uint8_t *sha = arp + ARP_SIZE_FIXED, *spa = sha + LLADDR_SIZE,
                  *tpa = arp + ARP_SIZE_FIXED + 2 * LLADDR_SIZE + 4;
    put_lladdr(f, lladdr);
    if (f->fault == ECHOES_FLAGS)
        lladdr[LLADDR_FLAGS] = sha[LLADDR_FLAGS] & (LLADDR_FLAG_RC | LLADDR_FLAG_UC);
    f->announced += be32(spa) != 0;
    if (be16(arp + ARP_OP) == ARP_REPLY) {
        f->knows_us = memcmp(spa, own_ip, 4) == 0 && be24(sha + LLADDR_QPN) == OWN_QPN;
        if (f->knows_us && f->waiting_n)
            push(f, f->waiting, f->waiting_n,
                 f->fault == SENDS_IP_TO_SENDER ? f->waiting_sender : be24(sha + LLADDR_QPN));
        f->waiting_n = 0;
        return;
    }
    bool has = f->proxy  ? true
               : f->many ? tpa[0] == 10 && tpa[3] % 2 == 0
                         : memcmp(tpa, peer_ip, 4) == 0;
    if (!has || (f->fault == MINDS_FLAGS && sha[0]))
        return;
    memcpy(f->asked, tpa, 4);
    struct arp_message m = {.op = ARP_REPLY,
                            .sha = lladdr,
                            .spa = f->asked,
                            .tha = sha,
                            .tpa = f->fault == WRONG_TARGET ? wrong : spa};
    uint32_t n = message_arp(out, &m);
    if (f->fault == HARDWARE_TYPE_1)
        put16(out + ENCAP_SIZE + ARP_HRD, 1);
    if (f->fault == WRONG_TARGET_LLADDR)
        memset(out + ENCAP_SIZE + ARP_SIZE_FIXED + LLADDR_SIZE + 4, 0, LLADDR_SIZE);
    push(f, out, n, f->fault == ANSWERS_SENDER ? f->sender : be24(sha + LLADDR_QPN));
}

/* ---- the other port */

static void push_second(struct fake *f, const uint8_t *bytes, uint32_t n, uint32_t to_qpn)
{
    uint8_t out[UD_SIZE];
    struct place place = place_of_second(f);
    memcpy(out, bytes, n);
    f->pushed_second++;
    if (f->second.ends_after && f->pushed_second > f->second.ends_after)
        return;
    if (f->second.fault == SENDS_RESERVED)
        out[ENCAP_RESERVED] = 0x12;
    put_from(f, out, n, to_qpn, now + ROUND_TRIP_US + (gint64)f->second.late_ms * 1000, &place);
}

static void put_lladdr_of_second(const struct fake *f, uint8_t *p)
{
    struct place place = place_of_second(f);
    p[0] = 0;
    put24(p + LLADDR_QPN, place.qpn);
    memcpy(p + LLADDR_GID, place.gid, 16);
    if (f->second.lies)
        put_lladdr(f, p);
}

/* Replies to an ARP request for the peer's address (RFC 826). */
static void respond_arp_second(struct fake *f, const uint8_t *arp)
{
    uint8_t out[UD_SIZE], lladdr[LLADDR_SIZE];
    const uint8_t *sha = arp + ARP_SIZE_FIXED, *spa = sha + LLADDR_SIZE,
                  *tpa = arp + ARP_SIZE_FIXED + 2 * LLADDR_SIZE + 4;
    if (be16(arp + ARP_OP) != ARP_REQUEST || memcmp(tpa, peer_ip, 4) != 0)
        return;
    put_lladdr_of_second(f, lladdr);
    struct arp_message m = {.op = ARP_REPLY, .sha = lladdr, .spa = peer_ip, .tha = sha, .tpa = spa};
    uint32_t n = message_arp(out, &m);
    if (f->second.fault == HARDWARE_TYPE_1)
        put16(out + ENCAP_SIZE + ARP_HRD, 1);
    push_second(f, out, n, be24(sha + LLADDR_QPN));
}

/* Sets the ICMP checksum (RFC 1071). For ICMPv6 it includes the pseudo header of RFC 8200 §8.1. */
static void put_sum(uint8_t *ip, uint32_t n, bool ipv6)
{
    uint32_t head = ipv6 ? 40 : 20, sum = ipv6 ? n - head + 58 : 0;
    put16(ip + head + 2, 0);
    for (uint32_t i = ipv6 ? 8 : head; i < n; i++)
        sum += (uint32_t)ip[i] << (i % 2 ? 0 : 8);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    put16(ip + head + 2, ~sum & 0xffff);
}

/* Adds the peer's fault to an NA of n bytes. Returns its new length. */
static uint32_t spoil_na(const struct fake *f, uint8_t *ipv6, uint32_t n)
{
    enum {
        MESSAGE = 40,
        PAYLOAD = 4,
        HOP_LIMIT = 7,
        CODE = 1,
        CHECKSUM = 2,
        FLAGS = 4,
        OPTION = 8
    };
    if (f->fault == ND_EMPTY_OPTION) {
        memset(ipv6 + n, 0, OPTION);
        ipv6[n] = 14; /* a nonce option, which most hosts do not know (RFC 3971 §5.3.2) */
        n += OPTION;
        put16(ipv6 + PAYLOAD, (uint16_t)(n - MESSAGE));
    }
    ipv6[HOP_LIMIT] = f->fault == ND_HOP_LIMIT ? 64 : 255;
    ipv6[MESSAGE + CODE] = f->fault == ND_CODE;
    ipv6[MESSAGE + FLAGS] = (f->fault == ND_SOLICITED ? 0x40 : 0) | 0x20;
    put_sum(ipv6, n, true);
    ipv6[MESSAGE + CHECKSUM] ^= f->fault == ND_CHECKSUM;
    return n;
}

/* Sends the NA to all nodes, because the NS came from the unspecified address (RFC 4861 §7.2.4). */
static void respond_ns(struct fake *f, const uint8_t *ipv6)
{
    enum { MESSAGE = 40, NS = 135, NA = 136 };
    static const uint8_t all_nodes[16] = {0xff, 0x02, [15] = 1};
    uint8_t out[UD_SIZE], lladdr[LLADDR_SIZE];
    const uint8_t *target = ipv6 + MESSAGE + 8;
    if (!f->ipv6 || ipv6[MESSAGE] != NS)
        return;
    put_lladdr(f, lladdr);
    struct nd_message m = {
        .type = NA, .from = target, .to = all_nodes, .target = target, .lladdr = lladdr};
    uint32_t n = message_nd(out, &m) - ENCAP_SIZE;
    push(f, out, ENCAP_SIZE + spoil_na(f, out + ENCAP_SIZE, n), QPN_MULTICAST);
}

static void respond_ns_second(struct fake *f, const uint8_t *ipv6)
{
    enum { MESSAGE = 40, NS = 135, NA = 136, FLAGS = 4 };
    static const uint8_t all_nodes[16] = {0xff, 0x02, [15] = 1};
    uint8_t out[UD_SIZE], lladdr[LLADDR_SIZE];
    if (ipv6[MESSAGE] != NS)
        return;
    put_lladdr_of_second(f, lladdr);
    struct nd_message m = {.type = NA,
                           .from = ipv6 + MESSAGE + 8,
                           .to = all_nodes,
                           .target = ipv6 + MESSAGE + 8,
                           .lladdr = lladdr};
    uint32_t n = message_nd(out, &m);
    out[ENCAP_SIZE + MESSAGE + FLAGS] = f->second.weak ? 0 : 0x20;
    put_sum(out + ENCAP_SIZE, n - ENCAP_SIZE, true);
    push_second(f, out, n, QPN_MULTICAST);
}

/* The other port receives only multicast packets. */
static void take_second(struct fake *f, const uint8_t *bytes)
{
    if (be16(bytes) == TYPE_ARP)
        respond_arp_second(f, bytes + ENCAP_SIZE);
    else if (be16(bytes) == TYPE_IPV6)
        respond_ns_second(f, bytes + ENCAP_SIZE);
}

/* Makes the echo reply from the request: swaps the addresses and sets type 0. */
static void respond_echo(struct fake *f, const uint8_t *bytes, uint32_t n)
{
    uint8_t request[UD_SIZE], lladdr[LLADDR_SIZE];
    if (bytes[ENCAP_SIZE + 9] != 1 || bytes[ENCAP_SIZE + 20] != 8 || f->fault == NO_ECHO ||
        (f->fault == SMALL_MTU && n > 1500 + ENCAP_SIZE))
        return;
    memcpy(f->waiting, bytes, n);
    memcpy(f->waiting + ENCAP_SIZE + 12, bytes + ENCAP_SIZE + 16, 4);
    memcpy(f->waiting + ENCAP_SIZE + 16, bytes + ENCAP_SIZE + 12, 4);
    put16(f->waiting + ENCAP_RESERVED, 0);
    f->waiting[ENCAP_SIZE + 20] = 0;
    f->waiting[n - 1] ^= f->fault == OTHER_PAYLOAD;
    put_sum(f->waiting + ENCAP_SIZE, n - ENCAP_SIZE, false);
    f->waiting[ENCAP_SIZE + 22] ^= f->fault == ICMP_CHECKSUM;
    f->waiting[ENCAP_SIZE + 10] ^= f->fault == IPV4_CHECKSUM;
    f->waiting_n = n;
    f->waiting_sender = f->sender;
    if (f->second.there && f->second.responds_to_echo)
        push_second(f, f->waiting, n, OWN_QPN);
    if (f->fault == SMALLER_MTU_FRAGMENTS && n > 1400 + ENCAP_SIZE) { /* the first fragment */
        n = f->waiting_n = 1396 + ENCAP_SIZE;
        put16(f->waiting + ENCAP_SIZE + 2, 1396);
        put16(f->waiting + ENCAP_SIZE + 6, 0x2000);
    }
    if (f->knows_us) {
        push(f, f->waiting, n, f->fault == SENDS_IP_TO_SENDER ? f->sender : OWN_QPN);
        f->waiting_n = 0;
        return;
    }
    put_lladdr(f, lladdr);
    struct arp_message m = {.op = ARP_REQUEST, .sha = lladdr, .spa = peer_ip, .tpa = own_ip};
    push(f, request, message_arp(request, &m), QPN_MULTICAST);
}

/* Sets the checksum of the IPv4 header (RFC 791). */
static void put_ipv4_sum(uint8_t *ip)
{
    uint32_t sum = 0;
    put16(ip + 10, 0);
    for (unsigned i = 0; i < 20; i += 2)
        sum += be16(ip + i);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    put16(ip + 10, ~sum & 0xffff);
}

/* Puts the fragments of a datagram together (RFC 791), in the order of their offsets. Returns its
 * size once it is whole, else 0. */
static uint32_t reassemble(struct fake *f, const uint8_t *bytes, uint32_t n)
{
    enum { HEAD = 20 };
    const uint8_t *ip = bytes + ENCAP_SIZE;
    uint32_t at = (be16(ip + 6) & 0x1fffu) * 8, head = ENCAP_SIZE + HEAD;
    if (at == 0)
        memcpy(f->reassembled, bytes, head);
    memcpy(f->reassembled + head + at, bytes + head, n - head);
    f->reassembled_n = head + at + n - head;
    put16(f->reassembled + ENCAP_SIZE + 2, (uint16_t)(f->reassembled_n - ENCAP_SIZE));
    put16(f->reassembled + ENCAP_SIZE + 6, 0);
    put_ipv4_sum(f->reassembled + ENCAP_SIZE);
    return be16(ip + 6) & 0x2000 ? 0 : f->reassembled_n;
}

static bool accepts(struct fake *f, const struct ud_to *to, const uint8_t *bytes)
{
    bool multicast = to->qpn == QPN_MULTICAST;
    struct place place = place_of(f);
    if (is_away(f) || is_after(f, f->pkey_gone_after) || is_after(f, f->down_after) ||
        is_after(f, f->limited_after))
        return false;
    if (f->fault == DEAF_TO_MULTICAST && multicast &&
        memcmp(bytes + ENCAP_SIZE + ARP_SIZE_FIXED + 44, peer_ip, 4) == 0 && f->outcome++)
        return false; /* replies to the first request, then to none */
    if ((f->fault == DEAF_TO_GROUP && multicast) || f->fault == IS_ABSENT ||
        (f->fault == DIES && f->sent > 6) || (f->fault == DROPS_HALF && f->sent % 2))
        return false;
    if ((f->fault == DROPS_FIFTH && f->sent % 5 == 0) ||
        (f->fault == DROPS_EIGHTH && f->sent % 8 == 0))
        return false;
    if ((to->qkey != QKEY && f->fault != TAKES_ANY_QKEY) ||
        (to->other_partition && f->fault != TAKES_ANY_PKEY))
        return false;
    if (!multicast && (to->lid != place.lid || to->qpn != place.qpn || f->fault == DEAF_TO_UNICAST))
        return false;
    if ((f->fault == NEEDS_GRH && !to->grh) || (f->fault == REFUSES_GRH && to->grh && !multicast))
        return false;
    return f->fault != MINDS_RESERVED || be16(bytes + ENCAP_RESERVED) == 0;
}

static enum transport_result fake_send(struct transport *t, const struct ud_to *to,
                                       const uint8_t *bytes, uint32_t n)
{
    struct fake *f = (struct fake *)t;
    now += SEND_US;
    if (f->watch)
        f->watch(f->watch_user, bytes);
    if (f->fails_after && f->sent >= f->fails_after) {
        g_strlcpy(t->error, "the link went down", sizeof t->error);
        return TRANSPORT_ERROR;
    }
    f->sent++;
    if (f->second.there && to->qpn == QPN_MULTICAST)
        take_second(f, bytes);
    if (!accepts(f, to, bytes) || (f->loses_requests && n - ENCAP_SIZE > f->loses_requests))
        return TRANSPORT_OK;
    f->sender = to->second_qp ? OWN_SECOND_QPN : OWN_QPN;
    if (be16(bytes) == TYPE_ARP)
        respond_arp(f, bytes + ENCAP_SIZE);
    else if (be16(bytes) == TYPE_IPV4 && (be16(bytes + ENCAP_SIZE + 6) & 0x3fff) == 0)
        respond_echo(f, bytes, n);
    else if (be16(bytes) == TYPE_IPV4 && reassemble(f, bytes, n))
        respond_echo(f, f->reassembled, f->reassembled_n);
    else if (be16(bytes) == TYPE_IPV6)
        respond_ns(f, bytes + ENCAP_SIZE);
    return TRANSPORT_OK;
}

/* Returns the packet that arrives first, or QUEUE if there is none. */
static unsigned first_due(const struct fake *f)
{
    unsigned first = QUEUE;
    for (unsigned i = 0; i < QUEUE; i++)
        if (f->due[i] && (first == QUEUE || f->due[i] < f->due[first]))
            first = i;
    return first;
}

/* An ARP request of another host of the link, for another address than the probe's (RFC 4391 §9.1).
 */
static void receive_broadcast(struct fake *f, struct ud_from *from)
{
    static const uint8_t all_nodes[16] = {0xff, 0x02, [15] = 1};
    static const uint8_t request[] = {
        0x08, 0x06, 0, 0,    0,    32,        0x08, 0x00, 20, 4,         0, 1, 0,
        0,    0,    9, 0xfe, 0x80, [40] = 10, 0,    0,    77, [64] = 10, 0, 0, 88};
    f->broadcasts--;
    message_ipv6_mgid(f->grh + GRH_DGID, 2, 0xffff, all_nodes);
    if (!f->broadcasts_elsewhere)
        message_broadcast_mgid(f->grh + GRH_DGID, 2, 0xffff);
    *from = (struct ud_from){.bytes = view_make(request, sizeof request, sizeof request),
                             .grh = f->grh,
                             .qpn = 9,
                             .lid = f->broadcasts_are_own ? OWN_LID : 44};
}

static enum transport_result fake_receive(struct transport *t, int ms, struct ud_from *from)
{
    struct fake *f = (struct fake *)t;
    gint64 end = now + (gint64)ms * 1000;
    unsigned first = first_due(f);
    if (f->broadcasts) {
        receive_broadcast(f, from);
        return TRANSPORT_OK;
    }
    if (first == QUEUE || f->due[first] > end) {
        now = end;
        return TRANSPORT_NOTHING;
    }
    now = MAX(now, f->due[first]);
    *from = f->queue[first];
    f->due[first] = 0;
    f->n--;
    return TRANSPORT_OK;
}

/* ---- the SA */

static volatile int stop;

static void put_broadcast(const struct fake *f, uint8_t *r)
{
    message_broadcast_mgid(r + MCM_MGID, 2, 0xffff);
    put32(r + MCM_QKEY, QKEY);
    put16(r + MCM_MLID, MLID);
    r[MCM_MTU] = f->fault == UNKNOWN_MTU ? 0x87 : 0x84; /* exactly 2048 */
    put16(r + MCM_PKEY, 0xffff);
    r[MCM_RATE] = 0x83;
    r[MCM_SCOPE_JOIN] = 0x21;
}

/* The port is a member of each IPv6 group. */
static uint16_t respond_ipv6_group(const struct fake *f, const struct sa_query *q, uint8_t *record)
{
    if (!f->ipv6 || f->no_groups)
        return q->method == SA_SET ? 0x0200 : 0x0300;
    put_broadcast(f, record);
    memcpy(record + MCM_MGID, q->record + MCM_MGID, 16);
    record[MCM_SCOPE_JOIN] = 0x2f;
    return 0;
}

/* A group that the probe creates. It goes with its last FullMember (IBA 15.2.5.17). */
static uint16_t respond_made_group(struct fake *f, const struct sa_query *q, uint8_t *record)
{
    uint8_t state = q->record[MCM_SCOPE_JOIN] & 0xf;
    bool of_port = q->mask & MCM_HAS_PORT_GID;
    if (q->method == SA_GET && !(of_port ? f->made.held != 0 : f->made.there))
        return 0x0300;
    if ((q->method == SA_SET && !f->made.there && !(state & JOIN_FULL)) ||
        (q->method == SA_DELETE && !(f->made.held & state)))
        return 0x0200;
    if (q->method == SA_SET)
        f->made.held |= state;
    if (q->method == SA_DELETE)
        f->made.held &= (uint8_t)~state;
    f->made.there = f->made.held & JOIN_FULL || (f->made.there && q->method != SA_DELETE);
    put_broadcast(f, record);
    memcpy(record + MCM_MGID, q->record + MCM_MGID, 16);
    record[MCM_SCOPE_JOIN] = 0x20 | f->made.held;
    return 0;
}

static uint16_t respond_group(struct fake *f, const struct sa_query *q, uint8_t *record)
{
    uint8_t broadcast[MCM_SIZE] = {0};
    if (f->group_status)
        return f->group_status;
    f->sets += q->method == SA_SET;
    put_broadcast(f, broadcast);
    if (f->makes_groups && memcmp(q->record + MCM_MGID, broadcast, 12) == 0 &&
        memcmp(q->record + MCM_MGID, broadcast, 16) != 0)
        return respond_made_group(f, q, record);
    if (memcmp(q->record + MCM_MGID, broadcast, 16) != 0)
        return respond_ipv6_group(f, q, record);
    if (q->method == SA_GET && (q->mask & MCM_HAS_PORT_GID) &&
        (memcmp(q->record + MCM_PORT_GID, place_of(f).gid, 16) == 0 ||
         (f->second.there && memcmp(q->record + MCM_PORT_GID, second_gid, 16) == 0))) {
        memcpy(record, broadcast, MCM_SIZE);
        record[MCM_SCOPE_JOIN] = f->fault == NOT_FULL_MEMBER ? 0x22 : 0x21;
        return 0;
    }
    if (q->method == SA_GET && (q->mask & MCM_HAS_PORT_GID) && !f->member)
        return 0x0300;
    if (q->method == SA_SET && f->refuses_send_only &&
        (q->record[MCM_SCOPE_JOIN] & JOIN_SEND_ONLY_FULL))
        return 0x0200; /* ERR_REQ_INVALID (IBA 15.2.1.3) */
    f->joins += q->method == SA_SET;
    f->leaves += q->method == SA_DELETE;
    f->member = q->method == SA_SET || (f->member && q->method != SA_DELETE);
    memcpy(record, broadcast, MCM_SIZE);
    record[MCM_SCOPE_JOIN] |= q->method == SA_SET ? q->record[MCM_SCOPE_JOIN] & JOIN_ALL : 0;
    return 0;
}

static uint16_t subscribe(struct fake *f, const struct sa_query *q)
{
    uint16_t trap = be16(q->record + INFORM_TRAP);
    unsigned bit = trap == TRAP_GROUP_CREATED ? 1 : 2;
    if (trap == f->refused_trap)
        return 0x0200;
    f->subscriptions += q->record[INFORM_SUBSCRIBE];
    f->subscribed = q->record[INFORM_SUBSCRIBE] ? f->subscribed | bit : f->subscribed & ~bit;
    return 0;
}

static uint16_t respond_record(struct fake *f, const struct sa_query *q, uint8_t *record)
{
    if (q->attribute == SA_MC_MEMBER_RECORD)
        return respond_group(f, q, record);
    if (q->attribute == SA_INFORM_INFO)
        return subscribe(f, q);
    struct place place = place_of(f);
    if (q->attribute == SA_PATH_RECORD) {
        if (f->second.there && memcmp(q->record + PATH_DGID, second_gid, 16) == 0)
            place = place_of_second(f);
        if (memcmp(q->record + PATH_DGID, place.gid, 16) != 0 || is_after(f, f->limited_after))
            return 0x0300;
        put16(record + PATH_DLID,
              f->fault == WRONG_PATH || f->fault == GID_OF_OTHER ? place.lid + 4 : place.lid);
        put16(record + PATH_PKEY, 0xffff);
        record[PATH_MTU] = 0x84;
        return 0;
    }
    if (q->attribute == SA_CLASS_PORT_INFO)
        return 0;
    if (q->attribute == 0x0012) { /* PortInfoRecord: LinkSpeedExtActive */
        put16(record, be16(q->record));
        record[4 + 62] = (uint8_t)(f->ext_speed << 4);
        return 0;
    }
    if (q->attribute != 0x0011)
        return 0x0300;
    /*
     * IBA 15.2.5.2 and 14.2.5.3: PortGUID. After a change, the peer's old LID belongs to another
     * port.
     */
    put16(record, be16(q->record));
    memcpy(record + 24, (be16(q->record) == place.lid ? place.gid : second_gid) + 8, 8);
    record[31] ^= f->fault == WRONG_GUID || f->fault == GID_OF_OTHER;
    strcpy((char *)record + 44, "node a mlx5_0");
    return 0;
}

/* The last one is the broadcast group. Others: 239.0.0.0 and the following; ff02::1:ff00:0 and the
 * following (RFC 4291 §2.7.1); another protocol's */
static void put_table_mgid(const struct fake *f, unsigned i, uint8_t *mgid)
{
    static const uint8_t solicited[16] = {0xff, 0x12, 0x60, 0x1b, 0xff, 0xff, [11] = 1, 0xff},
                         foreign[16] = {0xff, 0x12, 0xa0, 0x1b, 0xff, 0xff};
    if (i + 1 >= f->groups)
        return;
    put32(mgid + 12, 0xef000000u + i);
    if (i < f->solicited || i < f->foreign) {
        memcpy(mgid, i < f->solicited ? solicited : foreign, 16);
        put16(mgid + 14, (uint16_t)i);
    }
}

/* The ports with IsSM (IBA 15.2.5.3): that of LID 1, and perhaps one that the table of SMs lacks.
 */
static uint16_t respond_ports(const struct fake *f, const struct sa_query *q, struct sa_response *a)
{
    enum { CAPABILITY_MASK = 4 + 20, MATCH_BITS = 1 << 7, SIZE = 72 };
    uint8_t record[SIZE] = {0};
    a->stride = SIZE;
    if (q->mask != MATCH_BITS || q->modifier != 0x80000000 ||
        be32(q->record + CAPABILITY_MASK) != 2)
        return 0x0200; /* invalid: the probe asks for nothing else */
    for (unsigned i = 0; i < (f->unlisted_sm ? 2u : 1u); i++) {
        put16(record, i ? f->unlisted_sm : 1);
        put32(record + CAPABILITY_MASK, i && f->unlisted_cap ? f->unlisted_cap : 2);
        g_byte_array_append(a->records, record, sizeof record);
    }
    return 0;
}

/* LinkRecord (IBA 15.2.5.13): of an end port, or of that port of a switch. */
static uint16_t respond_link(const struct fake *f, const struct sa_query *q, struct sa_response *a)
{
    static const struct {
        uint16_t lid;
        uint8_t port;
        uint16_t to_lid;
        uint8_t to_port;
    } cables[] = {{PEER_LID, 1, 71, 6}, {70, 5, OWN_LID, 1}, {70, 9, 71, 8},
                  {71, 6, PEER_LID, 1}, {71, 8, 70, 9},      {0, 1, 70, 5}};
    uint16_t lid = be16(q->record);
    uint8_t record[8], port = q->record[LINK_RECORD_FROM_PORT];
    size_t i = 0, last = G_N_ELEMENTS(cables) - 1;
    while (i < last &&
           (!f->switches.there || cables[i].lid != lid || (port && cables[i].port != port)))
        i++;
    a->stride = sizeof record;
    put16(record, lid);
    record[LINK_RECORD_FROM_PORT] = cables[i].port;
    record[LINK_RECORD_TO_PORT] = cables[i].to_port;
    put16(record + LINK_RECORD_TO_LID, cables[i].to_lid);
    record[6] = record[7] = 0;
    g_byte_array_append(a->records, record, sizeof record);
    return 0;
}

/*
 * Tables: SMInfoRecord (IBA 15.2.5.10, 14.2.5.13), SwitchInfoRecord (15.2.5.7, 14.2.5.4),
 * MCMemberRecord.
 */
static uint16_t respond_table(const struct fake *f, const struct sa_query *q, struct sa_response *a)
{
    enum {
        SWITCH = 0x0014,
        SM = 0x0018,
        STATE = 4 + 20,
        MASTER = 3,
        MULTICAST_CAP = 4 + 4,
        SWITCH_LID = 3
    };
    uint8_t record[56] = {0};
    if (q->attribute == SA_PORT_INFO_RECORD)
        return respond_ports(f, q, a);
    if (q->attribute == SA_LINK_RECORD)
        return respond_link(f, q, a);
    unsigned n = q->attribute == SM       ? f->masters
                 : q->attribute == SWITCH ? f->mlids > 0
                                          : MAX(f->groups, f->lists_none ? 0 : 1);
    a->stride = q->attribute == SM ? 32 : q->attribute == SWITCH ? 24 : 56;
    for (unsigned i = 0; i < n; i++) {
        if (q->attribute == SM) {
            put16(record, (uint16_t)(i + 1));
            record[STATE] = MASTER;
        } else if (q->attribute == SWITCH) {
            put16(record, SWITCH_LID);
            put16(record + MULTICAST_CAP, (uint16_t)f->mlids);
        } else {
            memset(record, 0, sizeof record);
            put_broadcast(f, record);
            put_table_mgid(f, i, record + MCM_MGID);
            if (f->group_pkey)
                put16(record + MCM_PKEY, f->group_pkey);
            if (q->sm_key && i >= f->memberless)
                memcpy(record + MCM_PORT_GID, own_gid, 16);
            put16(record + MCM_MLID, (uint16_t)(MLID + 1 + i));
            if (q->attribute == SA_MC_MEMBER_RECORD && (q->mask & MCM_HAS_MGID) &&
                memcmp(record + MCM_MGID, q->record + MCM_MGID, 16) != 0)
                continue;
        }
        g_byte_array_append(a->records, record, a->stride);
    }
    return 0;
}

static void spoil(const struct fake *f, const struct sa_query *q, struct sa_response *a)
{
    if (q->method != f->spoils.method || q->attribute != f->spoils.attribute || !a->records->len)
        return;
    g_byte_array_set_size(a->records, a->records->len - f->spoils.lacks);
    if (f->spoils.at || f->spoils.value)
        put16(a->records->data + f->spoils.at, f->spoils.value);
}

static enum transport_result fake_query(struct transport *t, const struct sa_query *q, int ms,
                                        struct sa_response *a)
{
    struct fake *f = (struct fake *)t;
    uint8_t record[SA_DATA_SIZE] = {0};
    if (f->sa_silent || (f->silent_after && f->asks >= f->silent_after)) {
        now += (gint64)ms * 1000;
        return TRANSPORT_NOTHING;
    }
    if (f->sa_fails) {
        g_strlcpy(t->error, "the device is gone", sizeof t->error);
        return TRANSPORT_ERROR;
    }
    f->asks++;
    now += SA_RESPONSE_US;
    a->stride = 0;
    bool table = q->method == SA_GET_TABLE;
    bool busy = f->sa_busy || (f->busy_after && f->asks > f->busy_after);
    bool refused = f->refused_at && f->asks == f->refused_at;
    a->busy = busy;
    a->took_us[a->timed++] = SA_RESPONSE_US;
    a->status = busy                                                 ? 0x0001
                : refused                                            ? 0x0700
                : f->refused && q->attribute == f->refused_attribute ? f->refused
                : table                                              ? respond_table(f, q, a)
                                                                     : respond_record(f, q, record);
    if (f->wrong_record)
        memset(record + MCM_MGID, 0, GID_SIZE);
    sa_answer_head(q, a->status, a);
    memcpy(a->mad + SA_DATA, record, sizeof record);
    if (a->status == 0 && !table)
        g_byte_array_append(a->records, record, sizeof record);
    spoil(f, q, a);
    if (f->signal_at && f->asks >= f->signal_at)
        stop = 2; /* SIGINT: the SA has the request, but its response is not awaited */
    if (stop && !t->ending)
        return TRANSPORT_STOPPED;
    bool lost = q->attribute == SA_INFORM_INFO && f->lost_trap &&
                be16(q->record + INFORM_TRAP) == f->lost_trap;
    return lost ? TRANSPORT_NOTHING : TRANSPORT_OK;
}

/* The probe can wait for Reports, but none arrives. */
static enum transport_result fake_watch(struct transport *t)
{
    (void)t;
    return TRANSPORT_OK;
}

static enum transport_result fake_next_notice(struct transport *t, int ms,
                                              uint8_t notice[NOTICE_SIZE])
{
    (void)t;
    (void)notice;
    now += (gint64)ms * 1000;
    return TRANSPORT_NOTHING;
}

static enum agent_answer fake_ask_agent(struct transport *t, struct agent_request *q, int ms)
{
    struct fake *f = (struct fake *)t;
    (void)ms;
    if (!q->of_port)
        return q->lid == t->facts.sm_lid ? f->agent : AGENT_NOT_ASKED;
    if (!f->damaged_lid && !f->switches.there)
        return AGENT_NOT_ASKED;
    if (q->lid == f->switches.mute_lid)
        return AGENT_SILENT;
    if (q->lid == f->damaged_lid &&
        (!f->switches.damaged_port || q->of_port == f->switches.damaged_port))
        /* the low byte of PortXmitDiscards, or PortRcvErrors (IBA 16.1.3.5) */
        q->data[f->switches.discards ? 15 : 9] = (uint8_t)f->damaged++;
    return AGENT_ANSWERS;
}

/* The linear forwarding tables of the two switches. */
static enum agent_answer read_table(struct smp_request *q)
{
    assert_int_equal(q->attribute, SMP_LINEAR_TABLE);
    assert_int_equal(q->modifier, 0);
    q->data[OWN_LID] = q->lid == 70 ? 5 : 8;
    q->data[PEER_LID] = q->lid == 70 ? 9 : 6;
    return AGENT_ANSWERS;
}

/* Its P_Key table has one block. */
static enum agent_answer ask_peer_agent(const struct fake *f, struct smp_request *q)
{
    struct place place = place_of(f);
    if (!f->peer_agent || q->lid != place.lid)
        return AGENT_SILENT;
    memset(q->data, 0, sizeof q->data);
    memcpy(q->data + NODE_INFO_PORT_GUID, place.gid + 8, q->attribute == SMP_NODE_INFO ? 8 : 0);
    if (q->attribute == SMP_NODE_INFO)
        put16(q->data + NODE_INFO_PARTITION_CAP, PKEY_BLOCK);
    else if (q->attribute == SMP_PORT_INFO)
        q->data[PORT_INFO_SPEED_STATE] = 0x10 | PORT_ACTIVE;
    else
        put16(q->data, is_after(f, f->limited_after) ? 0x7fff : 0xffff);
    return AGENT_ANSWERS;
}

/*
 * Two switches, of which the first has port 5 to the second, with LIDs 70 and 71. The second has
 * port 9 to the SM's host, or no entry.
 */
static enum agent_answer fake_ask_smp(struct transport *t, struct smp_request *q, int ms)
{
    const struct fake *f = (struct fake *)t;
    (void)ms;
    if (q->lid && f->switches.there)
        return f->switches.tables_are_hidden ? AGENT_SILENT : read_table(q);
    if (q->lid)
        return ask_peer_agent(f, q);
    if (!f->down_at || q->hops > 2)
        return AGENT_SILENT;
    memset(q->data, 0, sizeof q->data);
    if (q->attribute == SMP_NODE_INFO)
        q->data[NODE_INFO_TYPE] = NODE_TYPE_SWITCH;
    else if (q->attribute == SMP_LINEAR_TABLE)
        q->data[t->facts.sm_lid] = q->hops == 1 ? 5 : 9;
    else if (q->modifier)
        q->data[PORT_INFO_SPEED_STATE] = 0x10 | (q->hops == f->down_at ? PORT_DOWN : PORT_ACTIVE);
    else
        put16(q->data + PORT_INFO_LID, (uint16_t)(69 + q->hops));
    return AGENT_ANSWERS;
}

static bool fake_read_port(struct transport *t, struct port_facts *port)
{
    const struct fake *f = (const struct fake *)t;
    *port = t->facts;
    port->pkey_violations = f->pkey_violations;
    port->qkey_violations = f->qkey_violations;
    if (is_after(f, f->pkey_gone_after))
        memset(port->pkeys, 0, sizeof port->pkeys);
    if (is_after(f, f->limited_after))
        port->pkeys[0] &= 0x7fff;
    if (is_after(f, f->down_after))
        port->state = PORT_DOWN;
    return true;
}

static enum transport_result fake_open(struct transport *t, unsigned pkey_index, uint32_t qkey)
{
    assert_int_equal(pkey_index, 0);
    assert_int_equal(qkey, QKEY);
    t->qpn = OWN_QPN;
    t->second_qpn = OWN_SECOND_QPN;
    return TRANSPORT_OK;
}

static enum transport_result fake_open_other_partition(struct transport *t, unsigned pkey_index)
{
    assert_int_equal(t->facts.pkeys[pkey_index], OTHER_PKEY);
    t->other_partition_qpn = OTHER_PARTITION_QPN;
    t->other_pkey = OTHER_PKEY;
    return TRANSPORT_OK;
}

static enum transport_result fake_attach(struct transport *t, const uint8_t *mgid, uint16_t mlid)
{
    (void)t;
    (void)mgid;
    assert_int_equal(mlid, MLID);
    return TRANSPORT_OK;
}

/* ---- start and end */

static const struct transport_ops fake_ops = {.capabilities = CAN_ALL & ~HAS_CONNECTIONS,
                                              .open_qp = fake_open,
                                              .open_other_partition = fake_open_other_partition,
                                              .send = fake_send,
                                              .receive = fake_receive,
                                              .query = fake_query,
                                              .attach = fake_attach,
                                              .read_port = fake_read_port,
                                              .ask_agent = fake_ask_agent,
                                              .ask_smp = fake_ask_smp,
                                              .watch = fake_watch,
                                              .next_notice = fake_next_notice};

static const struct port_facts port_of_test = {.device = "fake0",
                                               .port = 1,
                                               .lid = OWN_LID,
                                               .sm_lid = 1,
                                               .state = PORT_ACTIVE,
                                               .mtu = 4,
                                               .rate_100mbps = 100,
                                               .infiniband = true,
                                               .pkeys = {0xffff},
                                               .n_pkeys = 1};

void fake_begin(struct fake *f, struct target *target, enum fault fault, bool member)
{
    *f = (struct fake){
        .base = {.ops = &fake_ops, .facts = port_of_test}, .fault = fault, .member = member};
    memcpy(f->base.facts.gid, own_gid, 16);
    message_broadcast_mgid(f->grh + GRH_DGID, 2, 0xffff);
    f->grh[0] = 0x60;
    target->link->transport = &f->base;
    stop = 0;
    target->run->stop = &stop;
    target->log = wirelog_new(NULL, NULL);
    groups_open(target->link);
    assert_true(link_open(target, NULL));
}

void fake_end(struct target *target)
{
    link_close(target);
    groups_close(target->link);
    wirelog_free(target->log, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ARP (RFC 826, RFC 4391 §9.2). See deviant.h. */
#include "wire/arp.h"

#include <string.h>

#include "probe/link/message.h"
#include "wire/put.h"
#include "tests/probe/deviant/deviant.h"
#include "wire/encap.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"

enum {
    SHA = ENCAP_SIZE + ARP_SIZE_FIXED,
    SPA = SHA + LLADDR_SIZE,
    THA = SPA + 4,
    TPA = THA + LLADDR_SIZE
};

/* Applies the fault to a valid reply. Returns the new length. */
static uint32_t spoil(const struct deviant *d, uint8_t *out, uint32_t n)
{
    static const uint8_t another[4] = {10, 9, 9, 9};
    switch (d->fault) {
    case FAULT_ARP_TYPE:
        put16(out + ENCAP_SIZE + ARP_HRD, 1);
        return n;
    case FAULT_ARP_LENGTH:
        out[ENCAP_SIZE + ARP_HLN] = LLADDR_SIZE - 1;
        return n;
    case FAULT_ARP_SHORT:
        return THA + 8;
    case FAULT_ARP_TARGET_IP:
        memcpy(out + TPA, another, 4);
        return n;
    case FAULT_ARP_TARGET_LLADDR:
        memset(out + THA, 0, LLADDR_SIZE);
        return n;
    case FAULT_ARP_PROTOCOL:
        put16(out + ENCAP_SIZE + ARP_PRO, 0x0801);
        return n;
    case FAULT_FLAGS_ECHOED:
        out[SHA + LLADDR_FLAGS] = out[THA + LLADDR_FLAGS] & (LLADDR_FLAG_RC | LLADDR_FLAG_UC);
        return n;
    default:
        return n;
    }
}

static bool minds_flags(const struct deviant *d, uint8_t flags)
{
    switch (d->fault) {
    case FAULT_FLAGS_MINDED:
    case FAULT_FLAGS_MINDED_RC:
        return flags & LLADDR_FLAG_RESERVED;
    case FAULT_CONNECTED_MINDED:
        return flags & (LLADDR_FLAG_RC | LLADDR_FLAG_UC);
    default:
        return false;
    }
}

static void send_runt(struct deviant *d, const struct ud_from *from, uint32_t qpn)
{
    uint8_t runt[ENCAP_SIZE] = {TYPE_ARP >> 8, TYPE_ARP & 0xff};
    send_to_port(d, from->lid, from->sl, qpn, runt, ENCAP_SIZE - 1);
}

/* Sends an IPv4 packet with an experimental protocol number (RFC 3692): no host replies to it. */
static void send_large(struct deviant *d, const struct ud_from *from, uint32_t qpn)
{
    enum { LARGE = 2100, EXPERIMENT = 253 };
    uint8_t out[ENCAP_SIZE + LARGE] = {TYPE_IPV4 >> 8, TYPE_IPV4 & 0xff};
    uint8_t *ip = out + ENCAP_SIZE;
    uint32_t sum = 0;
    ip[0] = 0x45;
    put16(ip + 2, LARGE);
    ip[8] = 1;
    ip[9] = EXPERIMENT;
    memcpy(ip + 12, d->ip4, 4);
    memcpy(ip + 16, d->ip4, 4);
    for (unsigned i = 0; i < 20; i += 2)
        sum += be16(ip + i);
    put16(ip + 10, ~((sum & 0xffff) + (sum >> 16)) & 0xffff);
    send_to_port(d, from->lid, from->sl, qpn, out, sizeof out);
}

static void reply(struct deviant *d, const struct ud_from *from, const uint8_t *sha,
                  const uint8_t *spa, const uint8_t *tpa)
{
    uint8_t out[UD_SIZE];
    bool to_sender = d->fault == FAULT_ARP_TO_SENDER || d->fault == FAULT_ARP_TO_SENDER_RC;
    uint32_t qpn = to_sender ? from->qpn : lladdr_read(sha).qpn;
    struct arp_message m = {.op = ARP_REPLY, .sha = d->lladdr, .spa = tpa, .tha = sha, .tpa = spa};
    uint32_t n = spoil(d, out, message_arp(out, &m));
    if (d->fault == FAULT_SECOND_LATE)
        g_usleep(SECOND_LATE_US);
    if (d->fault == FAULT_RUNT)
        send_runt(d, from, qpn);
    if (d->fault == FAULT_MTU_ABOVE)
        send_large(d, from, qpn);
    send_to_port(d, from->lid, from->sl, qpn, out, n);
}

void take_arp(struct deviant *d, const struct ud_from *from, struct view v)
{
    struct arp a;
    bool fixed;
    if (arp_decode(v, &a, &fixed) != WIRE_OK || a.hln != LLADDR_SIZE || a.pln != 4 ||
        minds_flags(d, v.p[a.sha]))
        return;
    bool for_it = memcmp(v.p + a.tpa, d->ip4, 4) == 0;
    if (a.op == ARP_REPLY && for_it)
        learn(d, v.p + a.spa, v.p + a.sha, from);
    else if (a.op == ARP_REQUEST && (for_it || d->fault == FAULT_PROXY))
        reply(d, from, v.p + a.sha, v.p + a.spa, v.p + a.tpa);
}

void request_arp(struct deviant *d, const uint8_t *ip)
{
    uint8_t out[UD_SIZE];
    struct arp_message m = {.op = ARP_REQUEST, .sha = d->lladdr, .spa = d->ip4, .tpa = ip};
    send_to_group(d, d->fault == FAULT_SIGNATURE_ARP ? &d->all_nodes : &d->link.group, out,
                  message_arp(out, &m));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Neighbour Discovery (RFC 4861 §7.2, RFC 4391 §9.3). See deviant.h. */
#include "wire/nd.h"

#include <string.h>

#include "probe/link/message.h"
#include "wire/put.h"
#include "tests/probe/deviant/deviant.h"
#include "wire/encap.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"

enum {
    IPV6_PAYLOAD = 4,
    IPV6_FROM = 8,
    IPV6_SIZE = 40,
    ICMPV6 = 58,
    ICMPV6_CHECKSUM = 2,
    NA_SIZE = 24,
    OVERRIDE = 0x20
};

static const uint8_t unspecified[16], all_nodes[16] = {0xff, 0x02, [15] = 1};

/* Sets the checksum, which includes the pseudo header of RFC 8200 §8.1. */
static void put_checksum(uint8_t *ipv6)
{
    uint32_t length = be16(ipv6 + IPV6_PAYLOAD), sum = length + ICMPV6;
    put16(ipv6 + IPV6_SIZE + ICMPV6_CHECKSUM, 0);
    for (uint32_t i = IPV6_FROM; i < IPV6_SIZE + length;
         i += 2) /* addresses and message; all lengths here are even */
        sum += be16(ipv6 + i);
    sum = (sum & 0xffff) + (sum >> 16);
    put16(ipv6 + IPV6_SIZE + ICMPV6_CHECKSUM, ~(sum + (sum >> 16)) & 0xffff);
}

/*
 * Sets the length of the option to `units` of 8 bytes, and the length of the message accordingly.
 */
static uint32_t resize(uint8_t *out, uint32_t n, uint32_t units)
{
    uint8_t *ipv6 = out + ENCAP_SIZE;
    uint32_t payload = NA_SIZE + 8 * units, end = ENCAP_SIZE + IPV6_SIZE + payload;
    if (end > n)
        memset(out + n, 0, end - n);
    ipv6[IPV6_SIZE + NA_SIZE + ND_OPT_LENGTH] = (uint8_t)units;
    put16(ipv6 + IPV6_PAYLOAD, payload);
    put_checksum(ipv6);
    return end;
}

static uint32_t make_na(const struct deviant *d, const struct nd_message *m, uint8_t *out)
{
    uint32_t n = message_nd(out, m);
    if (d->fault == FAULT_ND_LENGTH)
        return resize(out, n, 4);
    return d->fault == FAULT_ND_SHORT ? resize(out, n, 1) : n;
}

/* RFC 4861 §7.2.4: the reply goes to all nodes if the NS came from the unspecified address. */
static void reply(struct deviant *d, const struct ud_from *from, const uint8_t *requester,
                  const uint8_t *lladdr)
{
    uint8_t out[UD_SIZE];
    bool nobody = memcmp(requester, unspecified, 16) == 0;
    struct nd_message m = {.type = ND_NA,
                           .flags = nobody ? OVERRIDE : OVERRIDE | ND_NA_SOLICITED,
                           .from = d->ip6,
                           .to = nobody ? all_nodes : requester,
                           .target = d->ip6,
                           .lladdr = d->lladdr,
                           .padding = d->fault == FAULT_ND_PADDING ? 0x1234 : 0};
    uint32_t n = make_na(d, &m, out);
    if (nobody)
        send_to_group(d, &d->all_nodes, out, n);
    else if (lladdr)
        send_to_port(d, from->lid, from->sl,
                     d->fault == FAULT_NA_TO_SENDER ? from->qpn : lladdr_read(lladdr).qpn, out, n);
}

static const uint8_t *lladdr_of(struct view icmpv6, uint8_t type)
{
    struct nd_iter it;
    struct nd_option o;
    if (!nd_options(icmpv6, &it))
        return NULL;
    while (nd_next(&it, &o))
        if (o.type == type && nd_is_ipoib_lladdr(&o) && view_has(icmpv6, o.off, o.size) == WIRE_OK)
            return icmpv6.p + o.off + ND_OPT_LLADDR;
    return NULL;
}

static bool minds(const struct deviant *d, const uint8_t *option)
{
    if (d->fault == FAULT_NS_OPTION_MINDED)
        return option != NULL;
    return d->fault == FAULT_NS_FLAGS_MINDED && option &&
           (option[LLADDR_FLAGS] & LLADDR_FLAG_RESERVED);
}

void take_nd(struct deviant *d, const struct ud_from *from, struct view ipv6, struct view icmpv6)
{
    if (view_has(icmpv6, ND_TARGET, 16) != WIRE_OK)
        return;
    const uint8_t *target = icmpv6.p + ND_TARGET;
    const uint8_t *lladdr = lladdr_of(icmpv6, icmpv6.p[0] == ND_NS ? ND_OPT_SOURCE_LLADDR
                                                                   : ND_OPT_TARGET_LLADDR);
    if (icmpv6.p[0] == ND_NS && memcmp(target, d->ip6, 16) == 0 && !minds(d, lladdr))
        reply(d, from, ipv6.p + IPV6_FROM, lladdr);
    else if (icmpv6.p[0] == ND_NA && lladdr)
        learn(d, target, lladdr, from);
}

/*
 * Sends an NS to the solicited-node group, which it joins first; with two of the faults, to another
 * group.
 */
void request_nd(struct deviant *d, const uint8_t *ip)
{
    uint8_t group[16], out[UD_SIZE];
    struct mc_group g;
    message_solicited_node(group, ip);
    struct nd_message m = {
        .type = ND_NS, .from = d->ip6, .to = group, .target = ip, .lladdr = d->lladdr};
    uint32_t n = message_nd(out, &m);
    if (d->fault == FAULT_SIGNATURE_NS)
        send_to_group(d, &d->link.group, out, n);
    else if (d->fault == FAULT_GROUP_ID_NS)
        send_to_group(d, &d->all_nodes, out, n);
    else if (join_ipv6(d, group, JOIN_SEND_ONLY_NON, &g))
        send_to_group(d, &g, out, n);
}

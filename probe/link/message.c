/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds the datagrams that the probe sends. See message.h. */
#include "probe/link/message.h"

#include <string.h>

#include "wire/arp.h"
#include "wire/checksum.h"
#include "wire/encap.h"
#include "wire/lladdr.h"
#include "wire/mgid.h"
#include "wire/nd.h"
#include "wire/put.h"

enum { IPV4_SIZE = 20, IPV6_SIZE = 40, ICMP_SIZE = 8, NS_SIZE = 24, ND_OPTION_SIZE = 24 };
enum { ECHO4 = 8, ECHO6 = 128, PROTOCOL_ICMP = 1, PROTOCOL_ICMPV6 = 58 };

const uint8_t message_all_nodes[16] = {0xff, 0x02, [15] = 1};

static uint32_t put_encap(uint8_t *out, uint16_t type, uint16_t reserved)
{
    put16(out + ENCAP_TYPE, type);
    put16(out + ENCAP_RESERVED, reserved);
    return ENCAP_SIZE;
}

static void put_bytes_or_zeros(uint8_t *out, const uint8_t *from, size_t n)
{
    if (from)
        memcpy(out, from, n);
    else
        memset(out, 0, n);
}

/* ---- ARP (RFC 826, RFC 4391 §9.2) */

uint32_t message_arp(uint8_t *out, const struct arp_message *m)
{
    uint8_t *p = out + put_encap(out, TYPE_ARP, m->reserved);
    put16(p + ARP_HRD, ARP_HRD_INFINIBAND);
    put16(p + ARP_PRO, TYPE_IPV4);
    p[ARP_HLN] = LLADDR_SIZE;
    p[ARP_PLN] = 4;
    put16(p + ARP_OP, m->op);
    p += ARP_SIZE_FIXED;
    put_bytes_or_zeros(p, m->sha, LLADDR_SIZE);
    put_bytes_or_zeros(p + LLADDR_SIZE, m->spa, 4);
    put_bytes_or_zeros(p + LLADDR_SIZE + 4, m->tha, LLADDR_SIZE);
    put_bytes_or_zeros(p + LLADDR_SIZE + 4 + LLADDR_SIZE, m->tpa, 4);
    return ENCAP_SIZE + ARP_SIZE_FIXED + 2 * (LLADDR_SIZE + 4);
}

/* ---- IPv6 and ICMPv6 */

static void put_ipv6(uint8_t *p, uint32_t payload, const uint8_t *from, const uint8_t *to)
{
    put32(p, 0x60000000u);
    put16(p + 4, payload);
    p[6] = PROTOCOL_ICMPV6;
    p[7] = 255; /* required by Neighbor Discovery (RFC 4861 §7.1) */
    put_bytes_or_zeros(p + 8, from, 16);
    put_bytes_or_zeros(p + 24, to, 16);
}

/* Checksum over the pseudo-header of RFC 8200 §8.1. p: the IPv6 header. */
static void put_icmpv6_checksum(uint8_t *p, uint32_t payload)
{
    put16(p + IPV6_SIZE + 2, 0);
    uint32_t sum = checksum_add(0, p + 8, 32) + payload + PROTOCOL_ICMPV6;
    put16(p + IPV6_SIZE + 2, checksum_fold(checksum_add(sum, p + IPV6_SIZE, payload)));
}

/* RFC 4861 §4.3 and 4.4, with the option of RFC 4391 §9.3 */
uint32_t message_nd(uint8_t *out, const struct nd_message *m)
{
    uint32_t payload = NS_SIZE + (m->lladdr ? ND_OPTION_SIZE : 0);
    uint8_t *p = out + put_encap(out, TYPE_IPV6, m->reserved), *icmp = p + IPV6_SIZE,
            *option = icmp + NS_SIZE;
    memset(p, 0, IPV6_SIZE + payload);
    put_ipv6(p, payload, m->from, m->to);
    icmp[0] = m->type;
    icmp[ND_NA_FLAGS] = m->flags;
    put_bytes_or_zeros(icmp + ND_TARGET, m->target, 16);
    if (m->lladdr) {
        option[ND_OPT_TYPE] = m->type == ND_NS ? ND_OPT_SOURCE_LLADDR : ND_OPT_TARGET_LLADDR;
        option[ND_OPT_LENGTH] = ND_OPT_IPOIB_LENGTH;
        put16(option + ND_OPT_PAD, m->padding);
        memcpy(option + ND_OPT_LLADDR, m->lladdr, LLADDR_SIZE);
    }
    put_icmpv6_checksum(p, payload);
    return ENCAP_SIZE + IPV6_SIZE + payload;
}

/* ---- echo requests (RFC 792, RFC 4443 §4.1) */

static void put_echo(uint8_t *icmp, uint8_t type, const struct echo_message *m, uint32_t n)
{
    memset(icmp, 0, ICMP_SIZE);
    icmp[0] = type;
    put16(icmp + 4, m->id);
    put16(icmp + 6, m->sequence);
    for (uint32_t i = ICMP_SIZE; i < n; i++)
        icmp[i] = (uint8_t)i;
}

bool message_is_echo_payload(const uint8_t *icmp, uint32_t n)
{
    uint32_t i = ICMP_SIZE;
    while (i < n && icmp[i] == (uint8_t)i)
        i++;
    return i >= n;
}

uint32_t message_echo4(uint8_t *out, const struct echo_message *m)
{
    uint8_t *p = out + put_encap(out, TYPE_IPV4, m->reserved), *icmp = p + IPV4_SIZE;
    uint32_t n = m->length - IPV4_SIZE;
    memset(p, 0, IPV4_SIZE);
    p[0] = 0x45;
    put16(p + 2, m->length);
    put16(p + 4, m->sequence);
    p[6] = 0x40; /* Don't Fragment: the size is tested without fragmentation */
    p[8] = 64;
    p[9] = PROTOCOL_ICMP;
    put_bytes_or_zeros(p + 12, m->from, 4);
    put_bytes_or_zeros(p + 16, m->to, 4);
    put16(p + 10, checksum_fold(checksum_add(0, p, IPV4_SIZE)));
    put_echo(icmp, ECHO4, m, n);
    put16(icmp + 2, checksum_fold(checksum_add(0, icmp, n)));
    return ENCAP_SIZE + m->length;
}

static void put_ipv4_checksum(uint8_t *p)
{
    put16(p + 10, 0);
    put16(p + 10, checksum_fold(checksum_add(0, p, IPV4_SIZE)));
}

uint32_t message_echo4_fragment(uint8_t *out, const struct echo_message *m, uint32_t at,
                                uint32_t most)
{
    enum { MORE = 0x2000 };
    uint32_t payload = m->length - IPV4_SIZE, n = at < payload ? payload - at : 0;
    n = n < most ? n : most;
    if (!n)
        return 0;
    uint8_t *p = out + ENCAP_SIZE;
    message_echo4(out, m);
    memmove(p + IPV4_SIZE, p + IPV4_SIZE + at, n);
    put16(p + 2, IPV4_SIZE + n);
    put16(p + 6, (at + n < payload ? MORE : 0) | at / 8);
    put_ipv4_checksum(p);
    return ENCAP_SIZE + IPV4_SIZE + n;
}

uint32_t message_echo6(uint8_t *out, const struct echo_message *m)
{
    uint8_t *p = out + put_encap(out, TYPE_IPV6, m->reserved);
    uint32_t n = m->length - IPV6_SIZE;
    put_ipv6(p, n, m->from, m->to);
    put_echo(p + IPV6_SIZE, ECHO6, m, n);
    put_icmpv6_checksum(p, n);
    return ENCAP_SIZE + m->length;
}

/* ---- addresses */

void message_solicited_node(uint8_t out[16], const uint8_t *address)
{
    static const uint8_t prefix[13] = {0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0xff};
    memcpy(out, prefix, sizeof prefix);
    memcpy(out + 13, address + 13, 3);
}

static void put_mgid(uint8_t out[16], uint8_t scope, uint16_t signature, uint16_t pkey)
{
    memset(out, 0, MGID_SIZE);
    out[MGID_PREFIX] = 0xff;
    out[MGID_FLAGS_SCOPE] = (uint8_t)(MGID_FLAG_TRANSIENT << 4 | scope);
    put16(out + MGID_SIGNATURE, signature);
    put16(out + MGID_PKEY, pkey | 0x8000u);
}

void message_broadcast_mgid(uint8_t out[16], uint8_t scope, uint16_t pkey)
{
    put_mgid(out, scope, MGID_SIGNATURE_IPV4, pkey);
    memset(out + MGID_GROUP_IPV4, 0xff, 4);
}

void message_ipv6_mgid(uint8_t out[16], uint8_t scope, uint16_t pkey, const uint8_t *group)
{
    put_mgid(out, scope, MGID_SIGNATURE_IPV6, pkey);
    memcpy(out + MGID_GROUP, group + MGID_GROUP, MGID_SIZE - MGID_GROUP);
}

void message_link_local(uint8_t out[16], const uint8_t *eui64)
{
    memset(out, 0, 8);
    out[0] = 0xfe;
    out[1] = 0x80;
    memcpy(out + 8, eui64, 8);
    out[8] ^= 0x02;
}

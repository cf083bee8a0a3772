/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises Neighbour Discovery messages (RFC 4861). See share_nd.h. */
#include "capture/share/share_nd.h"

#include "capture/share/share_layout.h"
#include "wire/ip.h"
#include "wire/lladdr.h"
#include "wire/nd.h"

/* ---- options: type and length are always kept */

enum { ND_OPT_PREFIX = 3, ND_OPT_MTU = 5, ND_OPT_DNS = 25 };
enum { ND_OPT_PREFIX_SIZE = 32, ND_OPT_DNS_ADDRESSES = 8 };

static const struct field option_layout[] = {KEEP(16), LAYOUT_END};
/* length of the prefix, L, A, R; lifetimes; prefix (RFC 4861 section 4.6.2, RFC 6275) */
static const struct field prefix_layout[] = {KEEP(27), ZERO(5),  KEEP(64),
                                             ZERO(32), MAP_IPV6, LAYOUT_END};
static const struct field mtu_layout[] = {KEEP(16), ZERO(16), KEEP(32), LAYOUT_END};
/* lifetime, before the addresses (RFC 8106) */
static const struct field dns_layout[] = {KEEP(16), ZERO(16), KEEP(32), LAYOUT_END};

static void share_dns(struct part p)
{
    share_layout(p, dns_layout);
    for (uint32_t at = ND_OPT_DNS_ADDRESSES; at < p.cap; at += IPV6_ADDRESS_SIZE)
        part_map(p, IPV6, at, IPV6_ADDRESS_SIZE);
}

/* The address, and two bytes before or after it that a rule checks (RFC 4391 section 9.3) */
static void share_lladdr_option(struct part p, uint32_t size, bool of_interface)
{
    bool before_driver = of_interface && p.cap == size && nd_may_be_before_driver(p.from);

    part_keep(p, 0, ND_OPT_PAD);
    part_keep(p, before_driver ? ND_OPT_PAD_BEFORE_DRIVER : ND_OPT_PAD, ND_OPT_LLADDR - ND_OPT_PAD);
    part_map(p, LLADDR, before_driver ? ND_OPT_LLADDR_BEFORE_DRIVER : ND_OPT_LLADDR, LLADDR_SIZE);
}

static void share_option(struct part p, const struct nd_option *o, bool of_interface)
{
    p = part_sub(p, o->off, o->size);
    if (nd_is_ipoib_lladdr(o))
        share_lladdr_option(p, o->size, of_interface);
    else if (o->type == ND_OPT_PREFIX && o->size >= ND_OPT_PREFIX_SIZE)
        share_layout(p, prefix_layout);
    else if (o->type == ND_OPT_MTU)
        share_layout(p, mtu_layout);
    else if (o->type == ND_OPT_DNS)
        share_dns(p);
    else
        share_layout(p, option_layout);
}

/* ---- messages: type, code and checksum are the first 32 bits */

static const struct field rs_layout[] = {KEEP(16), LAYOUT_END};
/* hop limit, M, O, H, Prf, P (RFC 4191, RFC 4389); lifetime, times */
static const struct field ra_layout[] = {KEEP(16), ZERO(16), KEEP(14),
                                         ZERO(2),  KEEP(80), LAYOUT_END};
static const struct field ns_layout[] = {KEEP(16), ZERO(48), MAP_IPV6, LAYOUT_END};
static const struct field na_layout[] = {KEEP(16), ZERO(16), KEEP(3),
                                         ZERO(29), MAP_IPV6, LAYOUT_END};
static const struct field redirect_layout[] = {KEEP(16), ZERO(48), MAP_IPV6, MAP_IPV6, LAYOUT_END};

/* By type, from ND_RS to ND_REDIRECT (RFC 4861 section 4) */
static const struct field *const layouts[] = {rs_layout, ra_layout, ns_layout, na_layout,
                                              redirect_layout};

void share_nd(struct part p, struct view v, bool of_interface)
{
    struct nd_iter it;
    struct nd_option o;
    uint32_t end;

    share_layout(p, layouts[p.from[0] - ND_RS]);
    if (!nd_options(v, &it))
        return;
    end = it.next;
    while (nd_next(&it, &o)) {
        share_option(p, &o, of_interface);
        end = o.off + o.size;
    }
    if (it.end == WIRE_MALFORMED) /* an option of length 0, or beyond the end of the message */
        part_keep(p, end, ND_OPT_PAD);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/nd.h"
#include "wire/ip.h"
#include "wire/lladdr.h"

enum { NEXT_HOP_BY_HOP = 0, NEXT_DESTINATION = 60, NEXT_ICMPV6 = 58 };
enum { NEXT_ROUTING = 43, NEXT_FRAGMENT = 44, NEXT_AH = 51 };
enum { FRAGMENT_OFFSET = 2, FRAGMENT_OFFSET_MASK = 0xfff8 };

/* Returns the next header after hop-by-hop and destination options, which starts at *d. */
static uint8_t after_options(struct view v, struct view *d)
{
    uint8_t next = v.p[IPV6_NEXT_HEADER];
    *d = view_sub(v, IPV6_SIZE, be16(v.p + IPV6_PAYLOAD_LENGTH));
    while ((next == NEXT_HOP_BY_HOP || next == NEXT_DESTINATION) && view_has(*d, 0, 2) == WIRE_OK) {
        next = d->p[0];
        *d = view_from(*d, 8 + 8u * d->p[1]);
    }
    return next;
}

bool nd_in_ipv6(struct view v, struct view *icmpv6)
{
    if (view_has(v, 0, IPV6_SIZE) != WIRE_OK || v.p[0] >> 4 != 6)
        return false;
    return after_options(v, icmpv6) == NEXT_ICMPV6 && icmpv6->cap > 0;
}

/* Bytes of the extension header at d; 0: it is none, or it is of a later fragment. */
static uint32_t extension_size(uint8_t type, struct view d)
{
    if (view_has(d, 0, 8) != WIRE_OK)
        return 0;
    switch (type) {
    case NEXT_HOP_BY_HOP:
    case NEXT_DESTINATION:
    case NEXT_ROUTING:
        return 8 + 8u * d.p[1];
    case NEXT_AH: /* RFC 4302 section 2.2 */
        return 8 + 4u * d.p[1];
    case NEXT_FRAGMENT: /* RFC 8200 section 4.5 */
        return be16(d.p + FRAGMENT_OFFSET) & FRAGMENT_OFFSET_MASK ? 0 : 8;
    default:
        return 0;
    }
}

bool nd_is_hidden(struct view v)
{
    struct view d;
    if (view_has(v, 0, IPV6_SIZE) != WIRE_OK || v.p[0] >> 4 != 6 || nd_in_ipv6(v, &d))
        return false;
    uint8_t next = v.p[IPV6_NEXT_HEADER];
    d = view_from(v, IPV6_SIZE);
    for (uint32_t n; (n = extension_size(next, d)) != 0; d = view_from(d, n))
        next = d.p[0];
    return next == NEXT_ICMPV6 && view_has(d, 0, 1) == WIRE_OK && d.p[0] >= ND_RS &&
           d.p[0] <= ND_REDIRECT;
}

bool nd_may_be_truncated_na(struct view v)
{
    struct view d;
    if (view_has(v, 0, IPV6_SIZE) != WIRE_OK)
        return view_has(v, 0, IPV6_SIZE) == WIRE_TRUNCATED;
    uint8_t next = after_options(v, &d);
    if (next == NEXT_HOP_BY_HOP || next == NEXT_DESTINATION)
        return view_has(d, 0, 2) == WIRE_TRUNCATED;
    return next == NEXT_ICMPV6 && view_has(d, 0, ND_TARGET + 16) == WIRE_TRUNCATED &&
           (d.cap == 0 || d.p[0] == ND_NA);
}

/* Offset of the options in octets (RFC 4861 sections 4.1 to 4.5); 0: not an ND message. */
static uint32_t options_offset(uint8_t type)
{
    switch (type) {
    case ND_RS:
        return 8;
    case ND_RA:
        return 16;
    case ND_NS:
    case ND_NA:
        return 24;
    case ND_REDIRECT:
        return 40;
    default:
        return 0;
    }
}

bool nd_options(struct view v, struct nd_iter *it)
{
    *it = (struct nd_iter){.v = v, .end = WIRE_OK};
    if (v.cap < 1)
        return false;
    it->next = options_offset(v.p[0]);
    return it->next != 0;
}

bool nd_next(struct nd_iter *it, struct nd_option *o)
{
    if (it->next >= it->v.len)
        return false;
    it->end = view_has(it->v, it->next, 2);
    if (it->end != WIRE_OK)
        return false;
    const uint8_t *p = it->v.p + it->next;
    uint32_t size = p[ND_OPT_LENGTH] * 8u;
    if (size == 0 || size > it->v.len - it->next) {
        it->end = WIRE_MALFORMED;
        return false;
    }
    *o = (struct nd_option){.type = p[ND_OPT_TYPE], .off = it->next, .size = size};
    it->next += size;
    return true;
}

const uint8_t *nd_option_owner(struct view v, const struct nd_option *o, const uint8_t *source)
{
    uint8_t type = v.p[0];
    if (type == ND_NA && o->type == ND_OPT_TARGET_LLADDR)
        return v.p + ND_TARGET; /* captured, because the option after it is */
    if (o->type == ND_OPT_SOURCE_LLADDR && (type == ND_RS || type == ND_RA || type == ND_NS))
        return source;
    return NULL;
}

const uint8_t *nd_next_announced(struct nd_iter *it, const uint8_t *source, const uint8_t **ip)
{
    struct nd_option o;
    while (nd_next(it, &o)) {
        if (!nd_is_ipoib_lladdr(&o) || view_has(it->v, o.off, o.size) != WIRE_OK)
            continue;
        *ip = nd_option_owner(it->v, &o, source);
        if (*ip && !nd_is_padded_behind(it->v.p + o.off))
            return it->v.p + o.off + ND_OPT_LLADDR;
    }
    return NULL;
}

static bool has_default_prefix(const uint8_t *lladdr)
{
    static const uint8_t prefix[GID_SIZE / 2] = {0xfe, 0x80};
    return memcmp(lladdr + LLADDR_GID, prefix, sizeof prefix) == 0;
}

static bool may_have_form(const uint8_t *padding, const uint8_t *lladdr)
{
    return be16(padding) == 0 && !(lladdr[LLADDR_FLAGS] & LLADDR_FLAG_UNKNOWN);
}

enum nd_form nd_form(const uint8_t *p)
{
    const uint8_t *moved = p + ND_OPT_LLADDR_BEFORE_DRIVER;
    if (!may_have_form(p + ND_OPT_PAD_BEFORE_DRIVER, moved))
        return ND_FORM_PACKET;
    if (!may_have_form(p + ND_OPT_PAD, p + ND_OPT_LLADDR) || has_default_prefix(moved))
        return ND_FORM_BEFORE_DRIVER;
    return has_default_prefix(p + ND_OPT_LLADDR) ? ND_FORM_PACKET : ND_FORM_EITHER;
}

bool nd_is_padded_behind(const uint8_t *p)
{
    return be16(p + ND_OPT_PAD) != 0 && nd_form(p) == ND_FORM_BEFORE_DRIVER &&
           has_default_prefix(p + ND_OPT_LLADDR_BEFORE_DRIVER);
}

const uint8_t *nd_lladdr(struct view v, uint8_t type)
{
    struct nd_iter it;
    struct nd_option o;
    if (!nd_options(v, &it))
        return NULL;
    while (nd_next(&it, &o))
        if (o.type == type && nd_is_ipoib_lladdr(&o) && view_has(v, o.off, o.size) == WIRE_OK)
            return v.p + o.off + ND_OPT_LLADDR;
    return NULL;
}

static bool begins_unicast(const uint8_t *gid)
{
    return gid[0] >> 5 == 1 || (gid[0] >= 0xfc && gid[0] != 0xff);
}

bool nd_has_ethernet_option(struct view v)
{
    struct nd_iter it;
    struct nd_option o;
    bool found = nd_options(v, &it);
    while (found && (found = nd_next(&it, &o)))
        if (o.type == ND_OPT_SOURCE_LLADDR && o.size == 8)
            break;
    return found && (view_has(v, o.off, o.size) != WIRE_OK ||
                     begins_unicast(v.p + o.off + ND_OPT_PAD + LLADDR_GID));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Router advertisements that do not help hosts (RFC 4861 section 4.2): a prefix of which no host
 * forms an address, for its length or its lifetimes (RFC 4862 section 5.5.3 c, d), and
 * advertisements that offer nothing, again and again. A router that ends says so in up to three
 * (MAX_FINAL_RTR_ADVERTISEMENTS, section 6.2.5).
 */
#include "analysis/ip.h"
#include "analysis/unanswered.h"
#include "rules/check_context.h"
#include "wire/nd.h"

enum { ROUTERS = 16, TIMES = 4, LEAST_MS = 2000 };
enum { RA_FLAGS = 5, RA_LIFETIME = 6, RA_SIZE = 16, MANAGED_OR_OTHER = 0xc0 };
enum { OPT_PREFIX = 3, OPT_ROUTE = 24, OPT_RDNSS = 25, OPT_DNSSL = 31 };
/* Prefix Information (section 4.6.2) */
enum {
    PREFIX_LENGTH = 2,
    PREFIX_FLAGS = 3,
    PREFIX_VALID = 4,
    PREFIX_PREFERRED = 8,
    PREFIX = 16,
    PREFIX_SIZE = 32,
    ON_LINK = 0x80,
    AUTONOMOUS = 0x40
};
enum { HOST_BITS = 64 }; /* of an address that a host forms (RFC 4391 section 8) */

/* A cache: a router that is overwritten by another begins again. */
struct advertisements {
    struct idle_router {
        struct ip ip;
        uint32_t link, times, first_frame; /* advertisements without use, since the last with one */
        int64_t first_ms;
    } all[ROUTERS];
};

NEW_HISTORY(advertisements, advertisements_new)

static void report_prefix(const struct watch *w, const struct ip *router, const uint8_t *option,
                          const char *why)
{
    const struct event_key key = event_key(w, EVENT_ROUTER_USELESS, router->bytes, option + PREFIX,
                                           option[PREFIX_LENGTH]);
    struct sender who = sender_at(w, w->p->ib.slid, router);
    char prefix[GID_TEXT];
    watch_event(w, &key, &who, 0,
                "it advertises the prefix %s/%u for addresses, and hosts form none of it: %s",
                text_of_gid(prefix, option + PREFIX), option[PREFIX_LENGTH], why);
}

/* Do hosts form addresses of the prefix, whose valid lifetime is not 0? */
static bool forms_addresses(const struct watch *w, const struct ip *router, const uint8_t *option)
{
    uint32_t valid = be32(option + PREFIX_VALID), preferred = be32(option + PREFIX_PREFERRED);
    char why[100];
    if (option[PREFIX_LENGTH] != HOST_BITS) {
        report_prefix(w, router, option, "that needs a prefix of 64 bits");
        return false;
    }
    if (preferred <= valid)
        return true;
    g_snprintf(why, sizeof why,
               "its preferred lifetime, %u s, is longer than its valid lifetime, %u s", preferred,
               valid);
    report_prefix(w, router, option, why);
    return false;
}

static void report_nothing(const struct watch *w, const struct idle_router *r)
{
    const struct event_key key = event_key(w, EVENT_ROUTER_USELESS, r->ip.bytes, NULL, 0);
    struct sender who = sender_at(w, w->p->ib.slid, &r->ip);
    watch_event(w, &key, &who, r->first_frame,
                "its advertisements offer hosts nothing since frame %u: router lifetime 0, and no "
                "prefix, route, DNS server or DHCPv6",
                r->first_frame);
}

/* Does it help with addresses, or say which are on the link? */
static bool is_useful_prefix(const struct watch *w, const struct ip *router, const uint8_t *option)
{
    if (!be32(option + PREFIX_VALID))
        return false;
    bool forms = option[PREFIX_FLAGS] & AUTONOMOUS && forms_addresses(w, router, option);
    return forms || option[PREFIX_FLAGS] & ON_LINK;
}

/* Options that were not captured may help. */
static bool has_useful_option(const struct watch *w, const struct ip *router, struct view icmpv6)
{
    struct nd_iter it;
    struct nd_option o;
    bool useful = false;
    if (!nd_options(icmpv6, &it))
        return true;
    while (nd_next(&it, &o)) {
        useful |= o.type == OPT_ROUTE || o.type == OPT_RDNSS || o.type == OPT_DNSSL;
        if (o.type == OPT_PREFIX && o.size == PREFIX_SIZE &&
            view_has(icmpv6, o.off, PREFIX_SIZE) == WIRE_OK)
            useful |= is_useful_prefix(w, router, icmpv6.p + o.off);
    }
    return useful || it.end == WIRE_TRUNCATED;
}

static struct idle_router *entry_of(const struct watch *w, const struct ip *router)
{
    uint32_t link = packet_link_key(w->p);
    struct idle_router *r = &w->advertisements->all[router->bytes[15] % ROUTERS];
    if (r->link != link || !ip_same(&r->ip, router))
        *r = (struct idle_router){.ip = *router, .link = link};
    return r;
}

static void offered_nothing(const struct watch *w, struct idle_router *r)
{
    if (!r->times++) {
        r->first_frame = w->p->at.frame;
        r->first_ms = watch_ms(w);
    }
    if (r->times >= TIMES && watch_ms(w) - r->first_ms >= LEAST_MS)
        report_nothing(w, r);
}

void watch_router_advertisement(const struct watch *w)
{
    const struct datagram *d = &w->p->datagram;
    if (!d->icmpv6.p || view_has(d->icmpv6, 0, RA_SIZE) != WIRE_OK || d->icmpv6.p[0] != ND_RA ||
        !w->p->ib.has_lrh || packet_is_corrupt(w->p))
        return;
    const struct ip router = ip_read(d->body.p + IPV6_SOURCE, IPV6_ADDRESS_SIZE);
    struct idle_router *r = entry_of(w, &router);
    bool useful = has_useful_option(w, &router, d->icmpv6);
    if (useful || be16(d->icmpv6.p + RA_LIFETIME) || d->icmpv6.p[RA_FLAGS] & MANAGED_OR_OTHER)
        r->times = 0;
    else
        offered_nothing(w, r);
}

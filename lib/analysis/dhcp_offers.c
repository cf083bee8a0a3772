/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DHCP servers that offer one client addresses of different networks. Several offers to one
 * DHCPDISCOVER are as it should be (RFC 2131 section 3.1): two servers share the addresses of a
 * network. If the networks differ, one of the servers does not belong to the link.
 */
#include "analysis/dhcp.h"
#include "analysis/unanswered.h"
#include "model/mix.h"
#include "rules/check_context.h"
#include "wire/put.h"

enum { OFFERS = 1 << 6, SOON_MS = 60000 };

struct offer {
    uint32_t server, address, mask;
    uint32_t frame; /* 0: none */
    int64_t ms;
    struct sender from;
};

/* A cache: the first offer to a transaction ID. */
struct dhcp_offers {
    struct {
        uint32_t link, xid;
        struct offer offer;
    } all[OFFERS];
};

NEW_HISTORY(dhcp_offers, dhcp_offers_new)

static struct ip ip_of(uint32_t address)
{
    uint8_t bytes[IPV4_ADDRESS_SIZE];
    put32(bytes, address);
    return ip_read(bytes, sizeof bytes);
}

static unsigned prefix_length(uint32_t mask)
{
    return (unsigned)__builtin_popcount(mask);
}

enum { OFFER_TEXT = SENDER_TEXT_SIZE + 48 };

/* "IP 10.0.0.9/24 by IP 10.0.0.3, GID fe80::3, LID 3 (frame 7)" */
static const char *offer_text(char text[OFFER_TEXT + SENDER_TEXT_SIZE], const struct offer *o)
{
    struct ip address = ip_of(o->address), server = ip_of(o->server);
    struct sender by = sender_with_ip(o->from, &server);
    char ip[SENDER_TEXT_SIZE], who[SENDER_TEXT_SIZE];
    g_snprintf(text, OFFER_TEXT + SENDER_TEXT_SIZE, "%s/%u by the server %s (frame %u)",
               ip_text(ip, &address), prefix_length(o->mask), sender_text(who, &by), o->frame);
    return text;
}

static void report(const struct watch *w, const struct sender *client, const struct offer *one,
                   const struct offer *other)
{
    char first[OFFER_TEXT + SENDER_TEXT_SIZE], second[OFFER_TEXT + SENDER_TEXT_SIZE];
    uint32_t low = MIN(one->server, other->server), high = MAX(one->server, other->server);
    const struct event_key key = event_key(w, EVENT_DHCP_DIFFERS, NULL, NULL,
                                           (uint64_t)low << 32 | high);
    watch_event(
        w, &key, client, one->frame,
        "two DHCP servers offer it addresses of different networks: %s, and %s; if the link "
        "has not both networks, one server does not belong to it, and a client that takes "
        "its address reaches nobody",
        offer_text(first, one), offer_text(second, other));
}

static bool are_apart(const struct offer *a, const struct offer *b)
{
    uint32_t common = a->mask & b->mask;
    return a->server != b->server && (a->address & common) != (b->address & common);
}

/* Without an address, it is the offer of a boot server beside DHCP (PXE). */
void watch_offer(const struct watch *w, const struct sender *client)
{
    const struct dhcp *m = &w->p->datagram.dhcp;
    uint32_t link = packet_link_key(w->p), xid = be32(w->p->datagram.dhcp_bytes.p + DHCP_XID);
    unsigned place = (unsigned)(mix_two(0, link, xid) >> 32) & (OFFERS - 1);
    struct offer *first = &w->offers->all[place].offer;
    const struct offer now = {m->server,      m->yiaddr,   m->mask,
                              w->p->at.frame, watch_ms(w), sender_of(w->f, w->p)};
    if (!m->server || !m->yiaddr || !m->mask)
        return;
    bool is_same = first->frame && w->offers->all[place].link == link &&
                   w->offers->all[place].xid == xid && now.ms - first->ms <= SOON_MS;
    if (is_same && are_apart(first, &now))
        report(w, client, first, &now);
    if (is_same)
        return;
    w->offers->all[place].link = link;
    w->offers->all[place].xid = xid;
    *first = now;
}

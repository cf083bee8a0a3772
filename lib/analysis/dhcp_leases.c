/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * IPv4 addresses that DHCP gives to a second client while the first one has its lease (RFC 2131
 * section 3.1: a server gives an address to one client at a time). Two servers that do not know of
 * each other do so, or one that has lost its leases.
 *
 * A client is known by its client identifier, which each client on IPoIB sends (RFC 4390 section
 * 2.1), and by the port of its request, to which the transaction ID leads. Both must differ: a host
 * that boots by network has several identifiers, and one that moves to its second port keeps its
 * own. A lease is known from the request and the DHCPACK, up to a release, a refusal, a new search
 * or another address of its client. A gap in the PSNs of the client's queue pair may be a release.
 */
#include "analysis/dhcp.h"
#include "model/mix.h"
#include "rules/check_context.h"

enum { LEASES = 1 << 8, REQUESTS = 1 << 8 };
enum { LEASE_FOREVER = -1 }; /* RFC 2131 section 3.3 */

/* client: a hash, 0: unknown. */
struct dhcp_client {
    uint64_t client;
    struct port port;
    struct sender sender;
    uint32_t qpn, frame; /* of its request */
    uint32_t asked;      /* the address that it asks for; 0: any */
};

/* Caches. frame 0: unused. */
struct dhcp_leases {
    struct dhcp_lease {
        struct dhcp_client holder;
        int64_t since_ns;
        uint32_t link, address, frame, seconds;
    } leases[LEASES];
    struct dhcp_asked {
        struct dhcp_client client;
        uint32_t link, xid;
    } requests[REQUESTS];
};

NEW_HISTORY(dhcp_leases, dhcp_leases_new)

/* ---- clients */

static uint64_t mix_bytes(uint64_t h, const uint8_t *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        h = mix_word(h, p[i]);
    return h;
}

/* The identifier of the message, or its hardware address; 0: it has none. */
static uint64_t identifier_of(const struct watch *w)
{
    const struct dhcp *m = &w->p->datagram.dhcp;
    struct view v = w->p->datagram.dhcp_bytes;
    if (m->client_id_length && view_has(v, m->client_id, m->client_id_length) == WIRE_OK)
        return mix_bytes(m->client_id_length, v.p + m->client_id, m->client_id_length) | 1;
    if (m->client_id_length || m->options != WIRE_OK || !m->hlen || m->hlen > DHCP_CHADDR_SIZE)
        return 0;
    return mix_bytes((uint64_t)m->htype << 8 | m->hlen, v.p + DHCP_CHADDR, m->hlen) | 1;
}

static struct dhcp_asked *asked_of(const struct watch *w)
{
    uint32_t xid = be32(w->p->datagram.dhcp_bytes.p + DHCP_XID);
    uint64_t place = mix_two(0, packet_link_key(w->p), xid);
    return &w->leases->requests[place >> 32 & (REQUESTS - 1)];
}

static bool is_asked(const struct watch *w, const struct dhcp_asked *a)
{
    return a->client.frame && a->link == packet_link_key(w->p) &&
           a->xid == be32(w->p->datagram.dhcp_bytes.p + DHCP_XID);
}

/* A client begins anew, or has another address: it uses none of before. */
static void forget_client(const struct watch *w, uint64_t client)
{
    for (unsigned i = 0; i < LEASES; i++)
        if (w->leases->leases[i].holder.client == client)
            w->leases->leases[i].frame = 0;
}

/* A relay sends the requests of clients of another link. Two clients may use one transaction ID. */
static void watch_request(const struct watch *w, uint64_t client)
{
    const struct dhcp *m = &w->p->datagram.dhcp;
    struct dhcp_asked *a = asked_of(w);
    if (m->giaddr)
        return;
    if (m->message_type == DHCP_DISCOVER)
        forget_client(w, client);
    if (is_asked(w, a) && a->client.client != client)
        client = 0;
    a->link = packet_link_key(w->p);
    a->xid = be32(w->p->datagram.dhcp_bytes.p + DHCP_XID);
    a->client = (struct dhcp_client){.client = client,
                                     .port = w->p->src,
                                     .sender = sender_of(w->f, w->p),
                                     .qpn = w->p->ib.has_deth ? w->p->ib.sqpn : 0,
                                     .frame = w->p->at.frame,
                                     .asked = m->message_type == DHCP_REQUEST ? m->requested : 0};
}

/* ---- leases */

static struct dhcp_lease *lease_of(const struct watch *w, uint32_t address)
{
    uint64_t place = mix_two(1, packet_link_key(w->p), address);
    return &w->leases->leases[place >> 32 & (LEASES - 1)];
}

static bool is_of(const struct watch *w, const struct dhcp_lease *l, uint32_t address)
{
    return l->frame && l->link == packet_link_key(w->p) && l->address == address;
}

static void end_lease(const struct watch *w, uint32_t address)
{
    struct dhcp_lease *l = lease_of(w, address);
    if (is_of(w, l, address))
        l->frame = 0;
}

bool lease_has_other_address(const struct watch *w, uint32_t address, uint32_t *asked,
                             uint32_t *frame)
{
    const struct dhcp_lease *l = lease_of(w, address);
    if (!is_of(w, l, address) || !l->holder.asked || l->holder.asked == address)
        return false;
    *asked = l->holder.asked;
    *frame = l->frame;
    return true;
}

static bool has_ended(const struct watch *w, const struct dhcp_lease *l)
{
    int64_t ns = w->p->at.ns;
    uint64_t age = (uint64_t)ns - (uint64_t)l->since_ns;
    return ns < l->since_ns ||
           (l->seconds != (uint32_t)LEASE_FOREVER && age >= (uint64_t)l->seconds * 1000000000u);
}

/* Two ports, of which both GIDs are known: a port may have several LIDs. */
static bool are_ports_apart(const struct sender *a, const struct sender *b)
{
    return a->known & b->known & SENDER_GID && memcmp(a->gid, b->gid, GID_SIZE) != 0 &&
           a->known & b->known & SENDER_LID && a->lid != b->lid;
}

/* Were all datagrams of the holder's queue pair captured since its request? */
static bool is_whole(const struct watch *w, const struct dhcp_client *c)
{
    const struct qp *qp = c->qpn ? qpns_find(w->f->qpns, &c->port, c->qpn) : NULL;
    return qp && sequence_is_whole_since(&qp->sequence, c->frame);
}

static bool is_taken(const struct watch *w, const struct dhcp_lease *l, uint32_t address,
                     const struct dhcp_client *by)
{
    return is_of(w, l, address) && l->holder.client != by->client && !has_ended(w, l) &&
           are_ports_apart(&l->holder.sender, &by->sender) && is_whole(w, &l->holder);
}

static void given_twice(const struct watch *w, const struct dhcp_lease *l,
                        const struct dhcp_client *to)
{
    const uint8_t *address = w->p->datagram.dhcp_bytes.p + DHCP_YIADDR;
    struct ip ip = ip_read(address, IPV4_ADDRESS_SIZE);
    struct ip source = ip_read(w->p->datagram.body.p + IPV4_SOURCE, IPV4_ADDRESS_SIZE);
    struct sender who = sender_with_ip(to->sender, &ip), from = sender_of(w->f, w->p);
    struct sender server = sender_with_ip(from, &source);
    char other[SENDER_TEXT_SIZE], by[SENDER_TEXT_SIZE], life[40] = "has no end";
    struct event_key key = event_key(w, EVENT_DUPLICATE_IP, who.gid, NULL,
                                     UINT64_C(4) << 32 | packet_link_key(w->p));
    memcpy(key.about, address, IPV4_ADDRESS_SIZE);
    if (l->seconds != (uint32_t)LEASE_FOREVER)
        g_snprintf(life, sizeof life, "lasts %u s", l->seconds);
    watch_event(w, &key, &who, l->frame,
                "the DHCP server %s gives it the address that %s was given in frame %u; that lease "
                "%s, and no release of it was captured",
                sender_text(by, &server), sender_text(other, &l->holder.sender), l->frame, life);
}

/*
 * Servers may leave the client identifier out (RFC 6842). If it is another one than the request's,
 * the transaction ID has led to another client.
 */
static void granted(const struct watch *w, uint64_t client)
{
    const struct dhcp *m = &w->p->datagram.dhcp;
    const struct dhcp_asked *a = asked_of(w);
    struct dhcp_lease *l = lease_of(w, m->yiaddr);
    bool known = is_asked(w, a) && a->client.client && (!client || client == a->client.client);
    if (!m->yiaddr)
        return;
    if (!known || !m->lease_seconds) {
        end_lease(w, m->yiaddr);
        return;
    }
    struct dhcp_client to = a->client;
    if (is_taken(w, l, m->yiaddr, &to))
        given_twice(w, l, &to);
    forget_client(w, to.client);
    *l = (struct dhcp_lease){to,        w->p->at.ns,    packet_link_key(w->p),
                             m->yiaddr, w->p->at.frame, m->lease_seconds};
}

static void refused(const struct watch *w)
{
    const struct dhcp_asked *a = asked_of(w);
    if (is_asked(w, a) && a->client.client)
        forget_client(w, a->client.client);
}

void watch_lease(const struct watch *w)
{
    const struct dhcp *m = &w->p->datagram.dhcp;
    uint64_t client = identifier_of(w);
    if (m->op == DHCP_BOOTREPLY) {
        if (m->message_type == DHCP_ACK)
            granted(w, client);
        else if (m->message_type == DHCP_NAK)
            refused(w);
    } else if (m->message_type == DHCP_DISCOVER || m->message_type == DHCP_REQUEST) {
        watch_request(w, client);
    } else if (m->message_type == DHCP_RELEASE) {
        end_lease(w, m->ciaddr);
    } else if (m->message_type == DHCP_DECLINE) {
        end_lease(w, m->requested);
    }
}

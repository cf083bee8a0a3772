/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DHCP clients that no server answers, and addresses that are refused (RFC 2131 sections 3, 4). A
 * client has no hardware address in its messages (RFC 4390 section 2.1), so the transaction ID
 * (xid) leads from the reply to the request.
 */
#include "analysis/dhcp.h"

#include "analysis/unanswered.h"
#include "rules/check_context.h"
#include "wire/put.h"

/* LID of the DHCP server that replied last; 0: none. */
static uint16_t *server_of(const struct watch *w)
{
    return &w->questions->dhcp_server[w->p->at.interface % WAITING_SUBNETS];
}

static struct question_key key_of_client(const struct watch *w, const uint8_t *message)
{
    uint8_t xid[GID_SIZE] = {0};
    memcpy(xid, message + DHCP_XID, sizeof(uint32_t));
    return question_key(w, QUESTION_DHCP, packet_link_key(w->p), NULL, xid);
}

const struct name dhcp6_names[] = {
    {1, "DHCPv6 Solicit"},
    {3, "DHCPv6 Request"},
    {4, "DHCPv6 Confirm"},
    {5, "DHCPv6 Renew"},
    {6, "DHCPv6 Rebind"},
    {8, "DHCPv6 Release"},
    {9, "DHCPv6 Decline"},
    {11, "DHCPv6 Information-request"},
    {0, NULL},
};

static const char *type_text(uint16_t type)
{
    if (type & DHCP6)
        return names_find(dhcp6_names, type ^ DHCP6);
    return type == DHCP_DISCOVER  ? "DHCPDISCOVER"
           : type == DHCP_REQUEST ? "DHCPREQUEST"
                                  : "DHCPINFORM";
}

void dhcp_unanswered(const struct watch *w, struct question *q)
{
    struct sender who = sender_of_lid(w, q->lid);
    unsigned subnet = w->p->at.interface % WAITING_SUBNETS;
    uint32_t stray = w->questions->dhcp_stray[subnet].frame;
    char more[120] = "";
    if (stray > q->first_frame)
        g_snprintf(more, sizeof more,
                   "; the reply in frame %u has the transaction ID 0x%08x, of no request that was "
                   "captured",
                   stray, w->questions->dhcp_stray[subnet].xid);
    const struct event_key key = event_key(w, EVENT_DHCP_UNANSWERED, who.gid, NULL, q->lid);
    watch_no_copy(w, &key);
    watch_event(w, &key, &who, q->first_frame,
                "no reply of a DHCP server was captured to %u requests since frame %u (%s), %g s "
                "after the last%s",
                q->waited, q->first_frame, type_text(q->type), question_wait_s(QUESTION_DHCP),
                more);
}

/*
 * A server answers by broadcast (RFC 2131 section 4.1). After an offer, a client asks for the
 * address: if the offer was not captured, others are not either.
 */
static bool wants_broadcast(const struct dhcp *d)
{
    return d->message_type == DHCP_DISCOVER && d->flags & DHCP_FLAG_BROADCAST;
}

/* A relay sends the requests of its clients again: only those of clients are followed. */
static void requested(const struct watch *w, const struct dhcp *d, const struct question_key *key)
{
    bool waits = d->message_type == DHCP_DISCOVER || d->message_type == DHCP_REQUEST ||
                 d->message_type == DHCP_INFORM;
    struct question *q = waits && !d->giaddr ? question_ask(w, key, w->p->ib.psn + UINT64_C(1))
                                             : NULL;
    if (!q)
        return;
    q->to_group = (q->asked == 1 || q->to_group) && wants_broadcast(d);
    q->type = d->message_type;
    q->server = d->server;
    q->peer = *server_of(w);
}

enum { DECLINED_TEXT = 240 };

static struct ip ip_of(uint32_t address)
{
    uint8_t bytes[IPV4_ADDRESS_SIZE];
    put32(bytes, address);
    return ip_read(bytes, sizeof bytes);
}

/* The client asks one server, and another one refuses (RFC 2131 section 3.1). */
APART static void refused_by_another(const struct watch *w, const struct question *q)
{
    struct ip by = ip_of(w->p->datagram.dhcp.server), to = ip_of(q->server);
    struct sender who = sender_of_lid(w, q->lid);
    char server[SENDER_TEXT_SIZE], asked[SENDER_TEXT_SIZE];
    const struct event_key key = event_key(w, EVENT_DHCP_REFUSED, who.gid, by.bytes,
                                           (uint64_t)who.lid << 8 | DHCP_NAK);
    watch_event(w, &key, &who, q->first_frame,
                "another DHCP server, %s, refuses the address that it asks %s for (DHCPNAK): only "
                "the server that it names may answer",
                ip_text(server, &by), ip_text(asked, &to));
}

/* Does another port than the client's hold the address? */
static bool is_held_by_other(const struct watch *w, const struct ip *ip, const struct sender *who,
                             char gid[GID_TEXT])
{
    const struct neighbour *n = neighbours_of_ip(w->f->neighbours, packet_link_key(w->p), ip);
    if (!n || !(who->known & SENDER_GID) || memcmp(n->lladdr + LLADDR_GID, who->gid, GID_SIZE) == 0)
        return false;
    text_of_gid(gid, n->lladdr + LLADDR_GID);
    return true;
}

/* RFC 2131 section 3.1: because another host uses it. Or it is not the one that it asked for. */
static const char *why_declined(const struct watch *w, const struct sender *who,
                                char text[DECLINED_TEXT])
{
    const struct dhcp *m = &w->p->datagram.dhcp;
    const struct ip declined = ip_of(m->requested);
    char gid[GID_TEXT], ip[SENDER_TEXT_SIZE], other[SENDER_TEXT_SIZE];
    uint32_t asked, frame;
    if (lease_has_other_address(w, m->requested, &asked, &frame)) {
        const struct ip wanted = ip_of(asked);
        g_snprintf(text, DECLINED_TEXT, "it asked for %s, and the DHCPACK in frame %u has %s",
                   ip_text(other, &wanted), frame, ip_text(ip, &declined));
    } else if (is_held_by_other(w, &declined, who, gid)) {
        g_snprintf(text, DECLINED_TEXT, "another host uses the address, GID %s", gid);
    } else {
        g_snprintf(text, DECLINED_TEXT,
                   "it found another host with the address, of which nothing was captured");
    }
    return text;
}

/* The client refuses the server's address. */
static void declined(const struct watch *w, const struct question *q)
{
    struct sender who = sender_of(w->f, w->p);
    const struct event_key key = event_key(w, EVENT_DHCP_REFUSED, who.gid, NULL,
                                           (uint64_t)who.lid << 8 | DHCP_DECLINE);
    char why[DECLINED_TEXT];
    watch_event(w, &key, &who, q ? q->first_frame : 0,
                "it declines the address that the DHCP server gave it (DHCPDECLINE): %s",
                why_declined(w, &who, why));
}

/* The server refuses the address that the client asks for. */
static void refused(const struct watch *w, const struct question *q)
{
    struct sender who = q ? sender_of_lid(w, q->lid) : sender_of(w->f, w->p);
    const struct event_key key = event_key(w, EVENT_DHCP_REFUSED, who.gid, NULL,
                                           (uint64_t)who.lid << 8 | DHCP_NAK);
    watch_event(w, &key, &who, q ? q->first_frame : 0, "%s",
                q ? "the DHCP server refuses the address that it asks for (DHCPNAK)"
                  : "as a DHCP server it refuses the address that a client asks for (DHCPNAK)");
}

/* A second reply to a request. */
static bool is_answered(const struct watch *w, const struct question_key *key)
{
    return question_last(w, key) != NULL;
}

static void note_stray(const struct watch *w, uint32_t xid)
{
    unsigned subnet = w->p->at.interface % WAITING_SUBNETS;
    w->questions->dhcp_stray[subnet].frame = w->p->at.frame;
    w->questions->dhcp_stray[subnet].xid = xid;
}

static void offered(const struct watch *w, const struct question_key *key)
{
    const struct question *q = question_last(w, key);
    if (!q || w->p->datagram.dhcp.message_type != DHCP_OFFER)
        return;
    const struct sender client = sender_of_lid(w, q->lid);
    watch_offer(w, &client);
}

void watch_dhcp(const struct watch *w)
{
    const struct datagram *d = &w->p->datagram;
    const struct dhcp *m = &d->dhcp;
    if (!w->p->ib.has_lrh || d->dhcp_result != WIRE_OK)
        return;
    const struct question_key key = key_of_client(w, d->dhcp_bytes.p);
    struct question *q = question_find(w, &key);
    bool by_another = q && q->server && m->server && m->server != q->server;
    if (m->message_type == DHCP_NAK && by_another)
        refused_by_another(w, q);
    else if (m->message_type == DHCP_NAK)
        refused(w, q);
    else if (m->message_type == DHCP_DECLINE)
        declined(w, q);
    if (!packet_is_corrupt(w->p))
        watch_lease(w);
    if (m->op == DHCP_BOOTREQUEST)
        requested(w, m, &key);
    else if (!packet_is_corrupt(w->p)) {
        *server_of(w) = w->p->ib.slid;
        offered(w, &key);
        if (q)
            question_answer(w, q);
        else if (!is_answered(w, &key))
            note_stray(w, be32(d->dhcp_bytes.p + DHCP_XID));
    }
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests between hosts that have no answer in the capture: ARP, Neighbour Discovery, ping. Three
 * requests in a row, and packets to the requester that were captured: without these, the capture
 * point may see only one direction.
 */
#include "analysis/question.h"
#include "wire/nd.h"

static struct sender sender_at(const struct watch *w, uint16_t lid, const struct ip *ip)
{
    return sender_with_ip(lid ? sender_of_lid(w, lid) : (struct sender){.known = 0}, ip);
}

static const char *ip_text(char text[SENDER_TEXT_SIZE], const struct ip *ip)
{
    struct sender s = sender_with_ip((struct sender){.known = 0}, ip);
    return sender_text(text, &s);
}

/* The key's addresses are those of requester and target. */
static struct question_key key_of_ips(const struct watch *w, enum question_kind kind,
                                      const struct ip *from, const struct ip *to)
{
    struct question_key key = question_key(w, kind, packet_link_key(w->p), NULL, NULL);
    memcpy(key.who, from->bytes, from->length);
    memcpy(key.about, to->bytes, to->length);
    return key;
}

static void unanswered(const struct watch *w, enum event_kind kind, const struct question *q,
                       uint8_t length)
{
    struct ip from = ip_read(q->key.who, length), to = ip_read(q->key.about, length);
    struct sender who = sender_at(w, q->lid, &from);
    const struct event_key key = event_key(w, kind, q->key.who, q->key.about, q->key.requester);
    char target[SENDER_TEXT_SIZE];
    watch_event(w, &key, &who, q->first_frame,
                "no reply from %s was captured to %u requests since frame %u", ip_text(target, &to),
                q->asked, q->first_frame);
}

/* ---- ARP and Neighbour Discovery */

/* Did the target announce its address since the first request? */
static bool is_announced(const struct watch *w, const struct question *q, const struct ip *target)
{
    const struct neighbour *n = neighbours_of_ip(w->f->neighbours, packet_link_key(w->p), target);
    return n ? n->last_frame >= q->first_frame
             : w->f->undone->tables[UNDONE_NEIGHBOURS].refused > 0;
}

static void ask_for(const struct watch *w, const struct question_key *key, enum event_kind kind,
                    const struct ip *target)
{
    struct question *q = question_ask(w, key, w->p->ib.psn + UINT64_C(1));
    if (!q || !question_is_unanswered(w, q, QUESTION_MS))
        return;
    if (is_announced(w, q, target))
        question_answer(w, q);
    else
        unanswered(w, kind, q, target->length);
}

/* Probes and announcements want no reply (RFC 5227 sections 2.1, 2.3). */
static void watch_arp(const struct watch *w, const struct datagram *d)
{
    const struct arp *a = &d->arp;
    if (d->arp_result != WIRE_OK || a->pln != IPV4_ADDRESS_SIZE || a->op != ARP_REQUEST)
        return;
    struct ip from = ip_read(d->body.p + a->spa, IPV4_ADDRESS_SIZE),
              to = ip_read(d->body.p + a->tpa, IPV4_ADDRESS_SIZE);
    if (ip_is_unspecified(&from) || ip_same(&from, &to))
        return;
    const struct question_key key = key_of_ips(w, QUESTION_ARP, &from, &to);
    ask_for(w, &key, EVENT_ARP_UNANSWERED, &to);
}

static void watch_advertisement(const struct watch *w, const struct ip *target,
                                const struct ip *requester)
{
    const struct question_key key = key_of_ips(w, QUESTION_ND, requester, target);
    struct question *q = question_find(w, &key);
    if (q)
        question_answer(w, q);
}

/* A solicitation from :: is duplicate address detection (RFC 4862 section 5.4.2). */
static void watch_nd(const struct watch *w, const struct datagram *d)
{
    if (view_has(d->icmpv6, 0, ND_TARGET + 16) != WIRE_OK)
        return;
    struct ip target = ip_read(d->icmpv6.p + ND_TARGET, IPV6_ADDRESS_SIZE),
              source = ip_read(d->body.p + IPV6_SOURCE, IPV6_ADDRESS_SIZE),
              destination = ip_read(d->body.p + IPV6_DESTINATION, IPV6_ADDRESS_SIZE);
    if (d->icmpv6.p[0] == ND_NA)
        watch_advertisement(w, &target, &destination);
    if (d->icmpv6.p[0] != ND_NS || ip_is_unspecified(&source))
        return;
    const struct question_key key = key_of_ips(w, QUESTION_ND, &source, &target);
    ask_for(w, &key, EVENT_ND_UNANSWERED, &target);
}

void watch_address_requests(const struct watch *w)
{
    const struct datagram *d = &w->p->datagram;
    if (!w->p->ib.has_lrh)
        return;
    if (d->encap.type == TYPE_ARP)
        watch_arp(w, d);
    else if (d->icmpv6.p)
        watch_nd(w, d);
}

/* ---- ping */

enum {
    ICMP = 1,
    ICMPV6 = 58,
    ECHO_REQUEST = 8,
    ECHO_REPLY = 0,
    ECHO6_REQUEST = 128,
    ECHO6_REPLY = 129
};
enum { IPV4_OFFSET_MASK = 0x1fff, ECHO_ID = 4, ECHO_SIZE = 8 };

struct echo {
    struct ip from, to;
    bool request;
    uint64_t number; /* identifier and sequence number, and a bit that is set */
};

static bool read_echo(struct view icmp, struct echo *e, uint8_t request, uint8_t reply)
{
    if (view_has(icmp, 0, ECHO_SIZE) != WIRE_OK || (icmp.p[0] != request && icmp.p[0] != reply))
        return false;
    e->request = icmp.p[0] == request;
    e->number = UINT64_C(1) << 32 | be32(icmp.p + ECHO_ID);
    return true;
}

/* The first fragment has the ICMP header. */
static bool read_echo_in_ipv4(struct view v, struct echo *e)
{
    if (view_has(v, 0, IPV4_SIZE) != WIRE_OK || v.p[IPV4_PROTOCOL] != ICMP ||
        be16(v.p + IPV4_FRAGMENT) & IPV4_OFFSET_MASK)
        return false;
    e->from = ip_read(v.p + IPV4_SOURCE, IPV4_ADDRESS_SIZE);
    e->to = ip_read(v.p + IPV4_DESTINATION, IPV4_ADDRESS_SIZE);
    return read_echo(view_from(v, 4 * (v.p[0] & 0x0fu)), e, ECHO_REQUEST, ECHO_REPLY);
}

static bool read_echo_in_ipv6(struct view v, struct echo *e)
{
    enum { FRAGMENT_HEADER = 44, FRAGMENT_SIZE = 8, FRAGMENT_OFFSET = 2 };
    if (view_has(v, 0, IPV6_SIZE + FRAGMENT_SIZE) != WIRE_OK)
        return false;
    const uint8_t *next = v.p + IPV6_NEXT_HEADER;
    uint32_t at = IPV6_SIZE;
    e->from = ip_read(v.p + IPV6_SOURCE, IPV6_ADDRESS_SIZE);
    e->to = ip_read(v.p + IPV6_DESTINATION, IPV6_ADDRESS_SIZE);
    if (*next == FRAGMENT_HEADER && be16(v.p + IPV6_SIZE + FRAGMENT_OFFSET) >> 3 == 0) {
        next = v.p + IPV6_SIZE;
        at += FRAGMENT_SIZE;
    }
    return *next == ICMPV6 && read_echo(view_from(v, at), e, ECHO6_REQUEST, ECHO6_REPLY);
}

static bool find_echo(const struct packet *p, struct echo *e)
{
    const struct datagram *d = &p->datagram;
    if (d->encap.type == TYPE_IPV4)
        return read_echo_in_ipv4(d->body, e);
    return d->encap.type == TYPE_IPV6 && read_echo_in_ipv6(d->body, e);
}

/* A ping sends its requests whether they are answered or not: the last one may still be. */
static void watch_request(const struct watch *w, const struct echo *e)
{
    const struct question_key key = key_of_ips(w, QUESTION_ECHO, &e->from, &e->to);
    struct question *q = question_ask(w, &key, e->number);
    if (!q || q->asked < QUESTION_ASKED)
        return;
    if (q->asked > QUESTION_ASKED && question_is_unanswered(w, q, QUESTION_MS))
        unanswered(w, EVENT_ECHO_UNANSWERED, q, e->from.length);
    else
        question_open(w, q);
}

/* A reply from a group's member has an address of its own, so pings of groups are not followed. */
void watch_echo(const struct watch *w)
{
    struct echo e;
    if (!w->p->ib.has_lrh || ib_is_multicast(&w->p->ib) || !find_echo(w->p, &e))
        return;
    if (e.request) {
        watch_request(w, &e);
        return;
    }
    const struct question_key key = key_of_ips(w, QUESTION_ECHO, &e.to, &e.from);
    struct question *q = question_find(w, &key);
    if (q)
        question_answer(w, q);
}

/* Another packet of the receiver reaches the requester, a second after the last request. */
static bool is_proved(const struct watch *w, const struct question *q)
{
    const struct ib_packet *ib = &w->p->ib;
    return q->key.kind == QUESTION_ECHO && q->key.subnet == w->p->at.interface &&
           ib->dlid == q->lid && ib->slid == q->peer && watch_ms(w) - q->last_ms >= QUESTION_MS;
}

void watch_open_echos(const struct watch *w)
{
    struct questions *all = w->questions;
    for (unsigned i = all->n_open; i-- > 0;) {
        struct question *q = all->open[i];
        if (!is_proved(w, q))
            continue;
        static const uint8_t zero[12];
        bool v4 = memcmp(q->key.who + 4, zero, sizeof zero) == 0;
        unanswered(w, EVENT_ECHO_UNANSWERED, q, v4 ? IPV4_ADDRESS_SIZE : IPV6_ADDRESS_SIZE);
        question_close(w, q);
    }
}

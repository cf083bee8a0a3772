/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests between hosts that have no answer in the capture: ARP, Neighbour Discovery; echo.c has
 * pings.
 */
#include "analysis/unanswered.h"
#include "wire/nd.h"

struct sender sender_at(const struct watch *w, uint16_t lid, const struct ip *ip)
{
    return sender_with_ip(lid ? sender_of_lid(w, lid) : (struct sender){.known = 0}, ip);
}

const char *ip_text(char text[SENDER_TEXT_SIZE], const struct ip *ip)
{
    struct sender s = sender_with_ip((struct sender){.known = 0}, ip);
    return sender_text(text, &s);
}

struct question_key key_of_ips(const struct watch *w, enum question_kind kind,
                               const struct ip *from, const struct ip *to)
{
    struct question_key key = question_key(w, kind, packet_link_key(w->p), NULL, NULL);
    memcpy(key.who, from->bytes, from->length);
    memcpy(key.about, to->bytes, to->length);
    return key;
}

struct ip ip_of_key(const uint8_t bytes[16])
{
    static const uint8_t zero[12];
    bool v4 = memcmp(bytes + IPV4_ADDRESS_SIZE, zero, sizeof zero) == 0;
    return ip_read(bytes, v4 ? IPV4_ADDRESS_SIZE : IPV6_ADDRESS_SIZE);
}

void ip_unanswered(const struct watch *w, enum event_kind kind, const struct question *q)
{
    struct ip from = ip_of_key(q->key.who), to = ip_of_key(q->key.about);
    struct sender who = sender_at(w, q->lid, &from);
    const struct event_key key = event_key(w, kind, q->key.who, q->key.about, q->key.requester);
    char target[SENDER_TEXT_SIZE];
    watch_no_copy(w, &key);
    watch_event(w, &key, &who, q->first_frame,
                "no reply from %s was captured to %u requests since frame %u, %g s after the last",
                ip_text(target, &to), q->waited, q->first_frame, question_wait_s(q->key.kind));
}

/* ---- ARP and Neighbour Discovery */

/* Did the target announce its address since the first request? */
static bool is_announced(const struct watch *w, const struct question *q)
{
    struct ip target = ip_of_key(q->key.about);
    const struct neighbour *n = neighbours_of_ip(w->f->neighbours, q->key.requester, &target);
    return n ? n->last_frame >= q->first_frame
             : w->f->undone->tables[UNDONE_NEIGHBOURS].refused > 0;
}

static void address_unanswered(const struct watch *w, enum event_kind kind, struct question *q)
{
    if (is_announced(w, q))
        question_answer(w, q);
    else
        ip_unanswered(w, kind, q);
}

void arp_unanswered(const struct watch *w, struct question *q)
{
    address_unanswered(w, EVENT_ARP_UNANSWERED, q);
}

void nd_unanswered(const struct watch *w, struct question *q)
{
    address_unanswered(w, EVENT_ND_UNANSWERED, q);
}

static void ask_for(const struct watch *w, const struct question_key *key)
{
    question_ask(w, key, w->p->ib.psn + UINT64_C(1));
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
    ask_for(w, &key);
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
    ask_for(w, &key);
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ICMP echo requests over UD, from the probe's own address. See echo_request.h. */
#include "probe/exchange/echo_request.h"

#include <stdio.h>
#include <string.h>

#include "probe/exchange/peer.h"
#include "probe/exchange/receive.h"
#include "probe/link/link.h"
#include "probe/link/message.h"
#include "probe/link/send.h"
#include "probe/link/transport.h"
#include "wire/encap.h"

enum { ECHO_ID = 0x1b0b, IPV4_MORE = 0x3fff };

const char echo_other_payload[] = "another payload than the request (RFC 792, RFC 4443 §4.2)";

static bool send_fragments(struct target *t, const struct ud_to *to, const struct echo_message *m,
                           uint32_t most)
{
    uint8_t out[UD_SIZE];
    uint32_t n, step = most & ~7u;
    bool sent = true;
    for (uint32_t at = 0; sent && (n = message_echo4_fragment(out, m, at, step)); at += step)
        sent = send_unicast(t, to, out, n);
    return sent;
}

bool echo_send(struct target *t, struct pending_request *x)
{
    uint8_t out[UD_SIZE];
    x->sequence = ++t->run->sequence;
    if (!x->sent)
        x->first = x->sequence;
    struct echo_message m = {x->q->reserved,     ECHO_ID, x->sequence,
                             t->link->source.ip, x->ip,   x->q->echo};
    struct ud_to to = peer_destination(t, x->q->grh || t->peer->needs_grh);
    to.second_qp = x->q->second_qp;
    bool sent = x->q->fragment
                    ? send_fragments(t, &to, &m, x->q->fragment)
                    : send_unicast(t, &to, out,
                                   x->ipv6 ? message_echo6(out, &m) : message_echo4(out, &m));
    x->sent = t->run->last_sent;
    return sent;
}

/* The ICMP message of an unfragmented reply whose datagram has the request's length; NULL: none. */
static const uint8_t *reply_in(const struct pending_request *x, const struct encap *h,
                               struct view ip)
{
    uint32_t head = x->ipv6 ? IPV6_HEAD : IPV4_HEAD, length = x->q->echo;
    if (h->type != (x->ipv6 ? TYPE_IPV6 : TYPE_IPV4) || ip.cap < head + 8 || ip.cap < length)
        return NULL;
    if (x->ipv6)
        return ip.p[6] == ICMPV6 && be16(ip.p + 4) + head == length &&
                       memcmp(ip.p + 8, x->ip, 16) == 0
                   ? ip.p + head
                   : NULL;
    bool whole = ip.p[0] == 0x45 && ip.p[9] == ICMP && be16(ip.p + 2) == length &&
                 (be16(ip.p + 6) & IPV4_MORE) == 0;
    return whole && memcmp(ip.p + 12, x->ip, 4) == 0 ? ip.p + head : NULL;
}

/* A late reply to the first try counts. Sequence numbers wrap after 65535. */
static bool is_of_tries(const struct pending_request *x, uint16_t sequence)
{
    return (uint16_t)(sequence - x->first) <= (uint16_t)(x->sequence - x->first);
}

/* A peer whose MTU is smaller fragments its reply. */
static bool is_first_fragment(const struct pending_request *x, const struct encap *h,
                              struct view ip)
{
    enum { MORE_FIRST = 0x2000, FRAGMENT6 = 44, FRAGMENT6_HEAD = 8, OFFSET6_MORE = 0xfff9 };
    if (!x->ipv6)
        return h->type == TYPE_IPV4 && ip.cap >= IPV4_HEAD && ip.p[9] == ICMP &&
               (be16(ip.p + 6) & IPV4_MORE) == MORE_FIRST && memcmp(ip.p + 12, x->ip, 4) == 0;
    return h->type == TYPE_IPV6 && ip.cap >= IPV6_HEAD + FRAGMENT6_HEAD && ip.p[6] == FRAGMENT6 &&
           (be16(ip.p + IPV6_HEAD + 2) & OFFSET6_MORE) == 1 && memcmp(ip.p + 8, x->ip, 16) == 0;
}

bool echo_take_reply(struct target *t, const struct ud_from *from, void *user)
{
    struct pending_request *x = user;
    struct encap h;
    if (encap_decode(from->bytes, &h) != WIRE_OK)
        return false;
    t->peer->fragments |= is_first_fragment(x, &h, view_from(from->bytes, ENCAP_SIZE));
    const uint8_t *icmp = reply_in(x, &h, view_from(from->bytes, ENCAP_SIZE));
    if (!icmp || icmp[0] != (x->ipv6 ? REPLY6 : REPLY4) || be16(icmp + 4) != ECHO_ID ||
        !is_of_tries(x, be16(icmp + 6)) || !peer_may_be_sender(t, from))
        return false;
    bool same = message_is_echo_payload(icmp, x->q->echo - (x->ipv6 ? IPV6_HEAD : IPV4_HEAD));
    if (!receive_is_usable(t, from, same ? NULL : echo_other_payload))
        return false;
    x->replied = be16(icmp + 6);
    request_store_response(t, x, from);
    return true;
}

void echo_text(const struct request *q, char *out, size_t size)
{
    snprintf(out, size, "ICMP echo request of %u bytes over UD, %s GRH, Reserved 0x%04x%s", q->echo,
             q->grh ? "with" : "without", q->reserved, q->second_qp ? ", from a second QP" : "");
}

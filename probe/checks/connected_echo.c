/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ICMP echo requests over a connection. See connected_echo.h. */
#include "probe/checks/connected_echo.h"

#include <stdio.h>
#include <string.h>

#include "probe/exchange/connection.h"
#include "probe/exchange/echo_request.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/receive.h"
#include "probe/exchange/request.h"
#include "probe/exchange/responder.h"
#include "probe/exchange/response_times.h"
#include "probe/link/link.h"
#include "probe/link/message.h"
#include "probe/link/send.h"
#include "probe/link/transport.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/target.h"
#include "wire/encap.h"

enum { ECHO_ID = 0x1b0c };
enum { FRAGMENT_HEAD = 8, FRAGMENT = 44, OFFSET4 = 0x1fff, MORE4 = 0x2000, OFFSET6 = 0xfff8 };

/* ---- the reply */

/* The ICMP message of a reply; only its start if the reply is fragmented. */
struct icmp {
    const uint8_t *p; /* NULL: none */
    uint32_t n;       /* its bytes in this packet */
    bool whole;
};

static struct icmp icmp_at(struct view ip, uint32_t head, uint32_t length, bool whole)
{
    uint32_t end = MIN(length, ip.cap);
    if (end < head + 8)
        return (struct icmp){.p = NULL};
    return (struct icmp){ip.p + head, end - head, whole};
}

/* A connection may have a larger MTU than UD: a reply over UD may be fragmented. */
static struct icmp icmp4(const struct target *t, struct view ip)
{
    bool of_peer = ip.cap >= IPV4_HEAD + 8 && ip.p[0] == 0x45 && ip.p[9] == ICMP &&
                   (be16(ip.p + 6) & OFFSET4) == 0 && memcmp(ip.p + 12, t->ip, 4) == 0;
    return of_peer ? icmp_at(ip, IPV4_HEAD, be16(ip.p + 2), !(be16(ip.p + 6) & MORE4))
                   : (struct icmp){.p = NULL};
}

static struct icmp icmp6(const struct target *t, struct view ip)
{
    if (ip.cap < IPV6_HEAD + FRAGMENT_HEAD + 8 || memcmp(ip.p + 8, t->ip, 16) != 0)
        return (struct icmp){.p = NULL};
    const uint8_t *next = ip.p + IPV6_HEAD;
    uint32_t length = IPV6_HEAD + be16(ip.p + 4);
    if (ip.p[6] == FRAGMENT && next[0] == ICMPV6 && (be16(next + 2) & OFFSET6) == 0)
        return icmp_at(ip, IPV6_HEAD + FRAGMENT_HEAD, length, false);
    return ip.p[6] == ICMPV6 ? icmp_at(ip, IPV6_HEAD, length, true) : (struct icmp){.p = NULL};
}

/* Compares the payload with the request's; for a fragment, only its start. */
static bool has_payload_of(const struct connected_echo *e, const struct icmp *m, bool ipv6)
{
    uint32_t sent = e->length - (ipv6 ? IPV6_HEAD : IPV4_HEAD);
    return (m->whole ? m->n == sent : m->n <= sent) && message_is_echo_payload(m->p, m->n);
}

/* Sequence numbers wrap after 65535. */
static bool is_of_request(const struct connected_echo *e, uint16_t sequence)
{
    return (uint16_t)(sequence - e->first) <= (uint16_t)(e->sequence - e->first);
}

static bool take_reply(struct target *t, const struct ud_from *from, void *user)
{
    struct connected_echo *e = user;
    struct encap h;
    bool multicast = !from->connection && from->grh && from->grh[GRH_DGID] == 0xff;
    e->by_multicast |= multicast && peer_is_sender(t, from);
    if (encap_decode(from->bytes, &h) != WIRE_OK || h.type != (t->ipv6 ? TYPE_IPV6 : TYPE_IPV4))
        return false;
    struct view ip = view_from(from->bytes, ENCAP_SIZE);
    struct icmp m = t->ipv6 ? icmp6(t, ip) : icmp4(t, ip);
    if (!m.p || m.p[0] != (t->ipv6 ? REPLY6 : REPLY4) || be16(m.p + 4) != ECHO_ID ||
        !is_of_request(e, be16(m.p + 6)) || !peer_may_be_sender(t, from))
        return false;
    if (!receive_is_usable(t, from, has_payload_of(e, &m, t->ipv6) ? NULL : echo_other_payload))
        return false;
    e->over_connection = from->connection != NULL;
    e->received = g_get_monotonic_time();
    return true;
}

/* ---- the request */

void connected_echo_sent(struct target *t, const struct echo_session *s,
                         const struct connected_echo *e)
{
    results_sent(t->results, "ICMP echo request of %u bytes over %s, Reserved 0x%04x", e->length,
                 s->options.uc ? "UC" : "RC", e->reserved);
}

static void note_no_reply(struct target *t, struct echo_session *s, const char *none)
{
    receive_no_response_text(t, none, s->received, sizeof s->received);
    results_received(t->results, "%s", s->received);
}

bool connected_echo_connect(struct target *t, struct echo_session *s)
{
    if (connection_is_up(s->connection))
        return true;
    peer_disconnect(t, s->connection);
    s->connection = peer_connect(t, &s->options, s->received);
    return connection_is_up(s->connection);
}

static bool echo_once(struct target *t, struct echo_session *s, struct connected_echo *e, bool last)
{
    struct echo_message m = {e->reserved,        ECHO_ID, ++t->run->sequence,
                             t->link->source.ip, t->ip,   e->length};
    e->sequence = t->run->sequence;
    if (!connected_echo_connect(t, s))
        return false;
    uint8_t *out = g_malloc(ENCAP_SIZE + e->length);
    uint32_t n = t->ipv6 ? message_echo6(out, &m) : message_echo4(out, &m);
    bool sent = send_message(t, s->connection, out, n);
    e->sent = t->run->last_sent;
    g_free(out);
    if (s->connection)
        peer_count_message(t->peer, s->connection, sent);
    if (!sent && s->connection && s->connection->dead) {
        s->failed = true;
        s->lost = s->connection->lost;
        g_strlcpy(s->reason, s->connection->why, sizeof s->reason);
    }
    return sent &&
           receive_await(t, (int)(last ? response_times_wait_ms(t) : t->run->options->timeout_ms),
                         take_reply, e);
}

/*
 * Not the packets: a connection is reliable, or a reply over UD may be too long. A message that is
 * lost on the path says nothing about echo requests.
 */
static void count_request(struct target *t, const struct echo_session *s, unsigned tries,
                          bool answered)
{
    tally_begin(&t->peer->tally, TALLY_ECHO, UINT64_MAX);
    if (!target_ended(t) && (connection_is_up(s->connection) || (s->failed && !s->lost)))
        tally_end(&t->peer->tally, tries, answered);
}

bool connected_echo_run(struct target *t, struct echo_session *s, struct connected_echo *e)
{
    bool answered = false;
    t->unusable = NULL;
    if (tally_echoes_are_hopeless(&t->peer->tally, ECHOES_IN_ALL)) {
        note_no_reply(t, s, "not sent: the echo requests before it were not answered");
        return false;
    }
    if (peer_loses_messages(t->peer)) {
        s->failed = s->lost = true;
        note_no_reply(t, s, "not sent: no message over a connection was acknowledged");
        g_strlcpy(s->reason, s->received, sizeof s->reason);
        return false;
    }
    e->first = (uint16_t)(t->run->sequence + 1);
    unsigned i = 0;
    unsigned most = e->most_tries ? e->most_tries : TRIES;
    for (; i < most && !answered && !target_ended(t); i++) {
        answered = echo_once(t, s, e, i + 1 == most);
        if (!answered && i == ANNOUNCED_AFTER)
            responder_announce(t);
    }
    count_request(t, s, i, answered);
    if (answered && i == 1 && !s->options.uc && tally_answered(&t->peer->tally, TALLY_ECHO) > 1)
        times_add(&t->peer->over_rc, e->received - e->sent);
    if (!connection_is_up(s->connection) && !s->failed)
        return false; /* no connection: its result is already noted */
    connected_echo_sent(t, s, e);
    if (answered)
        results_received(t->results, "an echo reply over %s",
                         e->over_connection ? "the connection" : "UD");
    else
        note_no_reply(t, s, s->failed ? s->reason : "no echo reply");
    return answered;
}

enum decision connected_echo_try(struct target *t, struct echo_session *s,
                                 struct connected_echo *variant)
{
    struct connected_echo small = {.length = ECHO_SMALL};
    if (connected_echo_run(t, s, variant))
        return RULE_MET;
    if (!connected_echo_run(t, s, &small))
        return RULE_UNDECIDED;
    if (connected_echo_run(t, s, variant))
        return RULE_MET;
    const char *unusable = t->unusable;
    bool still_responds = connected_echo_run(t, s, &small);
    connected_echo_sent(t, s, variant);
    t->unusable = unusable;
    note_no_reply(
        t, s,
        still_responds
            ? "no echo reply to 6 of them; replies to small unchanged requests between and after them"
            : "no echo replies any more");
    return still_responds && !target_ended(t) ? RULE_VIOLATED : RULE_UNDECIDED;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks with IP datagrams over connections, from the probe's own address (RFC 4755 §2.1, 4, 5, 7).
 */
#include <stdio.h>
#include <string.h>

#include "probe/checks/checks.h"
#include "probe/checks/echo.h"
#include "probe/checks/kept.h"
#include "probe/exchange/connection.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/patience.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/question.h"
#include "probe/exchange/receive.h"
#include "probe/exchange/station.h"
#include "probe/link/link.h"
#include "probe/link/message.h"
#include "probe/link/send.h"
#include "probe/link/transport.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/target.h"
#include "wire/encap.h"

enum { ECHO_ID = 0x1b0c, LARGER_THAN_SMALL = 2000 };
enum { FRAGMENT_HEAD = 8, FRAGMENT = 44, OFFSET4 = 0x1fff, MORE4 = 0x2000, OFFSET6 = 0xfff8 };

/* A sequence of requests over a connection, which is set up again if it fails. */
struct talk {
    struct dial dial;
    struct call *call;
    bool died; /* a message was not acknowledged */
    char how[120];
    char came[VERDICT_TEXT]; /* result of the last REQ or echo request */
};

struct echo {
    uint32_t length; /* bytes of the IP datagram */
    uint16_t reserved;
    uint16_t first, sequence;     /* of the tries: a late reply to the first one counts */
    bool over_call, by_multicast; /* by_multicast: the peer sent multicast meanwhile */
};

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
static bool has_payload_of(const struct echo *e, const struct icmp *m, bool ipv6)
{
    uint32_t sent = e->length - (ipv6 ? IPV6_HEAD : IPV4_HEAD);
    return (m->whole ? m->n == sent : m->n <= sent) && echo_payload_is(m->p, m->n);
}

/* Sequence numbers wrap after 65535. */
static bool is_of_tries(const struct echo *e, uint16_t sequence)
{
    return (uint16_t)(sequence - e->first) <= (uint16_t)(e->sequence - e->first);
}

static bool take_reply(struct target *t, const struct ud_from *from, void *user)
{
    struct echo *e = user;
    struct encap h;
    bool multicast = !from->call && from->grh && from->grh[GRH_DGID] == 0xff;
    e->by_multicast |= multicast && is_from_peer(t, from);
    if (encap_decode(from->octets, &h) != WIRE_OK || h.type != (t->ipv6 ? TYPE_IPV6 : TYPE_IPV4))
        return false;
    struct view ip = view_from(from->octets, ENCAP_SIZE);
    struct icmp m = t->ipv6 ? icmp6(t, ip) : icmp4(t, ip);
    if (!m.p || m.p[0] != (t->ipv6 ? REPLY6 : REPLY4) || be16(m.p + 4) != ECHO_ID ||
        !is_of_tries(e, be16(m.p + 6)) || !is_of_peer(t, from))
        return false;
    if (!is_usable(t, from, has_payload_of(e, &m, t->ipv6) ? NULL : echo_other_payload))
        return false;
    e->over_call = from->call != NULL;
    return true;
}

/* ---- the request */

static void tell_sent(struct target *target, const struct talk *t, const struct echo *e)
{
    results_sent(target->results, "ICMP echo request of %u octets over %s, Reserved 0x%04x",
                 e->length, t->dial.uc ? "UC" : "RC", e->reserved);
}

static void note_none_came(struct target *target, struct talk *t, const char *none)
{
    none_came_text(target, none, t->came, sizeof t->came);
    results_came(target->results, "%s", t->came);
}

static bool stands(struct target *target, struct talk *t)
{
    if (is_up(t->call))
        return true;
    hang_up(target, t->call);
    t->call = dial(target, &t->dial, t->came);
    return is_up(t->call);
}

static bool echo_once(struct target *target, struct talk *t, struct echo *e, bool last)
{
    struct echo_message m = {
        e->reserved, ECHO_ID,  ++target->run->sequence, target->link->source.ip,
        target->ip,  e->length};
    e->sequence = target->run->sequence;
    if (!stands(target, t))
        return false;
    uint8_t *out = g_malloc(ENCAP_SIZE + e->length);
    uint32_t n = target->ipv6 ? make_echo6(out, &m) : make_echo4(out, &m);
    bool sent = send_message(target, t->call, out, n);
    g_free(out);
    if (!sent && t->call && t->call->dead) {
        t->died = true;
        g_strlcpy(t->how, t->call->why, sizeof t->how);
    }
    return sent && await_packet(
                       target, (int)(last ? patience_ms(target) : target->run->options->timeout_ms),
                       take_reply, e);
}

static bool echo(struct target *target, struct talk *t, struct echo *e)
{
    bool answered = false;
    target->unusable = NULL;
    e->first = (uint16_t)(target->run->sequence + 1);
    for (unsigned i = 0; i < TRIES && !answered && !target_ended(target); i++) {
        answered = echo_once(target, t, e, i + 1 == TRIES);
        if (!answered && i == INTRODUCED_AFTER)
            station_introduce(target);
    }
    if (!is_up(t->call) && !t->died)
        return false; /* no connection: its result is already noted */
    tell_sent(target, t, e);
    if (answered)
        results_came(target->results, "an echo reply over %s",
                     e->over_call ? "the connection" : "UD");
    else
        note_none_came(target, t, t->died ? t->how : "no echo reply");
    return answered;
}

static enum kept try_echo(struct target *target, struct talk *t, struct echo *variant)
{
    struct echo small = {.length = ECHO_SMALL};
    if (echo(target, t, variant))
        return KEPT_YES;
    if (!echo(target, t, &small))
        return KEPT_UNKNOWN;
    if (echo(target, t, variant))
        return KEPT_YES;
    const char *unusable = target->unusable;
    bool there = echo(target, t, &small);
    tell_sent(target, t, variant);
    target->unusable = unusable;
    note_none_came(
        target, t,
        there ? "no echo reply to 6 of them; to small plain ones between and after, replies"
              : "no echo replies any more");
    return there && !target_ended(target) ? KEPT_NO : KEPT_UNKNOWN;
}

/* ---- IP over each mode */

/* The response to an NS from the unspecified address goes to all nodes. */
static bool answers_by_multicast(struct target *t)
{
    const struct question q = {.grh = t->peer->needs_grh};
    return t->ipv6 && exchange_run(t, &q, TRIES).outcome == CAME_ANSWER;
}

/*
 * The packet checks report violations in what the peer sends over connections. This adds a pass, or
 * a skip if the peer sent nothing.
 */
static void judge_reply(struct target *t, const struct echo *e)
{
    static const enum rule_number of_sender[] = {R_RFC4755_4_TYPE,
                                                 R_RFC4755_4_ENCAPSULATION_HEADER};
    for (size_t i = 0; i < G_N_ELEMENTS(of_sender); i++)
        if (e->over_call)
            results_add(t->results, of_sender[i], OUTCOME_PASS, "",
                        "the reply over the connection has the header");
        else
            results_skip(t->results, of_sender[i],
                         "the peer sent nothing over the connection: it replies over UD");
    if (e->by_multicast || answers_by_multicast(t))
        results_add(t->results, R_RFC4755_2_1_MULTICAST_OVER_UD, OUTCOME_PASS, "",
                    "while the connection stood its multicast came over UD");
    else
        results_skip(t->results, R_RFC4755_2_1_MULTICAST_OVER_UD,
                     "the peer sent no multicast while the connection stood");
}

/*
 * No reply over the connection is a violation only if the same request is answered over UD: a
 * firewall may block both.
 */
static void judge_mode(struct target *target, struct talk *t, struct echo *e)
{
    char mode[4], text[80];
    g_strlcpy(mode, t->dial.uc ? "UC" : "RC", sizeof mode);
    enum kept k = echo(target, t, e) ? KEPT_YES : KEPT_UNKNOWN;
    bool had_connection = is_up(t->call) || t->died;
    if (k != KEPT_YES && had_connection && echo_over_ud(target, ECHO_SMALL))
        k = echo(target, t, e)                 ? KEPT_YES
            : echo_over_ud(target, ECHO_SMALL) ? KEPT_NO
                                               : KEPT_UNKNOWN;
    if (k == KEPT_NO) {
        tell_sent(target, t, e);
        results_came(target->results, "no echo reply to 6 of them; over UD, replies");
    }
    snprintf(text, sizeof text,
             k == KEPT_YES ? "IP over %s is accepted" : "IP over %s is not answered, over UD it is",
             mode);
    tell_kept(target, R_RFC4755_7_ANY_MODE_ACCEPTED, k,
              &(struct kept_words){"an echo reply", text, text,
                                   had_connection ? "the peer answers no echo requests" : t->came,
                                   NULL});
    if (k == KEPT_YES)
        judge_reply(target, e);
}

static void judge_reserved(struct target *target, struct talk *t)
{
    struct echo e = {.length = ECHO_SMALL, .reserved = 0xbeef};
    tell_kept(target, R_RFC4391_6_RESERVED_IGNORED, try_echo(target, t, &e),
              &(struct kept_words){
                  "an echo reply",
                  "an echo request with Reserved 0xbeef over a connection is answered",
                  "an echo request with Reserved 0xbeef over a connection is not answered",
                  "the peer answers no echo requests over a connection", NULL});
}

static void check_connection_echo(struct target *target)
{
    for (unsigned uc = 0; uc <= 1 && !target_ended(target); uc++) {
        struct talk t = {.dial.uc = uc};
        struct echo e = {.length = ECHO_SMALL};
        if (!announces(target, uc))
            continue;
        judge_mode(target, &t, &e);
        if (is_up(t.call))
            judge_reserved(target, &t);
        hang_up(target, t.call);
    }
}

/* ---- sizes */

static uint32_t sweep(struct target *target, struct talk *t, uint32_t least, uint32_t most,
                      GString *silent)
{
    const uint32_t sizes[] = {least, 1500, 2044, 4092, 9000, 16384, 32768, most};
    uint32_t largest = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(sizes) && !target_ended(target); i++) {
        struct echo e = {.length = sizes[i]};
        if (sizes[i] > most || sizes[i] < least || (i > 0 && sizes[i] == sizes[i - 1]))
            continue;
        if (echo(target, t, &e))
            largest = MAX(largest, sizes[i]);
        else
            g_string_append_printf(silent, "%s%u", silent->len ? ", " : "", sizes[i]);
    }
    return largest;
}

/*
 * A peer that announces a Receive MTU must accept messages of that size, so a message that breaks
 * the connection is a violation. A message that is acknowledged, but not replied to, proves
 * nothing.
 */
static void judge_largest(struct target *target, struct talk *t, uint32_t most)
{
    struct echo e = {.length = most}, small = {.length = ECHO_SMALL};
    char expected[80];
    snprintf(expected, sizeof expected, "%u octets of IP are taken: the smaller Receive MTU less 4",
             most);
    t->died = false;
    bool answered = echo(target, t, &e), refused = !answered && t->died;
    if (refused) {
        t->died = false;
        bool again = echo(target, t, &small) && !t->died && !echo(target, t, &e) && t->died;
        refused = again && !target->run->stopped;
    }
    results_add(target->results, R_RFC4755_5_1_CONNECTION_MTU,
                answered  ? OUTCOME_PASS
                : refused ? OUTCOME_FAIL
                          : OUTCOME_INCONCLUSIVE,
                answered ? "" : expected,
                answered ? "the largest size of the connection is taken" : t->came);
}

static void judge_least(struct target *target, struct talk *t, uint32_t least)
{
    struct echo e = {.length = least};
    tell_kept(target, R_RFC4755_5_MINIMUM_MTU, try_echo(target, t, &e),
              &(struct kept_words){"an echo reply",
                                   "the protocol's smallest MTU goes over a connection",
                                   "the protocol's smallest MTU is not answered over a connection",
                                   "the peer answers no echo requests over a connection", NULL});
}

static void check_connection_sizes(struct target *target)
{
    struct talk t = {.dial.uc = uc_by_default(target)};
    uint32_t least = target->ipv6 ? MTU_MIN6 : MTU_MIN4,
             most = stands(target, &t) ? mtu_of(t.call) : 0;
    if (most < least) {
        const char *why = t.call ? "its REP told no Receive MTU that IP could do with" : t.came;
        results_add(target->results, R_RFC4755_5_MINIMUM_MTU, OUTCOME_INCONCLUSIVE,
                    "a connection for IP", why);
        results_add(target->results, R_RFC4755_5_1_CONNECTION_MTU, OUTCOME_INCONCLUSIVE,
                    "a connection for IP", why);
        hang_up(target, t.call);
        return;
    }
    GString *silent = g_string_new(NULL);
    judge_least(target, &t, least);
    uint32_t largest = sweep(target, &t, least, most, silent);
    judge_largest(target, &t, most);
    results_stage(target->results, "peer.connection-mtu", OUTCOME_NOTED, "",
                  "%u octets; echo requests of up to %u are answered%s%s", most, largest,
                  silent->len ? ", not of: " : "", silent->str);
    g_string_free(silent, TRUE);
    hang_up(target, t.call);
}

/* ---- small Receive MTU of the probe */

static void check_connection_small(struct target *t)
{
    const enum rule_number rule = R_RFC4755_5_1_CONNECTION_MTU;
    if (ib_mtu_octets(t->link->group.mtu) < LARGER_THAN_SMALL + ENCAP_SIZE) {
        results_skip(
            t->results, rule,
            "the link's MTU is less than 2000 octets: UD carries nothing that is too large for the connection");
        return;
    }
    char refused[VERDICT_TEXT];
    const struct dial d = {.uc = uc_by_default(t), .receive_mtu = RECEIVE_SMALL};
    struct call *c = dial(t, &d, refused);
    bool up = is_up(c);
    uint32_t before = c ? c->peer_psn : 0;
    bool answered = up && echo_over_ud(t, LARGER_THAN_SMALL);
    results_sent(t->results, "REQ with Receive MTU %u; then an echo request of %u octets over UD",
                 RECEIVE_SMALL, LARGER_THAN_SMALL);
    if (!up || !c)
        results_add(t->results, rule, OUTCOME_INCONCLUSIVE,
                    "a REP to a REQ with a small Receive MTU", refused);
    else if (c->peer_psn == before)
        results_skip(t->results, rule,
                     answered ? "the peer sent nothing over the connection: it replies over UD"
                              : "the peer sent nothing over the connection");
    hang_up(t, c);
}

static const struct check checks[] = {
    {.name = "connection-echo",
     .needs = NEEDS_SOURCE | NEEDS_CONNECTIONS,
     .run = check_connection_echo,
     .sends =
         "ICMP echo request of 84 octets over a connection of each mode, then with Reserved 0xbeef",
     .expects = "echo replies over any mode; the peer's multicast over UD",
     RULES(R_RFC4755_7_ANY_MODE_ACCEPTED, R_RFC4755_4_ENCAPSULATION_HEADER, R_RFC4755_4_TYPE,
           R_RFC4755_2_1_MULTICAST_OVER_UD, R_RFC4391_6_RESERVED_IGNORED)},
    {.name = "connection-sizes",
     .needs = NEEDS_SOURCE | NEEDS_CONNECTIONS,
     .run = check_connection_sizes,
     .sends =
         "REQ with Receive MTU 65524; ICMP echo requests of 68 (IPv6: 1280) octets up to the connection's MTU",
     .expects = "none of them ends the connection; replies to the smallest",
     RULES(R_RFC4755_5_1_CONNECTION_MTU, R_RFC4755_5_MINIMUM_MTU)},
    {.name = "connection-small",
     .needs = NEEDS_SOURCE | NEEDS_CONNECTIONS,
     .run = check_connection_small,
     .sends = "REQ with Receive MTU 1284; then an ICMP echo request of 2000 octets over UD",
     .expects = "nothing of more than 1280 octets of IP over the connection",
     RULES(R_RFC4755_5_1_CONNECTION_MTU)},
};
const struct check_table connection_ip_checks = {checks, G_N_ELEMENTS(checks)};

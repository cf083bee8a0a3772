/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks with IP datagrams over UD, from the probe's own address. See echo.h. */
#include "probe/checks/echo.h"

#include <stdio.h>
#include <string.h>

#include "probe/checks/checks.h"
#include "probe/checks/kept.h"
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

enum { ECHO_ID = 0x1b0b, IPV4_MORE = 0x3fff, MTU_DEMANDED = 2044 };

struct echo {
    uint32_t length; /* bytes of the IP datagram */
    uint16_t reserved;
    uint16_t first, sequence; /* of the tries: a late reply to the first one counts */
    bool grh, aside;
    const uint8_t *peer; /* the peer's IP address */
    bool ipv6;
    uint32_t to_qpn; /* the queue pair that received the reply */
};

const char echo_other_payload[] = "another payload than the request (RFC 792, RFC 4443 §4.2)";

/* The ICMP message of an unfragmented reply whose datagram has the request's length; NULL: none. */
static const uint8_t *reply_in(const struct echo *e, const struct encap *h, struct view ip)
{
    uint32_t head = e->ipv6 ? IPV6_HEAD : IPV4_HEAD;
    if (h->type != (e->ipv6 ? TYPE_IPV6 : TYPE_IPV4) || ip.cap < head + 8 || ip.cap < e->length)
        return NULL;
    if (e->ipv6)
        return ip.p[6] == ICMPV6 && be16(ip.p + 4) + head == e->length &&
                       memcmp(ip.p + 8, e->peer, 16) == 0
                   ? ip.p + head
                   : NULL;
    bool whole = ip.p[0] == 0x45 && ip.p[9] == ICMP && be16(ip.p + 2) == e->length &&
                 (be16(ip.p + 6) & IPV4_MORE) == 0;
    return whole && memcmp(ip.p + 12, e->peer, 4) == 0 ? ip.p + head : NULL;
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
    if (encap_decode(from->octets, &h) != WIRE_OK)
        return false;
    const uint8_t *icmp = reply_in(e, &h, view_from(from->octets, ENCAP_SIZE));
    e->to_qpn = from->to_qpn ? from->to_qpn : t->link->transport->qpn;
    if (!icmp || icmp[0] != (e->ipv6 ? REPLY6 : REPLY4) || be16(icmp + 4) != ECHO_ID ||
        !is_of_tries(e, be16(icmp + 6)) || !is_of_peer(t, from))
        return false;
    bool same = echo_payload_is(icmp, e->length - (e->ipv6 ? IPV6_HEAD : IPV4_HEAD));
    return is_usable(t, from, same ? NULL : echo_other_payload);
}

static void tell_sent(struct target *t, const struct echo *e)
{
    results_sent(t->results, "ICMP echo request of %u octets over UD, %s GRH, Reserved 0x%04x%s",
                 e->length, e->grh ? "with" : "without", e->reserved,
                 e->aside ? ", from a second QP" : "");
}

/* The peer must resolve the probe's address first: the station responds to it during the wait. */
static bool echo_once(struct target *t, struct echo *e, bool last)
{
    uint8_t out[UD_SIZE];
    e->sequence = ++t->run->sequence;
    struct echo_message m = {e->reserved,        ECHO_ID, e->sequence,
                             t->link->source.ip, t->ip,   e->length};
    struct ud_to to = to_peer(t, e->grh || t->peer->needs_grh);
    to.aside = e->aside;
    uint32_t n = e->ipv6 ? make_echo6(out, &m) : make_echo4(out, &m);
    return send_unicast(t, &to, out, n) &&
           await_packet(t, (int)(last ? patience_ms(t) : t->run->options->timeout_ms), take_reply,
                        e);
}

static bool echo(struct target *t, struct echo *e)
{
    t->unusable = NULL;
    e->first = (uint16_t)(t->run->sequence + 1);
    e->peer = t->ip;
    e->ipv6 = t->ipv6;
    for (unsigned i = 0; i < TRIES && !target_ended(t); i++) {
        if (echo_once(t, e, i + 1 == TRIES)) {
            tell_sent(t, e);
            results_came(t->results, "an echo reply of %u octets", e->length);
            return true;
        }
        if (i == INTRODUCED_AFTER)
            station_introduce(t);
    }
    tell_sent(t, e);
    tell_none_came(t, "no echo reply");
    return false;
}

bool echo_over_ud(struct target *t, uint32_t length)
{
    struct echo e = {.length = length};
    return echo(t, &e);
}

/* Like try_variant() for address resolution, with a small plain echo request as the control. */
static enum kept try_echo(struct target *t, struct echo *variant)
{
    struct echo small = {.length = ECHO_SMALL};
    if (echo(t, variant))
        return KEPT_YES;
    if (!echo(t, &small))
        return KEPT_UNKNOWN;
    if (echo(t, variant))
        return KEPT_YES;
    const char *unusable = t->unusable;
    bool there = echo(t, &small);
    tell_sent(t, variant);
    t->unusable = unusable;
    tell_none_came(
        t, there ? "no echo reply to 6 of them; to small plain ones between and after, replies"
                 : "no echo replies any more");
    return there && !target_ended(t) ? KEPT_NO : KEPT_UNKNOWN;
}

static void add_kept(struct target *t, enum rule_number rule, enum kept k, const char *passed,
                     const char *failed)
{
    tell_kept(t, rule, k,
              &(struct kept_words){"an echo reply", passed, failed,
                                   "the peer answers no echo requests", NULL});
}

/* No reply to any request proves nothing: a firewall may block them. */
static void check_echo(struct target *t)
{
    struct echo e = {.length = ECHO_SMALL};
    struct echo aside = {.length = ECHO_SMALL, .aside = true};
    add_kept(t, R_RFC4755_7_ANY_MODE_ACCEPTED, echo(t, &e) ? KEPT_YES : KEPT_UNKNOWN,
             "IP over UD is accepted", "");
    enum kept k = KEPT_UNKNOWN;
    if (t->link->transport->aside_qpn && echo(t, &aside))
        k = aside.to_qpn == t->link->transport->qpn ? KEPT_YES : KEPT_NO;
    add_kept(t, R_RFC4391_9_1_1_TRAFFIC_TO_QPN, k,
             "the reply came to the QPN of the probe's address",
             "the reply came to the QPN that the request was sent from");
}

static void check_echo_header(struct target *t)
{
    struct echo grh = {.length = ECHO_SMALL, .grh = true},
                reserved = {.length = ECHO_SMALL, .reserved = 0xbeef};
    add_kept(t, R_RFC4391_6_GRH_OPTIONAL, try_echo(t, &grh),
             "an echo request with a GRH is answered",
             "an echo request with a GRH is not answered");
    add_kept(t, R_RFC4391_6_RESERVED_IGNORED, try_echo(t, &reserved),
             "an echo request with Reserved 0xbeef is answered",
             "an echo request with Reserved 0xbeef is not answered");
}

/* The largest size that is replied to, in bytes; *all: every size was. */
static uint32_t sweep(struct target *t, const uint32_t *sizes, unsigned n, uint32_t link, bool *all,
                      GString *silent)
{
    uint32_t largest = 0;
    *all = true;
    for (unsigned i = 0; i < n && !target_ended(t); i++) {
        struct echo e = {.length = sizes[i]};
        if (sizes[i] > link || (i > 0 && sizes[i] <= sizes[i - 1]))
            continue;
        if (echo(t, &e))
            largest = MAX(largest, sizes[i]);
        else {
            *all = false;
            g_string_append_printf(silent, "%s%u", silent->len ? ", " : "", sizes[i]);
        }
    }
    return largest;
}

static void judge_demanded(struct target *t, uint32_t link)
{
    struct echo e = {.length = MTU_DEMANDED};
    char text[80];
    snprintf(text, sizeof text, "the link's MTU is %u octets", link);
    if (link < MTU_DEMANDED)
        results_skip(t->results, R_RFC4391_7_MTU_2044, text);
    else
        add_kept(t, R_RFC4391_7_MTU_2044, try_echo(t, &e),
                 "2044 octets go there and back in one packet",
                 "2044 octets are not answered, 84 are");
}

/*
 * Skips the rules: without a valid MTU code of the group there is no size to test. The group's
 * record itself shows the invalid code.
 */
static void skip_sizes(struct target *t)
{
    static const enum rule_number all[] = {R_RFC4391_7_MTU_2044, R_RFC4755_5_MINIMUM_MTU,
                                           R_RFC4391_5_JOIN_PARAMETERS_USED};
    char why[80];
    snprintf(why, sizeof why, "the group's MTU code is %u, and InfiniBand has 1 to 5",
             t->link->group.mtu);
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        results_skip(t->results, all[i], why);
}

static void try_sizes(struct target *t, uint32_t link)
{
    uint32_t min = t->ipv6 ? MTU_MIN6 : MTU_MIN4;
    const uint32_t sizes[] = {min, 576, 1280, 1500, MTU_DEMANDED, link};
    bool all;
    GString *silent = g_string_new(NULL);
    char text[160];
    struct echo least = {.length = min};
    judge_demanded(t, link);
    add_kept(t, R_RFC4755_5_MINIMUM_MTU, try_echo(t, &least),
             "the protocol's smallest MTU goes there and back",
             "the protocol's smallest MTU is not answered");
    uint32_t largest = sweep(t, sizes, G_N_ELEMENTS(sizes), link, &all, silent);
    snprintf(text, sizeof text, "up to %u octets are answered%s%s", largest,
             silent->len ? ", not: " : "", silent->str);
    results_sent(t->results, "ICMP echo requests up to the link's MTU, %u octets, over UD", link);
    results_came(t->results, "%s", text);
    /* A peer that uses the link's MTU receives and sends datagrams of that size (RFC 4391 §5). */
    results_add(t->results, R_RFC4391_5_JOIN_PARAMETERS_USED,
                largest == link ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE,
                largest == link ? "" : "an echo reply of the link's MTU", text);
    g_string_free(silent, TRUE);
}

static void check_sizes(struct target *t)
{
    uint32_t link = link_mtu(t->link);
    if (link)
        try_sizes(t, link);
    else
        skip_sizes(t);
}

static const struct check checks[] = {
    {.name = "echo",
     .needs = NEEDS_SOURCE,
     .run = check_echo,
     .sends = "ICMP echo request of 84 octets over UD; again from a second QP",
     .expects = "echo replies at the QPN of the probe's address",
     RULES(R_RFC4391_9_1_1_TRAFFIC_TO_QPN, R_RFC4755_7_ANY_MODE_ACCEPTED)},
    {.name = "echo-header",
     .needs = NEEDS_SOURCE,
     .run = check_echo_header,
     .sends = "the same with a GRH, then with Reserved 0xbeef",
     .expects = "echo replies all the same",
     RULES(R_RFC4391_6_GRH_OPTIONAL, R_RFC4391_6_RESERVED_IGNORED)},
    {.name = "sizes",
     .needs = NEEDS_SOURCE,
     .run = check_sizes,
     .sends =
         "ICMP echo requests of 68 (IPv6: 1280), 576, 1280, 1500, 2044 octets and the link's MTU",
     .expects = "echo replies of the same size, each in one packet",
     RULES(R_RFC4391_7_MTU_2044, R_RFC4755_5_MINIMUM_MTU, R_RFC4391_5_JOIN_PARAMETERS_USED)},
};
const struct check_table echo_checks = {checks, G_N_ELEMENTS(checks)};

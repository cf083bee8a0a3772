/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks that address resolution stays on UD when there are connections (RFC 4755 §3.1, 7). */
#include <string.h>

#include "probe/checks/checks.h"
#include "probe/checks/connected.h"
#include "probe/exchange/connection.h"
#include "probe/exchange/response_times.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/request.h"
#include "probe/exchange/receive.h"
#include "probe/link/link.h"
#include "probe/link/message.h"
#include "probe/link/send.h"
#include "probe/link/transport.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/target.h"
#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/nd.h"

/* Whether a request sent over a connection was answered, and over which mode. */
struct replies {
    bool any, over_connection;
};

static bool is_arp_reply(const struct target *t, struct view v)
{
    struct arp a;
    bool fixed;
    return arp_decode(v, &a, &fixed) == WIRE_OK && a.op == ARP_REPLY && a.hln == LLADDR_SIZE &&
           a.pln == 4 && memcmp(v.p + a.spa, t->ip, 4) == 0 &&
           lladdr_same(v.p + a.tha, t->link->lladdr);
}

static bool is_na(const struct target *t, struct view v)
{
    struct view icmpv6;
    return nd_in_ipv6(v, &icmpv6) && icmpv6.cap >= ND_TARGET + 16 && icmpv6.p[0] == ND_NA &&
           memcmp(icmpv6.p + ND_TARGET, t->ip, 16) == 0;
}

static bool note_reply(struct target *t, const struct ud_from *from, void *user)
{
    struct replies *h = user;
    struct encap e;
    if (encap_decode(from->bytes, &e) != WIRE_OK)
        return false;
    struct view body = view_from(from->bytes, ENCAP_SIZE);
    bool is = t->ipv6 ? e.type == TYPE_IPV6 && is_na(t, body)
                      : e.type == TYPE_ARP && is_arp_reply(t, body);
    if (!is || !peer_may_be_sender(t, from))
        return false;
    h->any = true;
    h->over_connection = from->connection != NULL;
    return true;
}

/* The same request as over UD: from a sender that leaves no neighbour cache entry. */
static uint32_t put_request(const struct target *t, uint8_t *out)
{
    uint8_t group[16];
    if (!t->ipv6) {
        struct arp_message m = {.op = ARP_REQUEST, .sha = t->link->lladdr, .tpa = t->ip};
        return message_arp(out, &m);
    }
    message_solicited_node(group, t->ip);
    struct nd_message m = {.type = ND_NS, .to = group, .target = t->ip};
    return message_nd(out, &m);
}

/* The packet checks have already reported a response over the connection. */
static void report_replies(struct target *t, const struct replies *h)
{
    const enum rule_number rule = R_RFC4755_7_RESOLUTION_OVER_UD;
    const char *none = "the request over the connection was not answered";
    results_received(t->results, "%s",
                     !h->any              ? "no reply"
                     : h->over_connection ? "a reply over the connection"
                                          : "a reply over UD");
    if (!h->over_connection)
        results_add(t->results, rule, OUTCOME_PASS, "",
                    h->any ? "the reply was sent over UD" : none);
    if (t->ipv6)
        results_skip(t->results, R_RFC4755_3_1_REPLY_TO_UD_QPN,
                     "an NS without a sender is answered to all nodes, not to a QPN");
    else if (h->any && !h->over_connection)
        results_add(t->results, R_RFC4755_3_1_REPLY_TO_UD_QPN, OUTCOME_PASS, "",
                    "the reply was sent to the probe's UD QPN");
    else
        results_skip(t->results, R_RFC4755_3_1_REPLY_TO_UD_QPN, none);
}

/*
 * Asks over a new connection. Returns false if no message could be sent over it; response then has
 * the reason.
 */
static bool ask_over_connection(struct target *t, struct replies *h, char response[VERDICT_TEXT])
{
    uint8_t out[UD_SIZE];
    struct cm_connection *c = peer_connect(t, &(struct connect_options){.uc = peer_default_uc(t)},
                                           response);
    bool sent = connection_is_up(c);
    for (unsigned i = 0; i < TRIES && sent && !h->any; i++) {
        sent = send_message(t, c, out, put_request(t, out));
        peer_count_message(t->peer, c, sent);
        if (!sent)
            break;
        response_times_sent(t, t->ipv6, t->ip, i > 0);
        bool last = i + 1 == TRIES;
        receive_await(t, (int)(last ? response_times_wait_ms(t) : t->run->options->timeout_ms),
                      note_reply, h);
    }
    if (c && c->dead)
        g_strlcpy(response, c->why, VERDICT_TEXT);
    peer_disconnect(t, c);
    return sent;
}

static void check_connection_resolution(struct target *t)
{
    char response[VERDICT_TEXT] = "";
    struct replies h = {.any = false};
    bool settled = response_times_settle(t, true),
         sent = settled && ask_over_connection(t, &h, response);
    if (!settled)
        g_strlcpy(response, "not sent: responses to earlier requests keep arriving",
                  sizeof response);
    else if (!sent && t->peer->messages_lost == 1) /* by chance? */
        sent = ask_over_connection(t, &h, response);
    if (sent || h.any) {
        results_sent(t->results, "%s over the connection",
                     t->ipv6 ? "NS, sender ::," : "ARP request, sender 0.0.0.0,");
        report_replies(t, &h);
    } else
        results_add(t->results, R_RFC4755_7_RESOLUTION_OVER_UD, OUTCOME_INCONCLUSIVE,
                    "a connection for the request", response);
}

void connected_try_message(struct target *t, char response[VERDICT_TEXT])
{
    struct replies h = {.any = false};
    if (response_times_settle(t, true))
        ask_over_connection(t, &h, response);
}

static const struct check checks[] = {
    {.name = "connection-resolution",
     .needs = NEEDS_CONNECTIONS,
     .run = check_connection_resolution,
     .sends = "ARP request, sender 0.0.0.0 (IPv6: NS from ::), over a connection",
     .expects = "a reply over UD, or none",
     RULES(R_RFC4755_7_RESOLUTION_OVER_UD, R_RFC4755_3_1_REPLY_TO_UD_QPN)},
};
const struct check_table connection_resolution_checks = {checks, G_N_ELEMENTS(checks)};

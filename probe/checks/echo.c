/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks with IP datagrams over UD, from the probe's own address. */
#include <stdio.h>

#include "probe/checks/checks.h"
#include "probe/checks/sizes.h"
#include "probe/checks/variant.h"
#include "probe/exchange/echo_request.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/request.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

enum { MTU_DEMANDED = 2044 };

static void add_echo(struct target *t, enum rule_number rule, enum decision k, const char *passed,
                     const char *failed)
{
    variant_report(t, rule, k,
                   &(struct decision_words){"an echo reply", passed, failed,
                                            "the peer replies to no echo requests",
                                            "the echo request could not be sent"});
}

/* Sends the variant, with a small plain echo request as the control. */
static void try_echo(struct target *t, enum rule_number rule, const struct request *variant,
                     const char *passed, const char *failed)
{
    struct exchange x;
    add_echo(t, rule, variant_try(t, variant, &x), passed, failed);
}

/* No reply to any request proves nothing: a firewall may block them. */
static void check_echo(struct target *t)
{
    const struct request second_qp = {.echo = ECHO_SMALL, .second_qp = true};
    add_echo(t, R_RFC4755_7_ANY_MODE_ACCEPTED,
             exchange_echo(t, ECHO_SMALL) ? RULE_MET : RULE_UNDECIDED, "IP over UD is accepted",
             "");
    enum decision k = RULE_UNDECIDED;
    if (t->link->transport->second_qpn) {
        struct exchange x = exchange_run(t, &second_qp, TRIES);
        if (x.outcome == RESPONSE_RECEIVED)
            k = x.reply.to_qpn == t->link->transport->qpn ? RULE_MET : RULE_VIOLATED;
    }
    add_echo(t, R_RFC4391_9_1_1_TRAFFIC_TO_QPN, k,
             "the reply was sent to the QPN of the probe's address",
             "the reply was sent to the QPN that the request was sent from");
}

static void check_echo_header(struct target *t)
{
    try_echo(t, R_RFC4391_6_GRH_OPTIONAL, &(struct request){.echo = ECHO_SMALL, .grh = true},
             "an echo request with a GRH is answered",
             "an echo request with a GRH is not answered");
    try_echo(t, R_RFC4391_6_RESERVED_IGNORED,
             &(struct request){.echo = ECHO_SMALL, .reserved = 0xbeef},
             "an echo request with Reserved 0xbeef is answered",
             "an echo request with Reserved 0xbeef is not answered");
}

/* What is lost on the path says nothing about the peer. */
static bool is_lost_on_path(struct target *t, enum rule_number rule, uint32_t size,
                            const struct size_limits *s)
{
    if (!s->of_path || size <= s->largest)
        return false;
    char text[80];
    snprintf(text, sizeof text, "packets above %u bytes are lost on the path", s->largest);
    results_sent(t->results, "ICMP echo request of %u bytes over UD", size);
    results_received(t->results, "no echo reply");
    results_add(t->results, rule, OUTCOME_INCONCLUSIVE, "an echo reply", text);
    return true;
}

static void assess_demanded(struct target *t, const struct size_limits *s)
{
    char text[80];
    snprintf(text, sizeof text, "the link's MTU is %u bytes", s->link);
    if (s->link < MTU_DEMANDED)
        results_skip(t->results, R_RFC4391_7_MTU_2044, text);
    else if (!is_lost_on_path(t, R_RFC4391_7_MTU_2044, MTU_DEMANDED, s))
        try_echo(t, R_RFC4391_7_MTU_2044, &(struct request){.echo = MTU_DEMANDED},
                 "an echo request of 2044 bytes is answered in one packet",
                 "2044 bytes are not answered, 84 are");
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

static void assess_least(struct target *t, uint32_t least, const struct size_limits *s)
{
    if (!is_lost_on_path(t, R_RFC4755_5_MINIMUM_MTU, least, s))
        try_echo(t, R_RFC4755_5_MINIMUM_MTU, &(struct request){.echo = least},
                 "an echo request of the protocol's minimum MTU is answered",
                 "an echo request of the protocol's minimum MTU is not answered");
}

/* A peer that uses the link's MTU receives and sends datagrams of that size (RFC 4391 §5). */
static void assess_largest(struct target *t, const struct size_limits *s)
{
    char text[160];
    bool all = s->largest == s->link;
    snprintf(text, sizeof text, "up to %u bytes are answered%s", s->largest,
             all ? "" : ", no larger ones");
    results_sent(t->results, "ICMP echo requests up to the link's MTU, %u bytes, over UD", s->link);
    results_received(t->results, "%s", text);
    results_add(t->results, R_RFC4391_5_JOIN_PARAMETERS_USED,
                all ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE,
                all ? "" : "an echo reply of the link's MTU", text);
}

static void try_sizes(struct target *t, uint32_t link)
{
    uint32_t least = t->ipv6 ? MTU_MIN6 : MTU_MIN4;
    const struct size_limits s = sizes_search(t, MIN(ECHO_SMALL, least), link);
    assess_demanded(t, &s);
    assess_least(t, least, &s);
    assess_largest(t, &s);
    sizes_report(t, &s);
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
     .stage = "peer.echo",
     .needs = NEEDS_SOURCE,
     .run = check_echo,
     .sends = "ICMP echo request of 84 bytes over UD; again from a second QP",
     .expects = "echo replies at the QPN of the probe's address",
     RULES(R_RFC4391_9_1_1_TRAFFIC_TO_QPN, R_RFC4755_7_ANY_MODE_ACCEPTED)},
    {.name = "echo-header",
     .needs = NEEDS_SOURCE,
     .run = check_echo_header,
     .sends = "ICMP echo request of 84 bytes over UD with a GRH, then with Reserved 0xbeef",
     .expects = "echo replies",
     RULES(R_RFC4391_6_GRH_OPTIONAL, R_RFC4391_6_RESERVED_IGNORED)},
    {.name = "sizes",
     .stage = "peer.sizes",
     .needs = NEEDS_SOURCE,
     .run = check_sizes,
     .sends =
         "ICMP echo requests of 68 (IPv6: 84), 576, 1280, 1500, 2044 bytes and the link's MTU; if one is "
         "not answered, by bisection the largest that is, and requests with a small reply or in "
         "fragments",
     .expects = "echo replies of the same size, each in one packet",
     RULES(R_RFC4391_7_MTU_2044, R_RFC4755_5_MINIMUM_MTU, R_RFC4391_5_JOIN_PARAMETERS_USED)},
};
const struct check_table echo_checks = {checks, G_N_ELEMENTS(checks)};

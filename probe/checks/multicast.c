/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks that the peer responds over UD to a request sent to the group (RFC 4391 §2, 9.1.1, 13). */
#include <stdio.h>

#include "probe/checks/checks.h"
#include "probe/checks/variant.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/request.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

/*
 * A queue pair accepts only packets with its own Q_Key, so a received packet had the link's (RFC
 * 4391 §9.1).
 */
static void add_qkey(struct target *t)
{
    char actual[16];
    snprintf(actual, sizeof actual, "0x%08x", t->link->group.qkey);
    results_add_sure(t->results, R_RFC4391_13_QKEY_CONTROLLED,
                     t->link->group.qkey >> 31 ? OUTCOME_PASS : OUTCOME_FAIL,
                     "a controlled Q_Key (high-order bit 1)", actual);
}

/*
 * Adds what the path of the response shows. To an interface in connected mode it may have come over
 * a connection.
 */
static void add_way(struct target *t)
{
    static const struct {
        enum rule_number rule;
        const char *text;
    } shown[] = {{R_RFC4391_2_UD_SUPPORTED, "it replies over UD"},
                 {R_RFC4755_7_RESOLUTION_OVER_UD, "the reply was sent over UD"}};
    for (size_t i = 0; i < G_N_ELEMENTS(shown); i++) {
        const struct interface_link *through = t->link->transport->interface;
        if (through && through->connected)
            results_skip(
                t->results, shown[i].rule,
                "an interface in connected mode does not show whether a reply was sent over UD");
        else
            results_add(t->results, shown[i].rule, OUTCOME_PASS, "", shown[i].text);
    }
}

static void check_multicast_response(struct target *t)
{
    struct exchange x;
    enum decision k = variant_try(t, &(struct request){.multicast = true}, &x);
    variant_report_response(t, R_RFC4391_2_MULTICAST_SUPPORTED, k, &x,
                            "a request to the group is answered",
                            "a request to the group is not answered");
    if (!transport_can(t->link->transport, HAS_OWN_QP))
        results_skip(t->results, R_RFC4391_13_QKEY_CONTROLLED,
                     "a network interface does not show its Q_Key");
    else
        add_qkey(t);
    results_add(t->results, R_RFC4391_9_1_1_FORMAT, OUTCOME_PASS, "",
                "a link-layer address of 20 bytes");
    add_way(t);
}

static const struct check checks[] = {
    {.name = "multicast",
     .run = check_multicast_response,
     .sends =
         "ARP request, sender 0.0.0.0, to the broadcast group (IPv6: NS from :: to the solicited-node group)",
     .expects = "a reply by unicast UD to the probe's QPN (IPv6: to all nodes)",
     RULES(R_RFC4391_2_UD_SUPPORTED, R_RFC4391_2_MULTICAST_SUPPORTED,
           R_RFC4755_7_RESOLUTION_OVER_UD, R_RFC4391_9_1_1_FORMAT, R_RFC4391_13_QKEY_CONTROLLED)},
};
const struct check_table multicast_checks = {checks, G_N_ELEMENTS(checks)};

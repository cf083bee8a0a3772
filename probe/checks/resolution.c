/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of address resolution by unicast: what the peer responds, and what it accepts (RFC 4391
 * §6, 9; RFC 4755 §2, 3.1).
 */
#include <stdio.h>
#include <string.h>

#include "probe/checks/checks.h"
#include "probe/checks/variant.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/request.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/target.h"
#include "wire/arp.h"
#include "wire/encap.h"

enum {
    RESERVED_TRIED = 0xbeef,
    FLAGS_UNKNOWN = LLADDR_FLAG_RESERVED,
    FLAGS_CONNECTED = LLADDR_FLAG_RC | LLADDR_FLAG_UC
};

/*
 * Adds a result for the rule of RFC 4391 and for the same rule of RFC 4755, which applies to peers
 * with connected mode.
 */
static void add_both(struct target *t, enum rule_number rule, enum rule_number connected,
                     const struct exchange *x, enum decision k, const char *passed,
                     const char *failed)
{
    variant_report_response(t, rule, k, x, passed, failed);
    if (peer_has_connected_mode(t))
        variant_report_response(t, connected, k, x, passed, failed);
    else
        results_skip(t->results, connected, "the peer announces no connected mode");
}

/*
 * The request is sent from the second queue pair but names the first one. A wrong reply to the
 * sending QPN arrives at the second queue pair.
 */
static void check_reply_qpn(struct target *t)
{
    struct exchange x = {.outcome = NOT_SENT};
    struct request q = variant_plain_request(t);
    q.second_qp = true;
    q.alone = true;
    enum decision k = RULE_UNDECIDED;
    if (t->link->transport->second_qpn &&
        (x = exchange_run(t, &q, TRIES)).outcome == RESPONSE_RECEIVED)
        k = x.reply.to_qpn == t->link->transport->qpn ? RULE_MET : RULE_VIOLATED;
    add_both(t, R_RFC4391_9_1_1_ARP_REPLY_QPN, R_RFC4755_3_1_REPLY_TO_UD_QPN, &x, k,
             "the reply was sent to the QPN of the probe's address",
             "the reply was sent to the QPN that the request was sent from");
}

/* RFC 826: the reply's sender is the requested address, its target the requester. */
static bool fields_are_right(struct target *t, const struct response *a, char *wrong, size_t size)
{
    static const uint8_t unspecified[4];
    struct view v = view_from(view_make(a->bytes, a->n, a->n), ENCAP_SIZE);
    struct arp m;
    bool fixed;
    arp_decode(v, &m, &fixed);
    if (m.pro != TYPE_IPV4)
        snprintf(wrong, size, "protocol type 0x%04x", m.pro);
    else if (memcmp(v.p + m.tpa, unspecified, 4) != 0)
        snprintf(wrong, size, "target address %u.%u.%u.%u", v.p[m.tpa], v.p[m.tpa + 1],
                 v.p[m.tpa + 2], v.p[m.tpa + 3]);
    else if (!lladdr_same(v.p + m.tha, t->link->lladdr))
        snprintf(wrong, size, "another target link-layer address than the requester's");
    else
        return true;
    return false;
}

/* The packet checks report the hardware type and length, the Type and the Reserved field. */
static void check_arp_fields(struct target *t)
{
    struct exchange x;
    char wrong[80] = "";
    struct request q = variant_plain_request(t);
    if ((x = variant_request_or_cached(t, &q)).outcome != RESPONSE_RECEIVED)
        results_add(t->results, R_RFC4391_9_2_ARP_AS_RFC826, OUTCOME_INCONCLUSIVE, "a reply",
                    "the peer no longer replies");
    else if (fields_are_right(t, &x.reply, wrong, sizeof wrong))
        results_add(t->results, R_RFC4391_9_2_ARP_AS_RFC826, OUTCOME_PASS, "",
                    "the reply's addresses are correct");
    else
        results_add(t->results, R_RFC4391_9_2_ARP_AS_RFC826, OUTCOME_FAIL,
                    "target 0.0.0.0 at the probe's link-layer address", wrong);
}

static void check_one_qp(struct target *t)
{
    struct exchange x;
    char expected[40], actual[40];
    struct request q = variant_plain_request(t);
    if ((x = variant_request_or_cached(t, &q)).outcome == RESPONSE_RECEIVED) {
        uint32_t announced = lladdr_read(x.reply.lladdr).qpn;
        snprintf(expected, sizeof expected, "QPN 0x%06x, as announced", announced);
        snprintf(actual, sizeof actual, "sent by QPN 0x%06x", x.reply.qpn);
        results_add(t->results, R_RFC4755_2_2_ONE_UD_QP,
                    x.reply.qpn == announced ? OUTCOME_PASS : OUTCOME_FAIL, expected, actual);
    } else
        results_add(t->results, R_RFC4755_2_2_ONE_UD_QP, OUTCOME_INCONCLUSIVE, "a reply",
                    "the peer no longer replies");
}

static bool is_decided(enum decision k)
{
    return k == RULE_MET || k == RULE_VIOLATED;
}

static void check_grh(struct target *t)
{
    struct exchange x;
    enum decision with = variant_try(t, &(struct request){.grh = true}, &x);
    enum decision without = variant_try(t, &(struct request){0}, &x);
    if (with == RULE_VIOLATED && without == RULE_VIOLATED) { /* then the GRH makes no difference */
        results_add(t->results, R_RFC4391_6_GRH_OPTIONAL, OUTCOME_INCONCLUSIVE, "a reply",
                    "no unicast request is answered");
        return;
    }
    /* A pass counts only if both forms are decided: one of them is half of the rule. */
    if (with != RULE_MET || is_decided(without))
        variant_report_response(t, R_RFC4391_6_GRH_OPTIONAL, with, &x, "answered with a GRH",
                                "not answered with a GRH");
    if (without != RULE_MET || is_decided(with))
        variant_report_response(t, R_RFC4391_6_GRH_OPTIONAL, without, &x, "answered without a GRH",
                                "not answered without a GRH");
}

static void check_reserved(struct target *t)
{
    struct exchange x;
    const struct request q = {.grh = t->peer->needs_grh, .reserved = RESERVED_TRIED};
    enum decision k = variant_try(t, &q, &x);
    variant_report_response(t, R_RFC4391_6_RESERVED_IGNORED, k, &x, "answered with Reserved 0xbeef",
                            "not answered with Reserved 0xbeef");
}

static void check_flags_ignored(struct target *t)
{
    struct exchange x;
    enum decision k = variant_try(
        t, &(struct request){.grh = t->peer->needs_grh, .flags = FLAGS_UNKNOWN}, &x);
    add_both(t, R_RFC4391_9_1_1_FLAGS_IGNORED, R_RFC4755_3_1_FLAGS_IGNORED, &x, k,
             "answered with flags 0x3f", "not answered with flags 0x3f");
}

/*
 * What the peer announces to a requester that announces connected mode. When the peer was found,
 * the probe's flags were 0. The reserved flags are left to the checks of each packet.
 */
static void assess_ud_only(struct target *t)
{
    struct exchange x;
    char sent[40] = "not answered with flags 0xc0";
    enum decision k = variant_try(
        t, &(struct request){.grh = t->peer->needs_grh, .flags = FLAGS_CONNECTED}, &x);
    if (k == RULE_MET && x.reply.lladdr[LLADDR_FLAGS] & FLAGS_CONNECTED) {
        k = RULE_VIOLATED;
        snprintf(sent, sizeof sent, "its address has flags 0x%02x", x.reply.lladdr[LLADDR_FLAGS]);
    }
    variant_report(t, R_RFC4755_3_1_UD_ONLY_FLAGS, k,
                   &(struct decision_words){"a reply without the flags RC and UC",
                                            "neither RC nor UC, for any received flags", sent,
                                            "the peer no longer replies", x.received});
}

static void check_connected_flags(struct target *t)
{
    if (peer_has_connected_mode(t))
        results_skip(t->results, R_RFC4755_3_1_UD_ONLY_FLAGS,
                     "the peer has connected mode: its flags say so");
    else
        assess_ud_only(t);
}

static void check_ud_with_connected(struct target *t)
{
    struct exchange x;
    if (!peer_has_connected_mode(t))
        results_skip(t->results, R_RFC4755_2_RFC4391_SUPPORTED,
                     "the peer announces no connected mode");
    else
        variant_report_response(t, R_RFC4755_2_RFC4391_SUPPORTED,
                                variant_try(t, &(struct request){.grh = t->peer->needs_grh}, &x),
                                &x, "it replies over UD", "no reply over UD");
}

static const struct check checks[] = {
    {.name = "arp-fields",
     .needs = NEEDS_IPV4,
     .run = check_arp_fields,
     .sends = "ARP request, sender 0.0.0.0, by unicast",
     .expects = "a reply with operation 2 and the addresses that RFC 826 requires",
     RULES(R_RFC4391_9_2_ARP_AS_RFC826, R_RFC4391_9_2_ARP_HARDWARE_TYPE,
           R_RFC4391_9_2_ARP_HARDWARE_LENGTH, R_RFC4391_6_TYPE, R_RFC4391_6_RESERVED_ZERO)},
    {.name = "reply-qpn",
     .needs = NEEDS_IPV4,
     .transport = HAS_OWN_QP,
     .run = check_reply_qpn,
     .sends = "ARP request from a second QP, with the link-layer address of the first QP",
     .expects = "a reply to the first QP",
     RULES(R_RFC4391_9_1_1_ARP_REPLY_QPN, R_RFC4755_3_1_REPLY_TO_UD_QPN)},
    {.name = "one-qp",
     .transport = SHOWS_SENDER,
     .run = check_one_qp,
     .sends = "ARP request, sender 0.0.0.0 (IPv6: NS from ::), by unicast",
     .expects = "a reply from the QPN that the peer announces",
     RULES(R_RFC4755_2_2_ONE_UD_QP)},
    {.name = "grh",
     .transport = HAS_OWN_QP,
     .run = check_grh,
     .sends = "ARP request (IPv6: NS from ::) by unicast, with a GRH and without one",
     .expects = "a reply to each request",
     RULES(R_RFC4391_6_GRH_OPTIONAL)},
    {.name = "reserved",
     .run = check_reserved,
     .sends =
         "ARP request (IPv6: NS from ::) by unicast, with Reserved 0xbeef in the encapsulation header",
     .expects = "a reply",
     RULES(R_RFC4391_6_RESERVED_IGNORED)},
    {.name = "flags",
     .needs = NEEDS_IPV4,
     .run = check_flags_ignored,
     .sends =
         "ARP request by unicast, with the unknown flag bits 0x3f in the probe's link-layer address",
     .expects = "a reply",
     RULES(R_RFC4391_9_1_1_FLAGS_IGNORED, R_RFC4755_3_1_FLAGS_IGNORED)},
    {.name = "connected-flags",
     .needs = NEEDS_IPV4,
     .run = check_connected_flags,
     .sends =
         "to a peer without connected mode: ARP request by unicast, with the flags RC and UC (0xc0)",
     .expects = "a reply over UD, without these flags",
     RULES(R_RFC4755_3_1_UD_ONLY_FLAGS)},
    {.name = "ud-with-connected",
     .transport = SHOWS_SENDER,
     .run = check_ud_with_connected,
     .sends = "to a peer with connected mode: ARP request (IPv6: NS from ::) by unicast over UD",
     .expects = "a reply over UD",
     .of_deaf = true,
     RULES(R_RFC4755_2_RFC4391_SUPPORTED)},
};
const struct check_table resolution_checks = {checks, G_N_ELEMENTS(checks)};

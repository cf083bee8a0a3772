/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of the link-layer address in ARP and in Neighbour Discovery. */
#include "rules/report.h"
#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/ip.h"
#include "wire/lladdr.h"
#include "wire/nd.h"

enum rule_number lladdr_flags_rule(const uint8_t *lladdr)
{
    bool connected = lladdr[LLADDR_FLAGS] & (LLADDR_FLAG_RC | LLADDR_FLAG_UC);
    return connected ? R_RFC4755_3_1_FLAGS : R_RFC4391_9_1_1_RESERVED_FLAGS;
}

const uint8_t reserved_flags[RESERVED_FLAGS] = {LLADDR_FLAG_TSS, LLADDR_FLAG_UNKNOWN};

static void report_reserved_flags(const struct reporter *r, const uint8_t *lladdr)
{
    uint8_t flags = lladdr[LLADDR_FLAGS], allowed = flags & (LLADDR_FLAG_RC | LLADDR_FLAG_UC);
    struct entity address = entity_address(lladdr);
    for (unsigned i = 0; i < RESERVED_FLAGS; i++)
        if (flags & reserved_flags[i])
            report_fail_value(r, lladdr_flags_rule(lladdr), &address, lladdr + LLADDR_FLAGS,
                              allowed, allowed | (flags & reserved_flags[i]));
}

static void check_lladdr(const struct reporter *r, const uint8_t *p)
{
    struct entity address = entity_address(p);
    bool of_group = p[LLADDR_GID] == 0xff;
    uint32_t qpn = be24(p + LLADDR_QPN);
    if (!of_group && qpn == QPN_MULTICAST)
        expect_about(r, R_RFC4391_9_1_1_FORMAT, &address, false, p + LLADDR_QPN, 3,
                     "the QPN of a queue pair", "the QPN of multicast, with a port's GID");
    else if (qpn <= QPN_GSI && !lladdr_is_zero(p))
        expect_about(r, R_RFC4391_9_1_1_FORMAT, &address, false, p + LLADDR_QPN, 3,
                     "the QPN of an interface's queue pair", "a QPN of management");
    if (lladdr_is_zero(p) || lladdr_is_multicast(p))
        return;
    if (!(p[LLADDR_FLAGS] & LLADDR_FLAG_RESERVED))
        report_pass_about(r, lladdr_flags_rule(p), &address);
    else if (is_new(r, lladdr_flags_rule(p), &address, p[LLADDR_FLAGS]))
        report_reserved_flags(r, p);
}

static bool known_operation(uint16_t op)
{
    return op == ARP_REQUEST || op == ARP_REPLY || op == RARP_REQUEST || op == RARP_REPLY ||
           op == INARP_REQUEST || op == INARP_REPLY;
}

/*
 * An address that the sender copied from another node's message. If that was not captured, that
 * node may have set the bits; if it was, they were reported.
 */
static void check_copied_flags(const struct reporter *r, const uint8_t *p, const char *why)
{
    struct entity address = entity_address(p);
    struct reporter doubtful = *r;
    doubtful.doubt = why;
    if (!is_reported(r, lladdr_flags_rule(p), &address, p[LLADDR_FLAGS]))
        report_reserved_flags(&doubtful, p);
}

/* In a reply, the target's address is a copy from the request (RFC 826). */
void check_target_flags(const struct reporter *r, const struct datagram *d)
{
    const struct arp *a = &d->arp;
    struct view v = d->body;
    bool replies = d->arp_has_fixed && (a->op == ARP_REPLY || a->op == INARP_REPLY) &&
                   a->hrd == ARP_HRD_INFINIBAND && a->hln == LLADDR_SIZE;
    if (replies && !arp_contradicts_protocol(a) && view_has(v, a->tha, LLADDR_SIZE) == WIRE_OK)
        check_copied_flags(r, v.p + a->tha,
                           "the target's address in a reply may be a copy from the request");
}

/* RFC 5494 §3 */
static bool is_reserved_operation(uint16_t op)
{
    return op == 0 || op == 0xffff;
}

/* RFC 826: words are sent high byte first. These numbers are not assigned. */
static bool is_swapped_operation(uint16_t op)
{
    return known_operation((uint16_t)(op >> 8 | op << 8));
}

/* ARP and RARP have no addresses of their own; nothing is known about other protocols. */
static bool has_addresses(uint16_t protocol)
{
    return protocol != TYPE_ARP && protocol != TYPE_RARP;
}

static void check_protocol(const struct reporter *r, const struct arp *a, const uint8_t *p)
{
    if (is_reserved_operation(a->op))
        report_fail(r, R_RFC4391_9_2_ARP_AS_RFC826, p + ARP_OP, 2, "an assigned operation",
                    a->op ? "the reserved operation 65535" : "the reserved operation 0");
    else if (is_swapped_operation(a->op))
        report_fail(r, R_RFC4391_9_2_ARP_AS_RFC826, p + ARP_OP, 2, "high byte first",
                    "low byte first");
    else if (known_operation(a->op) && !has_addresses(a->pro))
        report_fail(r, R_RFC4391_9_2_ARP_AS_RFC826, p + ARP_PRO, 2, "a protocol with addresses",
                    a->pro == TYPE_ARP ? "the protocol ARP" : "the protocol RARP");
    else if (known_operation(a->op))
        /* RFC 826: ar$pln is the length of the addresses of ar$pro */
        expect_that(r, R_RFC4391_9_2_ARP_AS_RFC826, !arp_contradicts_protocol(a), p + ARP_PRO, 4,
                    a->pro == TYPE_IPV6 ? "protocol length 16 for IPv6"
                                        : "protocol length 4 for IPv4",
                    a->pln == 4 ? "4" : "another length");
}

void check_arp(const struct reporter *r, const struct datagram *d)
{
    struct view v = d->body;
    const struct arp *a = &d->arp;
    enum wire_result result = d->arp_result;
    if (!d->arp_has_fixed) {
        if (result == WIRE_TRUNCATED)
            report_inconclusive(r, R_RFC4391_9_2_ARP_HARDWARE_TYPE, v.p, truncated_by_capture);
        return;
    }
    expect_number(r, R_RFC4391_9_2_ARP_HARDWARE_TYPE, v.p + ARP_HRD, 2, ARP_HRD_INFINIBAND);
    if (a->hrd != ARP_HRD_INFINIBAND)
        return;
    expect_number(r, R_RFC4391_9_2_ARP_HARDWARE_LENGTH, v.p + ARP_HLN, 1, LLADDR_SIZE);
    if (a->hln != LLADDR_SIZE)
        return;
    bool fits = result != WIRE_MALFORMED;
    if (fits || !known_operation(a->op) || !arp_contradicts_protocol(a))
        expect_that(r, R_RFC4391_9_1_1_FORMAT, fits, v.p, v.cap, "20-byte addresses",
                    fits ? "they fit" : "a message that ends before the addresses");
    check_protocol(r, a, v.p);
    if (view_has(v, a->sha, LLADDR_SIZE) == WIRE_OK)
        check_lladdr(r, v.p + a->sha);
}

/* RFC 4861 §4.1 to 4.5: RS, RA and NS carry the source's address, NA and Redirect the target's. */
static void note_option_message(const struct reporter *r, const uint8_t *message,
                                const struct nd_option *o)
{
    bool of_target = message[0] == ND_NA || message[0] == ND_REDIRECT;
    struct entity address = entity_address(message + o->off + ND_OPT_LLADDR);
    if (of_target != (o->type == ND_OPT_TARGET_LLADDR))
        report_note(r, R_RFC4391_9_3_ND_MESSAGES, &address, message[0], message + o->off, o->size,
                    "a %s link-layer address option in a message that has none",
                    of_target ? "source" : "target");
}

static void check_option(const struct reporter *r, struct view v, const struct nd_option *o,
                         bool of_interface)
{
    const uint8_t *p = v.p + o->off;
    expect_number(r, R_RFC4391_9_3_ND_OPTION_LENGTH, p + ND_OPT_LENGTH, 1, ND_OPT_IPOIB_LENGTH);
    if (!nd_is_ipoib_lladdr(o))
        return;
    if (view_has(v, o->off, o->size) != WIRE_OK) {
        report_inconclusive(r, R_RFC4391_9_3_ND_OPTION_PADDING, p, truncated_by_capture);
        return;
    }
    if (of_interface && nd_may_be_before_driver(p)) {
        report_inconclusive(r, R_RFC4391_9_3_ND_OPTION_PADDING, p,
                            "captured at an interface whose driver moves the address");
        return;
    }
    expect_value(r, R_RFC4391_9_3_ND_OPTION_PADDING, p + ND_OPT_PAD, 2, 0);
    if (nd_is_padded_behind(p))
        return;
    if (v.p[0] == ND_REDIRECT) /* the target is another node (RFC 4861 §4.5) */
        check_copied_flags(r, p + ND_OPT_LLADDR,
                           "the address in a Redirect may be a copy from the target's message");
    else
        check_lladdr(r, p + ND_OPT_LLADDR);
    note_option_message(r, v.p, o);
}

static bool is_lladdr(uint8_t type)
{
    return type == ND_OPT_SOURCE_LLADDR || type == ND_OPT_TARGET_LLADDR;
}

/* An option of length 0, or one that ends beyond its message. */
static void check_broken_option(const struct reporter *r, struct view v, uint32_t off)
{
    const uint8_t *p = v.p + off;
    if (!is_lladdr(p[ND_OPT_TYPE]))
        return;
    expect_number(r, R_RFC4391_9_3_ND_OPTION_LENGTH, p + ND_OPT_LENGTH, 1, ND_OPT_IPOIB_LENGTH);
    if (p[ND_OPT_LENGTH] == ND_OPT_IPOIB_LENGTH)
        report_fail(r, R_RFC4391_9_1_1_FORMAT, p, v.cap - off, "20-byte addresses",
                    "a message that ends before the addresses");
}

void check_nd(const struct reporter *r, struct view v, bool of_interface)
{
    struct nd_iter it;
    struct nd_option o;
    if (!nd_options(v, &it))
        return;
    while (nd_next(&it, &o))
        if (is_lladdr(o.type))
            check_option(r, v, &o, of_interface);
    if (it.end == WIRE_MALFORMED && view_has(v, it.next, 2) == WIRE_OK)
        check_broken_option(r, v, it.next);
}

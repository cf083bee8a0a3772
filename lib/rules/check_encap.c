/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of the encapsulation header of a datagram, sent over UD or over a connection (RFC 4391 §6,
 * RFC 4755 §4).
 */
#include "rules/report.h"
#include "wire/arp.h"
#include "wire/encap.h"

/* The Type must be an Ethertype, not an IEEE 802.3 length (RFC 4391 §6; IEEE 802.3 3.2.6). */
static void check_ethertype(const struct reporter *r, enum rule_number rule, struct view payload,
                            uint16_t type)
{
    if (type < TYPE_FIRST)
        expect_that(r, rule, false, payload.p + ENCAP_TYPE, 2, "an Ethertype, 0x0600 or more",
                    "a number below 0x0600");
}

/*
 * ARP and RARP have Ethertypes of their own, and each operation is one of the two (RFC 826, RFC
 * 903, RFC 2390). Nothing is known about other operations.
 */
static bool operation_fits(uint16_t type, uint16_t op)
{
    return type == TYPE_ARP ? !arp_is_reverse(op) : !arp_is_announcement(op);
}

/* The length of an IP datagram, and a flow label, are at the place of the protocol type. */
static bool begins_arp(struct view d)
{
    return d.cap >= ARP_SIZE_FIXED && be16(d.p + ARP_PRO) >= TYPE_FIRST && !encap_is_ip(d);
}

/*
 * If false, the rule about the Type reports it. The datagram is then not checked as something that
 * it is not: one fault, one finding.
 */
bool encapsulation_fits(const struct datagram *d)
{
    struct view b = view_from(d->bytes, ENCAP_SIZE);
    switch (d->encap.type) {
    case TYPE_IPV4:
    case TYPE_IPV6:
        return b.cap ? b.p[0] >> 4 == (d->encap.type == TYPE_IPV4 ? 4 : 6) : b.len > 0;
    case TYPE_ARP:
    case TYPE_RARP:
        return b.cap < ARP_SIZE_FIXED
                   ? b.len >= ARP_SIZE_FIXED
                   : begins_arp(b) && operation_fits(d->encap.type, be16(b.p + ARP_OP));
    default:
        return true;
    }
}

/* The first byte after the header must match the Type. Nothing is known about other Types. */
static void check_type(const struct reporter *r, enum rule_number rule,
                       const struct datagram *datagram)
{
    struct view payload = datagram->bytes, d = view_from(payload, ENCAP_SIZE);
    uint16_t type = datagram->encap.type;
    if (type != TYPE_IPV4 && type != TYPE_IPV6)
        return;
    if (d.cap == 0 && d.len) {
        report_inconclusive(r, rule, payload.p, truncated_by_capture);
        return;
    }
    bool holds = encapsulation_fits(datagram);
    expect_that(r, rule, holds, payload.p + ENCAP_TYPE, 2,
                type == TYPE_IPV4 ? "an IPv4 datagram" : "an IPv6 datagram",
                holds   ? "it follows"
                : d.len ? "another IP version, or none, follows"
                        : "nothing follows");
}

/*
 * ARP and RARP: the message begins with a hardware type and a protocol type, which is an Ethertype
 * (RFC 826), and has an operation of its protocol.
 */
static void check_arp_type(const struct reporter *r, enum rule_number rule,
                           const struct datagram *datagram)
{
    struct view payload = datagram->bytes, d = view_from(payload, ENCAP_SIZE);
    uint16_t type = datagram->encap.type;
    if (type != TYPE_ARP && type != TYPE_RARP)
        return;
    if (view_has(d, 0, ARP_SIZE_FIXED) == WIRE_TRUNCATED) {
        report_inconclusive(r, rule, payload.p, truncated_by_capture);
        return;
    }
    bool holds = encapsulation_fits(datagram);
    bool is_arp = holds || begins_arp(d);
    expect_that(r, rule, holds, payload.p + ENCAP_TYPE, 2,
                type == TYPE_ARP ? "an ARP message" : "a RARP message",
                holds              ? "it follows"
                : !is_arp          ? "no such message follows"
                : type == TYPE_ARP ? "a RARP message follows"
                                   : "an ARP message follows");
}

void check_encapsulation(const struct reporter *r, const struct datagram *d,
                         enum datagram_over over)
{
    struct view payload = d->bytes;
    bool connected = over != OVER_UD;
    enum rule_number header = connected ? R_RFC4755_4_ENCAPSULATION_HEADER
                                        : R_RFC4391_6_ENCAPSULATION_HEADER;
    enum rule_number type = connected ? R_RFC4755_4_TYPE : R_RFC4391_6_TYPE;
    if (payload.len == 0)
        return; /* an empty message has no datagram */
    switch (d->header) {
    case WIRE_OK:
        break;
    case WIRE_TRUNCATED:
        report_inconclusive(r, header, payload.p, truncated_by_capture);
        report_inconclusive(r, R_RFC4391_6_RESERVED_ZERO, payload.p, truncated_by_capture);
        return;
    default:
        expect_that(r, header, false, payload.p, payload.cap, "4 bytes of encapsulation header",
                    "fewer bytes");
        return;
    }
    const char *missing = encap_missing(payload, over == OVER_CONNECTION_FIRST);
    expect_that(r, header, !missing, payload.p, ENCAP_SIZE, "4 bytes of encapsulation header",
                missing ? missing : "4 bytes");
    if (missing) /* there is no header to check */
        return;
    expect_value(r, R_RFC4391_6_RESERVED_ZERO, payload.p + ENCAP_RESERVED, 2, 0);
    check_ethertype(r, type, payload, d->encap.type);
    check_type(r, type, d);
    check_arp_type(r, type, d);
}

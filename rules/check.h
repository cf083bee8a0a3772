/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of what a single packet shows. Each answers for its rules PASS, FAIL, NOT APPLICABLE (says nothing at all)
 * or INCONCLUSIVE, with where it looked, what the document demands and what is there.
 *
 * A packet that the capture cut short is never at fault: what was not captured is inconclusive.
 */
#ifndef IPOIB_RULES_CHECK_H
#define IPOIB_RULES_CHECK_H

#include "rules/rules.h"
#include "wire/cm.h"
#include "wire/ib.h"
#include "wire/sa.h"

enum outcome { OUTCOME_PASS, OUTCOME_FAIL, OUTCOME_INCONCLUSIVE };

struct finding {
    enum rule_number rule;
    enum outcome outcome;
    uint32_t offset, length; /* octets from the begin of what is judged */
    const char *expected;    /* texts that live as long as the call; "" where there is nothing to say */
    const char *actual;
};

/* Who is told. base: the begin of what is judged, to which offsets count. */
struct reporter {
    void (*report)(void *user, const struct finding *f);
    void *user;
    const uint8_t *base;
};

/* The encapsulation header at the begin of payload (RFC 4391 §6; connected: RFC 4755 §4). */
void check_encapsulation(const struct reporter *r, struct view payload, bool connected);

/*
 * An IPoIB MGID (16 octets) on the partition of pkey (RFC 4391 §4): 0xff, flags, group ID, P_Key; MGIDs without
 * IPoIB signature are nobody's business here.
 */
void check_mgid(const struct reporter *r, const uint8_t *mgid, uint16_t pkey);

/* A datagram of the packet: GRH on multicast (RFC 4391 §6), and the group of its MGID against its IP destination (§4). */
void check_datagram_headers(const struct reporter *r, const struct ib_packet *ib);

/* ARP and RARP messages behind the encapsulation header, v at their begin (RFC 4391 §9.2, 9.1.1; RFC 4755 §3.1). */
void check_arp(const struct reporter *r, struct view v);

/* The ICMPv6 message in v: options 1 and 2 of Neighbour Discovery (RFC 4391 §9.3, 9.1.1; RFC 4755 §3.1). */
void check_nd(const struct reporter *r, struct view v);

/* A CM message of an IPoIB connection, v at the MAD's begin (RFC 4755 §3.2, 3.5, 5.1, 6). */
void check_cm(const struct reporter *r, struct view v, const struct cm *cm);

#endif

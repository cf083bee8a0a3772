/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What checks find. Each answers for its rules PASS, FAIL, NOT APPLICABLE (says nothing at all) or
 * INCONCLUSIVE, with where it looked, what the document demands and what is there. Here are those
 * that need one packet alone; those that need the model of the fabric are in rules/scene.h.
 *
 * A packet that the capture cut short is never at fault, nor is what the capture began too late to
 * see: it is inconclusive.
 */
#ifndef IPOIB_RULES_CHECK_H
#define IPOIB_RULES_CHECK_H

#include "rules/rules.h"
#include "wire/ib.h"
#include "wire/payload.h"

enum outcome {
    OUTCOME_PASS,
    OUTCOME_FAIL,
    OUTCOME_DEVIATION,    /* a failure that a list of known deviations names (rules/deviation.h) */
    OUTCOME_INCONCLUSIVE, /* what would decide was not captured, or not seen */
    OUTCOME_NOTED,        /* rules of level INFO and DRAFT: shown, never counted */
};
enum { OUTCOMES = OUTCOME_NOTED + 1 };

/* All texts live as long as the call; "" where there is nothing to say. */
struct finding {
    enum rule_number rule;
    enum outcome outcome;
    uint32_t offset, length; /* octets from the begin of what is judged */
    const char *expected, *actual;
    const char
        *subject; /* whom it concerns: a group, an address, a port, a connection; "": this packet */
    const char *reason; /* OUTCOME_DEVIATION: why it is known */
    /* OUTCOME_FAIL and OUTCOME_DEVIATION: who sent the packet, as far as is known; NULL or "": not
     * known */
    const char *sender;
};

/* What was told before of whom, so that it is not told on every frame; rules/report.c. */
struct told;

/*
 * Who is told. base: the begin of what is judged, to which offsets count. told: NULL where nothing
 * is told before. corrupt: was what is judged damaged on its way (model/integrity.h)? Asked where
 * something is wrong in it, and then nothing of it is remembered; NULL: no.
 */
struct reporter {
    void (*report)(void *user, const struct finding *f);
    bool (*corrupt)(void *user);
    void *user;
    const uint8_t *base;
    struct told *told;
    uint16_t interface; /* of the capture: subjects of one are not those of another */
};

/* ---- what a single packet shows */

/* The encapsulation header of the datagram (RFC 4391 §6; connected: RFC 4755 §4). */
void check_encapsulation(const struct reporter *r, const struct datagram *d, bool connected);

/*
 * An IPoIB MGID (16 octets) on the partition of pkey (RFC 4391 §4): 0xff, flags, group ID, P_Key;
 * MGIDs without IPoIB signature are nobody's business here.
 */
void check_mgid(const struct reporter *r, const uint8_t *mgid, uint16_t pkey);

/*
 * A datagram of LINKTYPE_IPOIB: the destination's GID (16 octets) in its pseudo header, if it is an
 * IPoIB MGID, with the datagram's IP destination (RFC 4391 §4).
 */
void check_bare_group(const struct reporter *r, const uint8_t *dgid, const struct datagram *d);

/*
 * A datagram of the packet: GRH on multicast (RFC 4391 §6), and the group of its MGID against its
 * IP destination (§4).
 */
void check_datagram_headers(const struct reporter *r, const struct ib_packet *ib,
                            const struct datagram *d);

/*
 * ARP and RARP messages behind the encapsulation header, v at their begin (RFC 4391 §9.2, 9.1.1;
 * RFC 4755 §3.1).
 */
void check_arp(const struct reporter *r, const struct datagram *d);

/*
 * The ICMPv6 message in v: options 1 and 2 of Neighbour Discovery (RFC 4391 §9.3, 9.1.1; RFC 4755
 * §3.1).
 */
void check_nd(const struct reporter *r, struct view v);

/* The DHCP message in the IPv4 packet, if there is one (RFC 4390; check_dhcp.c). */
void check_dhcp(const struct reporter *r, const struct datagram *g);

/*
 * A CM message of an IPoIB connection, v at the MAD's begin (RFC 4755 §3.2, 3.5, 5, 5.1, 6).
 * number: of the connection in this capture, 0 where it is not known.
 */
void check_cm(const struct reporter *r, const struct mad_payload *m, uint32_t number);

#endif

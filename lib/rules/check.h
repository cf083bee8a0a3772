/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results of the checks, and the checks that need one packet only; rules/check_context.h has those
 * that need the model of the fabric. For each of its rules a check reports PASS, FAIL or
 * INCONCLUSIVE, with the offset, the expected and the actual value; it reports nothing if the rule
 * does not apply.
 *
 * If a packet was truncated, or the capture started too late, the result is INCONCLUSIVE, never
 * FAIL.
 */
#ifndef IPOIB_RULES_CHECK_H
#define IPOIB_RULES_CHECK_H

#include "rules/rules.h"
#include "wire/ib.h"
#include "wire/payload.h"

enum outcome {
    OUTCOME_PASS,
    OUTCOME_FAIL,
    OUTCOME_DEVIATION, /* a failure that a list of known deviations contains (rules/deviation.h) */
    OUTCOME_INCONCLUSIVE, /* the deciding data was truncated or not captured */
    OUTCOME_NOTED,        /* rules of level INFO and DRAFT: reported, never counted */
    /*
     * a failure without a proof: it waited for a packet, which does not prove it or which the
     * capture does not have (rules/claims/claim.h), or a captured value contradicts the packet, but
     * may be outdated (rules/result.h). Never a known deviation. The packet was also reported as
     * OUTCOME_INCONCLUSIVE.
     */
    OUTCOME_UNPROVED,
    /*
     * two captured values contradict each other, and only a frame that was not captured could
     * explain it (rules/suspicions/suspicions.h). Reported twice: in its frame, and at the end of
     * the capture if no captured frame explains or proves it.
     */
    OUTCOME_SUSPECTED,
};
enum { OUTCOMES = OUTCOME_SUSPECTED + 1 };

/*
 * Result of one check. All texts are valid during the callback only; "" if there is nothing to say.
 */
struct finding {
    enum rule_number rule;
    enum outcome outcome;
    uint32_t offset, length; /* bytes; offset from reporter.base */
    const char *expected, *actual;
    const char *entity; /* entity: a group, an address, a port, a connection; "": this packet */
    /*
     * OUTCOME_DEVIATION: description of the known deviation; OUTCOME_UNPROVED: what it lacks;
     * OUTCOME_SUSPECTED: "unless ...", what a frame that was not captured may have said
     */
    const char *reason;
    /*
     * OUTCOME_FAIL, OUTCOME_DEVIATION, OUTCOME_UNPROVED and OUTCOME_SUSPECTED: the packet's sender;
     * NULL: unknown (rules/sender.h)
     */
    const struct sender *sender;
    uint32_t frame;    /* of the packet at fault, if it is an earlier one; 0: the current frame */
    const char *doubt; /* OUTCOME_FAIL: reporter.doubt */
    uint32_t other_frame;  /* OUTCOME_SUSPECTED: of the other value */
    bool by_flow;          /* OUTCOME_SUSPECTED: other_frame is the first one of its flow instead */
    const uint64_t *value; /* the observed number, of which `actual` is the text; NULL: none */
    const char *name;      /* what the number is, if findings of the rule have several; or NULL */
    /*
     * OUTCOME_SUSPECTED: at the end of the capture; false: in its frame. OUTCOME_FAIL and
     * OUTCOME_DEVIATION: one that was held stands
     */
    bool stands;
    /* a packet may follow that shows that the capture's order is wrong; it does not count yet */
    bool held;
    uint32_t proved_frame; /* of one that was held and stands: the frame that proved it */
};

/* Larger numbers are not exact in every reader of JSON (RFC 8259 section 6), and are only text. */
#define FINDING_NUMBER_MAX ((UINT64_C(1) << 53) - 1)

/* Is it about a number that reports have as its value? */
bool finding_has_number(const struct finding *f);

/*
 * The cause of a violation (rules/causes.def); of a number, from its name: "packet life time" is
 * "packet-life-time-differs". A cause is never renamed. "": the finding has none. text: room.
 */
enum { CAUSE_TEXT = 64 };
const char *finding_cause(const struct finding *f, char text[CAUSE_TEXT]);

/* The causes that the rule may have, from n 0 on; NULL: no further one. */
const char *rule_cause(enum rule_number rule, unsigned n);

/* Do two findings of the rule with this cause, which have no number, have the same text? */
bool cause_says_all(enum rule_number rule, const char *cause);

/* What other_frame is, before its number. */
static inline const char *other_frame_words(bool by_flow)
{
    return by_flow ? "its flow is IPoIB's since frame" : "the other value is in frame";
}

/* The same as a member of reports. */
static inline const char *other_frame_key(bool by_flow)
{
    return by_flow ? "flow_frame" : "other_frame";
}

/* Deduplication cache: the findings already reported of each entity (rules/report.c). */
struct reported;

/*
 * Reporting context. passes: counters of passes by rule, because most findings are passes; NULL:
 * report takes them too. base: start of the packet; offsets are relative to it. reported:
 * deduplication cache, NULL to report every time. corrupt: callback, is the packet corrupt
 * (model/integrity.h)? It is called only when the cache would change; a corrupt packet does not
 * change the cache. NULL: never corrupt. counts: callback, would the finding be reported, unproved
 * or suspected as it is? Without texts, as far as its cause shows. NULL: always. sender, frame: of
 * the earlier packet that is at fault; NULL and 0: the current packet. split: a record that is
 * checked in its copy (model/subnet.h), or NULL; of its bytes, a finding shows those that are in
 * the packet. doubt: why failures are not proved, which makes them inconclusive, or nothing if they
 * are known deviations; NULL: they are proved. value: the observed number; NULL: the finding is
 * about no number. name, held, proved_frame (0: none): struct finding.
 */
struct reporter {
    void (*report)(void *user, const struct finding *f);
    uint64_t *passes;
    bool (*corrupt)(void *user);
    bool (*counts)(void *user, const struct finding *f);
    void *user;
    const uint8_t *base;
    struct reported *reported;
    /* capture interface; entities of two interfaces are kept apart */
    uint16_t interface;
    const struct sender *sender;
    uint32_t frame;
    const struct split_record *split;
    const char *doubt;
    const uint64_t *value;
    const char *name;
    bool held;
    uint32_t proved_frame;
};

/* ---- checks of a single packet */

/* What a datagram was sent over. */
enum datagram_over {
    OVER_UD,              /* also: without InfiniBand headers, which do not show a connection */
    OVER_CONNECTION,      /* in a message of one packet */
    OVER_CONNECTION_FIRST /* the first packet of a message; the datagram is longer than it */
};

/* The encapsulation header of the datagram (UD: RFC 4391 §6; connections: RFC 4755 §4). */
void check_encapsulation(const struct reporter *r, const struct datagram *d,
                         enum datagram_over over);
/* Does the datagram begin as its Type says? True if that is unknown. */
bool encapsulation_fits(const struct datagram *d);

/*
 * An IPoIB MGID (16 bytes) of the partition pkey (RFC 4391 §4): 0xff, flags, group ID, P_Key.
 * Ignores MGIDs without IPoIB signature.
 */
void check_mgid(const struct reporter *r, const uint8_t *mgid, uint16_t pkey);
/* The same for an MGID with IPoIB signature whose partition is not known: all but the P_Key. */
void check_mgid_form(const struct reporter *r, const uint8_t *mgid);

/*
 * A datagram of LINKTYPE_IPOIB: the destination GID (16 bytes) of its pseudo header. If that is an
 * IPoIB MGID, it is compared with the IP destination (RFC 4391 §4). of_grh: the GID is that of a
 * GRH, not of a link-layer address.
 */
void check_pseudo_header_group(const struct reporter *r, const uint8_t *dgid, bool of_grh,
                               const struct datagram *d);

/*
 * The headers of a datagram: the GRH of multicast (RFC 4391 §6), and the group in the MGID compared
 * with the IP destination (§4).
 */
void check_datagram_headers(const struct reporter *r, const struct ib_packet *ib,
                            const struct datagram *d);

/* The ARP or RARP message after the encapsulation header (RFC 4391 §9.2, 9.1.1; RFC 4755 §3.1). */
void check_arp(const struct reporter *r, const struct datagram *d);

/*
 * An ICMP error in which the destination of a datagram names a smaller MTU than 2044 octets (RFC
 * 4391 §7; check_reported_mtu.c).
 */
void check_reported_mtu(const struct reporter *r, const struct datagram *d);

/*
 * The flags in the target's address of an ARP reply, which is a copy from the request (RFC 826), if
 * the request is not known (check_address.c).
 */
void check_target_flags(const struct reporter *r, const struct datagram *d);

/*
 * The ICMPv6 message v: the source and target link-layer address options of Neighbour Discovery
 * (types 1 and 2; RFC 4391 §9.3, 9.1.1; RFC 4755 §3.1). of_interface: the message was captured at
 * an IPoIB interface, where it may have another form than in the packet (nd_form()).
 */
void check_nd(const struct reporter *r, struct view v, bool of_interface);

/*
 * The link-local address ip (16 bytes) of the interface with this link-layer address: form, u bit,
 * GUID (RFC 4391 §8; check_interface_id.c). Ignores other addresses. ib: the headers of the packet;
 * NULL: none.
 */
void check_interface_id(const struct reporter *r, const struct ib_packet *ib, const uint8_t *ip,
                        const uint8_t *lladdr);
/* Only the form. Ignores addresses that are not link-local. */
void check_link_local_form(const struct reporter *r, const uint8_t *ip);
/*
 * The same as check_interface_id() for each address that the Neighbour Discovery message announces
 * with a link-layer address; for a frame without InfiniBand headers.
 */
void check_announced_ids(const struct reporter *r, const struct datagram *d);

/*
 * An IPv6 datagram: the link-local source, and the target of duplicate address detection (RFC 4391
 * §8; check_interface_id.c). ib: the headers of the packet; NULL: none.
 */
void check_ipv6_addresses(const struct reporter *r, const struct ib_packet *ib,
                          const struct datagram *d);

struct check_context;
/*
 * The DHCP message in the IPv4 packet (RFC 4390; check_dhcp.c). s NULL: the frame has no InfiniBand
 * headers.
 */
void check_dhcp(const struct reporter *r, const struct check_context *s, const struct datagram *g);
/*
 * How a DHCP client names its port in chaddr and in its client identifier: "GUID" (hlen 8; type
 * 32): the port's GUID; "MAC" (hlen 6; type 1): the 6 bytes that iPXE makes of the GUID; "DUID"
 * (type 255); "zero" or "none"; "other". NULL: the value has the form of a GUID or a MAC, but the
 * port's GUID is not known.
 */
struct dhcp_names {
    const char *chaddr, *client_id;
};
struct dhcp_names dhcp_client_names(const struct check_context *s, const struct datagram *g);

/*
 * A CM message of an IPoIB connection (RFC 4755 §3.2, 3.5, 5, 5.1, 6). number: of the connection in
 * this capture, 0 if unknown.
 */
void check_cm(const struct reporter *r, const struct mad_payload *m, uint32_t number);

/*
 * What a CM message of IPoIB shows of its link: Receive MTU and RC timers (RFC 4755 §5, 7.1). Each
 * value is noted once for a link. pkey: of the connection.
 */
void check_cm_link(const struct reporter *r, const struct mad_payload *m, uint16_t pkey);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What hosts say of the IP multicast groups they listen to: IGMPv1 and IGMPv2 (RFC 2236), IGMPv3
 * (RFC 3376), MLDv1 (RFC 2710) and MLDv2 (RFC 3810) reports.
 */
#ifndef IPOIB_WIRE_MEMBERSHIP_H
#define IPOIB_WIRE_MEMBERSHIP_H

#include "wire/view.h"

/* IGMP (RFC 2236 §2, RFC 3376 §4): octets from the IGMP header */
enum { IGMP_V1_REPORT = 0x12, IGMP_V2_REPORT = 0x16, IGMP_V2_LEAVE = 0x17, IGMP_V3_REPORT = 0x22 };
enum { IGMP_GROUP = 4 };

/* MLD (RFC 2710 §3, RFC 3810 §5): octets from the ICMPv6 header */
enum { MLD_V1_REPORT = 131, MLD_V1_DONE = 132, MLD_V2_REPORT = 143 };
enum { MLD_GROUP = 8 };

/*
 * The reports of group records, the same in IGMPv3 (RFC 3376 §4.2) and MLDv2 (RFC 3810 §5.2) but
 * for the address.
 */
enum { REPORT_RECORD_COUNT = 6, REPORT_RECORDS = 8 };
enum { RECORD_TYPE = 0, RECORD_AUX = 1, RECORD_SOURCES = 2, RECORD_GROUP = 4 };
enum {
    MODE_IS_INCLUDE = 1,
    MODE_IS_EXCLUDE = 2,
    CHANGE_TO_INCLUDE_MODE = 3,
    CHANGE_TO_EXCLUDE_MODE = 4,
    ALLOW_NEW_SOURCES = 5,
    BLOCK_OLD_SOURCES = 6,
};

struct membership {
    const uint8_t *group; /* the IP group, into the packet */
    uint8_t length;       /* its octets: 4 or 16 */
    bool joins;           /* "I listen", from some source at least; false: "I no longer listen" */
};

struct membership_iter {
    struct view v;        /* the IGMP or ICMPv6 message */
    uint32_t next;        /* where the next record begins */
    uint32_t left;        /* records, or the one group of the older versions */
    uint8_t length;       /* octets of an address */
    bool records, joins;  /* joins: of a message without records */
    enum wire_result end; /* why the walk ended */
};

/*
 * Begin at an IPv4 datagram (IP options, as Router Alert, are skipped) or an IPv6 datagram
 * (hop-by-hop and destination options are skipped); v begins at the IP header. false: no report, a
 * fragment, or not captured so far. Checksums are not looked at.
 */
bool membership_in_ipv4(struct view v, struct membership_iter *it);
bool membership_in_ipv6(struct view v, struct membership_iter *it);
/* Either of them, by the version in the IP header. */
bool membership_begin(struct view v, struct membership_iter *it);

/*
 * The next group. Records that tell neither (BLOCK_OLD_SOURCES, ALLOW_NEW_SOURCES without sources,
 * unknown types) are passed over. Ends with it->end WIRE_OK at the last record, WIRE_TRUNCATED
 * where the capture ends before the group does, WIRE_MALFORMED where the message does.
 */
bool membership_next(struct membership_iter *it, struct membership *m);

#endif

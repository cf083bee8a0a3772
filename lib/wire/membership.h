/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports of the IP multicast groups that hosts listen to: IGMPv1 and IGMPv2 (RFC 2236), IGMPv3
 * (RFC 3376), MLDv1 (RFC 2710) and MLDv2 (RFC 3810).
 */
#ifndef IPOIB_WIRE_MEMBERSHIP_H
#define IPOIB_WIRE_MEMBERSHIP_H

#include "wire/view.h"

/* IGMP (RFC 2236 section 2, RFC 3376 section 4): offset in octets from the IGMP header */
enum { IGMP_QUERY = 0x11, IGMP_QUERY_V2_SIZE = 8 }; /* IGMPv3: longer (RFC 3376 section 7.1) */
enum { IGMP_V1_REPORT = 0x12, IGMP_V2_REPORT = 0x16, IGMP_V2_LEAVE = 0x17, IGMP_V3_REPORT = 0x22 };
enum { IGMP_GROUP = 4 };

/* MLD (RFC 2710 section 3, RFC 3810 section 5): offset in octets from the ICMPv6 header */
enum { MLD_QUERY = 130, MLD_QUERY_V1_SIZE = 24 }; /* MLDv2: longer (RFC 3810 section 8.1) */
enum { MLD_V1_REPORT = 131, MLD_V1_DONE = 132, MLD_V2_REPORT = 143 };
enum { MLD_GROUP = 8 };

/*
 * Reports with group records; IGMPv3 (RFC 3376 section 4.2) and MLDv2 (RFC 3810 section 5.2) differ
 * only in the size of addresses.
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
    const uint8_t *group; /* the IP group; points into the packet */
    uint8_t length;       /* its bytes: 4 or 16 */
    bool joins;           /* the host listens to at least one source; false: it no longer listens */
    bool excludes;        /* to all sources but listed ones: EXCLUDE mode of IGMPv3 or MLDv2 */
};

struct membership_iter {
    struct view v;        /* the IGMP or ICMPv6 message */
    uint32_t next;        /* offset of the next record */
    uint32_t left;        /* remaining records, or 1 for a message without records */
    uint8_t length;       /* bytes of an address */
    bool records, joins;  /* joins: for a message without records */
    enum wire_result end; /* why the iteration ended */
};

/*
 * Start the iteration at an IPv4 datagram (IP options such as Router Alert are skipped) or an IPv6
 * datagram (hop-by-hop and destination options are skipped); v starts at the IP header. false: not
 * a report, a fragment, or the needed headers were not captured. Checksums are not checked.
 */
bool membership_in_ipv4(struct view v, struct membership_iter *it);
bool membership_in_ipv6(struct view v, struct membership_iter *it);
/* IPv4 or IPv6, by the version in the IP header. */
bool membership_begin(struct view v, struct membership_iter *it);

/*
 * A query, report or end of IGMPv1, IGMPv2 or MLDv1: a host that heard it may stop to listen
 * without a message (RFC 2236 section 6, RFC 2710 section 5). The IP datagram as for
 * membership_begin().
 */
bool membership_is_old(struct view v);

/*
 * Get the next group. Records that show neither (BLOCK_OLD_SOURCES, ALLOW_NEW_SOURCES without
 * sources, unknown types) are skipped. At the end, it->end is WIRE_OK after the last record,
 * WIRE_TRUNCATED if the capture ends before the group, WIRE_MALFORMED if the message does.
 */
bool membership_next(struct membership_iter *it, struct membership *m);

#endif

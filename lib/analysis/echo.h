/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What echo.c and echo_replies.c share. Private to analysis/. */
#ifndef IPOIB_ANALYSIS_ECHO_H
#define IPOIB_ANALYSIS_ECHO_H

#include "analysis/question.h"

struct echo {
    struct ip from, to;
    bool request;
    uint32_t size;           /* bytes of the datagram, or SIZE_FRAGMENTED */
    uint32_t header;         /* bytes before ICMP */
    uint8_t ttl;             /* or hop limit */
    uint64_t number;         /* identifier and sequence number, and a bit that is set */
    struct question_key key; /* of pings of any size from who asks to who answers */
    uint64_t hash;           /* of the key */
    unsigned place;          /* the same */
    struct view icmp;        /* if it is another ICMP message; p NULL: it is none */
};

/* Size of a datagram of which only the first fragment is read. */
enum { SIZE_FRAGMENTED = 65536 };

/* Have some of the pings between two addresses no reply (lossy.c)? */
/* An answer to the ping FROM-TO with this number: a reply, or an error of a router. */
void lossy_ping_answered(const struct watch *w, const struct ip *from, const struct ip *to,
                         uint64_t number);
void watch_lossy_pings(const struct watch *w, const struct echo *e);
/* A request to a group, which has a GRH; a reply, which may be one to such a request
 * (group_pings.c). */
APART void watch_group_request(const struct watch *w, const struct echo *e);
APART void watch_group_reply(const struct watch *w, const struct echo *e);
/* The request or reply against the others of its identifier and sequence number. */
void watch_echo_number(const struct watch *w, const struct echo *e);

/* The reply to a ping that was sent once, after this time (slow_hosts.c). */
APART void watch_reply_delay(const struct watch *w, const struct echo *e, int64_t delay_ms);

#endif

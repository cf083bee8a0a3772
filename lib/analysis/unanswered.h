/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What unanswered.c and echo.c share: requests between IP addresses. Private to analysis/. */
#ifndef IPOIB_ANALYSIS_UNANSWERED_H
#define IPOIB_ANALYSIS_UNANSWERED_H

#include "analysis/question.h"

/* The key's addresses are those of requester and target. */
struct question_key key_of_ips(const struct watch *w, enum question_kind kind,
                               const struct ip *from, const struct ip *to);

/* The sender fields of the port at this LID, with the IP address. */
struct sender sender_at(const struct watch *w, uint16_t lid, const struct ip *ip);
/* "IP 10.0.0.1". Returns text. */
const char *ip_text(char text[SENDER_TEXT_SIZE], const struct ip *ip);

/* The IP address in a question's key: an IPv4 address is the one with zeros behind it. */
struct ip ip_of_key(const uint8_t bytes[16]);

/* The event that the question has no answer. more: ", although ..." or "". */
void ip_unanswered(const struct watch *w, enum event_kind kind, const struct question *q,
                   const char *more);

/* Where an announcement of the address is remembered, or that of another one. */
struct taken_address *taken_address_of(const struct watch *w, const struct ip *ip);

/* In struct sender_scope: the queue pair sends to groups of several scopes. */
enum { SCOPES = 0xff };
/* Where the scope of that queue pair is, or that of another one (scopes.c). */
struct sender_scope *scope_at(const struct watch *w, uint32_t link, uint16_t lid, uint32_t qpn);
/* Is it what the queue pair sent since its interface came up? */
bool scope_is_of(const struct sender_scope *s, const struct endport *port, uint32_t link,
                 uint32_t qpn);
/* The scope of all groups to which the holder of an address sends; 0: not known (holders.c). */
uint8_t scope_of_holder(const struct watch *w, const struct neighbour *n);

/* A port that sends datagrams to groups from the address, and the last one. */
struct group_source {
    struct ip ip;
    uint32_t link, frame;
    uint16_t lid;
    uint8_t gid[GID_SIZE];
};
/* NULL: none is known (group_sources.c). */
const struct group_source *group_source_of(const struct watch *w, const struct ip *ip,
                                           uint32_t link);

/* The current packet answers an ARP request: only now that it was repeated (lossy.c)? */
void watch_retried(const struct watch *w, const struct question *q);

/* The current packet asks this, and is no copy: was it answered a moment ago (unheard.c)? */
void watch_asked_again(const struct watch *w, const struct question *q);

/* The question was reported: has its target joined its groups since the SM changed (rejoins.c)? */
APART void watch_rejoin(const struct watch *w, const struct question *q);

/* The current packet is a request for an address, and no copy (request_rates.c). */
void watch_request_rate(const struct watch *w, struct question *q);

/* An ICMP or ICMPv6 message to one host that is no echo, with eight bytes or more (icmp_errors.c).
 */
void watch_icmp_error(const struct watch *w, struct view icmp);
APART void watch_icmp_redirect(const struct watch *w, struct view icmp); /* redirects.c */

#endif

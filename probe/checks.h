/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of a peer: each asks something, and tells of one or several rules what the answer
 * shows.
 */
#ifndef IPOIB_PROBE_CHECKS_H
#define IPOIB_PROBE_CHECKS_H

#include "probe/probe.h"

enum check_needs {
    NEEDS_NOTHING = 0,
    NEEDS_SOURCE = 1,     /* an address of the probe's own, of the target's family */
    NEEDS_DISRUPTIVE = 2, /* --disruptive */
    NEEDS_IPV4 = 4,       /* a target of IPv4 */
    NEEDS_IPV6 = 32,      /* a target of IPv6 */
    /* a peer that announces connected mode, and a transport that makes connections */
    NEEDS_CONNECTIONS = 8,
    NEEDS_ADAPTER = 64, /* a queue pair and the SA, not a network interface's view alone */
};

enum { CHECK_RULES = 10 };

struct check {
    const char *name;
    unsigned needs;
    void (*run)(struct probe *p);
    const char *sends, *expects; /* in words, for --list and --dry-run */
    enum rule_number rules[CHECK_RULES];
    unsigned n_rules;
};

extern const struct check checks[];
extern const unsigned n_checks;

/* Is any of its rules selected? */
bool check_selected(const struct check *c, const struct selection *s);

/* probe/check_resolution.c: address resolution */
void check_answers_multicast(struct probe *p);
void check_arp_fields(struct probe *p);
void check_reply_qpn(struct probe *p);
void check_one_qp(struct probe *p);
void check_grh(struct probe *p);
void check_reserved(struct probe *p);
void check_flags(struct probe *p);
void check_connected_flags(struct probe *p);
void check_ud_with_connected(struct probe *p);
void check_wrong_qkey(struct probe *p);
/*
 * Of a peer that answered the group, and no question by unicast: the stage peer.reachable, unless
 * it does now. No rule says it, but nothing gets there.
 */
void tell_unreachable(struct probe *p);
void check_wrong_pkey(struct probe *p);

/* probe/check_solicitation.c: Neighbour Discovery with an address of the probe's */
void check_solicitation(struct probe *p);

/* probe/check_path.c: what the SA knows of the peer */
void check_path(struct probe *p);
void check_port_guid(struct probe *p);
void check_partitions(struct probe *p);
void check_link_local(struct probe *p);

/* probe/check_membership.c: the peer's port in the broadcast group */
void check_membership(struct probe *p);

/* probe/check_echo.c: IP */
void check_echo(struct probe *p);
void check_echo_header(struct probe *p);
void check_sizes(struct probe *p);

/* probe/check_connection.c: connections set up, refused and ended */
void check_connection(struct probe *p);
void check_connection_second(struct probe *p);
void check_connection_modes(struct probe *p);
void check_connection_end(struct probe *p);
void check_connection_unseen(struct probe *p);

/* probe/check_connection_resolution.c: address resolution where there are connections */
void check_connection_resolution(struct probe *p);
void check_reply_to_ud(struct probe *p);

/* probe/check_connection_ip.c: IP over connections */
void check_connection_echo(struct probe *p);
void check_connection_sizes(struct probe *p);
void check_connection_small(struct probe *p);

/* ---- for the checks */

/* The GUID of the port that the peer's answers come from, by the SA. false: it does not tell. */
bool ask_port_guid(struct probe *p, uint8_t guid[8]);
/* Does the peer's address say that it takes connections (RFC 4755 §3.1)? */
bool has_connected_mode(const struct probe *p);

/*
 * Does the peer answer the variant of a question? YES; NO: it answers the plain question, before
 * and after, and not this; UNKNOWN: it no longer answers either (told as inconclusive), or the run
 * ends; UNASKED: it could not be sent (the same).
 */
enum kept { KEPT_YES, KEPT_NO, KEPT_UNKNOWN, KEPT_UNASKED };
enum kept try_variant(struct probe *p, const struct question *variant, struct answer *a);
/*
 * What that says of a rule (probe/checks.c); failed is what is found then, unknown why it cannot be
 * told.
 */
struct kept_words {
    const char *expected, *passed, *failed, *unknown;
};
void tell_kept(struct probe *p, enum rule_number rule, enum kept k, const struct kept_words *words);

/*
 * Echo requests: octets of a small one, and of the least that a link must carry; headers, protocols
 * and replies.
 */
enum { ECHO_SMALL = 84, MTU_MIN4 = 68, MTU_MIN6 = 1280, IPV4_HEAD = 20, IPV6_HEAD = 40 };
enum { ICMP = 1, ICMPV6 = 58, REPLY4 = 0, REPLY6 = 129 };
/* probe/check_echo.c: is an echo request of that size, over UD, answered? */
extern const char echo_other_payload[];
bool echo_over_ud(struct probe *p, uint32_t length);

#endif

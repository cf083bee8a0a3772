/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of a peer: each asks something, and tells of one or several rules what the answer
 * shows.
 */
#ifndef IPOIB_PROBE_CHECKS_H
#define IPOIB_PROBE_CHECKS_H

#include "probe/groups.h"
#include "probe/patience.h"
#include "probe/question.h"
#include "probe/station.h"
#include "probe/traffic.h"

enum check_needs {
    NEEDS_NOTHING = 0,
    NEEDS_SOURCE = 1,     /* an address of the probe's own, of the target's family */
    NEEDS_DISRUPTIVE = 2, /* --disruptive */
    NEEDS_IPV4 = 4,       /* a target of IPv4 */
    NEEDS_IPV6 = 32,      /* a target of IPv6 */
    /* a peer that announces connected mode, and a transport that makes connections */
    NEEDS_CONNECTIONS = 8,
    NEEDS_SA = 64, /* a transport with these capabilities */
    NEEDS_OWN_QP = 128,
    NEEDS_SENDER = 256,
};

enum { CHECK_RULES = 10 };

struct check {
    const char *name;
    unsigned needs;
    void (*run)(struct target *t);
    const char *sends, *expects; /* in words, for --list and --dry-run */
    enum rule_number rules[CHECK_RULES];
    unsigned n_rules;
};

/*
 * The checks of a peer (probe/run_peer.c). first: what it answered already; NULL: it is to be
 * asked.
 */
void run_peer(struct target *t, const struct answer *first);

extern const struct check checks[];
extern const unsigned n_checks;

/* Is any of its rules selected? */
bool check_selected(const struct check *c, const struct selection *s);

/* probe/check_resolution.c: address resolution */
void check_answers_multicast(struct target *t);
void check_arp_fields(struct target *t);
void check_reply_qpn(struct target *t);
void check_one_qp(struct target *t);
void check_grh(struct target *t);
void check_reserved(struct target *t);
void check_flags(struct target *t);
void check_connected_flags(struct target *t);
void check_ud_with_connected(struct target *t);
void check_wrong_qkey(struct target *t);
/*
 * Of a peer that answered the group, and no question by unicast: the stage peer.reachable, unless
 * it does now. No rule says it, but nothing gets there.
 */
void tell_unreachable(struct target *t);
void check_wrong_pkey(struct target *t);

/* probe/check_solicitation.c: Neighbour Discovery with an address of the probe's */
void check_solicitation(struct target *t);

/* probe/check_path.c: what the SA knows of the peer */
void check_path(struct target *t);
void check_port_guid(struct target *t);
void check_partitions(struct target *t);
void check_link_local(struct target *t);

/* probe/check_membership.c: the peer's port in the broadcast group */
void check_membership(struct target *t);

/* probe/check_echo.c: IP */
void check_echo(struct target *t);
void check_echo_header(struct target *t);
void check_sizes(struct target *t);

/* probe/check_connection.c: connections set up, refused and ended */
void check_connection(struct target *t);
void check_connection_second(struct target *t);
void check_connection_modes(struct target *t);
void check_connection_end(struct target *t);
void check_connection_unseen(struct target *t);

/* probe/check_connection_resolution.c: address resolution where there are connections */
void check_connection_resolution(struct target *t);
void check_reply_to_ud(struct target *t);

/* probe/check_connection_ip.c: IP over connections */
void check_connection_echo(struct target *t);
void check_connection_sizes(struct target *t);
void check_connection_small(struct target *t);

/* ---- for the checks */

/* The GUID of the port that the peer's answers come from, by the SA. false: it does not tell. */
bool ask_port_guid(struct target *t, uint8_t guid[8]);
/* SA Get PathRecord from this port to the GID; what came is whole, or no SA_TOLD. */
enum sa_result ask_path(struct target *t, const uint8_t *gid, struct sa_answer *a);
/* Does the peer's address say that it takes connections (RFC 4755 §3.1)? */
bool has_connected_mode(const struct target *t);

/*
 * Does the peer answer the variant of a question? YES; NO: it answers the plain question, before
 * and after, and not this; UNKNOWN: it no longer answers either (told as inconclusive), or the run
 * ends; UNASKED: it could not be sent (the same).
 */
enum kept { KEPT_YES, KEPT_NO, KEPT_UNKNOWN, KEPT_UNASKED };
enum kept try_variant(struct target *t, const struct question *variant, struct answer *a);
/*
 * What that says of a rule (probe/checks.c); failed is what is found then, unknown why it cannot be
 * told.
 */
struct kept_words {
    const char *expected, *passed, *failed, *unknown;
};
void tell_kept(struct target *t, enum rule_number rule, enum kept k,
               const struct kept_words *words);

/*
 * Echo requests: octets of a small one, and of the least that a link must carry; headers, protocols
 * and replies.
 */
enum { ECHO_SMALL = 84, MTU_MIN4 = 68, MTU_MIN6 = 1280, IPV4_HEAD = 20, IPV6_HEAD = 40 };
enum { ICMP = 1, ICMPV6 = 58, REPLY4 = 0, REPLY6 = 129 };
/* probe/check_echo.c: is an echo request of that size, over UD, answered? */
extern const char echo_other_payload[];
bool echo_over_ud(struct target *t, uint32_t length);

#endif

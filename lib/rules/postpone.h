/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Postponed violations: those that depend on the absence of a request to the SA, such as "the port
 * left the group and did not join again". The PSN of the next packet of the port's GSI shows
 * whether a request was lost (model/endport.h). The result is inconclusive at first. The violation
 * is reported at that packet if no request is missing. If one may be missing, or no such packet
 * follows, the result is OUTCOME_UNPROVED. Nothing more is reported if a packet explains it.
 */
#ifndef IPOIB_RULES_POSTPONE_H
#define IPOIB_RULES_POSTPONE_H

#include "rules/check_context.h"

/* At most 256 findings wait; further ones are refused and counted in `undone`. */
struct postponed *postponed_new(struct undone *undone);
void postponed_free(struct postponed *p);

/*
 * The current packet violates the rule, unless a request of the port was not captured. Reported
 * once for each value of the entity; the number of the current frame is appended to expected.
 */
void postpone(const struct check_context *s, const struct endport *port, enum rule_number rule,
              const struct entity *about, uint64_t value, const char *expected, const char *actual);

/*
 * The same for the SA's own port. Its requests are never on the wire, because they stay inside the
 * host, so another member shows whether the group's parameters have changed: the port that received
 * the group's last record. The violation is reported at that port's next GSI packet, unless the
 * parameters have changed until then. If that port has a pending request for the group, the
 * response to it decides.
 */
void postpone_to_member(const struct check_context *s, const struct group *group,
                        enum rule_number rule, const struct entity *about, uint64_t value,
                        const char *expected, const char *actual);

/*
 * The current packet violates the rule, unless an SMP of the subnet manager to the port was not
 * captured: the PSN of the next response of the port's SMI (QP0) shows it.
 */
void postpone_to_smi(const struct check_context *s, const struct endport *port,
                     enum rule_number rule, const struct entity *about, uint64_t value,
                     const char *expected, const char *actual);

/*
 * As postpone(), for a request that another queue pair of the port may have sent: a packet of the
 * SA's GSI must show too that none of the SA's packets is missing since the frame `since`.
 * port_is_complete: the current packet already shows that no packet of the port's GSI is missing.
 */
void postpone_to_sa(const struct check_context *s, const struct endport *port, uint32_t since,
                    bool port_is_complete, enum rule_number rule, const struct entity *about,
                    uint64_t value, const char *expected, const char *actual);

/*
 * The current packet is an ARP reply with the target IP address `value`, which the port's last
 * request q does not have. A request from that address may not have been captured: the PSN of the
 * next datagram of the requester's QP shows it.
 */
void postpone_to_requester(const struct check_context *s, const struct endport *port,
                           const struct resolution *q, enum rule_number rule,
                           const struct entity *about, uint64_t value, const char *expected,
                           const char *actual);

/* The current packet is a datagram of an IPoIB interface's UD QP. */
void postponed_decide_requester(const struct check_context *s);
/* The current packet comes from the port's GSI. whole: no earlier packet of it is missing. */
void postponed_decide(const struct check_context *s, const struct endport *port, bool whole);
/* The current packet comes from the SA's GSI. Call before postponed_decide(). */
void postponed_decide_sa(const struct check_context *s);
/* The current packet comes from the port's SMI. whole: as for postponed_decide(). */
void postponed_decide_smi(const struct check_context *s, const struct endport *port, bool whole);
/*
 * The capture ends here: reports what still waits, as OUTCOME_UNPROVED, once. It goes on
 * waiting: in a live capture, later packets may still decide it. The context has no packet.
 */
void postponed_report_waiting(const struct check_context *s);

#endif

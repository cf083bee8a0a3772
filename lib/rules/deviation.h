/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Known deviations: implementations that are known to violate a requirement. They are listed in key
 * files; each group is one deviation. The group's name is a rule's identifier; text after a space
 * keeps several groups of one rule apart.
 *
 *     [rfc4755.3.5.service-id]
 *     implementation=Linux              name of the implementation; without a colon
 *     cause=sl-differs                  pattern (* and ?) of the cause (rules/causes.def); absent:
 *                                       any
 *     value=3                           pattern of that number, in decimal; absent: any
 *     actual=0x1000000000??????         pattern of the text of the actual value; absent: any
 *     expected=*                        pattern of the expected value; absent: any
 *     message=RS*                       the Neighbour Discovery message: RS, RA, NS, NA, Redirect,
 *                                       RS with 6 bytes of the address (Ethernet's option with the
 *                                       first 6 of IPoIB's 20 bytes); absent: any
 *     service-id=0x1000000000??????     pattern of the Service-ID that the sender uses for its
 *                                       connections; absent: any
 *     chaddr=MAC                        what a DHCP client has in chaddr: zero, GUID, MAC or other;
 *                                       absent: anything
 *     client-identifier=GUID            what it has in its client identifier: none, DUID, GUID, MAC
 *                                       or other; absent: anything
 *     reason=the Service-ID begins ...  one sentence, part of each finding
 *     source=ib_ipoib, Linux 6.1        where the deviation is documented or was observed
 *
 * The patterns should match only what this implementation sends, so that another violation of the
 * same rule, and the same behaviour of another implementation, is still reported as a violation. If
 * the actual value is not special ("no private data"), service-id distinguishes implementations:
 * only Linux requests connections with its form of the Service-ID, and only Linux listens on that
 * form. GUID and MAC (rules/check.h) recognise boot firmware and DHCP clients that name their port,
 * because the value must be that of the sender.
 */
#ifndef IPOIB_RULES_DEVIATION_H
#define IPOIB_RULES_DEVIATION_H

#include <glib.h>

#include "rules/rules.h"

struct deviations;

/*
 * Opens the named list ("linux", the default of all tools; "none": an empty list), or else the key
 * file with that path. Returns NULL and sets error: there is no such list or file, or the file has
 * an error (syntax, unknown rule identifier, unknown key, no reason).
 */
struct deviations *deviations_open(const char *name, GError **error);
void deviations_free(struct deviations *d);

/*
 * A failure that is looked up in a list. A text that does not apply to the packet is "";
 * service_id, chaddr and client_id are NULL if they apply, but were not captured.
 */
struct failure {
    enum rule_number rule;
    const char *expected, *actual;
    const char *message;            /* as in the key "message" */
    const char *service_id;         /* "0x1000000000000023"; "": no packet of a connection */
    const char *chaddr, *client_id; /* as in the keys; "": no message of a DHCP client */
    const char *cause, *value;      /* finding_cause(); of a number, in decimal, else "" or NULL */
};

/*
 * The reason of the first matching deviation: "known deviation of Linux: ...", or only the reason
 * if its group names no implementation; NULL: not a known deviation. d may be NULL.
 */
const char *deviations_reason(const struct deviations *d, const struct failure *failure);

/*
 * If only a text that was not captured decides whether the failure is a known deviation or a
 * violation: what that is, with "a known deviation or a violation: "; else NULL. d may be NULL.
 */
const char *deviations_undecided(const struct deviations *d, const struct failure *failure);

/* The name of the implementation in such a reason; NULL: none. Free with g_free(). */
char *deviation_implementation(const char *reason);

#endif

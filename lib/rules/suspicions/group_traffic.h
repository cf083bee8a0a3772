/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares a datagram to an IPoIB group with the SA's record of the group, and with other datagrams
 * to it: MLID, Q_Key, SL, HopLimit, TClass, FlowLabel. All senders have them from the SA's record.
 * Its Q_Key, SL and HopLimit are those of all groups of the link.
 */
#ifndef IPOIB_RULES_GROUP_TRAFFIC_H
#define IPOIB_RULES_GROUP_TRAFFIC_H

#include "rules/suspicions/suspicions.h"

/* The current packet is a datagram to the group, and no rule has a finding about its values. */
void suspect_group_traffic(const struct check_context *s, const struct group *g);

/*
 * The current packet is a datagram to one port. All datagrams of a link have the Q_Key of its
 * broadcast group (RFC 4391 §9.1.2).
 */
void suspect_link_qkey(const struct check_context *s);

/*
 * The SA's record of the event's group has the value in r, and that of its link's broadcast group
 * was not captured: compares it with the datagrams to the broadcast group, and with the records of
 * the link's other groups.
 */
void suspect_group_record(const struct check_context *s, const struct subnet_event *e,
                          enum traffic_value which, const struct result *r);

/*
 * A subnet manager that starts, or takes over, has the ports join again, and may give the groups
 * other values (e: an event of the current packet): what is known of them before is not compared
 * any more.
 */
void suspect_after_event(const struct check_context *s, const struct subnet_event *e);

#endif

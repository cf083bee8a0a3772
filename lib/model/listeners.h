/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which groups a host listens to, by its IGMP and MLD reports; only for the files of model/. */
#ifndef IPOIB_MODEL_LISTENERS_H
#define IPOIB_MODEL_LISTENERS_H

#include "model/observation.h"

/*
 * Learn the sender's IGMP and MLD reports. The SA's own port is skipped, because its joins are not
 * on the wire.
 */
void learn_listeners(const struct observation *o, struct endport *sender);

/* A datagram of a UD QP: which groups does it listen to still (struct listener)? After its QP. */
void listeners_see_datagram(const struct observation *o);

/*
 * A port left the broadcast, all-hosts or all-nodes group of its link: the interface may go down,
 * and should leave the others too.
 */
void listeners_see_leave(const struct observation *o, const struct subnet_event *e);

/* Which ports should have left a group by now, and have not? (SUBNET_STAYED) */
void listeners_see_mad(const struct observation *o);

#endif

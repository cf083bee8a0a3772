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

/*
 * The current packet is from the GSI of o->e->gsi: which groups should it have left by now, of
 * those that it listens to no more? (SUBNET_STAYED)
 */
void listeners_see_request(const struct observation *o);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the port for a target: that of the options, else that of the kernel's route to the
 * address, else the first active one.
 */
#ifndef IPOIB_PROBE_CHOOSE_H
#define IPOIB_PROBE_CHOOSE_H

#include <glib.h>

#include "probe/link/choice.h"
#include "probe/run/options.h"

/*
 * Returns false if no port of this host has the address on its link: *why says where the route
 * leads, and *advice is a command. Free both with g_free().
 */
bool choose_for_address(const struct options *o, const struct target_option *t, struct choice *c,
                        char **why, char **advice);

/* True if packets to both targets leave by the same port, in the same partition. */
bool choose_same(const struct choice *a, const struct choice *b);

/*
 * The ports, as struct choice, through which the target fabric is tested: those of -d and -p, else
 * those of all IPoIB interfaces and then those without an interface. *unused describes ports that
 * are left out because they are down and not in use; "": none. Free it with g_free().
 */
GArray *choose_for_fabric(const struct options *o, char **unused);

#endif

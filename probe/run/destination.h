/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses targets given by the user: an address, a prefix, a host name, or the word fabric or node.
 */
#ifndef IPOIB_PROBE_DESTINATION_H
#define IPOIB_PROBE_DESTINATION_H

#include "probe/run/options.h"

/*
 * Returns false and sets ERROR on failure. Prints the address that it chose for a host name. Free
 * t->name with g_free().
 */
bool destination_read(struct target_option *t, const char *text, enum family family,
                      GError **error);

/* Address number (counted from 0) of the target. */
void destination_address(const struct target_option *t, uint32_t number, uint8_t ip[16]);

#endif

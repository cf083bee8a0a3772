/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Targets as the user writes them: an address, a prefix, a host name, or the word fabric. */
#ifndef IPOIB_PROBE_DESTINATION_H
#define IPOIB_PROBE_DESTINATION_H

#include "probe/run/options.h"

/* False after a message: it is none. t->name is to be freed with g_free(). */
bool destination_read(struct target_option *t, const char *text, enum family family);

/* The address with that number, from 0, of a target. */
void target_address(const struct target_option *t, uint32_t number, uint8_t ip[16]);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers and their words, the one place where they stand. Tables end with a NULL name. */
#ifndef IPOIB_WIRE_NAMES_H
#define IPOIB_WIRE_NAMES_H

#include <stddef.h>
#include <stdint.h>

/*
 * The layout of Wireshark's value_string, so that a table serves the plugin's fields as it stands.
 */
struct name {
    uint32_t value;
    const char *name;
};

/* The name of a value, or NULL. */
const char *name_of(const struct name *table, uint32_t value);

#endif

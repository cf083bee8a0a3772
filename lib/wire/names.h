/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of names for numbers. A NULL name ends a table. */
#ifndef IPOIB_WIRE_NAMES_H
#define IPOIB_WIRE_NAMES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Same layout as Wireshark's value_string, so that the plugin's fields can use the tables directly.
 */
struct name {
    uint32_t value;
    const char *name;
};

/* The name of a value; NULL: unknown. */
const char *names_find(const struct name *table, uint32_t value);

#endif

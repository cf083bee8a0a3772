/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The P_Key table of a port. */
#ifndef IPOIB_HCA_PKEYS_H
#define IPOIB_HCA_PKEYS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Finds the P_Key of the partition WANTED, with or without the full-member bit (0: the first
 * partition) among the N entries of TABLE. If the port has both forms, it is the full member's,
 * which also receives from limited members. Returns false if it is not in the table.
 */
bool pkeys_find(const uint16_t *table, unsigned n, uint16_t wanted, unsigned *index);

/* " 0xffff 0x8001", or ": none" for an empty table; free with g_free(). */
char *pkeys_text(const uint16_t *table, unsigned n);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the model's hash tables hash by: SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast
 * short-input PRF", 2012) with a key that is drawn anew in each run. Who writes a capture cannot
 * choose addresses that all fall onto one place, which would make time grow with the square of
 * their number. No order depends on it: the tables are never walked.
 */
#ifndef IPOIB_MODEL_HASH_H
#define IPOIB_MODEL_HASH_H

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

guint hash_octets(const void *p, size_t n);

/*
 * For GHashTable: keys that are numbers (GUINT_TO_POINTER), and that point at a uint32_t or a
 * uint64_t.
 */
guint hash_number(gconstpointer key);
guint hash_uint32(gconstpointer key);
guint hash_uint64(gconstpointer key);

#endif

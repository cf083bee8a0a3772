/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hash function of the model's tables: SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast
 * short-input PRF", 2012) with a new random key in each run. The author of a capture cannot choose
 * addresses that collide, which would make the run time quadratic in their number. The order of a
 * table differs between runs, so no result may depend on it.
 */
#ifndef IPOIB_MODEL_HASH_H
#define IPOIB_MODEL_HASH_H

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

guint hash_octets(const void *p, size_t n);

/*
 * For GHashTable. hash_number: the key is a number (GUINT_TO_POINTER). The others: the key points
 * at a uint32_t or a uint64_t.
 */
guint hash_number(gconstpointer key);
guint hash_uint32(gconstpointer key);
guint hash_uint64(gconstpointer key);

#endif

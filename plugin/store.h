/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Per-packet data that the first pass stores for later passes. Like Wireshark's p_add_proto_data(),
 * but with 12 bytes of overhead for an entry instead of about 80: a capture has millions of
 * packets.
 */
#ifndef IPOIB_PLUGIN_STORE_H
#define IPOIB_PLUGIN_STORE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Memory that is valid until the file is closed; all zero, at most 32 KiB. It is aligned to 8 bytes
 * if size is a multiple of 8, else to 4.
 */
void *store_alloc(size_t size);

/*
 * Stores an entry with the frame, as store_alloc(). Of two with the same key, store_find() finds
 * the last.
 */
void *store_add(uint32_t frame, uint32_t key, size_t size);

/*
 * Stores an entry with a copy of the data, which is never changed later. A frame whose entries are
 * the same as those of a recent frame shares their memory. The key determines the size.
 */
void store_share(uint32_t frame, uint32_t key, const void *data, size_t size);

/* The frame's entry with this key; NULL: none. */
void *store_find(uint32_t frame, uint32_t key);

void store_register(void);

#endif

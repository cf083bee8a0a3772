/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Per-packet data that the first pass stores for later passes. Like Wireshark's p_add_proto_data(),
 * but with 8 bytes of overhead for a frame's entry instead of about 80: a capture has millions of
 * packets.
 */
#ifndef IPOIB_PLUGIN_STORE_H
#define IPOIB_PLUGIN_STORE_H

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of per-packet data. The lowest byte of a key is one of these. */
enum data_key {
    DATA_VERDICT,
    DATA_REQUEST,
    DATA_RESPONSE,
    DATA_DUPLICATE,
    DATA_CM,
    DATA_TABLE,
    DATA_FINDINGS,
    DATA_EVENTS,
    DATA_SEEN_WITH,
    DATA_KEYS
};

/* Memory that is valid until the file is closed; all zero, at most 32 KiB. alignment: at most 8. */
void *store_alloc(size_t size, size_t alignment);

/*
 * Stores an entry with the frame, as store_alloc(). Of two with the same key, store_find() finds
 * the last.
 */
void *store_add(uint32_t frame, uint32_t key, size_t size, size_t alignment);

/*
 * Stores an entry with a copy of the data, which is never changed later. A frame whose entries are
 * the same as those of a recent frame shares their memory. The key determines the size.
 */
void store_share(uint32_t frame, uint32_t key, const void *data, size_t size, size_t alignment);

/* The frame's entry with this key; NULL: none. */
void *store_find(uint32_t frame, uint32_t key);

/*
 * The first pass calls these before the first entry of a frame, and after its last one. If a read
 * filter drops a frame (tshark -2 -R), Wireshark gives its number to the next frame, which must not
 * find the entries of the dropped one.
 */
void store_begin_frame(uint32_t frame);
void store_end_frame(uint32_t frame);

void store_register(void);

#endif

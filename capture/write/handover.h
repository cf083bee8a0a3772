/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue of captured records from the receiving thread to the writing thread: memory blocks in two
 * lock-free single-producer, single-consumer rings. The block written last is reused first, so the
 * same few blocks stay in the CPU cache while the writer keeps up.
 */
#ifndef CAPTURE_HANDOVER_H
#define CAPTURE_HANDOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BLOCK_ROOM = 256 * 1024 }; /* bytes in a block */

/* What of a block is before a file that starts within it. */
struct block_part {
    uint32_t len, packets;
    uint64_t bytes;
};

enum { BLOCK_FILES = 64 };

/* Whole records of one file, or of several short ones, back to back. */
struct block {
    uint8_t *data;
    uint32_t len;     /* bytes used in data */
    uint32_t packets; /* number of the records that are packets */
    uint64_t bytes;   /* bytes of these packets, without the headers of the file format */
    bool new_file;    /* the previous file ends; this block starts the next one */
    uint32_t files;   /* number of files that start within the block, after its first record */
    struct block_part before[BLOCK_FILES]; /* each of them */
};

struct handover;

/*
 * Allocates blocks for ROOM bytes, at least four. The memory is prefaulted: 32 MiB at once, or all
 * of it if TOUCH is set. The writing thread prefaults more when fewer than 16 MiB (64 blocks) are
 * left unused. Returns NULL with errno if there is not enough memory.
 */
struct handover *handover_create(uint64_t room, bool touch);

/* Frees everything; no thread may use it any more. NULL does nothing. */
void handover_destroy(struct handover *h);

/* Receiving thread: returns an empty block, or NULL if all blocks are waiting to be written. */
struct block *handover_take(struct handover *h);

/*
 * Receiving thread: passes a block from handover_take to the writer. A sleeping writer is woken
 * when 2 MiB (8 blocks) are waiting, or a quarter of all blocks if that is less.
 */
void handover_give(struct handover *h, struct block *b);

/* Receiving thread: wakes the writer if any block is waiting. */
void handover_wake(struct handover *h);

/* Receiving thread: no more blocks follow. */
void handover_end(struct handover *h);

/* Writing thread: waits for the next block and returns it; NULL: no more blocks follow. */
struct block *handover_next(struct handover *h);

/* Writing thread: returns a written block for reuse. */
void handover_return(struct handover *h, struct block *b);

/* Receiving thread: whether all passed blocks have been returned. */
bool handover_is_empty(struct handover *h);

/*
 * Receiving thread: whether more than 2 MiB (8 blocks) have been passed and not yet returned; half
 * of all blocks if that is less.
 */
bool handover_is_behind(struct handover *h);

#endif

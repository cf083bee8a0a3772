/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hand-over of captured records from the thread that receives to the thread that writes: blocks
 * of memory in two rings of one producer and one consumer each, without a lock. The block that was
 * written last is used again first, so that as long as the writer keeps up the same few blocks stay
 * in the processor's cache.
 */
#ifndef CAPTURE_HANDOVER_H
#define CAPTURE_HANDOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BLOCK_ROOM = 256 * 1024 }; /* octets of a block */

/* Whole records, one after the other, of one file. */
struct block {
    uint8_t *data;
    uint32_t len;     /* octets of data that are in use */
    uint32_t packets; /* how many of the records are packets */
    uint64_t
        octets;    /* of these packets, without the headers that the file format puts around them */
    bool new_file; /* the file before ends, and this block begins the next one */
};

struct handover;

/*
 * Memory for ROOM octets in blocks, at least four of them. Of it 32 MiB are made present at once,
 * with TOUCH all; the writing thread adds more when they are half in use. Returns NULL with errno
 * if there is not so much memory.
 */
struct handover *handover_create(uint64_t room, bool touch);

/* NULL does nothing. No thread may use it any more. */
void handover_destroy(struct handover *h);

/* The receiving thread: an empty block, or NULL if all are waiting to be written. */
struct block *handover_take(struct handover *h);

/*
 * The receiving thread: gives a block from handover_take to the writer. A writer that sleeps is
 * woken once there is enough for it to do, a megabyte.
 */
void handover_give(struct handover *h, struct block *b);

/* The receiving thread: what was given is to be written now. */
void handover_wake(struct handover *h);

/* The receiving thread: nothing will be given any more. */
void handover_end(struct handover *h);

/* The writing thread: the next block, waiting for it; NULL: none will come any more. */
struct block *handover_next(struct handover *h);

/* The writing thread: the block is written and may be used again. */
void handover_return(struct handover *h, struct block *b);

/* The receiving thread: whether all that was given has been returned. */
bool handover_is_empty(struct handover *h);

/* The receiving thread: whether the writer has more than a megabyte to write. */
bool handover_is_behind(struct handover *h);

#endif

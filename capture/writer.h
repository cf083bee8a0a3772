/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that writes what was captured, block by block, into a file or several. */
#ifndef CAPTURE_WRITER_H
#define CAPTURE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/handover.h"
#include "capture/outfile.h"
#include "capture/recorder.h"

struct writer;

/*
 * Prepares to write the blocks of H into OUT, which both stay the caller's. Returns NULL after a
 * message.
 */
struct writer *writer_create(struct handover *h, struct outfile *out, struct record_format format);

/* Starts the thread. Returns false after a message. If it cannot write, it calls stop_request. */
bool writer_start(struct writer *w);

/*
 * After handover_end: waits until all is written and the thread has ended. A pipe that nobody reads
 * is waited for at most PATIENCE milliseconds, and no longer at a second signal; negative: without
 * end.
 */
void writer_finish(struct writer *w, int patience);

/*
 * After writer_finish: what has reached the file, frames and their octets; what of the blocks given
 * has not.
 */
uint64_t writer_packets(const struct writer *w);
uint64_t writer_octets(const struct writer *w);
uint64_t writer_lost(const struct writer *w);

/* NULL does nothing. */
void writer_destroy(struct writer *w);

#endif

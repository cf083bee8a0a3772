/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing thread: writes the captured blocks into one file or several. */
#ifndef CAPTURE_WRITER_H
#define CAPTURE_WRITER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/write/handover.h"
#include "capture/write/outfile.h"
#include "capture/write/recorder.h"

struct writer;

/*
 * Creates the writer of the blocks of H into OUT; the caller keeps ownership of both.
 */
struct writer *writer_create(struct handover *h, struct outfile *out, struct record_format format);

/*
 * Starts the thread, which waits for writer_go(). Returns false and sets ERROR if that fails. If
 * the thread cannot write, it calls stop_request.
 */
bool writer_start(struct writer *w, GError **error);

/* Lets the thread write. */
void writer_go(struct writer *w);

/*
 * Call after handover_end: waits until everything is written and the thread has ended. If the
 * output is a pipe whose reader does not read, waits at most PATIENCE milliseconds, and stops
 * waiting at the next signal. PATIENCE negative: no time limit.
 */
void writer_finish(struct writer *w, int patience);

/*
 * Valid after writer_finish: packets and frame bytes that reached the file; packets in the passed
 * blocks that did not.
 */
uint64_t writer_packets(const struct writer *w);
uint64_t writer_bytes(const struct writer *w);
uint64_t writer_lost(const struct writer *w);

/* NULL does nothing. */
void writer_destroy(struct writer *w);

#endif

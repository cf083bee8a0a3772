/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --only and -I: select packets by their headers, before anything is copied. A packet of the wrong
 * direction is left out, whatever its kind.
 *
 * smp: sent to QP 0.
 *
 * cm and sa: MADs of these classes (destination QP 1, or the Q_Key of the GSI).
 *
 * ipoib: UD packets with an IPoIB MGID or an encapsulation header of RFC 4391 section 6, and all
 * packets to a queue pair of an IPoIB connection (connections.h).
 */
#ifndef CAPTURE_SELECTION_H
#define CAPTURE_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/write/recorder.h"

enum direction { DIRECTION_BOTH, DIRECTION_TX, DIRECTION_RX };

enum packet_kind { KIND_IPOIB, KIND_CM, KIND_SA, KIND_SMP, KIND_OTHER, KINDS };

struct selection_plan {
    unsigned kinds; /* one bit for each, 1 << KIND_...; 0: all packets */
    enum direction direction;
};

struct packet_selection;

/*
 * Parses TEXT: comma-separated names of kinds. KINDS: one bit for each, 1 << KIND_... Returns false
 * if TEXT is invalid.
 */
bool selection_parse(const char *text, unsigned *kinds);

/* The name of KIND, as selection_parse reads it. */
const char *selection_name(enum packet_kind kind);

struct packet_selection *selection_create(const struct selection_plan *plan);

/* NULL does nothing. */
void selection_destroy(struct packet_selection *s);

/*
 * Whether PACKET, which starts with the LRH, is selected. A packet that is not selected is counted.
 */
bool selection_wants(struct packet_selection *s, const struct recorded_frame *packet);

/* Writes "-I tx --only cm: other packets were left out", for the comment of a pcapng interface. */
void selection_describe(const struct packet_selection *s, char *text, size_t size);

/* Writes "; left out: 7 (received 2, cm 3, other 2)" for the last line of output. */
void selection_summary(const struct packet_selection *s, char *text, size_t size);

#endif

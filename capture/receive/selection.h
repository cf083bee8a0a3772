/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --only: selects packets by their headers, before anything is copied.
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

enum packet_kind { KIND_IPOIB, KIND_CM, KIND_SA, KIND_SMP, KIND_OTHER, KINDS };

struct packet_selection;

/*
 * Parses TEXT: comma-separated names of kinds. KINDS: one bit for each, 1 << KIND_... Returns false
 * if TEXT is invalid.
 */
bool selection_parse(const char *text, unsigned *kinds);

/* The name of KIND, as selection_parse reads it. */
const char *selection_name(enum packet_kind kind);

/* Writes the names of KINDS, comma-separated, as selection_parse reads them. */
void selection_names(unsigned kinds, char *text, size_t size);

struct packet_selection *selection_create(unsigned kinds);

/* NULL does nothing. */
void selection_destroy(struct packet_selection *s);

/*
 * Whether an InfiniBand packet is selected; LEN: captured bytes from the LRH. A packet that is not
 * selected is counted.
 */
bool selection_wants(struct packet_selection *s, const uint8_t *packet, uint32_t len);

/* Writes "; left out: 7 (cm 3, other 4)" for the last line of output. */
void selection_summary(const struct packet_selection *s, char *text, size_t size);

#endif

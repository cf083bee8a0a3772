/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --only: which packets are captured, by their headers, before anything is copied.
 *
 * smp: sent to QP 0. cm and sa: management datagrams of these classes (destination QP 1, or the
 * GSI's Q_Key). ipoib: UD packets to an IPoIB MGID or with an encapsulation header of RFC 4391, and
 * every packet to a queue pair of an IPoIB connection (connections.h).
 */
#ifndef CAPTURE_SELECTION_H
#define CAPTURE_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum packet_kind { KIND_IPOIB, KIND_CM, KIND_SA, KIND_SMP, KIND_OTHER, KINDS };

struct selection;

/* TEXT: names of kinds and commas. KINDS: a bit for each, 1 << KIND_... Returns false for another
 * text. */
bool selection_parse(const char *text, unsigned *kinds);

/* The names of these kinds with commas, as selection_parse reads them. */
void selection_names(unsigned kinds, char *text, size_t size);

/* Returns NULL after a message. */
struct selection *selection_create(unsigned kinds);

/* NULL does nothing. */
void selection_destroy(struct selection *s);

/* An InfiniBand packet of LEN bytes from its LRH on. One that is not wanted is counted. */
bool selection_wants(struct selection *s, const uint8_t *packet, uint32_t len);

/* "; left out: 7 (cm 3, other 4)", for the last line. */
void selection_summary(const struct selection *s, char *text, size_t size);

#endif

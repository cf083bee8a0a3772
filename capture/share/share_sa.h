/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises MADs of subnet administration (SA). */
#ifndef CAPTURE_SHARE_SA_H
#define CAPTURE_SHARE_SA_H

#include "capture/share/share_span.h"
#include "model/subnet.h"
#include "wire/payload.h"

/*
 * Anonymises the SA MAD in S; MAD is its decoded form. Maps the addresses of records, and clears
 * what has no meaning: components outside the component mask, reserved bytes, and bytes after the
 * records. Senders reuse buffers, so all of these may contain old addresses. SPLIT: the record that
 * began in the previous segment of a table, before the changes; NULL: none, or not known.
 */
void share_sa(struct share_map *m, struct span s, const struct mad_payload *mad,
              const struct split_record *split);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises MADs of subnet administration (SA). */
#ifndef CAPTURE_SHARE_SA_H
#define CAPTURE_SHARE_SA_H

#include "capture/share/share_span.h"
#include "wire/payload.h"

/*
 * Anonymises the SA MAD in S; MAD is its decoded form. Maps the addresses of records, and clears
 * what has no meaning: components outside the component mask, reserved bytes, and bytes after the
 * records. Senders reuse buffers, so all of these may contain old addresses.
 */
void share_sa(struct share_map *m, struct span s, const struct mad_payload *mad);

#endif

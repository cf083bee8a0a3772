/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises management datagrams (MADs). */
#ifndef CAPTURE_SHARE_MAD_H
#define CAPTURE_SHARE_MAD_H

#include "capture/share/share_part.h"
#include "model/subnet.h"
#include "wire/payload.h"

/*
 * Anonymises the MAD in P; MAD is its decoded form. Of a class that is not known only the header is
 * kept. ipoib: keep the IPoIB private data and the Service-ID of a CM message. SPLIT: as
 * share_sa().
 */
void share_mad(struct part p, const struct mad_payload *mad, bool ipoib,
               const struct split_record *split);

/* The parts of share_mad() for one class each, after the header */
void share_smp(struct part p, const struct mad_payload *mad);
void share_cm(struct part p, const struct mad_payload *mad, bool ipoib);
/*
 * SPLIT: the record that began in the previous segment of a table, before the changes; NULL: none,
 * or not known.
 */
void share_sa(struct part p, const struct mad_payload *mad, const struct split_record *split);

#endif

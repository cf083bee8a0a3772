/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * convert --share: anonymises frames so that a capture can be given to others. The new frame begins
 * as zeros (share_part.h); fields are kept or, if they are addresses, mapped (share_map.h), and
 * CRCs and checksums are recomputed; a wrong one stays wrong. The fields that the IPoIB rules check
 * are kept, so the shared capture gives the same findings. doc/sharing.md lists what is kept.
 */
#ifndef CAPTURE_SHARE_H
#define CAPTURE_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/share/share_key.h"

struct share;

/* KEY decides the mapping of addresses. Returns NULL after a message. */
struct share *share_new(const struct share_key *key);
void share_free(struct share *s); /* NULL does nothing */

/* A frame of any link type of wire/linktypes.def. bytes: cap captured bytes; wire: on the wire. */
struct share_frame {
    uint32_t linktype;
    int64_t ns; /* since 1970 */
    uint8_t *bytes;
    uint32_t cap, wire;
};

/*
 * Anonymises the frame in place. Returns false if it contains neither an InfiniBand packet nor
 * IPoIB, and must be left out.
 */
bool share_frame(struct share *s, const struct share_frame *frame);

#endif

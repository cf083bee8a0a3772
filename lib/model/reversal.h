/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Responses that were captured before their requests. Captures of two machines that were merged by
 * time (mergecap) are in the order of two clocks: if these differ, one direction of every exchange
 * looks reversed. Then the order of any two frames of different ports proves nothing.
 *
 * A reversed exchange may also be a request that was repeated after its response, if its first copy
 * was lost. It counts for a limited time (model/order.h).
 */
#ifndef IPOIB_MODEL_REVERSAL_H
#define IPOIB_MODEL_REVERSAL_H

#include "model/order.h"
#include "model/port.h"
#include "wire/payload.h"

/* The last transactions of MADs; an overwritten one counts as not seen. All zero at first. */
enum { REVERSALS = 1024 };
struct reversals {
    struct reversal_entry {
        uint64_t key;   /* 0: none */
        uint32_t frame; /* its first message */
        bool has_request;
    } entries[REVERSALS];
};

/* Note the MAD, the last packet that the order recorded. */
void reversals_see(struct reversals *r, const struct mad_payload *m, struct port src,
                   struct port dst, struct order *order);

#endif

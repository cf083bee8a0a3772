/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Responses that were captured before their requests. Captures of two machines that were merged by
 * time (mergecap) are in the order of two clocks: if these differ, one direction of every exchange
 * looks reversed. Then the order of any two frames of different ports proves nothing.
 *
 * A reversed exchange may also be a request that was repeated after its response, if its first copy
 * was lost. It counts for a limited time (model/order.h).
 *
 * The same holds if two capture points see the same packets, and one of them later than the window
 * of order: the packets of the second one show what was true some time ago. A request of the same
 * subnet with the PSN of the first one is such a copy. A request that is sent again has a PSN of
 * its own.
 */
#ifndef IPOIB_MODEL_REVERSAL_H
#define IPOIB_MODEL_REVERSAL_H

#include "model/mix.h"
#include "model/order.h"
#include "model/port.h"
#include "model/undone.h"
#include "wire/payload.h"

/*
 * The last transactions of MADs. The responses among them whose requests were not captured before
 * them wait for these requests longer, in `waiting`: REVERSALS_WAITING of them, for at most
 * REVERSALS_SECONDS. All zero at first, except `undone` (NULL: not counted).
 */
enum { REVERSALS = 1024, REVERSALS_WAITING = 1 << 16, REVERSALS_SECONDS = 60 };
struct reversals {
    struct reversal_entry {
        uint64_t key;   /* 0: none */
        uint32_t frame; /* its first message */
        /* if has_request: of the first request, with the low bits of its subnet's number */
        uint32_t psn : 24, subnet : 7;
        uint32_t has_request : 1;
    } entries[REVERSALS];
    struct waiting_responses *waiting; /* NULL: none */
    struct undone *undone;
};
void reversals_clear(struct reversals *r);

/* Note the MAD, the last packet that the order recorded, with its PSN. */
void reversals_see(struct reversals *r, const struct mad_payload *m, uint32_t psn, struct port src,
                   struct port dst, struct order *order);

/*
 * Key of the transaction in which `from` requests and `to` responds, on any capture interface. All
 * messages of a CM handshake have one transaction ID (IBA 12.6.4).
 */
static inline uint64_t transaction_key(const struct mad *m, struct port from, struct port to)
{
    /* in CM, the attribute is the message type */
    uint16_t attribute = m->class == MAD_CLASS_CM ? 0 : m->attribute;
    uint64_t h = mix_word(mix_word(0, m->tid), (uint64_t)m->class << 16 | attribute);
    return mix_word(mix_word(h, port_on(from, 0).id), port_on(to, 0).id) | 1;
}

#endif

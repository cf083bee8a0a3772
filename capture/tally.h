/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counting what a conversion did, and telling it. */
#ifndef CAPTURE_TALLY_H
#define CAPTURE_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "pcapio/translate.h"

/* All 0 at first. */
struct tally {
    uint64_t octets;                   /* of the packets carried, file and ERF headers left out */
    uint64_t verdicts[VERDICTS];       /* packets, by what became of them */
    uint64_t types[ERF_TYPE_MASK + 1]; /* NOT_INFINIBAND, by ERF type */
    uint64_t lost_headers;             /* packets that lost ERF extension headers */
    uint64_t lost_before;  /* packets that the capture itself had lost (ERF loss counters) */
    uint64_t ibdump_times; /* packets whose wrong ibdump time was put right */
};

void tally_add(struct tally *tally, enum verdict verdict, const struct remarks *note);

/* Packets that are not in the output. */
uint64_t tally_drops(const struct tally *tally);

/*
 * Tells what was left out or changed, if anything was. TO: the output's link type; PCAPNG: its
 * container.
 */
void tally_remark(const struct tally *tally, const char *input, uint32_t to, bool pcapng);

/* The final line: packets, octets, drops. */
void tally_summary(const struct tally *tally);

#endif

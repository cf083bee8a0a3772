/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics of a conversion. */
#ifndef CAPTURE_TALLY_H
#define CAPTURE_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "pcapio/translate.h"

/* Initialise to 0. */
struct convert_tally {
    uint64_t bytes; /* bytes of the packets in the output, without file and ERF headers */
    uint64_t results[TRANSLATION_RESULTS]; /* packets by result */
    uint64_t unwritten;                /* packets that were carried, but are not in the output */
    uint32_t linktype;                 /* of the last packet with result OTHER_LINKTYPE */
    uint32_t interface;                /* of the first packet in the output */
    bool several;                      /* packets of other interfaces are in the output, too */
    uint64_t types[ERF_TYPE_MASK + 1]; /* packets of result NOT_INFINIBAND, by ERF type */
    bool begun;                        /* the output has been emptied, and has its header */
    uint64_t lost_headers;             /* packets written without their ERF extension headers */
    uint64_t lost_before;  /* packets lost by the original capture (ERF loss counters) */
    uint64_t ibdump_times; /* packets whose inexact ibdump timestamp was corrected */
};

/* Counts the packet FROM of the input with the result and the properties NOTE of translate(). */
void convert_tally_add(struct convert_tally *tally, enum translation_result result,
                       const struct capture_record *from, const struct remarks *note);

/* Sets the packets of result CARRIED that are in the output, and their bytes. Call it once. */
void convert_tally_written(struct convert_tally *tally, uint64_t packets, uint64_t bytes);

/* Returns the number of packets that are not in the output. */
uint64_t convert_tally_drops(const struct convert_tally *tally);

/*
 * Prints what was left out or changed, if anything. TO: link type of the output; PCAPNG: the output
 * is pcapng.
 */
void convert_tally_remark(const struct convert_tally *tally, const char *input, uint32_t to,
                          bool pcapng);

/* Prints the last line: packets, bytes, drops. */
void convert_tally_summary(const struct convert_tally *tally);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The SENDs that arrive at one connected QP, put together to messages by their packet sequence
 * numbers (IBA 9.7.2): which packet belongs to which message, what is a retransmission, what is
 * missing.
 *
 * The stream keeps no payload: whoever reassembles does so under the message numbers it gives.
 */
#ifndef IPOIB_MODEL_STREAM_H
#define IPOIB_MODEL_STREAM_H

#include <glib.h>

#include "wire/ib.h"

/* Messages of one QP that may be open at a time; a sender repeats at most a few after a loss. */
#define STREAM_MESSAGES 8

/*
 * Bounds of a capture: streams with messages of several packets; and runs of packets behind a gap,
 * of a message and of all. Streams beyond the first are not followed; a message with more gaps is
 * never found whole.
 */
enum { STREAMS_MAX = 1 << 18, STREAM_MESSAGE_RUNS = 64, STREAM_RUNS_MAX = 1 << 20 };

/* What all streams of a capture share; all zero at first. */
struct stream_store {
    uint32_t messages; /* the last one's number, from 1 */
    uint32_t streams;  /* that have open messages */
    uint32_t runs;     /* of all of them */
};

/* All zero at first. What is open stands apart: most QPs never see a message of several packets. */
struct stream {
    struct stream_messages *open;
};

enum stream_verdict {
    STREAM_PART,     /* belongs to message number, index in it */
    STREAM_WHOLE,    /* so, and with it the message is complete */
    STREAM_REPEATED, /* a retransmission of what was seen before */
    STREAM_ORPHAN,   /* Middle or Last of a message whose First was not seen */
};

struct stream_result {
    enum stream_verdict verdict;
    uint32_t number, index;
    uint32_t evicted; /* number of an unfinished message that had to make room; 0: none */
    bool ipoib;       /* what was told of the message's First */
    bool shortened;   /* this is the message's last packet: those of larger indices that were told
                         before are another's */
};

/*
 * A SEND packet at this QP: position First, Middle or Last. ipoib: does a First hold IPoIB (by
 * connection or by look)? store: the same for all streams of a capture; it must outlive them.
 */
struct stream_result stream_packet(struct stream *s, struct stream_store *store,
                                   enum ib_position position, uint32_t psn, bool ipoib);

void stream_clear(struct stream *s);

#endif

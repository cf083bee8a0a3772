/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The SENDs that arrive at one connected QP, put together to messages by their packet sequence numbers
 * (IBA 9.7.2): which packet belongs to which message, what is a retransmission, what is missing.
 *
 * The stream keeps no payload: whoever reassembles does so under the message numbers it gives.
 */
#ifndef IPOIB_MODEL_STREAM_H
#define IPOIB_MODEL_STREAM_H

#include <glib.h>

#include "wire/ib.h"

/* Messages of one QP that may be open at a time; a sender repeats at most a few after a loss. */
#define STREAM_MESSAGES 8

struct stream_message {
    uint32_t number;   /* of the whole capture, from 1; 0: unused */
    uint32_t psn;      /* of its first packet */
    uint32_t packets;  /* of them seen */
    uint32_t octets;   /* of them seen */
    uint32_t last;     /* index of the last packet, if seen_last */
    bool seen_last, whole, ipoib;
    GByteArray *seen;  /* a bit a packet */
};

/* All zero at first. What is open stands apart: most QPs never see a message of several packets. */
struct stream {
    struct stream_messages *open;
};

enum stream_verdict {
    STREAM_PART,       /* belongs to message number, index in it */
    STREAM_WHOLE,      /* so, and with it the message is complete */
    STREAM_REPEATED,   /* a retransmission of what was seen before */
    STREAM_ORPHAN,     /* Middle or Last of a message whose First was not seen */
};

struct stream_result {
    enum stream_verdict verdict;
    uint32_t number, index;
    uint32_t evicted; /* number of an unfinished message that had to make room; 0: none */
    bool ipoib;       /* what stream_begin was told of the message */
};

/*
 * A SEND packet at this QP: position First, Middle or Last. ipoib: does a First hold IPoIB (by connection or
 * by look)? counter: the capture's last message number. octets: of payload.
 */
struct stream_result stream_packet(struct stream *s, uint32_t *counter, enum ib_position position, uint32_t psn,
                                   uint32_t octets, bool ipoib);

void stream_clear(struct stream *s);

#endif

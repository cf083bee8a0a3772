/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reassembly of the SEND packets that one connected QP receives, by packet sequence number (IBA
 * 9.7.2): which packet belongs to which message, which are retransmissions, which are missing.
 *
 * This module keeps no payload. Callers that reassemble the payload use its message numbers.
 */
#ifndef IPOIB_MODEL_STREAM_H
#define IPOIB_MODEL_STREAM_H

#include <glib.h>

#include "model/undone.h"
#include "wire/ib.h"

/* Incomplete messages kept per QP. After a loss, a sender repeats only a few. */
#define STREAM_MESSAGES 8

/*
 * Limits for a capture: streams with multi-packet messages; runs of packets after a gap, per
 * message and in total. Further streams are not tracked. A message with more gaps never becomes
 * complete.
 */
enum { STREAMS_MAX = 1 << 18, STREAM_MESSAGE_RUNS = 64, STREAM_RUNS_MAX = 1 << 20 };

/* Data that all streams of a capture share; all zero at first, except `less` and `undone`. */
struct stream_store {
    uint32_t messages;     /* number of the last message, from 1 */
    uint32_t streams;      /* streams with message records */
    uint32_t runs;         /* runs in all messages */
    uint64_t begun, ended; /* messages of IPoIB with a First; those without a gap up to the Last */
    unsigned less;         /* the limits are divided by 2^less: for tests */
    struct undone *undone; /* counts refused entries; NULL: not counted */
};

/*
 * All zero at first. Messages are allocated separately, because most QPs never receive a
 * multi-packet message.
 */
struct stream {
    struct stream_messages *open;
};

enum stream_state {
    STREAM_FRAGMENT, /* packet `index` of message `number` */
    STREAM_COMPLETE, /* as STREAM_FRAGMENT, and the message is now complete */
    STREAM_REPEATED, /* retransmission of a packet seen before */
    STREAM_ORPHAN,   /* Middle or Last packet of a message whose First was not seen */
};

struct stream_result {
    enum stream_state state;
    uint32_t number; /* 0: an orphan, or the First of a message that is not followed */
    uint32_t index;
    uint32_t evicted; /* number of the incomplete message that was evicted for this one; 0: none */
    bool ipoib;       /* the value of ipoib passed with the message's First */
    /* of the message, up to this packet; 0: one of its packets before this one was not seen */
    uint64_t bytes;
    /*
     * this is the message's last packet: packets with larger indices, returned before, belong to
     * another message
     */
    bool shortened;
};

/*
 * Process a First, Middle or Last SEND packet of this QP. bytes: of its payload. ipoib: for a
 * First, does the message carry IPoIB (by connection or by its contents)? store: the same for all
 * streams of a capture; it must outlive them.
 */
struct stream_result stream_packet(struct stream *s, struct stream_store *store,
                                   enum ib_position position, uint32_t psn, uint32_t bytes,
                                   bool ipoib);

void stream_clear(struct stream *s);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From frames to the records of a capture file, put straight into the blocks that go to the writing
 * thread. It also decides where a file of a series ends, and keeps the counts of what was lost.
 */
#ifndef CAPTURE_RECORDER_H
#define CAPTURE_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/handover.h"

/* A classic pcap with microseconds, as ibdump writes it, or a pcapng with nanoseconds. */
struct record_format {
    bool pcapng;
    bool ethernet; /* the frames are Ethernet's, not InfiniBand's */
    bool erf; /* each frame is within an ERF record (type 21 InfiniBand, 2 Ethernet); InfiniBand
                 frames always are */
};

/* What whole records there are in some octets. */
struct record_count {
    size_t len; /* octets, the file's header included */
    uint32_t packets;
    uint64_t octets; /* of the packets, without what the format puts around them */
};

/*
 * Counts the whole records in LEN octets at DATA, which begin with a file's header if FILE_HEADER
 * says so.
 */
struct record_count record_count(struct record_format format, const uint8_t *data, size_t len,
                                 bool file_header);

struct recorder_plan {
    struct record_format format;
    uint32_t snaplen;      /* octets of a frame that are kept; 0: all */
    const char *interface; /* for pcapng, like the next two */
    const char *description;
    const char *comment;
    bool selective;        /* recorder_left_out may be called */
    uint64_t file_octets;  /* a file of a series ends before it has more octets, ... */
    uint64_t file_packets; /* ... with so many packets, ... */
    uint64_t file_time; /* ... so many nanoseconds after its first packet; 0: without that limit */
    uint64_t memory;    /* octets of records after which recorder_is_full; 0: never */
};

struct frame {
    const uint8_t *octets;
    uint32_t len;     /* at most 65000 octets are there */
    uint32_t wirelen; /* octets on the wire */
    uint64_t
        time; /* nanoseconds since 1970, by whatever clock: it is written, and nothing goes by it */
    uint32_t direction; /* PCAPNG_UNKNOWN, PCAPNG_INBOUND, PCAPNG_OUTBOUND */
    bool decapsulated;  /* a mirroring switch's headers were taken off: ERF's interface number is
                           then 1, as ibdump's */
};

/* What became of the frames since the capture began. */
struct recorder_counts {
    uint64_t packets, octets; /* put into records: frames, and their octets */
    uint64_t left_out;        /* frames that --only leaves out */
    uint64_t device;          /* lost by the device */
    uint64_t own;             /* lost by the program, which had no memory left to hold them */
};

/* A moment by the host's clocks, in ns. */
struct host_time {
    uint64_t steady; /* CLOCK_MONOTONIC: what is due goes by it */
    uint64_t day;    /* since 1970: what is written */
};

struct recorder;

/*
 * PLAN is copied, its texts must stay. Returns NULL after a message. The file's header is the first
 * thing recorded.
 */
struct recorder *recorder_create(const struct recorder_plan *plan, struct handover *h);

/* Records FRAME. Returns false if it was lost, which is counted. */
bool recorder_put(struct recorder *r, const struct frame *frame);

/* A frame came that is not wanted. */
void recorder_left_out(struct recorder *r);

/*
 * COUNT frames were lost by the device, or for another fault of its. The next record carries the
 * number.
 */
void recorder_lost(struct recorder *r, uint64_t count);

/* Something that the next packet's comment shall tell. The text must stay. */
void recorder_note(struct recorder *r, const char *text);

/*
 * To be called from time to time: a file's time may be over, counts are written once a second.
 * Records that wait longer than PATIENCE (ns) are given to the writer. What came between two calls
 * counts as come at the second.
 */
void recorder_tick(struct recorder *r, struct host_time now, uint64_t patience);

/* Whether the writer has more to do than it can in a moment. */
bool recorder_is_behind(const struct recorder *r);

/*
 * The last counts are written, with that time of day, and all is given to the writer, which gets
 * its end.
 */
void recorder_end(struct recorder *r, uint64_t time);

bool recorder_is_full(const struct recorder *r);
struct recorder_counts recorder_counts(const struct recorder *r);

/* NULL does nothing. */
void recorder_destroy(struct recorder *r);

#endif

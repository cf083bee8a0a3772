/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts frames to records of a capture file, directly in the blocks for the writing thread. It
 * also splits the files of a series and counts lost frames.
 */
#ifndef CAPTURE_RECORDER_H
#define CAPTURE_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/write/handover.h"
#include "capture/write/record.h"

struct recorder_plan {
    struct record_format format;
    uint32_t snaplen;      /* bytes kept of each frame; 0: all */
    const char *interface; /* interface name; pcapng only, like the next two */
    const char *description;
    const char *comment;
    bool selective;        /* recorder_left_out may be called (--only, -I) */
    uint64_t file_bytes;   /* maximum bytes of a file of a series; 0: no limit */
    uint64_t file_packets; /* maximum packets of a file; 0: no limit */
    uint64_t file_time;    /* maximum ns from the first packet to the end of a file; 0: no limit */
    uint64_t memory; /* bytes of records after which recorder_is_full returns true; 0: never */
};

struct recorded_frame {
    const uint8_t *bytes;
    uint32_t len;     /* captured bytes, at most 65000 */
    uint32_t wirelen; /* bytes on the wire */
    uint64_t time;    /* ns since 1970, by any clock; only written to the file, no limit uses it */
    uint32_t direction; /* PCAPNG_UNKNOWN, PCAPNG_INBOUND, PCAPNG_OUTBOUND */
    bool decapsulated;  /* the headers of a mirroring switch were removed: the ERF interface number
                           is 1, as in ibdump */
};

/* Frame counts since the capture started. */
struct recorder_counts {
    uint64_t packets, bytes; /* recorded frames, and their bytes */
    uint64_t left_out;       /* frames excluded by --only or -I */
    uint64_t device;         /* frames lost by the device */
    uint64_t own;            /* frames lost by the program because all blocks were full */
};

/* One instant on the host's clocks, in ns. */
struct host_time {
    uint64_t steady; /* CLOCK_MONOTONIC, for deadlines */
    uint64_t day;    /* since 1970, written to the file */
};

struct recorder;

/*
 * Creates a recorder; the first record is the file header. PLAN is copied; its strings must outlive
 * the recorder.
 */
struct recorder *recorder_create(const struct recorder_plan *plan, struct handover *h);

/* Records FRAME. Returns false if no memory is left; the frame is then counted as lost. */
bool recorder_put(struct recorder *r, const struct recorded_frame *frame);

/* Counts a frame that --only or -I excludes. */
void recorder_left_out(struct recorder *r);

/* Counts COUNT frames lost by the device. The next pcapng record carries the number. */
void recorder_lost(struct recorder *r, uint64_t count);

/* Sets the comment of the next packet (pcapng). TEXT must outlive the recorder. */
void recorder_note(struct recorder *r, const char *text);

/*
 * Periodic work: ends a file at its time limit, writes the counts (pcapng) once a second, and
 * passes a partly filled block to the writer when it has waited for PATIENCE ns. All frames since
 * the previous call count as received now.
 */
void recorder_tick(struct recorder *r, struct host_time now, uint64_t patience);

/* Whether the writer is behind (handover_is_behind). */
bool recorder_is_behind(const struct recorder *r);

/*
 * Writes the last counts with TIME (ns since 1970), passes all blocks to the writer and tells it
 * that no more follow.
 */
void recorder_end(struct recorder *r, uint64_t time);

/* Whether the records have reached recorder_plan.memory bytes. */
bool recorder_is_full(const struct recorder *r);
/* Returns the counts since the start of the capture. */
struct recorder_counts recorder_counts(const struct recorder *r);

/* NULL does nothing. */
void recorder_destroy(struct recorder *r);

#endif

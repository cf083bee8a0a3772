/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of a capture: ibdump's, and the long options that are new. */
#ifndef CAPTURE_LIVE_OPTIONS_H
#define CAPTURE_LIVE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of records that wait for the writer at most, if the user names no number. */
#define HOLD_DEFAULT (UINT64_C(256) << 20)

enum live_mode { MODE_SNIFFER, MODE_MULTICAST };
enum live_direction { DIRECTION_BOTH, DIRECTION_TX, DIRECTION_RX };

struct live_options {
    const char *device; /* NULL: the first one */
    unsigned port;
    const char *file;      /* "-": stdout */
    unsigned log2_buffers; /* -b */
    bool buffers_asked, silent, huge_pages, jumbo, decap;
    int erf;         /* --erf; -1: as the link layer is */
    uint64_t memory; /* -M, octets; 0: off */
    uint64_t hold;   /* octets that wait for the writer at most */
    enum live_direction direction;
    enum live_mode mode;
    unsigned pkey;       /* of the partition; 0: the first of the port */
    bool broadcast_only; /* no groups but the broadcast group */
    bool pcapng, list;
    uint64_t count, duration;                      /* packets; nanoseconds; 0: without end */
    uint32_t snaplen;                              /* octets; 0: all */
    unsigned only;                                 /* --only: see selection_parse; 0: all */
    bool series;                                   /* several files, by one of the next three */
    uint32_t ring_files;                           /* so many are kept; 0: all */
    uint64_t ring_octets, ring_packets, ring_time; /* a file's limits; nanoseconds; 0: none */
    const char *comment;                           /* NULL: none */
    bool reader_may_leave; /* that the pipe is closed is the usual end, and what is usual is not
                              told (extcap) */
};

/*
 * Returns -1 if OPTIONS are filled in, or the exit status: 0 after -h and -v, 2 after a message on
 * a wrong usage.
 */
int live_parse_options(int argc, char **argv, struct live_options *options);

#endif

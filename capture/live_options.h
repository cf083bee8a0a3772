/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command line of a live capture: ibdump's options, and long options that are new. */
#ifndef CAPTURE_LIVE_OPTIONS_H
#define CAPTURE_LIVE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/receive/receive.h"

/* Default limit of records that wait for the writer, in bytes. */
#define HOLD_DEFAULT (UINT64_C(256) << 20)

enum live_mode { MODE_SNIFFER, MODE_MULTICAST };
enum sniffer_kind { SNIFFER_AUTO, SNIFFER_VERBS, SNIFFER_FIRMWARE, SNIFFER_IBDUMP };

struct live_options {
    const char *device; /* NULL: the first one */
    unsigned port;
    const char *file;      /* "-": stdout */
    unsigned log2_buffers; /* -b */
    bool buffers_requested, silent, huge_pages, jumbo, decap;
    int erf;         /* --erf; -1: ERF on InfiniBand, plain frames on Ethernet */
    uint64_t memory; /* -M, bytes; 0: off */
    uint64_t hold;   /* limit of records that wait for the writer, bytes */
    enum direction direction;
    enum live_mode mode;
    enum sniffer_kind sniffer;
    const char *mstflint; /* path of mstflint's library; NULL: where packages have it */
    const char *ibdump;   /* path of the program; NULL: where packages have it */
    const char *read;     /* another program's capture instead of a device; NULL: none */
    unsigned pkey;        /* P_Key of the partition; 0: the first of the port */
    bool broadcast_only;  /* only the broadcast group */
    bool pcapng, list;
    uint64_t count, duration; /* packets; nanoseconds; 0: no limit */
    uint32_t snaplen;         /* bytes kept of each frame; 0: all */
    unsigned only;            /* --only: see selection_parse; 0: all */
    bool series;              /* write several files, limited by the ring_ members below */
    uint32_t ring_files;      /* number of files kept; 0: all */
    /* limits of a file: bytes, packets, ns; 0: none */
    uint64_t ring_bytes, ring_packets, ring_time;
    const char *comment; /* NULL: none */
    /*
     * Descriptor of Wireshark's FIFO, which is open (extcap); 0: none. Wireshark shows messages
     * only at the end, as errors: so a port without a link is an error, and only errors and losses
     * are printed. If Wireshark closes the FIFO, that is the normal end.
     */
    int fifo;
};

/*
 * Returns -1 if OPTIONS are filled in, otherwise the exit status: 0 after -h and -v (1 if standard
 * output cannot be written), 2 after a message about wrong usage.
 */
int live_parse_options(int argc, char **argv, struct live_options *options);

#endif

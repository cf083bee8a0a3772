/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes capture files: classic pcap, pcapng and raw ERF. */
#ifndef IPOIB_PCAPIO_OUTPUT_H
#define IPOIB_PCAPIO_OUTPUT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "pcapio/capfile.h"
#include "pcapio/capture_record.h"

enum container { CONTAINER_PCAP, CONTAINER_PCAPNG, CONTAINER_RAW };

struct output_format {
    enum container container;
    uint32_t linktype; /* LINKTYPE_ERF or LINKTYPE_INFINIBAND; LINKTYPE_ERF with CONTAINER_RAW */
    uint32_t snaplen;  /* bytes, for the file header */
    bool is_described; /* pcapng: output_describe writes sections and interfaces */
    bool is_public;    /* the packets may have more readers than the source has */
};

struct output;

/* What is in the output. */
struct output_counts {
    uint64_t packets, octets;
};

/*
 * Opens or creates PATH ("-": stdout). SOURCE: descriptor of the file that the packets come from.
 * PATH must be another file; otherwise it is refused and not changed. Unless the output is public,
 * it gets no readers who cannot read the source (cli/access.h). If neither is a regular file (a
 * live capture through pipes), each packet is flushed at once. Returns NULL and sets ERROR
 * (pcapio/error.h, cli/create.h) if this fails. The contents of a file do not change yet.
 */
struct output *output_open(const char *path, const struct output_format *format, int source,
                           GError **error);

/* Empties the file and writes its header. Returns false as output_describe does. */
bool output_begin(struct output *out);

/*
 * Writes a section, an interface or statistics of a pcapng file, as the input has them. Sections
 * and numbers of interfaces are the input's. Returns false if the file cannot be written, now or
 * before; output_close says why.
 */
bool output_describe(struct output *out, const struct capfile_description *d);

/*
 * Writes a packet of the output's link type; its seconds must fit into 32 bits. OCTETS: what it
 * adds to the counts. Returns false as output_describe does.
 */
bool output_write(struct output *out, const struct capture_record *p, uint64_t octets);

/*
 * Flushes, closes and frees. Sets COUNTS to the packets that are whole in the output: if writing
 * failed, a regular file ends after the last of them. Returns false and sets ERROR to the first
 * error if data did not reach the file.
 */
bool output_close(struct output *out, struct output_counts *counts, GError **error);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input of a conversion: a capture file (capfile.h), of which the link type is known before the
 * first packet, because it decides what the output is.
 */
#ifndef IPOIB_PCAPIO_INPUT_H
#define IPOIB_PCAPIO_INPUT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "pcapio/capfile.h"
#include "pcapio/capture_record.h"

struct input;

/*
 * Opens the capture file PATH ("-": stdin) and reads it up to the first packet, or to the header
 * that classic pcap and raw ERF have. WITHOUT_PRIVATE: as pcapng_convert_options(), for all
 * options. Returns NULL and sets ERROR (pcapio/error.h) if the file cannot be read, is not a
 * capture file, or has no link type that can contain IPoIB.
 */
struct input *input_open(const char *path, bool without_private, GError **error);

/* NULL does nothing. */
void input_close(struct input *in);

/*
 * Reads the next packet, of any size, with its time in ns; padding records of a raw ERF file too.
 * Its data is valid until the next call. Results and ERROR as for capfile_next.
 */
enum capfile_result input_next(struct input *in, struct capture_record *out, GError **error);

/*
 * Sets the callback for what a pcapng file describes (capfile.h): sections, interfaces, statistics.
 * Calls it at once for what comes before the first packet. From then on packets have options.
 */
void input_on_description(struct input *in, capfile_describe *describe, void *user);

/* Of the first packet or, if there is none, the first interface that can contain IPoIB. */
uint32_t input_linktype(const struct input *in);
/* maximum bytes of a packet: in the file header; in pcapng, the largest of the interfaces so far */
uint32_t input_snaplen(const struct input *in);
bool input_is_raw_erf(const struct input *in);
bool input_is_pcapng(const struct input *in);
int input_fd(const struct input *in); /* of the opened file */

#endif

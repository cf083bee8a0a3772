/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the input of a conversion: pcap, pcapng and raw ERF, also compressed with gzip. The format
 * is detected from the content.
 */
#ifndef IPOIB_PCAPIO_INPUT_H
#define IPOIB_PCAPIO_INPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pcapio/capfile.h"
#include "pcapio/packet.h"

struct input;

enum input_result { INPUT_PACKET, INPUT_END, INPUT_ERROR };

/*
 * Opens the capture file PATH ("-": stdin) and reads its header. Returns NULL after a message if it
 * cannot be read, is not a capture file, or its first link type cannot contain IPoIB.
 */
struct input *input_open(const char *path);

/* NULL does nothing. */
void input_close(struct input *in);

/*
 * Reads the next packet, of any size, with its time in ns. Its data is valid until the next call.
 * INPUT_ERROR: after a message; nothing can be read after it.
 */
enum input_result input_next(struct input *in, struct packet *out);

/*
 * Sets the callback for what a pcapng file describes (capfile.h): sections, interfaces, statistics.
 * Calls it at once for what comes before the first packet. From then on packets have options.
 * WITHOUT_TEXTS: all options without comments, names and addresses.
 */
void input_on_description(struct input *in, bool without_texts, capfile_describe *describe,
                          void *user);

uint32_t input_linktype(const struct input *in); /* of the first packet */
/* maximum bytes of a packet, from the file header */
uint32_t input_snaplen(const struct input *in);
bool input_is_raw_erf(const struct input *in);
bool input_is_pcapng(const struct input *in);
const char *input_name(const struct input *in); /* for messages */
int input_fd(const struct input *in);           /* of the opened file */

#endif

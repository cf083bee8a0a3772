/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading capture files: pcap and pcapng through libpcap, raw ERF by our own; told apart by
 * content.
 */
#ifndef IPOIB_PCAPIO_INPUT_H
#define IPOIB_PCAPIO_INPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pcapio/packet.h"

struct input;

enum input_result { INPUT_PACKET, INPUT_END, INPUT_ERROR };

/*
 * Opens the capture file PATH ("-": stdin) and reads its header. Returns NULL after a message if it
 * cannot be read, is no capture file or has a link type other than LINKTYPE_ERF and
 * LINKTYPE_INFINIBAND.
 */
struct input *input_open(const char *path);

/* NULL does nothing. */
void input_close(struct input *in);

/*
 * The next packet, of any size, with its time in nanoseconds. Its data stays valid until the next
 * call. INPUT_ERROR comes after a message; nothing can be read after it.
 */
enum input_result input_next(struct input *in, struct packet *out);

uint32_t input_linktype(const struct input *in); /* LINKTYPE_ERF or LINKTYPE_INFINIBAND */
/* octets that a packet has at most, as the file says */
uint32_t input_snaplen(const struct input *in);
bool input_is_raw_erf(const struct input *in);
bool input_is_pcapng(const struct input *in);
const char *input_name(const struct input *in); /* for messages */
FILE *input_file(const struct input *in);

#endif

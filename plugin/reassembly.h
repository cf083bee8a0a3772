/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of connected-mode messages. Only those of complete messages are kept. Wireshark's own
 * reassembly takes about 100 bytes more for each packet.
 */
#ifndef IPOIB_PLUGIN_REASSEMBLY_H
#define IPOIB_PLUGIN_REASSEMBLY_H

#include <epan/packet.h>

#include "model/stream.h"

/* A packet of a complete message. */
struct message_packet {
    uint32_t frame, length;
};

/* A complete message, valid until the file is closed. */
struct complete_message {
    uint32_t frame; /* of the packet that completed it */
    uint32_t count, length;
    const uint8_t *bytes;
    struct message_packet packets[]; /* count of them, in the message's order */
};

/*
 * First pass only: stores the packet's payload, which must be captured whole. last: it is a Last.
 * limit: bytes for all incomplete messages; above it the oldest ones are discarded.
 */
void reassembly_add(uint32_t frame, const struct stream_result *part, bool last, tvbuff_t *tvb,
                    uint64_t limit);

/* The complete message with this number; NULL: it is not complete, or was discarded. */
const struct complete_message *reassembly_find(uint32_t number);

void reassembly_register(void);

#endif

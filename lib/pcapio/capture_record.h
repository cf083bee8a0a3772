/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A packet that is copied from file to file. LINKTYPE_ERF: the packet is an ERF record.
 * LINKTYPE_INFINIBAND: it starts with its LRH.
 */
#ifndef IPOIB_PCAPIO_CAPTURE_RECORD_H
#define IPOIB_PCAPIO_CAPTURE_RECORD_H

#include <stdint.h>

#include "pcapio/erf.h"
#include "wire/linktype.h"

/*
 * The packet is head[0..head_len-1] followed by data[0..data_len-1], so a header can be added or
 * changed without copying the packet. All lengths are in bytes.
 */
struct capture_record {
    uint32_t linktype;
    int64_t sec; /* since 1970 */
    uint32_t ns; /* 0..999999999 */
    uint32_t head_len;
    uint32_t data_len;
    uint32_t wirelen; /* length before truncation; at least head_len + data_len */
    uint32_t dropped; /* packets lost by the capture since the previous packet */
    uint8_t head[ERF_HEADER_LEN];
    uint32_t interface; /* of a pcapng file: its number in the whole file */
    /* pcapng options, ready to be written, without end mark; owned like DATA */
    const uint8_t *options;
    uint32_t options_len;
    const uint8_t *data; /* owned by the reader of the packet; valid until its next packet */
};

#endif

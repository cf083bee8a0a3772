/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing pcapng files: the blocks as octets. See pcapng.h. */
#include "capture/pcapng.h"

#include <string.h>

#include "capture/octets.h"
#include "capture/pcapng_format.h"

enum { OPTION_MAX = 65535 };

static uint32_t padded(uint32_t len)
{
    return (len + 3) & ~UINT32_C(3);
}

/* Octets of an option of LEN octets in the file. */
static uint32_t option_len(uint32_t len)
{
    return OPTION_HEAD + padded(len);
}

/* Writes an option and returns the place behind it. */
static uint8_t *put_option(uint8_t *at, uint16_t code, const void *value, uint16_t len)
{
    put_le16(at, code);
    put_le16(at + 2, len);
    memset(at + OPTION_HEAD, 0, padded(len));
    if (len > 0)
        memcpy(at + OPTION_HEAD, value, len);
    return at + option_len(len);
}

/* The lengths at a block's beginning and end: both are the same. */
static size_t close_block(uint8_t *block, uint32_t type, size_t len)
{
    put_le32(block, type);
    put_le32(block + 4, (uint32_t)len);
    put_le32(block + len - 4, (uint32_t)len);
    return len;
}

size_t pcapng_put_shb(uint8_t *out, size_t room, const char *application)
{
    size_t chars = strlen(application);
    uint8_t *at;

    if (chars > OPTION_MAX || BLOCK_OVERHEAD + 16 + option_len((uint32_t)chars) + OPTION_HEAD > room)
        return 0;
    put_le32(out + 8, PCAPNG_BYTE_ORDER);
    put_le16(out + 12, 1);         /* version 1.0 */
    put_le16(out + 14, 0);
    put_le64(out + 16, UINT64_MAX); /* section length: not known */
    at = put_option(out + 24, SHB_USERAPPL, application, (uint16_t)chars);
    at = put_option(at, OPT_END, NULL, 0);
    return close_block(out, BLOCK_SHB, (size_t)(at - out) + 4);
}

size_t pcapng_put_idb(uint8_t *out, size_t room, uint16_t linktype, uint32_t snaplen, const char *name)
{
    const uint8_t nanoseconds = 9; /* times are in units of 10^-9 s */
    size_t chars = name ? strlen(name) : 0;
    uint8_t *at = out + 16;

    if (chars > OPTION_MAX ||
        BLOCK_OVERHEAD + 8 + (name ? option_len((uint32_t)chars) : 0) + option_len(1) + OPTION_HEAD > room)
        return 0;
    put_le16(out + 8, linktype);
    put_le16(out + 10, 0);
    put_le32(out + 12, snaplen);
    if (name)
        at = put_option(at, IF_NAME, name, (uint16_t)chars);
    at = put_option(at, IF_TSRESOL, &nanoseconds, 1);
    at = put_option(at, OPT_END, NULL, 0);
    return close_block(out, BLOCK_IDB, (size_t)(at - out) + 4);
}

/* Octets of the options of an Enhanced Packet Block, their end included. */
static uint32_t epb_options_len(const struct pcapng_epb *epb)
{
    return epb->dropped ? option_len(8) + OPTION_HEAD : 0;
}

static uint32_t epb_len(const struct pcapng_epb *epb)
{
    return PCAPNG_EPB_HEAD_LEN + padded(epb->caplen) + epb_options_len(epb) + 4;
}

void pcapng_put_epb_head(uint8_t out[PCAPNG_EPB_HEAD_LEN], const struct pcapng_epb *epb)
{
    put_le32(out, BLOCK_EPB);
    put_le32(out + 4, epb_len(epb));
    put_le32(out + 8, epb->interface);
    put_le32(out + 12, (uint32_t)(epb->time >> 32)); /* the high half comes first, in either byte order */
    put_le32(out + 16, (uint32_t)epb->time);
    put_le32(out + 20, epb->caplen);
    put_le32(out + 24, epb->wirelen);
}

size_t pcapng_put_epb_tail(uint8_t out[PCAPNG_EPB_TAIL_MAX], const struct pcapng_epb *epb)
{
    uint8_t count[8];
    uint8_t *at = out;

    memset(at, 0, 3);
    at += padded(epb->caplen) - epb->caplen;
    if (epb->dropped) {
        put_le64(count, epb->dropped);
        at = put_option(at, EPB_DROPCOUNT, count, sizeof(count));
        at = put_option(at, OPT_END, NULL, 0);
    }
    put_le32(at, epb_len(epb));
    return (size_t)(at - out) + 4;
}

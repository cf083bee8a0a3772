/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds blocks of pcapng files. See pcapng.h. */
#include "pcapio/pcapng.h"

#include <string.h>

#include "pcapio/bytes.h"
#include "pcapio/pcapng_format.h"

enum { OPTION_MAX = 65535 };

static uint32_t padded(uint32_t len)
{
    return (len + 3) & ~UINT32_C(3);
}

/* Bytes in the file of an option with a value of LEN bytes. */
static uint32_t option_len(uint32_t len)
{
    return OPTION_HEAD + padded(len);
}

uint8_t *pcapng_put_option(uint8_t *at, uint16_t code, const void *value, uint16_t len)
{
    put_le16(at, code);
    put_le16(at + 2, len);
    memset(at + OPTION_HEAD, 0, padded(len));
    if (len > 0)
        memcpy(at + OPTION_HEAD, value, len);
    return at + option_len(len);
}

size_t pcapng_close_block(uint8_t *block, uint32_t type, size_t len)
{
    put_le32(block, type);
    put_le32(block + 4, (uint32_t)len);
    put_le32(block + len - 4, (uint32_t)len);
    return len;
}

/* Bytes in the file of a text option; 0 for NULL. */
static size_t text_len(const char *text)
{
    size_t chars = text ? strlen(text) : 0;

    return text ? OPTION_HEAD + ((chars + 3) & ~(size_t)3) : 0;
}

static uint8_t *put_text(uint8_t *at, uint16_t code, const char *text)
{
    return text ? pcapng_put_option(at, code, text, (uint16_t)strlen(text)) : at;
}

size_t pcapng_put_section(uint8_t *out, size_t room, const char *application, const char *comment)
{
    size_t texts = text_len(application) + text_len(comment);
    uint8_t *at;

    if (strlen(application) > OPTION_MAX || (comment && strlen(comment) > OPTION_MAX) ||
        BLOCK_OVERHEAD + 16 + texts + OPTION_HEAD > room)
        return 0;
    put_le32(out + 8, PCAPNG_BYTE_ORDER);
    put_le16(out + 12, 1); /* version 1.0 */
    put_le16(out + 14, 0);
    put_le64(out + 16, UINT64_MAX); /* section length: unknown */
    at = put_text(out + 24, OPT_COMMENT, comment);
    at = put_text(at, SHB_USERAPPL, application);
    at = pcapng_put_option(at, OPT_END, NULL, 0);
    return pcapng_close_block(out, BLOCK_SHB, (size_t)(at - out) + 4);
}

size_t pcapng_put_shb(uint8_t *out, size_t room, const char *application)
{
    return pcapng_put_section(out, room, application, NULL);
}

size_t pcapng_put_interface(uint8_t *out, size_t room, const struct pcapng_idb *idb)
{
    const uint8_t nanoseconds = 9; /* times are in units of 10^-9 s */
    size_t texts = text_len(idb->comment) + text_len(idb->name) + text_len(idb->description);
    uint8_t *at = out + 16;

    if (texts > OPTION_MAX || BLOCK_OVERHEAD + 8 + texts + option_len(1) + OPTION_HEAD > room)
        return 0;
    put_le16(out + 8, idb->linktype);
    put_le16(out + 10, 0);
    put_le32(out + 12, idb->snaplen);
    at = put_text(at, OPT_COMMENT, idb->comment);
    at = put_text(at, IF_NAME, idb->name);
    at = put_text(at, IF_DESCRIPTION, idb->description);
    at = pcapng_put_option(at, IF_TSRESOL, &nanoseconds, 1);
    at = pcapng_put_option(at, OPT_END, NULL, 0);
    return pcapng_close_block(out, BLOCK_IDB, (size_t)(at - out) + 4);
}

size_t pcapng_put_idb(uint8_t *out, size_t room, uint16_t linktype, uint32_t snaplen,
                      const char *name)
{
    return pcapng_put_interface(
        out, room, &(struct pcapng_idb){.linktype = linktype, .snaplen = snaplen, .name = name});
}

static void put_time(uint8_t *at, uint64_t time)
{
    put_le32(at, (uint32_t)(time >> 32)); /* the high half is first, in either byte order */
    put_le32(at + 4, (uint32_t)time);
}

static uint8_t *put_count(uint8_t *at, uint16_t code, uint64_t count)
{
    uint8_t value[8];

    put_le64(value, count);
    return pcapng_put_option(at, code, value, sizeof(value));
}

size_t pcapng_put_isb(uint8_t out[PCAPNG_ISB_FILTERED_LEN], const struct pcapng_isb *isb)
{
    uint32_t len = isb->filtered ? PCAPNG_ISB_FILTERED_LEN : PCAPNG_ISB_LEN;
    uint8_t *at = out + 20;

    put_le32(out + 8, isb->interface);
    put_time(out + 12, isb->time);
    at = put_count(at, ISB_IFRECV, isb->received);
    at = put_count(at, ISB_IFDROP, isb->dropped);
    if (isb->filtered)
        at = put_count(at, ISB_FILTERACCEPT, isb->accepted);
    at = put_count(at, ISB_OSDROP, isb->lost);
    pcapng_put_option(at, OPT_END, NULL, 0);
    pcapng_close_block(out, BLOCK_ISB, len);
    return len;
}

/* Truncated between characters, because the file requires UTF-8. */
static uint16_t comment_len(const char *comment, uint16_t max)
{
    size_t len = strnlen(comment, (size_t)max + 1);

    if (len <= max)
        return (uint16_t)len;
    for (len = max; len > 0 && ((uint8_t)comment[len] & 0xc0) == 0x80; len--)
        ;
    return (uint16_t)len;
}

uint8_t *pcapng_put_comment(uint8_t *at, const char *comment, uint16_t max)
{
    return pcapng_put_option(at, OPT_COMMENT, comment, comment_len(comment, max));
}

/* Bytes of the options of an Enhanced Packet Block, including opt_endofopt. */
static uint32_t epb_options_len(const struct pcapng_epb *epb)
{
    uint32_t len = epb->options_len;

    if (epb->comment)
        len += option_len(comment_len(epb->comment, PCAPNG_COMMENT_MAX));
    if (epb->flags)
        len += option_len(4);
    if (epb->dropped)
        len += option_len(8);
    return len ? len + OPTION_HEAD : 0;
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
    put_time(out + 12, epb->time);
    put_le32(out + 20, epb->caplen);
    put_le32(out + 24, epb->wirelen);
}

static uint8_t *put_epb_options(uint8_t *at, const struct pcapng_epb *epb)
{
    uint8_t flags[4];

    if (epb->comment)
        at = pcapng_put_comment(at, epb->comment, PCAPNG_COMMENT_MAX);
    if (epb->flags) {
        put_le32(flags, epb->flags);
        at = pcapng_put_option(at, EPB_FLAGS, flags, sizeof(flags));
    }
    if (epb->dropped)
        at = put_count(at, EPB_DROPCOUNT, epb->dropped);
    return pcapng_put_option(at, OPT_END, NULL, 0);
}

size_t pcapng_put_epb_tail(uint8_t out[PCAPNG_EPB_TAIL_MAX], const struct pcapng_epb *epb)
{
    uint8_t *at = out;

    memset(at, 0, 3);
    at += padded(epb->caplen) - epb->caplen;
    if (epb_options_len(epb) > 0)
        at = put_epb_options(at, epb);
    put_le32(at, epb_len(epb));
    return (size_t)(at - out) + 4;
}

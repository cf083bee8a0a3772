/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds blocks that are copied. See pcapngcopy.h. */
#include "pcapio/pcapngcopy.h"

#include <string.h>

#include "pcapio/bytes.h"
#include "pcapio/pcapng.h"
#include "pcapio/pcapng_format.h"

enum { BLOCK_HEAD = 8, OPTION_MAX = 65535, VERSION = 1 };

/* Appends room for the head of a block and for N bytes. Returns the N bytes. */
static uint8_t *start_block(GByteArray *out, uint32_t n)
{
    guint at = out->len;

    g_byte_array_set_size(out, at + BLOCK_HEAD + n);
    return out->data + at + BLOCK_HEAD;
}

static void append_block_option(GByteArray *out, uint16_t code, const void *value, size_t len)
{
    guint at = out->len;
    uint16_t n = (uint16_t)MIN(len, OPTION_MAX);

    g_byte_array_set_size(out, at + OPTION_HEAD + ((n + 3u) & ~3u));
    pcapng_put_option(out->data + at, code, value, n);
}

/* Ends the block that starts at START. */
static void end_block(GByteArray *out, guint start, uint32_t type)
{
    static const uint8_t length[4];

    append_block_option(out, OPT_END, NULL, 0);
    g_byte_array_append(out, length, sizeof(length));
    pcapng_close_block(out->data + start, type, out->len - start);
}

void pcapngcopy_section(GByteArray *out, const uint8_t *options, uint32_t len,
                        const char *application, const char *comment)
{
    guint start = out->len;
    uint8_t *p = start_block(out, 16);

    put_le32(p, PCAPNG_BYTE_ORDER);
    put_le16(p + 4, VERSION);
    put_le16(p + 6, 0);
    put_le64(p + 8, UINT64_MAX); /* section length: unknown */
    g_byte_array_append(out, options, len);
    if (comment)
        append_block_option(out, OPT_COMMENT, comment, strlen(comment));
    append_block_option(out, SHB_USERAPPL, application, strlen(application));
    end_block(out, start, BLOCK_SHB);
}

void pcapngcopy_interface(GByteArray *out, const struct capfile_description *d, uint16_t linktype,
                          uint32_t snaplen)
{
    const uint8_t nanoseconds = 9; /* times are in units of 10^-9 s */
    guint start = out->len;
    uint8_t *p = start_block(out, 8);

    put_le16(p, linktype);
    put_le16(p + 2, 0);
    put_le32(p + 4, snaplen);
    g_byte_array_append(out, d->options, d->options_len);
    append_block_option(out, IF_TSRESOL, &nanoseconds, 1);
    end_block(out, start, BLOCK_IDB);
}

void pcapngcopy_statistics(GByteArray *out, const struct capfile_description *d, uint32_t interface)
{
    uint64_t time = d->ns > 0 ? (uint64_t)d->ns : 0; /* times are unsigned */
    guint start = out->len;
    uint8_t *p = start_block(out, 12);

    put_le32(p, interface);
    put_le32(p + 4, (uint32_t)(time >> 32)); /* the high half is first, in either byte order */
    put_le32(p + 8, (uint32_t)time);
    g_byte_array_append(out, d->options, d->options_len);
    end_block(out, start, BLOCK_ISB);
}

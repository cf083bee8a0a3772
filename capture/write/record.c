/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of a capture file. See record.h. */
#include "capture/write/record.h"

#include "pcapio/capture_record.h"
#include "pcapio/pcapfile.h"
#include "pcapio/pcapng.h"
#include "pcapio/pcapng_format.h"

static uint32_t get_le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/*
 * Returns the length of the record at AT, 0 if LEFT bytes do not contain all of it. PACKET: bytes
 * of the packet, or -1 if the record is not a packet.
 */
static size_t record_at(struct record_format format, const uint8_t *at, size_t left,
                        int64_t *packet)
{
    size_t head = format.pcapng ? PCAPNG_EPB_HEAD_LEN : PCAPFILE_RECORD_LEN, len;

    if (left < head)
        return 0;
    len = format.pcapng ? get_le32(at + 4) : head + get_le32(at + 8);
    if (format.pcapng && get_le32(at) != BLOCK_EPB)
        *packet = -1;
    else
        *packet = (int64_t)get_le32(format.pcapng ? at + 20 : at + 8) - record_erf_len(format);
    return len <= left ? len : 0;
}

struct record_count record_count(struct record_format format, const uint8_t *data, size_t len,
                                 bool file_header)
{
    struct record_count count = {0};
    size_t record;
    int64_t packet;

    if (file_header && !format.pcapng)
        count.len = len < PCAPFILE_HEADER_LEN ? 0 : PCAPFILE_HEADER_LEN;
    if (file_header && !format.pcapng && count.len == 0)
        return count;
    while ((record = record_at(format, data + count.len, len - count.len, &packet)) > 0) {
        count.len += record;
        count.packets += packet >= 0;
        count.bytes += packet >= 0 ? (uint64_t)packet : 0;
    }
    return count;
}

static uint16_t linktype(struct record_format format)
{
    if (format.other)
        return format.linktype;
    return format.erf ? LINKTYPE_ERF : LINKTYPE_ETHERNET;
}

uint32_t record_put_file(uint8_t *out, size_t room, const struct record_file *file)
{
    const struct pcapng_idb idb = {
        .linktype = linktype(file->format),
        .snaplen = file->snaplen,
        .name = file->interface,
        .description = file->description,
        .comment = file->comment,
    };
    size_t len;

    if (!file->format.pcapng) {
        pcapfile_put_file_header(out, false, idb.linktype, idb.snaplen);
        return PCAPFILE_HEADER_LEN;
    }
    len = pcapng_put_shb(out, room, "ipoib-capture " IPOIB_VERSION);
    return (uint32_t)(len + pcapng_put_interface(out + len, room - len, &idb));
}

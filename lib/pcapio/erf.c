/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses and writes ERF records and their time. See erf.h. */
#include "pcapio/erf.h"

#include "pcapio/bytes.h"

/* Bytes of the sub-header that some types have between the extension headers and the packet. */
static uint32_t subheader_len(uint8_t type)
{
    switch (type) {
    case ERF_TYPE_ETHERNET: /* Ethernet: plain, and the colour and hash variants */
    case 11:
    case 16:
    case 20:
        return ERF_ETHERNET_LEN;
    case 5: /* multi-channel types and AAL2: channel word */
    case 6:
    case 7:
    case 8:
    case 9:
    case 12:
    case 17:
    case 18:
        return 4;
    default:
        return 0;
    }
}

/* Returns the offset after the extension headers, or 0 if they exceed SIZE bytes. */
static uint32_t skip_extensions(const uint8_t *rec, uint32_t size, uint8_t *count)
{
    uint32_t at = ERF_HEADER_LEN;
    uint8_t more = rec[ERF_OFF_TYPE] & ERF_TYPE_MORE;

    *count = 0;
    while (more) {
        if (size - at < ERF_EXT_LEN)
            return 0;
        more = rec[at] & ERF_TYPE_MORE;
        at += ERF_EXT_LEN;
        if (*count < UINT8_MAX)
            ++*count;
    }
    return at;
}

bool erf_parse(const uint8_t *rec, size_t len, struct erf_record *out)
{
    if (len < ERF_HEADER_LEN || erf_rlen(rec) < ERF_HEADER_LEN)
        return false;
    out->time = get_le64(rec + ERF_OFF_TIME);
    out->type = erf_type(rec);
    out->lctr = get_be16(rec + ERF_OFF_LCTR);
    out->wlen = get_be16(rec + ERF_OFF_WLEN);
    out->size = len < erf_rlen(rec) ? (uint32_t)len : erf_rlen(rec);
    if (out->type == ERF_TYPE_LEGACY || out->type > ERF_TYPE_PAD)
        return false;

    out->head = skip_extensions(rec, out->size, &out->extensions);
    if (out->head == 0 || out->size - out->head < subheader_len(out->type))
        return false;
    out->head += subheader_len(out->type);
    out->caplen = out->size - out->head;
    if (out->wlen == 0)
        out->wlen =
            /* the writer left the field empty; otherwise the packet would count as padding */
            out->caplen;
    if (out->caplen > out->wlen)
        out->caplen = out->wlen;
    return true;
}

void erf_set_time(uint8_t *rec, uint64_t time)
{
    put_le64(rec + ERF_OFF_TIME, time);
}

void erf_set_rlen(uint8_t *rec, uint32_t rlen)
{
    put_be16(rec + ERF_OFF_RLEN, (uint16_t)rlen);
}

uint16_t erf_rlen(const uint8_t *rec)
{
    return get_be16(rec + ERF_OFF_RLEN);
}

uint8_t erf_type(const uint8_t *rec)
{
    return rec[ERF_OFF_TYPE] & ERF_TYPE_MASK;
}

void erf_split(uint64_t time, int64_t *sec, uint32_t *ns)
{
    uint64_t rounded = ((time & UINT32_MAX) * 1000000000 + (UINT64_C(1) << 31)) >> 32;

    *sec = (int64_t)(time >> 32) + (int64_t)(rounded / 1000000000);
    *ns = (uint32_t)(rounded % 1000000000);
}

uint64_t erf_ibdump_time(uint32_t sec, uint32_t usec)
{
    return ((uint64_t)sec << 32) + (uint64_t)usec * 4295;
}

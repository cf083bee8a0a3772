/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options that are copied from pcapng file to pcapng file. See pcapngoptions.h. */
#include "pcapio/pcapngoptions.h"

#include <stddef.h>
#include <string.h>

#include "pcapio/bytes.h"
#include "pcapio/pcapng_format.h"
#include "pcapio/pcapngtime.h"

/* direction, reception, size of the FCS, state of the checksum; link-layer errors (section 4.3.1)
 */
#define EPB_FLAGS_DEFINED 0xff000fffu

/* Form of a value; TIME: two words of 32 bits, the high one first. */
enum form { BYTES, NUMBER_32, NUMBER_64, TIME };

static const struct copied {
    enum pcapng_block block;
    uint16_t code;
    enum form form;
    bool is_private; /* describes a host, or may be anything */
    uint32_t bits;   /* of a number that is not private: those that are defined; 0: all */
} copied[] = {
    {PCAPNG_SECTION, OPT_COMMENT, BYTES, true, 0},
    {PCAPNG_SECTION, 2, BYTES, true, 0}, /* shb_hardware */
    {PCAPNG_SECTION, 3, BYTES, true, 0}, /* shb_os */
    {PCAPNG_INTERFACE, OPT_COMMENT, BYTES, true, 0},
    {PCAPNG_INTERFACE, IF_NAME, BYTES, true, 0},
    {PCAPNG_INTERFACE, IF_DESCRIPTION, BYTES, true, 0},
    {PCAPNG_INTERFACE, 4, BYTES, true, 0},      /* if_IPv4addr */
    {PCAPNG_INTERFACE, 5, BYTES, true, 0},      /* if_IPv6addr */
    {PCAPNG_INTERFACE, 6, BYTES, true, 0},      /* if_MACaddr */
    {PCAPNG_INTERFACE, 7, BYTES, true, 0},      /* if_EUIaddr */
    {PCAPNG_INTERFACE, 8, NUMBER_64, true, 0},  /* if_speed */
    {PCAPNG_INTERFACE, 11, BYTES, true, 0},     /* if_filter */
    {PCAPNG_INTERFACE, 12, BYTES, true, 0},     /* if_os */
    {PCAPNG_INTERFACE, 15, BYTES, true, 0},     /* if_hardware */
    {PCAPNG_INTERFACE, 16, NUMBER_64, true, 0}, /* if_txspeed */
    {PCAPNG_INTERFACE, 17, NUMBER_64, true, 0}, /* if_rxspeed */
    {PCAPNG_PACKET, OPT_COMMENT, BYTES, true, 0},
    {PCAPNG_PACKET, EPB_FLAGS, NUMBER_32, false, EPB_FLAGS_DEFINED},
    {PCAPNG_PACKET, 5, NUMBER_64, true, 0}, /* epb_packetid */
    {PCAPNG_PACKET, 6, NUMBER_32, true, 0}, /* epb_queue */
    {PCAPNG_STATISTICS, OPT_COMMENT, BYTES, true, 0},
    {PCAPNG_STATISTICS, 2, TIME, false, 0}, /* isb_starttime */
    {PCAPNG_STATISTICS, 3, TIME, false, 0}, /* isb_endtime */
    {PCAPNG_STATISTICS, ISB_IFRECV, NUMBER_64, false, 0},
    {PCAPNG_STATISTICS, ISB_IFDROP, NUMBER_64, false, 0},
    {PCAPNG_STATISTICS, ISB_FILTERACCEPT, NUMBER_64, false, 0},
    {PCAPNG_STATISTICS, ISB_OSDROP, NUMBER_64, false, 0},
    {PCAPNG_STATISTICS, 8, NUMBER_64, false, 0}, /* isb_usrdeliv */
};

static const struct copied *find_copied(enum pcapng_block block, uint16_t code)
{
    for (size_t i = 0; i < sizeof(copied) / sizeof(*copied); i++)
        if (copied[i].block == block && copied[i].code == code)
            return &copied[i];
    return NULL;
}

static uint64_t get_number(const uint8_t *p, unsigned bytes, bool big_endian)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < bytes; i++)
        v = v << 8 | p[big_endian ? i : bytes - 1 - i];
    return v;
}

static void convert_time(uint8_t *value, const struct pcapng_origin *from)
{
    uint64_t ticks = get_number(value, 4, from->big_endian) << 32 |
                     get_number(value + 4, 4, from->big_endian);
    int64_t ns = pcapng_ns(ticks, from->tsresol, from->tsoffset);
    uint64_t time = ns > 0 ? (uint64_t)ns : 0; /* times are unsigned */

    put_le32(value, (uint32_t)(time >> 32));
    put_le32(value + 4, (uint32_t)time);
}

/* Clears the bits of a converted value that may be anything. */
static void keep_defined(uint8_t *value, uint32_t bits)
{
    if (bits)
        put_le32(value, (uint32_t)get_number(value, 4, false) & bits);
}

/* Returns false if a value of its form has another size. */
static bool convert_value(uint8_t *value, uint16_t size, enum form form,
                          const struct pcapng_origin *from)
{
    if (form != BYTES && size != (form == NUMBER_32 ? 4 : 8))
        return false;
    if (form == NUMBER_32)
        put_le32(value, (uint32_t)get_number(value, 4, from->big_endian));
    else if (form == NUMBER_64)
        put_le64(value, get_number(value, 8, from->big_endian));
    else if (form == TIME)
        convert_time(value, from);
    return true;
}

uint32_t pcapng_convert_options(uint8_t *p, uint32_t len, enum pcapng_block block,
                                bool without_private, const struct pcapng_origin *from)
{
    uint32_t at = 0, out = 0;

    while (len - at >= OPTION_HEAD) {
        uint16_t code = (uint16_t)get_number(p + at, 2, from->big_endian),
                 size = (uint16_t)get_number(p + at + 2, 2, from->big_endian);
        uint32_t whole = OPTION_HEAD + ((size + 3u) & ~3u);
        const struct copied *one = find_copied(block, code);

        if (code == OPT_END || whole > len - at)
            break;
        if (one && !(without_private && one->is_private) &&
            convert_value(p + at + OPTION_HEAD, size, one->form, from)) {
            if (without_private)
                keep_defined(p + at + OPTION_HEAD, one->bits);
            put_le16(p + at, code);
            put_le16(p + at + 2, size);
            memmove(p + out, p + at, whole);
            out += whole;
        }
        at += whole;
    }
    return out;
}

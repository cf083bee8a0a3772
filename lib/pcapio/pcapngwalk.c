/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of a pcapng block, one after the other (section 3.5). */
#include <stddef.h>

#include "pcapio/pcapng_format.h"
#include "pcapio/pcapngreader.h"

const uint8_t *pcapng_next_option(const struct pcapngfile *ng, const uint8_t **p, uint32_t *len,
                                  uint16_t *code, uint16_t *size)
{
    const uint8_t *value;
    uint32_t whole;

    if (*len < OPTION_HEAD)
        return NULL;
    *code = pcapng_get16(ng, *p);
    *size = pcapng_get16(ng, *p + 2);
    whole = OPTION_HEAD + ((*size + 3u) & ~3u);
    if (*code == OPT_END || whole > *len)
        return NULL;
    value = *p + OPTION_HEAD;
    *p += whole;
    *len -= whole;
    return value;
}

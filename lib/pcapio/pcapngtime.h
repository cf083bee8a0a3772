/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times in pcapng files (draft-ietf-opsawg-pcapng section 4.2, if_tsresol and if_tsoffset). */
#ifndef IPOIB_PCAPIO_PCAPNGTIME_H
#define IPOIB_PCAPIO_PCAPNGTIME_H

#include <stdint.h>

/*
 * Converts TICKS, in the unit given by if_tsresol, plus OFFSET seconds to ns since 1970; results
 * outside the range of int64_t are limited to it.
 */
int64_t pcapng_ns(uint64_t ticks, uint8_t tsresol, int64_t offset);

#endif

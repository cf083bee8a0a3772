/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps the first byte of an input to a link type. */
#ifndef IPOIB_FUZZ_LINKTYPES_H
#define IPOIB_FUZZ_LINKTYPES_H

#include <stdint.h>

/* The number of link types. */
enum {
    LINKTYPES = 0
#define LINKTYPE(name, number, wiretap, headers) +1
#include "wire/linktypes.def"
#undef LINKTYPE
};

static inline int linktype_of(uint8_t byte)
{
    static const int linktypes[LINKTYPES] = {
#define LINKTYPE(name, number, wiretap, headers) number,
#include "wire/linktypes.def"
#undef LINKTYPE
    };
    return linktypes[byte % LINKTYPES];
}

#endif

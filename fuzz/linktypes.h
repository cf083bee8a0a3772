/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The link type that the first octet of an input chooses. */
#ifndef IPOIB_FUZZ_LINKTYPES_H
#define IPOIB_FUZZ_LINKTYPES_H

#include <stdint.h>

/* How many link types there are. */
enum {
    LINKTYPES = 0
#define LINKTYPE(name, number, wiretap, headers) +1
#include "wire/linktypes.def"
#undef LINKTYPE
};

static inline int linktype_of(uint8_t octet)
{
    static const int linktypes[LINKTYPES] = {
#define LINKTYPE(name, number, wiretap, headers) number,
#include "wire/linktypes.def"
#undef LINKTYPE
    };
    return linktypes[octet % LINKTYPES];
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of the link types that can contain IPoIB (wire/linktypes.def). */
#ifndef IPOIB_WIRE_LINKTYPE_H
#define IPOIB_WIRE_LINKTYPE_H

#include <stdbool.h>
#include <stdint.h>

enum {
#define LINKTYPE(name, number, wiretap, headers) LINKTYPE_##name = number,
#include "wire/linktypes.def"
#undef LINKTYPE
};

/* Whether a link type is one of these. */
static inline bool linktype_is_known(uint32_t linktype)
{
    switch (linktype) {
#define LINKTYPE(name, number, wiretap, headers) case number:
#include "wire/linktypes.def"
#undef LINKTYPE
        return true;
    default:
        return false;
    }
}

#endif

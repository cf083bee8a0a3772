/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The link type that the first octet of an input chooses. */
#ifndef IPOIB_FUZZ_LINKTYPES_H
#define IPOIB_FUZZ_LINKTYPES_H

#include "wire/carrier.h"

enum { LINKTYPES = 6 };

static inline int linktype_of(uint8_t octet)
{
    static const int linktypes[LINKTYPES] = {LINKTYPE_INFINIBAND, LINKTYPE_ERF,
                                             LINKTYPE_IPOIB,      LINKTYPE_LINUX_SLL,
                                             LINKTYPE_LINUX_SLL2, LINKTYPE_ETHERNET};
    return linktypes[octet % LINKTYPES];
}

#endif

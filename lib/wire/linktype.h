/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of the link types that can contain IPoIB (wire/linktypes.def). */
#ifndef IPOIB_WIRE_LINKTYPE_H
#define IPOIB_WIRE_LINKTYPE_H

enum {
#define LINKTYPE(name, number, wiretap, headers) LINKTYPE_##name = number,
#include "wire/linktypes.def"
#undef LINKTYPE
};

#endif

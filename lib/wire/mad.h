/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Management datagrams (MADs): the common header (IBA 13.4.3). */
#ifndef IPOIB_WIRE_MAD_H
#define IPOIB_WIRE_MAD_H

#include "wire/ib.h"
#include "wire/names.h"
#include "wire/view.h"

enum {
    MAD_BASE_VERSION = 0,
    MAD_CLASS = 1,
    MAD_CLASS_VERSION = 2,
    MAD_METHOD = 3,
    MAD_STATUS = 4,
    MAD_TID = 8,
    MAD_ATTRIBUTE = 16,
    MAD_MODIFIER = 20,
    MAD_DATA = 24,
    MAD_SIZE = 256,
};
enum { MAD_CLASS_SA = 0x03, MAD_CLASS_CM = 0x07 };
enum { MAD_RESPONSE = 0x80 }; /* set in the method of a response */

struct mad {
    uint8_t class, class_version, method;
    uint16_t status, attribute;
    uint64_t tid;
    uint32_t modifier;
};

enum wire_result mad_decode(struct view v, struct mad *m);

/*
 * MADs are UD (IBA 13.5.1), from or to QP 0 or 1. A datagram of IPoIB that an ordinary QP sends to
 * these is none: it is too short and has an encapsulation header.
 */
bool ib_is_mad(const struct ib_packet *ib);

#endif

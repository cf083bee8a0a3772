/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Taking a MAD of any size from the kernel's queue, without a buffer of that size. */
#ifndef IPOIB_HCA_DRAIN_H
#define IPOIB_HCA_DRAIN_H

#include <stdbool.h>

/*
 * Reads the next MAD, which has so many bytes, and drops it: the kernel keeps a MAD until somebody
 * reads the whole of it, and gives no other meanwhile. False, with errno: it is still there.
 */
bool drain_mad(int fd, int length);

#endif

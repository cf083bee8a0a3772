/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Removes a MAD of any size from the kernel's queue, without a buffer of that size. */
#ifndef IPOIB_HCA_DRAIN_H
#define IPOIB_HCA_DRAIN_H

#include <stdbool.h>

/*
 * Reads and drops the next MAD, of LENGTH bytes. The kernel keeps a MAD until it is read
 * completely, and delivers no other MAD before that. Returns false with errno: the MAD is still
 * queued.
 */
bool drain_mad(int fd, int length);

#endif

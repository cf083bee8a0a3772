/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The P_Key table of the port. */
#ifndef CAPTURE_PARTITION_H
#define CAPTURE_PARTITION_H

#include <glib.h>
#include "hca/device.h"

/*
 * Finds the P_Key of the partition WANTED (0: the first one) in the port's table. Prefers the
 * full-member form if the port has both: it also receives from limited members. Returns false after
 * a message.
 */
bool partition_find(const struct device *device, unsigned wanted, uint16_t *pkey, uint16_t *index,
                    GError **error);

#endif

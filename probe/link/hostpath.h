/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The paths that the kernel's driver ib_ipoib keeps for an interface. */
#ifndef IPOIB_PROBE_HOSTPATH_H
#define IPOIB_PROBE_HOSTPATH_H

#include <stdint.h>
#include <stdio.h>

/*
 * The LID to which the interface sends what is for that GID; 0: the driver has no path, or does not
 * show it (it does with CONFIG_INFINIBAND_IPOIB_DEBUG and debugfs, to root).
 */
uint16_t host_path_lid(const char *interface, const uint8_t *gid);
/* The same of the driver's open file. */
uint16_t host_path_find(FILE *f, const uint8_t *gid);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose link-layer addresses ARP and Neighbour Discovery announce (RFC 4391 §9.1.1). */
#ifndef IPOIB_MODEL_ADDRESS_H
#define IPOIB_MODEL_ADDRESS_H

#include "model/fabric.h"

enum whose { WHOSE_OWN, WHOSE_OWN_GUID, WHOSE_OTHERS, WHOSE_NOBODYS, WHOSE_UNKNOWN };

/* Is the GID one of the port that sent the packet? */
enum whose fabric_whose_gid(const struct fabric *f, const struct packet *p, const uint8_t *gid);

#endif

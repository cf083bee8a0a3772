/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Link-layer addresses of 20 bytes (RFC 4391 section 9.1.1). */
#ifndef IPOIB_PLUGIN_LLADDR_H
#define IPOIB_PLUGIN_LLADDR_H

#include <epan/packet.h>

/*
 * Adds ipoib.lladdr and its parts. label: whose address it is. The LLADDR_SIZE bytes must be
 * captured.
 */
void lladdr_add(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, int offset, const char *label);

void lladdr_register(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ARP, RARP and InARP with link-layer addresses of 20 bytes. */
#ifndef IPOIB_PLUGIN_ARP_H
#define IPOIB_PLUGIN_ARP_H

#include "plugin/frame.h"

/*
 * First pass only: stores whether the IP address that an ARP message announces is in use by another
 * host. arp.c shows it.
 */
void arp_keep_duplicate(packet_info *pinfo, const struct packet *p, const struct events *e);

void arp_register(void);
void arp_handoff(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who sent the packet of a finding, in words. */
#ifndef IPOIB_RULES_SENDER_H
#define IPOIB_RULES_SENDER_H

#include "model/fabric.h"

enum { SENDER_TEXT_SIZE = 128 };

/*
 * The sender's IP address, GID and LID, as far as they are known: "IP 10.0.0.1, GID fe80::1, LID
 * 3"; "" for nothing. An IP source address is the sender's only if ARP or ND said so: the packet
 * may come through a router.
 */
const char *sender_text(char text[SENDER_TEXT_SIZE], const struct fabric *f,
                        const struct packet *p);

#endif

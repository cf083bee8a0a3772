/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sender of a packet, as text for a finding. */
#ifndef IPOIB_RULES_SENDER_H
#define IPOIB_RULES_SENDER_H

#include "model/fabric.h"

enum { SENDER_TEXT_SIZE = 128 };

/*
 * Writes the sender's IP address, GID and LID as far as known: "IP 10.0.0.1, GID fe80::1, LID 3";
 * "" if nothing is known. Returns text. An IP source address counts as the sender's only if ARP or
 * ND confirmed it, because the packet may come through a router.
 */
const char *sender_text(char text[SENDER_TEXT_SIZE], const struct fabric_facts *f,
                        const struct packet *p);

#endif

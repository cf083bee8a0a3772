/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sender of a packet. Each finding has one; its text is written only for a report. */
#ifndef IPOIB_RULES_SENDER_H
#define IPOIB_RULES_SENDER_H

#include "wire/ib.h"
#include "wire/ip.h"

enum { SENDER_TEXT_SIZE = 128 };
enum { SENDER_GID = 1, SENDER_LID = 2 };

/* What is known; all other bytes are zero, so that equal senders have equal bytes. */
struct sender {
    uint8_t ip[IPV6_ADDRESS_SIZE], gid[GID_SIZE];
    uint16_t lid;
    uint8_t ip_length; /* 0: the IP address is not known */
    uint8_t known;     /* SENDER_GID, SENDER_LID */
};

/*
 * Writes the sender's IP address, GID and LID as far as known: "IP 10.0.0.1, GID fe80::1, LID 3";
 * "" if nothing is known (s may be NULL). Returns text.
 */
const char *sender_text(char text[SENDER_TEXT_SIZE], const struct sender *s);

#endif

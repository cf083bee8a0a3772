/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats addresses as text. */
#ifndef IPOIB_PROBE_TEXT_H
#define IPOIB_PROBE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

void text_lladdr(const uint8_t *lladdr, char out[64]);
void text_ip(bool ipv6, const uint8_t *ip, char out[48]);

#endif

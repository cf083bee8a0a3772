/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a shared capture keeps of the datagrams of IPoIB: headers, with other addresses. */
#ifndef CAPTURE_SHARE_IP_H
#define CAPTURE_SHARE_IP_H

#include "capture/share_map.h"
#include "wire/payload.h"

/* Octets of a packet that are changed: cap of them were captured. */
struct span {
    uint8_t *p;
    uint32_t cap;
};

/* From octet OFF on; empty beyond the end. */
struct span span_from(struct span s, uint32_t off);
/* The N octets at OFF if all were captured; else NULL, and those that were become zeros. */
uint8_t *span_field(struct span s, uint32_t off, uint32_t n);
/* All from OFF on become zeros. */
void span_clear(struct span s, uint32_t off);
/* The N octets at OFF, as far as they were captured. */
void span_clear_part(struct span s, uint32_t off, uint32_t n);

/*
 * The datagram behind its encapsulation header, of which D says what it is. Payload becomes zeros,
 * checksums fit what is there then; those that were wrong stay wrong.
 */
void share_datagram(struct share_map *m, struct span s, const struct datagram *d);

/* A DHCP message. */
void share_dhcp(struct share_map *m, struct span s);

#endif

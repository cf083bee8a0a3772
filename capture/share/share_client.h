/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises the client identifier of a DHCP message (RFC 2132 section 9.14, RFC 4361). */
#ifndef CAPTURE_SHARE_CLIENT_H
#define CAPTURE_SHARE_CLIENT_H

#include "capture/share/share_part.h"

enum { CLIENT_MAX = 512 };

/* The identifier, which can be split over several options (RFC 3396). Further bytes stay zero. */
struct client {
    struct share_map *map;
    uint8_t bytes[CLIENT_MAX];
    uint8_t *to[CLIENT_MAX]; /* the place of each byte in the new frame */
    uint32_t n;
};

/* Adds the value of an option. */
void client_add(struct client *c, struct part value);

/*
 * Maps the identifier, after all its parts were added. Keeps its type, and the types in its DUID,
 * if they are known ones, which become zero otherwise; the time of a DUID stays zero.
 */
void client_share(const struct client *c);

/* What a hardware address of N bytes is; only INFINIBAND has link-layer addresses. */
enum mapped hardware_kind(bool infiniband, uint32_t n);

#endif

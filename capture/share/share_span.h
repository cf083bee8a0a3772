/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writable ranges of a packet that is being anonymised. */
#ifndef CAPTURE_SHARE_SPAN_H
#define CAPTURE_SHARE_SPAN_H

#include "capture/share/share_map.h"

/* A range of writable bytes; cap: number captured. */
struct span {
    uint8_t *p;
    uint32_t cap;
};

/* The bytes from OFF to the end; empty if OFF is beyond the end. */
struct span span_from(struct span s, uint32_t off);
/* The N bytes at OFF; fewer if the range ends before. */
struct span span_part(struct span s, uint32_t off, uint32_t n);
/* The N bytes at OFF if all were captured; otherwise clears the captured part and returns NULL. */
uint8_t *span_field(struct span s, uint32_t off, uint32_t n);
/* Clears all bytes from OFF. */
void span_clear(struct span s, uint32_t off);
/* Clears the captured part of the N bytes at OFF. */
void span_clear_part(struct span s, uint32_t off, uint32_t n);

/* Maps the IP address of N bytes (4 or 16) at OFF; an address of another length is cleared. */
void span_map_ip(struct share_map *m, struct span s, uint32_t off, uint32_t n);
/* Maps the link-layer address of 20 bytes at OFF; a truncated one is cleared. */
void span_map_lladdr(struct share_map *m, struct span s, uint32_t off);

#endif

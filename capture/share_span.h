/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Octets of a packet that is made one to share. */
#ifndef CAPTURE_SHARE_SPAN_H
#define CAPTURE_SHARE_SPAN_H

#include "capture/share_map.h"

/* Octets that are changed: cap of them were captured. */
struct span {
    uint8_t *p;
    uint32_t cap;
};

/* From octet OFF on; empty beyond the end. */
struct span span_from(struct span s, uint32_t off);
/* The N octets at OFF, fewer where the span ends before. */
struct span span_part(struct span s, uint32_t off, uint32_t n);
/* The N octets at OFF if all were captured; else NULL, and those that were become zeros. */
uint8_t *span_field(struct span s, uint32_t off, uint32_t n);
/* All from OFF on become zeros. */
void span_clear(struct span s, uint32_t off);
/* The N octets at OFF become zeros, as far as they were captured. */
void span_clear_part(struct span s, uint32_t off, uint32_t n);

/* The address of N octets (4 or 16) at OFF is mapped; of another length it becomes zeros. */
void span_map_ip(struct share_map *m, struct span s, uint32_t off, uint32_t n);
void span_map_lladdr(struct share_map *m, struct span s, uint32_t off);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A view of bytes of a packet: how many were captured, and how many were on the wire.
 *
 * Every decoder in this folder takes a view and distinguishes three cases: the structure is
 * complete (WIRE_OK), the capture ends before it does (WIRE_TRUNCATED), or the packet itself is too
 * short or contradicts itself (WIRE_MALFORMED). A truncated capture is never a violation by the
 * sender.
 */
#ifndef IPOIB_WIRE_VIEW_H
#define IPOIB_WIRE_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum wire_result {
    WIRE_OK,
    WIRE_TRUNCATED, /* the capture (snapshot length) ends first */
    WIRE_MALFORMED, /* the packet on the wire ends first, or contradicts itself */
    WIRE_FOREIGN,   /* complete, but not for this decoder */
};

/* Bytes of a packet: cap bytes at p were captured, len bytes were on the wire; cap <= len. */
struct view {
    const uint8_t *p;
    uint32_t cap;
    uint32_t len;
};

static inline struct view view_make(const uint8_t *p, uint32_t cap, uint32_t len)
{
    return (struct view){p, cap, len < cap ? cap : len};
}

/* Are n bytes at off available? The result distinguishes "not captured" from "not sent". */
static inline enum wire_result view_has(struct view v, uint32_t off, uint32_t n)
{
    if (off <= v.cap && n <= v.cap - off)
        return WIRE_OK;
    return off <= v.len && n <= v.len - off ? WIRE_TRUNCATED : WIRE_MALFORMED;
}

/*
 * The view from off on. If nothing of it was captured, its p is the end of v, so that the
 * difference of the two p is an offset in v.
 */
static inline struct view view_from(struct view v, uint32_t off)
{
    uint32_t captured = off < v.cap ? off : v.cap;
    struct view r = {captured ? v.p + captured : v.p, v.cap - captured, 0};
    if (off < v.len)
        r.len = v.len - off;
    return r;
}

/* The first len bytes of the view, or all if it is shorter. */
static inline struct view view_first(struct view v, uint32_t len)
{
    if (v.len > len)
        v.len = len;
    if (v.cap > len)
        v.cap = len;
    return v;
}

static inline struct view view_sub(struct view v, uint32_t off, uint32_t len)
{
    return view_first(view_from(v, off), len);
}

/* Big-endian reads; the caller must check with view_has() first. */
static inline uint16_t be16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t be24(const uint8_t *p)
{
    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static inline uint32_t be32(const uint8_t *p)
{
    return (uint32_t)be16(p) << 16 | be16(p + 2);
}

static inline uint64_t be64(const uint8_t *p)
{
    return (uint64_t)be32(p) << 32 | be32(p + 4);
}

#endif

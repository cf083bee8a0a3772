/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Layouts of headers, messages and records. See share_layout.h. */
#include "capture/share/share_layout.h"

#include <string.h>

#include "wire/sa.h"

/* The field F at the bit FROM of P, which may be before P. */
static void keep_field(struct part p, const struct field *f, int64_t from)
{
    int64_t end = from + f->bits;

    from = from < 0 ? 0 : from;
    if (end > from && from / 8 < p.cap)
        part_keep_bits(p, (uint32_t)from, (uint32_t)(end - from));
}

static void map_first_half(struct part p, uint32_t at)
{
    memcpy(p.to + at, p.from + at, GID_HALF);
    share_gid_first(p.map, p.to + at);
}

static void map_second_half(struct part p, const uint8_t *whole)
{
    memcpy(p.to, p.from, GID_HALF);
    share_gid_second(p.map, whole, p.to);
}

/* AT: bytes from the start of P; OFF: bytes from the start of the record. */
static void map_field(struct part p, const struct field *f, int64_t at, uint32_t off,
                      const struct split_record *split)
{
    bool is_gid = f->kind == AS_MAPPED + GID;

    if (is_gid && at + GID_HALF == SA_DATA_SIZE && p.cap == SA_DATA_SIZE)
        map_first_half(p, (uint32_t)at);
    else if (is_gid && at == -GID_HALF && split && p.cap >= GID_HALF)
        map_second_half(p, split->copy + off);
    else if (at >= 0 && at < (int64_t)p.cap)
        part_map(p, (enum mapped)(f->kind - AS_MAPPED), (uint32_t)at, f->bits / 8u);
}

void share_record(struct part p, const struct laid_record *r)
{
    uint64_t valid = r->valid;
    uint32_t off = 0; /* bits from the start of the record */

    for (const struct field *f = r->layout; f->bits; off += f++->bits) {
        uint64_t components = (1u << f->components) - 1;
        bool is_valid = (valid & components) == components;

        valid >>= f->components;
        if (is_valid && f->kind == AS_IS)
            keep_field(p, f, r->at * 8 + off);
        else if (is_valid && f->kind != AS_ZERO)
            map_field(p, f, r->at + off / 8, off / 8, r->split);
    }
}

void share_layout(struct part p, const struct field *layout)
{
    uint32_t off = 0;

    for (const struct field *f = layout; f->bits; off += f++->bits)
        if (f->kind == AS_IS)
            part_keep_bits(p, off, f->bits);
        else if (f->kind != AS_ZERO)
            part_map(p, (enum mapped)(f->kind - AS_MAPPED), off / 8, f->bits / 8u);
}

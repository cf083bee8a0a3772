/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Layouts of headers, messages and records: their fields, in the order of the packet. A layout says
 * which bits are kept and which are mapped. Bits that it does not reach stay zero.
 */
#ifndef CAPTURE_SHARE_LAYOUT_H
#define CAPTURE_SHARE_LAYOUT_H

#include "capture/share/share_part.h"
#include "model/subnet.h"

struct field {
    uint16_t bits;      /* 0: the end of the layout */
    uint8_t kind;       /* AS_ZERO, AS_IS, or AS_MAPPED + enum mapped */
    uint8_t components; /* of the mask, in a record; mapped only if all are valid */
};

enum { AS_ZERO, AS_IS, AS_MAPPED };

/*
 * Fields of a layout; the size of a mapped one follows from its kind, but for numbers. _2: each
 * half is a component of the mask.
 */
/* clang-format off */
#define KEEP(n)          {(n), AS_IS, 1}
#define ZERO(n)          {(n), AS_ZERO, 1}
#define MAP_NUMBER(n)    {(n), AS_MAPPED + OCTETS, 1}
#define MAP_IPV4         {32, AS_MAPPED + IPV4, 1}
#define MAP_IPV6         {128, AS_MAPPED + IPV6, 1}
#define MAP_GROUP4       {32, AS_MAPPED + GROUP4, 1}
#define MAP_GROUP6       {128, AS_MAPPED + GROUP6, 1}
#define MAP_GID          {128, AS_MAPPED + GID, 1}
#define MAP_GUID         {64, AS_MAPPED + GUID, 1}
#define MAP_PREFIX       {64, AS_MAPPED + PREFIX, 1}
#define MAP_SERVICE_ID   {64, AS_MAPPED + SERVICE, 1}
#define MAP_SERVICE_ID_2 {64, AS_MAPPED + SERVICE, 2}
#define MAP_LLADDR       {160, AS_MAPPED + LLADDR, 1}
#define MAP_NAME         {512, AS_MAPPED + NAME, 1}
#define LAYOUT_END       {0, AS_ZERO, 0}
/* clang-format on */

/* Keeps and maps the fields of the header that starts with P. */
void share_layout(struct part p, const struct field *layout);

/*
 * A record that starts AT bytes after the start of a part, or before it: in the previous segment of
 * a table. valid: bit n is set if component n is valid; other fields stay zero. split: the whole
 * record if it lies in two segments, from the model; NULL: not known.
 */
struct laid_record {
    const struct field *layout;
    int64_t at;
    uint64_t valid;
    const struct split_record *split;
};

/*
 * The same for a record. Of a GID in two segments each half is mapped, the second one only if the
 * first is known. Other mapped fields in two segments stay zero in both.
 */
void share_record(struct part p, const struct laid_record *r);

#endif
